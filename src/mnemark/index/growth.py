"""Tell which logs grew since they were indexed, and hold what was read of them.

`unindexed` reads them, and is loaded where there is anything to read.
"""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from mnemark.files import layout, listing
from mnemark.files.scan import Ignore
from mnemark.index.snapshot import SegmentView
from mnemark.index.store import Index, Record

if TYPE_CHECKING:
    from mnemark.index.segment_builder import SegmentBuilder

_PAUSE_FACTOR: Final = 50

Growth = tuple[tuple[str, int], ...]
"""Paths and sizes of logs that differ from their indexed state."""


class ReadLog(msgspec.Struct, frozen=True):
    """The part of a log that was read."""

    inode: int
    tail: int
    """Offset to continue from; 0 if the last line was incomplete."""
    lines: int
    edge: bytes
    """The last bytes before `tail`, which differ if the log was rewritten."""


class Pending(NamedTuple):
    """Turns that are not in the index yet."""

    segment: SegmentView | None
    records: Mapping[int, Record]
    """Passages by their number, which is negative."""
    documents: Mapping[str, int]
    """Document ids of the logs, by path."""
    scopes: Mapping[str, int]
    """All scopes, including new ones; empty if nothing is pending."""
    complete: bool
    new: tuple[tuple[int, int], ...] = ()
    """Logs that are not in the index, in path order: id, and the number of indexed paths before it."""
    replaced: tuple[int, ...] = ()
    """Documents whose indexed passages are outdated and ignored."""
    builder: "SegmentBuilder | None" = None
    """The builder of the segment."""
    read: Mapping[str, ReadLog] = {}
    """The part read of each log, by path."""


NOTHING: Final = Pending(None, {}, {}, {}, complete=True)


class IndexedLog(msgspec.Struct, frozen=True):
    """The indexed state of a log."""

    document: int
    size: int
    tail: int
    lines: int
    checked: int

    def start(self, size: int) -> int:
        """Return the offset to read from; 0 for a log that has shrunk or had an incomplete last line."""
        return self.tail if size >= self.tail else 0

    def differs(self, size: int) -> bool:
        """Whether the log may have turns that are not indexed; `checked` is 0 while a sync is incomplete."""
        return size != self.size or not self.checked


class LogSizes:
    """Cached sizes of all logs and journals; writes of other processes appear after a short delay.

    A scan costs a `stat` for each log. It is repeated only after `_PAUSE_FACTOR` times its duration, so that
    scans take a small share of the time even with thousands of sessions. Without a root there are none.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = {}
        self._version = 0
        self._due = float("-inf")

    def wrote(self, path: str, size: int) -> None:
        """Record that this process wrote the log at `path` up to `size` bytes."""
        with self._lock:
            self._sizes = self._sizes | {path: max(size, self._sizes.get(path, 0))}
            self._version += 1

    def current(self) -> tuple[int, Mapping[str, int]]:
        """Return a version number and the sizes by path."""
        with self._lock:
            started = time.monotonic()
            if self._root is not None and started >= self._due:
                found = dict(_log_sizes(self._root))
                if found != self._sizes:
                    self._sizes = found
                    self._version += 1
                ended = time.monotonic()
                self._due = ended + _PAUSE_FACTOR * (ended - started)
            return self._version, self._sizes


def growth(index: Index, sizes: Mapping[str, int], ignored: Ignore, stale: frozenset[str]) -> Growth:
    """Return the logs that, by size, changed since they were indexed, and those in `stale`."""
    known = indexed_logs(index) if sizes else {}
    changed = (
        (path, size)
        for path, size in sizes.items()
        if path not in known or path in stale or known[path].differs(size)
    )
    return tuple(sorted((path, size) for path, size in changed if not ignored(path)))


def indexed_logs(index: Index) -> dict[str, IndexedLog]:
    """Return the indexed state of all logs, by path."""
    sql = "SELECT path, id, size, tail, lines, checked_ns FROM documents WHERE path LIKE '%.jsonl'"
    return {path: IndexedLog(*rest) for path, *rest in index.rows(sql)}


def _log_sizes(root: Path) -> Iterator[tuple[str, int]]:
    for folder in _session_folders(root):
        try:
            with os.scandir(root / folder) as entries:
                logs = [entry for entry in entries if entry.name.lower().endswith(".jsonl")]
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        for entry in logs:
            with suppress(FileNotFoundError):  # deleted since; the others are there
                if entry.is_file(follow_symlinks=False):
                    yield f"{folder}/{entry.name}", entry.stat(follow_symlinks=False).st_size


def _session_folders(root: Path) -> Iterator[str]:
    yield from (folder for folder in ("sessions", "journal") if not layout.is_workspace(root / folder))
    yield from (f"{scope}/sessions" for scope in listing.scopes(root))
