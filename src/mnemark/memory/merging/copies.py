"""Join the copies that programs for syncing leave where two machines changed a file, and what git marked.

What a copy has beside its original is put into that; then the copy goes to the archive. What was erased here
does not come back with it.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.files import layout, platform
from mnemark.files.copies import ARCHIVE, Copy, may_be_copy, plan_copies
from mnemark.files.disk_errors import unread
from mnemark.files.join import join_logs
from mnemark.files.layout import in_scope
from mnemark.files.marks import is_marked, versions_of
from mnemark.files.names import free_name
from mnemark.files.private import private
from mnemark.files.scan import scan
from mnemark.memory import file_edits
from mnemark.memory.forgetting import erase
from mnemark.memory.merging.bases import Bases
from mnemark.memory.merging.join import JoinedFile, join_file, kind_of
from mnemark.memory.merging.steps import put_log
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.lines import decode

_STEP: Final = "copies"
_ALIKE: Final = 0.5
"""Share of the lines of a file that are in the other, from which on an unsure name is that of a copy."""


def copies_among(ws: OpenWorkspace, paths: Iterable[str]) -> list[Copy]:
    """Return the copies among relative paths, also those whose names alone do not tell."""
    known = list(paths)
    sure = plan_copies(known)
    names = {copy.path for copy in sure}
    unsure = [
        Copy(path, original, "unknown")
        for path in known
        if path not in names
        for original in may_be_copy(path)
        if kind_of(path) in {"log", "facts"} and _is_alike(ws, path, original)
    ]
    return sorted([*sure, *unsure], key=lambda copy: copy.path)


def _is_alike(ws: OpenWorkspace, path: str, original: str) -> bool:
    try:
        one, other = (platform.content(ws.root / name).split(b"\n") for name in (path, original))
    except OSError:
        return False
    shared = set(filter(None, one)) & set(filter(None, other))
    return len(shared) >= max(1, _ALIKE * min(len(set(one)), len(set(other))))


def join_copies(
    ws: OpenWorkspace, copies: Iterable[Copy] | None = None, *, dry_run: bool = False
) -> list[str]:
    """Join the copies, and return a line for each, for people.

    Args:
        ws: the workspace.
        copies: those to join; all that are there by default.
        dry_run: only say what would be joined.
    """
    if copies is None:
        found = scan(ws.root, ignore=ws.config.ignore)
        copies = copies_among(ws, (entry.path for entry in (*found.entries, *found.journals)))
    there = [copy for copy in copies if (ws.root / copy.original).is_file()]
    if there and not dry_run:
        erase.again(ws, {copy.path: copy.original for copy in there})
    return [text for copy in there if (text := _joined(ws, copy, dry_run=dry_run))]


def _joined(ws: OpenWorkspace, copy: Copy, *, dry_run: bool) -> str:
    """Join a copy, and return what was done; nothing where it is for a person, or a file is busy."""
    try:
        ours, theirs = (platform.content(ws.root / path) for path in (copy.original, copy.path))
    except OSError:  # told by the sync
        return ""
    joined = _join(ws, copy, ours, theirs)
    if joined is None:
        return ""
    count = "1 message" if joined.added == 1 else f"{joined.added:,} messages"
    what = count if kind_of(copy.original) == "log" else "what is new"
    if dry_run:
        return f"{copy.path}: {what} would be joined to {copy.original}; would be moved to {ARCHIVE}"
    if not _write(ws, copy.original, joined):
        return ""
    scope = layout.scope_of(copy.path)
    flat = copy.path.removeprefix(f"{scope}/").replace("/", "-")
    to = free_name(ws.root, in_scope(scope, f"{ARCHIVE}/{flat}"))
    if file_edits.move(ws, copy.path, to, step=_STEP).status != "written":
        return ""
    were = "was" if joined.added == 1 else "were"
    done = (
        f"{count} {were} joined to {copy.original}"
        if kind_of(copy.original) == "log"
        else (f"joined to {copy.original}" if joined.data != ours else f"{copy.original} has all its lines")
    )
    marked = "; both versions of some lines stand in it, marked: keep one" if joined.doubled else ""
    return f"{copy.path}: {done}{marked}; moved to {to}"


def _join(ws: OpenWorkspace, copy: Copy, ours: bytes, theirs: bytes) -> JoinedFile | None:
    kind, bases = kind_of(copy.original), Bases(private(ws.root))
    if kind == "other":
        return None
    if kind != "log" and copy.tool != "mnemark" and bases.knows(copy.original, theirs):
        return JoinedFile(ours)  # an earlier version
    joined = join_file(copy.original, None, ours, theirs, zone=ws.fact_store.zone)
    if joined.beside is not None:  # not all of it can be joined: it stays for a person
        return None
    # mnemark's own copies are versions that could not be joined: with a person's word only.
    return None if copy.tool == "mnemark" and joined.data != ours else joined


def _write(ws: OpenWorkspace, path: str, joined: JoinedFile) -> bool:
    if kind_of(path) == "log":
        put_log(ws.truth, path, lambda now: join_logs(now, joined.data).data)
        return True
    text = decode(joined.data)
    try:
        return file_edits.write(ws, path, lambda _: text, step=_STEP).status != "deferred"
    except UnicodeEncodeError:  # bytes that are no text: for a person
        return False


def repair(ws: OpenWorkspace, *, dry_run: bool = False) -> list[str]:
    """Join the versions that git marked in files (`<<<<<<<`), and return a line for each file."""
    told = []
    for path in _marked(ws):
        data = platform.content(ws.root / path)
        if kind_of(path) == "log":
            joined = JoinedFile(join_logs(data, b"").data)
        else:
            base, ours, theirs = versions_of(data)
            joined = join_file(path, base, ours, theirs, zone=ws.fact_store.zone)
            if joined.beside is not None:
                told.append(f"{path}: both changed its front matter or code; choose by hand")
                continue
        if not dry_run and not _write(ws, path, joined):
            raise MnemarkError(f"{path}: another program is saving it; try again in a moment")
        marked = ": both versions of some lines stand in it, marked; keep one" if joined.doubled else ""
        told.append(f"{path}{marked}")
    return told


def _marked(ws: OpenWorkspace) -> Iterator[str]:
    found = scan(ws.root, ignore=ws.config.ignore)
    for entry in (*found.entries, *found.journals):
        try:
            if is_marked(platform.content(ws.root / entry.path)):
                yield entry.path
        except OSError as error:
            raise MnemarkError(f"{entry.path} {unread(error)}") from error
