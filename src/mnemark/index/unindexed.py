"""Index turns written after the last sync, in memory.

They are searchable at once, with the same scores as after a sync.
"""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np

from mnemark.errors import UsageError
from mnemark.files import layout, listing, platform
from mnemark.files.layout import Place
from mnemark.files.scan import Ignore
from mnemark.files.tombstones import Tombstones
from mnemark.index.passage import Unit, scope_of
from mnemark.index.snapshot import SegmentView
from mnemark.index.store import Index, Record

if TYPE_CHECKING:
    from mnemark.index.segment_builder import SegmentBuilder

MAX_BYTES: Final = 1 << 20
"""Maximum unsynced bytes to read; beyond it the result is marked incomplete."""
_JOURNAL_SHARE: Final = 16
_PAUSE_FACTOR: Final = 50
_EDGE_BYTES: Final = 256

Growth = tuple[tuple[str, int], ...]
"""Paths and sizes of logs that differ from their indexed state."""


class _ReadLog(msgspec.Struct, frozen=True):
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
    read: Mapping[str, _ReadLog] = {}
    """The part read of each log, by path."""


NOTHING: Final = Pending(None, {}, {}, {}, complete=True)


class _IndexedLog(msgspec.Struct, frozen=True):
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
    known = _known(index) if sizes else {}
    changed = (
        (path, size)
        for path, size in sizes.items()
        if path not in known or path in stale or known[path].differs(size)
    )
    return tuple(sorted((path, size) for path, size in changed if not ignored(path)))


def _known(index: Index) -> dict[str, _IndexedLog]:
    sql = "SELECT path, id, size, tail, lines, checked_ns FROM documents WHERE path LIKE '%.jsonl'"
    return {path: _IndexedLog(*rest) for path, *rest in index.rows(sql)}


def load(
    index: Index,
    grown: Growth,
    limit: int,
    hidden: Tombstones,
    stale: frozenset[str],
    *,
    before: Pending = NOTHING,
) -> Pending:
    """Read the grown logs, up to `MAX_BYTES`, in a read transaction; ignore the index of `stale` files.

    `before` was read for the same generation of the index and the same tombstones: if its logs only grew
    since, reading continues from there.
    """
    loading = _Loading(index, limit, hidden, stale)
    if not stale and _only_grew(index, before, grown):
        loading.resume(before)
    return loading.run(grown)


def _only_grew(index: Index, before: Pending, grown: Growth) -> bool:
    """Whether all logs that were read before are unchanged up to the offset that was read."""
    if before.builder is None or before.replaced or not before.complete:
        return False
    known = before.read.keys() <= {path for path, _ in grown}
    return known and all(_is_unchanged(index.root / path, read) for path, read in before.read.items())


def _is_unchanged(log: Path, read: _ReadLog) -> bool:
    state = platform.identity(log)
    if state is None or not read.tail or state.inode != read.inode or state.size < read.tail:
        return False
    try:
        return _edge(log, read.tail) == read.edge
    except OSError:  # gone since
        return False


def _edge(log: Path, offset: int) -> bytes:
    with platform.opened(log) as file:
        file.seek(max(offset - _EDGE_BYTES, 0))
        return file.read(min(_EDGE_BYTES, offset))


class _Loading:
    def __init__(self, index: Index, limit: int, hidden: Tombstones, stale: frozenset[str]) -> None:
        self.index = index
        self.limit = limit
        self.hidden = hidden
        self.known = _known(index)
        self.stale = stale
        self.scopes = index.scopes()
        from mnemark.index.segment_builder import SegmentBuilder

        self.builder = SegmentBuilder()
        self.records: dict[int, Record] = {}
        self.documents: dict[str, int] = {}
        self.new: dict[int, int] = {}
        self.replaced: list[int] = []
        self.read: dict[str, _ReadLog] = {}
        self.next = int(index.scalar("SELECT coalesce(max(id), 0) FROM documents")) + 1

    def resume(self, before: Pending) -> None:
        """Start from a copy of what was read before, which other threads may still use."""
        if before.builder is not None:
            self.builder = before.builder.copy()
        self.records = dict(before.records)
        self.documents = dict(before.documents)
        self.scopes = dict(before.scopes)
        self.new = dict(before.new)
        self.read = dict(before.read)

    def run(self, grown: Growth) -> Pending:
        room, complete = MAX_BYTES, True
        for path in sorted(self.stale):
            if (document := self.index.document(path)) is not None:
                self.replaced.append(document)
            # A stale note is left out until the next sync.
            complete = complete and path in self.known
        for path, size in grown:
            place = layout.place(path)
            if place is None or not place.searchable or layout.shown(path) != path:
                continue
            known = self.known.get(path)
            # Only observations of a journal are indexed: most of its bytes are skipped.
            share = _JOURNAL_SHARE if place.role == "journal" else 1
            room -= (size - self._start(path, known, size)) // share
            if room < 0:
                complete = False
                break
            try:
                self._log(path, size, place, known)
            except (OSError, UsageError):  # deleted or unreadable: the next sync reports it
                complete = False
        view = None
        if len(self.builder) or self.replaced:
            dead = np.zeros(len(self.builder), np.bool_)
            view = SegmentView(self.builder.rows(), dead, 0, self.builder.read)
        in_order = [number for _, number in sorted(self.documents.items())]
        return Pending(
            segment=view,
            records=self.records,
            documents=self.documents,
            scopes=self.scopes,
            complete=complete,
            new=tuple((number, self.new[number]) for number in in_order if number in self.new),
            replaced=tuple(self.replaced),
            builder=self.builder,
            read=self.read,
        )

    def _start(self, path: str, known: _IndexedLog | None, size: int) -> int:
        return 0 if known is None or path in self.stale else known.start(size)

    def _log(self, path: str, size: int, place: Place, known: _IndexedLog | None) -> None:
        state = platform.identity(self.index.root / path)
        before = self.read.get(path)
        if before is not None and state is not None and state.size == before.tail:
            return
        from mnemark.index.batch import passage_row, passage_text
        from mnemark.index.logs import LogReader
        from mnemark.index.units import turn_units

        reader = LogReader(self.index.root, path)
        start = self._start(path, known, size)
        lines = known.lines if known and start else 0
        if before is not None:
            start, lines = before.tail, before.lines
        chunks = list(reader.chunks(start, lines, 1 << 20))
        if before is None:
            self.documents[path] = known.document if known else self._new_document(path)
            if known and not start:
                self.replaced.append(known.document)
        tail, lines = chunks[-1][1:] if chunks else (start, lines)
        edge = _edge(self.index.root / path, tail)
        self.read[path] = _ReadLog(state.inode if state else 0, tail, lines, edge)
        document = self.documents[path]
        for chunk in chunks:
            left = self.index.visible.turns(chunk.turns, self.hidden)
            for unit in turn_units(left, limit=self.limit, title=reader.title):
                passage = -1 - len(self.records)
                name = scope_of(unit, place)
                scope = self.scopes.setdefault(name, -1 - len(self.scopes))
                row = passage_row(passage, document, unit, place, scope)
                self.builder.add(row, passage_text(unit))
                self.records[passage] = record_of(passage, path, name, reader.title, unit)

    def _new_document(self, path: str) -> int:
        sql = "SELECT count(*) FROM documents WHERE path < ?"
        number = self.next + len(self.new)
        self.new[number] = int(self.index.scalar(sql, (path,)))
        return number


def record_of(number: int, path: str, scope: str, title: str, unit: Unit) -> Record:
    """Return a passage that is in no index."""
    return Record(
        id=number,
        path=path,
        scope=scope,
        document_title=title,
        start_line=unit.start_line,
        end_line=unit.end_line,
        kind=unit.kind,
        origin=unit.origin,
        role=unit.role,
        title=unit.title,
        date=unit.date,
        text=unit.text,
        meta=unit.meta,
    )


def _log_sizes(root: Path) -> Iterator[tuple[str, int]]:
    for folder in _session_folders(root):
        try:
            with os.scandir(root / folder) as entries:
                for entry in entries:
                    if entry.name.lower().endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                        yield f"{folder}/{entry.name}", entry.stat(follow_symlinks=False).st_size
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue


def _session_folders(root: Path) -> Iterator[str]:
    yield from (folder for folder in ("sessions", "journal") if not layout.is_workspace(root / folder))
    yield from (f"{scope}/sessions" for scope in listing.scopes(root))
