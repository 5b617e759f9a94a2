"""Plan the steps of a sync from file stats, without I/O."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from mnemark.files.platform import Identity
from mnemark.files.scan import FileEntry

RACY_NS: Final = 2_000_000_000
"""A file read within two seconds of its last change is read again: timestamps may be that coarse."""

Action = Literal["add", "read", "append", "move", "remove"]


class KnownFile(msgspec.Struct, frozen=True):
    """The indexed state of one file."""

    document: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    checked_ns: int
    tail: int


class SyncStep(msgspec.Struct, frozen=True):
    """An action on one file. `old` is its previous path, for a move."""

    action: Action
    path: str
    entry: FileEntry | None = None
    old: str = ""


def plan(files: Sequence[FileEntry], known: Mapping[str, KnownFile]) -> list[SyncStep]:
    """Return the steps that bring the index to `files`, in an order that is safe to interrupt.

    "read": the stat differs or cannot be trusted; the sync compares the content hash. "append": the same for
    logs (`.jsonl`); the sync checks that the indexed part is unchanged. "move": a file vanished and a new one
    has its device, inode and size.
    """
    present = {entry.path for entry in files}
    gone = {path: old for path, old in known.items() if path not in present}
    by_identity = {(old.device, old.inode, old.size): path for path, old in gone.items() if old.inode}
    steps: list[SyncStep] = []
    moved: set[str] = set()
    for entry in files:
        old = known.get(entry.path)
        if old is None:
            source = by_identity.pop((entry.device, entry.inode, entry.size), None) if entry.inode else None
            if source is not None:
                moved.add(source)
                steps.append(SyncStep("move", entry.path, entry, source))
            else:
                steps.append(SyncStep("add", entry.path, entry))
        elif not unchanged(entry, old):
            steps.append(SyncStep("append" if entry.path.endswith(".jsonl") else "read", entry.path, entry))
    removals = [SyncStep("remove", path) for path in gone if path not in moved]
    return removals + steps


def unchanged(entry: FileEntry, old: KnownFile) -> bool:
    """Whether the stat alone proves that the content is as indexed."""
    same = (
        entry.size == old.size
        and entry.mtime_ns == old.mtime_ns
        and entry.ctime_ns == old.ctime_ns
        and entry.inode == old.inode
        and entry.device == old.device
    )
    return same and max(entry.mtime_ns, entry.ctime_ns) + RACY_NS <= old.checked_ns


def differing(files: Sequence[FileEntry], known: Mapping[str, KnownFile]) -> list[SyncStep]:
    """Return the steps of `plan` for files that differ by size or time, for people.

    Those that were indexed too soon after their last change are read again, but not told.
    """
    return [
        step
        for step in plan(files, known)
        if step.entry is None
        or (old := known.get(step.path)) is None
        or (step.entry.size, step.entry.mtime_ns) != (old.size, old.mtime_ns)
    ]


def only_grew(before: Identity | None, after: Identity | None) -> bool:
    """Whether a log is the same file and, if it changed, has grown."""
    if before is None or after is None:
        return False
    same = (before.device, before.inode) == (after.device, after.inode)
    return same and (after == before or after.size > before.size)
