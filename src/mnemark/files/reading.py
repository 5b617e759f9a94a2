"""Read a file as text, detecting its encoding and concurrent changes."""

import os
import sys
from pathlib import Path

import msgspec

from mnemark.files import layout, platform
from mnemark.files.disk_errors import unread
from mnemark.files.marks import is_marked, without_marks
from mnemark.files.scan import FileEntry, stat_entry
from mnemark.hashes import blake2b
from mnemark.text.decoding import decode
from mnemark.text.documents import LARGEST, UnreadableDocumentError, format_of
from mnemark.types import Problem

READ_LIMIT = 16 * 1024 * 1024
"""Maximum size in bytes of a text file; larger ones are reported and skipped. Session logs have no limit."""

VIEW = "view"
_TRIES = 8


class Document(msgspec.Struct, frozen=True):
    """A file's content; `text` is without a byte order mark, with line ends as in the file."""

    path: str
    digest: str
    """See `digest`; a byte order mark is included."""
    text: str
    entry: FileEntry
    """Status of the file when it was read: the same before and after."""
    encoding: str = "utf-8"
    """Only "utf-8" may be edited in place; `VIEW` where `text` is a view of a document, which is no text."""
    problems: tuple[Problem, ...] = ()


class PassingProblem(Problem, frozen=True):
    """A problem that may be gone with nothing about the file changed; see `platform.may_pass`."""


def read(root: Path, path: str, entry: FileEntry | None = None) -> Document | Problem:
    """Read `path` (relative to `root`); return the document, or why it cannot be read.

    Args:
        root: the workspace.
        path: relative, `/`-separated, as a scan gives it.
        entry: as the scan gave it; a file known to be too large is then not even opened. Where the scan had
            no inode, the document's entry has none either, so that the two compare.

    Raises:
        UsageError: `path` is no name inside a workspace (`..`, absolute, NUL).
    """
    layout.check_name(path)
    if entry is not None and entry.size > limit_of(path):
        return _too_large(path, entry.size)
    if outside := _why_outside(root, path, scanned=entry is not None):
        return Problem(layout.shown(path), outside)
    for _ in range(_TRIES):
        try:
            found = _snapshot(root / path, path)
        except OSError as error:
            kind = PassingProblem if platform.may_pass(error) else Problem
            return kind(layout.shown(path), unread(error))
        if isinstance(found, Problem):
            return found
        if found is not None:
            data, now = found
            if entry is not None and not entry.inode:
                now = msgspec.structs.replace(now, inode=0, device=0)
            return _document(path, data, now)
    return Problem(layout.shown(path), "is being written; the next sync reads it")


def _why_outside(root: Path, path: str, *, scanned: bool) -> str:
    """Return why a file is outside this workspace; empty if inside. O_NOFOLLOW covers the last name only."""
    if _behind_link(root, path) and not (root / path).parent.resolve().is_relative_to(root.resolve()):
        return "is behind a link out of the workspace, which is not followed"
    inner = "" if scanned else layout.border(root, path)  # a scan ends at borders, and a sync reads thousands
    return f"belongs to the separate workspace {layout.shown(inner)}" if inner else ""


def _behind_link(root: Path, path: str) -> bool:
    """Return whether a folder between the workspace and a file may be a link: resolving them takes longer."""
    if sys.platform == "win32":  # junctions are recognised from Python 3.12 on
        return True
    folder = str(root)
    for name in path.split("/")[:-1]:
        folder = f"{folder}/{name}"
        if platform.is_link(folder):
            return True
    return False


def digest(data: bytes) -> str:
    """Return the BLAKE2b hash with 128 bits, hexadecimal."""
    return blake2b(data, digest_size=16).hexdigest()


def _snapshot(full: Path, path: str) -> tuple[bytes, FileEntry] | Problem | None:
    """Return a file's bytes and status; None if it changed while it was read."""
    descriptor = platform.FS.open_to_read(full, links=False)
    try:
        before = os.fstat(descriptor)
        if before.st_size > limit_of(path):
            return _too_large(path, before.st_size)
        chunks = []
        left = before.st_size + 1
        while left and (chunk := os.read(descriptor, left)):
            chunks.append(chunk)
            left -= len(chunk)
        data = b"".join(chunks)
        now = stat_entry(path, os.fstat(descriptor))
    finally:
        os.close(descriptor)
    return (data, now) if now == stat_entry(path, before) and len(data) == now.size else None


def _document(path: str, data: bytes, entry: FileEntry) -> Document | Problem:
    if format_of(path) is not None:
        from mnemark.files.documents import view_of

        try:
            return Document(path, digest(data), view_of(path, data), entry, VIEW)
        except UnreadableDocumentError as error:
            return Problem(path, str(error))
    decoded = decode(data)
    if decoded is None:
        return Problem(path, "is binary, not text: save it as UTF-8 text")
    text, encoding, wrong = decoded
    problems: tuple[Problem, ...] = (Problem(path, wrong, skipped=False),) if wrong else ()
    if is_marked(data):
        problems += (Problem(path, "git marked two versions in it: `mnemark merge --repair`", skipped=False),)
        text = without_marks(text)
    return Document(path, digest(data), text, entry, encoding, problems)


def limit_of(path: str) -> int:
    """Return the maximum size in bytes of a file that is read."""
    return READ_LIMIT if format_of(path) is None else LARGEST


def _too_large(path: str, size: int) -> Problem:
    limit = limit_of(path) // 1024 // 1024
    return Problem(layout.shown(path), f"has {size / 1024 / 1024:.0f} MB, more than {limit}: split it")
