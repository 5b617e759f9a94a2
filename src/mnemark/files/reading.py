"""Read a file as text, detecting its encoding and concurrent changes."""

import codecs
import os
import sys
from pathlib import Path

import msgspec

from mnemark.files import layout, platform
from mnemark.files.disk_errors import unread
from mnemark.files.marks import is_marked, without_marks
from mnemark.files.scan import FileEntry, stat_entry
from mnemark.hashes import blake2b
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem

READ_LIMIT = 16 * 1024 * 1024
"""Maximum size in bytes of a text file; larger ones are reported and skipped. Session logs have no limit."""

_TRIES = 8
# Longest marks first: the UTF-32 little-endian one begins with the UTF-16 one.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))
_HIGH = lazy_pattern(r"[^\x00-\x7f]")


class Document(msgspec.Struct, frozen=True):
    """A file's content; `text` is without a byte order mark, with line ends as in the file."""

    path: str
    digest: str
    """See `digest`; a byte order mark is included."""
    text: str
    entry: FileEntry
    """Status of the file when it was read: the same before and after."""
    encoding: str = "utf-8"
    """Only "utf-8" may be edited in place."""
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
    if entry is not None and entry.size > READ_LIMIT:
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


def decode(data: bytes) -> tuple[str, str, str | None] | None:
    """Decode bytes to (text, encoding, what was wrong or None); None if they are no text.

    A byte order mark decides. Otherwise, in this order: UTF-8, UTF-8 with damaged spots, GB18030 if most of
    it is then everyday Chinese, Windows-1252 if it then reads as a Western text with accents, and UTF-8 with
    every foreign byte replaced by U+FFFD. A NUL becomes U+FFFD.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], encoding)
    trimmed = data.rstrip(b"\0")
    if data and not trimmed:
        return None
    problem = None if len(trimmed) == len(data) else "ends in NUL bytes, which were ignored"
    nuls = trimmed.count(0)
    if nuls * 1000 > len(trimmed):
        return None
    if nuls:
        problem = "holds NUL bytes, shown as \ufffd"
    try:
        return trimmed.decode().replace("\0", "\ufffd"), "utf-8", problem
    except UnicodeDecodeError:
        pass
    if (len(trimmed) - len(trimmed.translate(None, _CONTROL))) * 50 > len(trimmed):
        return None
    text, encoding = _guess(trimmed)
    wrong = "has bytes that are not UTF-8" if encoding == "utf-8" else f"is not UTF-8, read as {encoding}"
    return text.replace("\0", "\ufffd"), encoding, f"{wrong}: save it as UTF-8"


def _snapshot(full: Path, path: str) -> tuple[bytes, FileEntry] | Problem | None:
    """Return a file's bytes and status; None if it changed while it was read."""
    descriptor = platform.FS.open_to_read(full, links=False)
    try:
        before = os.fstat(descriptor)
        if before.st_size > READ_LIMIT:
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
    decoded = decode(data)
    if decoded is None:
        return Problem(path, "is binary, not text: save it as UTF-8 text")
    text, encoding, wrong = decoded
    problems: tuple[Problem, ...] = (Problem(path, wrong, skipped=False),) if wrong else ()
    if is_marked(data):
        problems += (Problem(path, "git marked two versions in it: `mnemark merge --repair`", skipped=False),)
        text = without_marks(text)
    return Document(path, digest(data), text, entry, encoding, problems)


def _marked(data: bytes, encoding: str) -> tuple[str, str, str | None]:
    text = data.decode(encoding, "replace")
    # A damaged character and one that was always U+FFFD look alike; only the strict reading can tell.
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return text.replace("\0", "\ufffd"), encoding, f"has damaged {encoding} characters"
    problem = "holds NUL characters, shown as \ufffd" if "\0" in text else None
    return text.replace("\0", "\ufffd"), encoding, problem


def _guess(data: bytes) -> tuple[str, str]:
    utf8 = data.decode("utf-8", "replace")
    bad = utf8.count("\ufffd")
    if len(_HIGH.findall(utf8)) - bad >= bad:
        return utf8, "utf-8"
    chinese = data.decode("gb18030", "replace")
    if _everyday_chinese(chinese):
        return chinese, "gb18030"
    try:
        western = data.decode("cp1252")
    except UnicodeDecodeError:
        return utf8, "utf-8"
    # Accents are sparse; a quarter of the text above ASCII is some other alphabet.
    if len(_HIGH.findall(western)) * 4 < len(western):
        return western, "cp1252"
    return utf8, "utf-8"


def _everyday_chinese(text: str) -> bool:
    """Whether most characters above ASCII are among the 3,755 of GB 2312's first level, or its punctuation.

    Other encodings read as GB18030 give characters too, but rare ones.
    """
    high: list[str] = _HIGH.findall(text)
    codes = (character.encode("gb2312", "ignore") for character in high)
    common = sum(len(code) == 2 and (0xB0 <= code[0] <= 0xD7 or code[0] in {0xA1, 0xA3}) for code in codes)
    return common * 10 >= len(high) * 7


def _too_large(path: str, size: int) -> Problem:
    limit = READ_LIMIT // 1024 // 1024
    return Problem(layout.shown(path), f"has {size / 1024 / 1024:.0f} MB, more than {limit}: split it")
