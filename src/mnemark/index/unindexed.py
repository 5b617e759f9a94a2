"""Index what was written after the last sync, in memory.

A write is found by the next search, whether or not a sync came in between, and scores as it will then.
"""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from mnemark.errors import UsageError
from mnemark.files import layout, listing, platform
from mnemark.files.layout import Place
from mnemark.files.scan import Ignore
from mnemark.files.tombstones import Tombstones
from mnemark.index.batch import passage_row
from mnemark.index.logs import LogReader
from mnemark.index.segment import SegmentBuilder
from mnemark.index.snapshot import SegmentView
from mnemark.index.store import Index, Record
from mnemark.index.units import Unit, scope_of, turn_units

MAX_BYTES: Final = 1 << 20
"""Beyond this much unsynced text an answer is given without the rest and says that it is not complete."""
_JOURNAL_SHARE: Final = 16
_REST: Final = 50
_EDGE: Final = 256

Growth = tuple[tuple[str, int], ...]
"""Paths and sizes of logs that differ from what the index knows."""


class _Read(NamedTuple):
    """How far a log was read."""

    inode: int
    tail: int
    """Where reading goes on; 0 where the last line was not whole."""
    lines: int
    edge: bytes
    """The last bytes before: of a log that was written anew they are others."""


class Pending(NamedTuple):
    """Turns that are not in the index yet."""

    segment: SegmentView | None
    records: Mapping[int, Record]
    """By passage number, which is negative."""
    documents: Mapping[str, int]
    """Document numbers of the logs in it."""
    scopes: Mapping[str, int]
    """All scopes, new ones included; empty where nothing is pending."""
    complete: bool
    new: tuple[tuple[int, int], ...] = ()
    """Logs that the index does not know: number, and how many known paths come before, in order of paths."""
    replaced: tuple[int, ...] = ()
    """Logs whose stored turns do not count any more."""
    builder: SegmentBuilder | None = None
    """What the segment was made with."""
    read: Mapping[str, _Read] = {}
    """How far each log was read."""


NOTHING: Final = Pending(None, {}, {}, {}, complete=True)


class _Known(NamedTuple):
    """What the index holds of a log."""

    document: int
    size: int
    tail: int
    lines: int
    checked: int

    def start(self, size: int) -> int:
        """Return where reading goes on; 0 for a log that is not what it was, or has a torn last line."""
        return self.tail if size >= self.tail else 0

    def differs(self, size: int) -> bool:
        """Whether the log may hold turns that the index does not; `checked` is 0 in the middle of a sync."""
        return size != self.size or not self.checked


class LogSizes:
    """Sizes of all logs and journals: this process's own writes at once, others' after a short while.

    Looking at all logs costs a `stat` each. It is done again only after `_REST` times as long as it took, so
    that in a workspace of thousands of sessions a search does not spend its time on looking.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = {}
        self._version = 0
        self._due = float("-inf")

    def wrote(self, path: str, size: int) -> None:
        """Note that this process wrote the log at `path` up to `size` bytes."""
        with self._lock:
            self._sizes = self._sizes | {path: max(size, self._sizes.get(path, 0))}
            self._version += 1

    def current(self) -> tuple[int, Mapping[str, int]]:
        """Sizes by path, and a number that changes with them."""
        with self._lock:
            started = time.monotonic()
            if started >= self._due:
                found = dict(_logs(self._root))
                if found != self._sizes:
                    self._sizes = found
                    self._version += 1
                ended = time.monotonic()
                self._due = ended + _REST * (ended - started)
            return self._version, self._sizes


def growth(index: Index, sizes: Mapping[str, int], ignored: Ignore, stale: frozenset[str]) -> Growth:
    """Return the logs that, by their sizes, changed since the index took them in, and those in `stale`."""
    known = _known(index)
    changed = (
        (path, size)
        for path, size in sizes.items()
        if path not in known or path in stale or known[path].differs(size)
    )
    return tuple(sorted((path, size) for path, size in changed if not ignored(path)))


def _known(index: Index) -> dict[str, _Known]:
    sql = "SELECT path, id, size, tail, lines, checked_ns FROM documents WHERE path LIKE '%.jsonl'"
    return {path: _Known(*rest) for path, *rest in index.rows(sql)}


def load(
    index: Index,
    grown: Growth,
    limit: int,
    hidden: Tombstones,
    stale: frozenset[str],
    *,
    before: Pending = NOTHING,
) -> Pending:
    """Read the grown logs, up to `MAX_BYTES`, inside a read transaction; files in `stale` do not count.

    `before` was read for the same generation of the index with the same turns hidden: where its logs only
    grew since, reading goes on behind it.
    """
    loading = _Loading(index, limit, hidden, stale)
    if not stale and _only_grew(index, before, grown):
        loading.resume(before)
    return loading.run(grown)


def _only_grew(index: Index, before: Pending, grown: Growth) -> bool:
    """Whether all that was read stands as it was, with whole lines behind it or nothing."""
    if before.builder is None or before.replaced or not before.complete:
        return False
    known = before.read.keys() <= {path for path, _ in grown}
    return known and all(_stands(index.root / path, read) for path, read in before.read.items())


def _stands(log: Path, read: _Read) -> bool:
    state = platform.identity(log)
    if state is None or not read.tail or state.inode != read.inode or state.size < read.tail:
        return False
    try:
        return _edge(log, read.tail) == read.edge
    except OSError:  # gone since
        return False


def _edge(log: Path, offset: int) -> bytes:
    with platform.opened(log) as file:
        file.seek(max(offset - _EDGE, 0))
        return file.read(min(_EDGE, offset))


class _Loading:
    def __init__(self, index: Index, limit: int, hidden: Tombstones, stale: frozenset[str]) -> None:
        self.index = index
        self.limit = limit
        self.hidden = hidden
        self.known = _known(index)
        self.stale = stale
        self.scopes = index.scopes()
        self.builder = SegmentBuilder()
        self.records: dict[int, Record] = {}
        self.documents: dict[str, int] = {}
        self.new: dict[int, int] = {}
        self.replaced: list[int] = []
        self.read: dict[str, _Read] = {}
        self.next = int(index.scalar("SELECT coalesce(max(id), 0) FROM documents")) + 1

    def resume(self, before: Pending) -> None:
        """Begin with what was read before; what others may still look at is copied."""
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
            # A note is left out whole until the next sync, which is a moment away.
            complete = complete and path in self.known
        for path, size in grown:
            place = layout.place(path)
            if place is None or not place.searchable or layout.shown(path) != path:
                continue
            known = self.known.get(path)
            # Of a journal only the observations are taken in: most of its bytes are passed over.
            share = _JOURNAL_SHARE if place.role == "journal" else 1
            room -= (size - self._start(path, known, size)) // share
            if room < 0:
                complete = False
                break
            try:
                self._log(path, size, place, known)
            except (OSError, UsageError):  # gone or unreadable just now: the next sync says what is wrong
                complete = False
        view = None
        if len(self.builder) or self.replaced:
            dead = np.zeros(len(self.builder), np.bool_)
            view = SegmentView(self.builder.rows(), dead, self.builder.posting)
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

    def _start(self, path: str, known: _Known | None, size: int) -> int:
        return 0 if known is None or path in self.stale else known.start(size)

    def _log(self, path: str, size: int, place: Place, known: _Known | None) -> None:
        state = platform.identity(self.index.root / path)
        before = self.read.get(path)
        if before is not None and state is not None and state.size == before.tail:
            return
        reader = LogReader(self.index.root, path)
        start = self._start(path, known, size)
        lines = known.lines if known and start else 0
        if before is not None:
            start, lines = before.tail, before.lines
        chunks = list(reader.chunks(start, lines, 1 << 20))
        if before is None:
            self.documents[path] = known.document if known else self._number(path)
            if known and not start:
                self.replaced.append(known.document)
        tail, lines = chunks[-1][1:] if chunks else (start, lines)
        edge = _edge(self.index.root / path, tail)
        self.read[path] = _Read(state.inode if state else 0, tail, lines, edge)
        document = self.documents[path]
        for chunk in chunks:
            left = self.index.visible.turns(chunk.turns, self.hidden)
            for unit in turn_units(left, limit=self.limit, title=reader.title):
                passage = -1 - len(self.records)
                name = scope_of(unit, place)
                scope = self.scopes.setdefault(name, -1 - len(self.scopes))
                row, packed = passage_row(passage, document, unit, place, scope)
                self.builder.add(row, packed)
                self.records[passage] = _record(passage, path, name, reader.title, unit)

    def _number(self, path: str) -> int:
        sql = "SELECT count(*) FROM documents WHERE path < ?"
        number = self.next + len(self.new)
        self.new[number] = int(self.index.scalar(sql, (path,)))
        return number


def _record(number: int, path: str, scope: str, title: str, unit: Unit) -> Record:
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


def _logs(root: Path) -> Iterator[tuple[str, int]]:
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
