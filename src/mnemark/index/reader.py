"""Read one moment of the index with unsynced turns on top: what a search looks at."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.files.scan import ignorer
from mnemark.files.tombstones import Tombstones
from mnemark.index import unindexed
from mnemark.index.snapshot import Positions, Snapshot
from mnemark.index.store import Index, Record
from mnemark.index.unindexed import NOTHING, LogSizes, Pending
from mnemark.index.units import first_ordinal


class View:
    """A snapshot and the pending turns in it. Valid inside `Reader.reading` only."""

    def __init__(self, index: Index, snapshot: Snapshot, later: Pending) -> None:
        self.snapshot = snapshot
        self.complete = later.complete
        """Whether everything acknowledged so far is in it."""
        self._index = index
        self._later = later
        self.scopes: Mapping[str, int] = later.scopes or index.scopes()

    def fetch(self, positions: Sequence[int] | npt.NDArray[np.int64]) -> list[Record]:
        """Return the passages at these positions, in that order."""
        numbers = [int(number) for number in self.snapshot.rows["passage"][positions]]
        stored = self._index.fetch([number for number in numbers if number >= 0])
        return [self._later.records[number] if number < 0 else stored[number] for number in numbers]

    def positions(self, path: str, line: int = 0) -> Positions:
        """Return the positions of a document's passages from a line on; none for an unknown document."""
        document = self._later.documents.get(path)
        if document is None:
            document = self._index.document(path)
        if document is None:
            return np.zeros(0, np.int64)
        rows = self.snapshot.rows
        return np.flatnonzero((rows["document"] == document) & (rows["ordinal"] >= first_ordinal(line)))


class _State(NamedTuple):
    """The sizes of the logs, and what is hidden in them."""

    logs: int
    """Rises with each change of the sizes."""
    sizes: Mapping[str, int]
    hidden: Tombstones


class _Moment(NamedTuple):
    """What was read on top of a stored snapshot, and of which state of the logs."""

    stored: Snapshot
    logs: int
    hidden: int
    later: Pending
    joined: Snapshot

    def covers(self, stored: Snapshot, state: _State) -> bool:
        """Whether all that was to be read of the logs then is in it."""
        return self.stored is stored and self.logs >= state.logs and self.hidden == state.hidden.version


class Reader:
    """Reads an index together with what was written after its last sync. Safe to use from several threads."""

    def __init__(self, index: Index, *, limit: int = 256, ignore: Sequence[str] = ()) -> None:
        self.index = index
        self._ignored = ignorer(ignore)
        self.logs = LogSizes(index.root)
        self._limit = limit
        self._reading = threading.Lock()
        self._moment: _Moment | None = None

    @contextmanager
    def reading(self) -> Iterator[View]:
        """Yield the state of this moment."""
        with self.index.reading() as stored:
            moment = self._current(stored)
            yield View(self.index, moment.joined, moment.later)

    def _current(self, stored: Snapshot) -> _Moment:
        """Return what was read last if that is all; else one thread reads, and those that wait take it.

        Each reading for itself would take the time and the memory as often as there are threads.
        """
        known = self._moment
        if known is not None and known.covers(stored, self._state()):
            return known
        with self._reading:
            known, state = self._moment, self._state()
            if known is not None and known.covers(stored, state):
                return known
            found = self._read(stored, state, known)
            if self.index.is_newest(stored):  # else it is of a moment that has passed
                self._moment = found
            return found

    def drop_cache(self) -> None:
        """Drop what was read: something of it was erased."""
        self._moment = None

    def _state(self) -> _State:
        return _State(*self.logs.current(), self.index.hidden.current())

    def _read(self, stored: Snapshot, state: _State, known: _Moment | None) -> _Moment:
        same = known is not None and known.stored is stored and known.hidden == state.hidden.version
        before = known.later if known is not None and same else NOTHING
        later, joined = NOTHING, stored
        stale = self.index.outdated(state.hidden)
        grown = unindexed.growth(self.index, state.sizes, self._ignored, stale)
        if grown or stale:
            later = unindexed.load(self.index, grown, self._limit, state.hidden, stale, before=before)
        if later.segment is not None:
            joined = stored.extended(later.segment, later.new, later.replaced)
        return _Moment(stored, state.logs, state.hidden.version, later, joined)
