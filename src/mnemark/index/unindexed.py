"""Index turns written after the last sync, in memory.

They are searchable at once, with the same scores as after a sync.
"""

from pathlib import Path
from typing import Final

import numpy as np

from mnemark.errors import UsageError
from mnemark.files import layout, platform
from mnemark.files.layout import Place
from mnemark.files.tombstones import Tombstones
from mnemark.index.batch import passage_row, passage_text
from mnemark.index.growth import NOTHING, Growth, IndexedLog, Pending, ReadLog, indexed_logs
from mnemark.index.logs import LogReader
from mnemark.index.passage import Unit, scope_of
from mnemark.index.segment_builder import SegmentBuilder
from mnemark.index.snapshot import SegmentView
from mnemark.index.store import Index, Record
from mnemark.index.units import turn_units

MAX_BYTES: Final = 1 << 20
"""Maximum unsynced bytes to read; beyond it the result is marked incomplete."""
_JOURNAL_SHARE: Final = 16
_EDGE_BYTES: Final = 256


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


def _is_unchanged(log: Path, read: ReadLog) -> bool:
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


class Gathered:
    """Passages that are in no index, analysed as those of one; their numbers are negative.

    Args:
        scopes: the ids of the known scopes, by name.
    """

    def __init__(self, scopes: dict[str, int]) -> None:
        self.scopes = scopes
        self.builder = SegmentBuilder()
        self.records: dict[int, Record] = {}

    def add(self, unit: Unit, path: str, place: Place, document: int) -> None:
        """Add a passage of a document."""
        number, name = -1 - len(self.records), scope_of(unit, place)
        scope = self.scopes.setdefault(name, -1 - len(self.scopes))
        self.builder.add(passage_row(number, document, unit, place, scope), passage_text(unit))
        self.records[number] = Record(
            id=number, path=path, scope=name, start_line=unit.start_line, end_line=unit.end_line,
            kind=unit.kind, origin=unit.origin, role=unit.role, title=unit.title, date=unit.date,
            text=unit.text, meta=unit.meta,
        )  # fmt: skip

    def segment(self) -> SegmentView:
        """Return them as a segment."""
        return SegmentView(self.builder.rows(), np.zeros(len(self.builder), np.bool_), 0, self.builder.read)


class _Loading:
    def __init__(self, index: Index, limit: int, hidden: Tombstones, stale: frozenset[str]) -> None:
        self.index = index
        self.limit = limit
        self.hidden = hidden
        self.known = indexed_logs(index)
        self.stale = stale
        self.passages = Gathered(index.scopes())
        self.documents: dict[str, int] = {}
        self.new: dict[int, int] = {}
        self.replaced: list[int] = []
        self.read: dict[str, ReadLog] = {}
        self.next = int(index.scalar("SELECT coalesce(max(id), 0) FROM documents")) + 1

    def resume(self, before: Pending) -> None:
        """Start from a copy of what was read before, which other threads may still use."""
        self.passages.scopes = dict(before.scopes)
        self.passages.records = dict(before.records)
        if before.builder is not None:
            self.passages.builder = before.builder.copy()
        self.documents = dict(before.documents)
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
        passages = self.passages
        in_order = [number for _, number in sorted(self.documents.items())]
        return Pending(
            segment=passages.segment() if len(passages.builder) or self.replaced else None,
            records=passages.records,
            documents=self.documents,
            scopes=passages.scopes,
            complete=complete,
            new=tuple((number, self.new[number]) for number in in_order if number in self.new),
            replaced=tuple(self.replaced),
            builder=passages.builder,
            read=self.read,
        )

    def _start(self, path: str, known: IndexedLog | None, size: int) -> int:
        return 0 if known is None or path in self.stale else known.start(size)

    def _log(self, path: str, size: int, place: Place, known: IndexedLog | None) -> None:
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
            self.documents[path] = known.document if known else self._new_document(path)
            if known and not start:
                self.replaced.append(known.document)
        tail, lines = chunks[-1][1:] if chunks else (start, lines)
        edge = _edge(self.index.root / path, tail)
        self.read[path] = ReadLog(state.inode if state else 0, tail, lines, edge)
        document = self.documents[path]
        for chunk in chunks:
            left = self.index.visible.turns(chunk.turns, self.hidden)
            for unit in turn_units(left, limit=self.limit, title=reader.title):
                self.passages.add(unit, path, place, document)

    def _new_document(self, path: str) -> int:
        sql = "SELECT count(*) FROM documents WHERE path < ?"
        number = self.next + len(self.new)
        self.new[number] = int(self.index.scalar(sql, (path,)))
        return number
