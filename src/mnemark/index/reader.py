"""One moment of the index with what is still pending on top: what a search looks at."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from mnemark.files.scan import ignorer
from mnemark.index import pending
from mnemark.index.pending import NOTHING, LogSizes, Pending
from mnemark.index.snapshot import Positions, Snapshot
from mnemark.index.store import Index, Record
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
        """The passages at these positions, in that order."""
        numbers = [int(number) for number in self.snapshot.rows["passage"][positions]]
        stored = self._index.fetch([number for number in numbers if number >= 0])
        return [self._later.records[number] if number < 0 else stored[number] for number in numbers]

    def positions(self, path: str) -> Positions:
        """Positions of a document's passages; none where there is no such document."""
        document = self._document(path)
        if document is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.snapshot.rows["document"] == document)

    def _document(self, path: str) -> int | None:
        document = self._later.documents.get(path)
        return self._index.document(path) if document is None else document

    def window(self, path: str, line: int) -> Positions:
        """Positions of a document's passages from a line on."""
        document = self._document(path)
        if document is None:
            return np.zeros(0, np.int64)
        rows = self.snapshot.rows
        return np.flatnonzero((rows["document"] == document) & (rows["ordinal"] >= first_ordinal(line)))


class Reader:
    """Reads an index together with what was written after its last sync. Safe to use from several threads."""

    def __init__(self, index: Index, *, limit: int = 256, ignore: Sequence[str] = ()) -> None:
        self.index = index
        self._ignored = ignorer(ignore)
        self.logs = LogSizes(index.root)
        self._limit = limit
        self._lock = threading.Lock()
        self._pending = NOTHING
        self._state = (-1, -1, -1)
        self._joined: tuple[Snapshot, Pending, Snapshot] | None = None

    @contextmanager
    def reading(self) -> Iterator[View]:
        """The state of this moment."""
        with self.index.reading() as stored:
            later = self._later(stored)
            yield View(self.index, self._join(stored, later), later)

    def _later(self, stored: Snapshot) -> Pending:
        version, sizes = self.logs.current()
        hidden = self.index.hidden.current()
        state = (version, stored.generation, hidden.version)
        with self._lock:
            if self._state == state:
                return self._pending
            before = self._pending if self._state[1:] == state[1:] else NOTHING
        stale = pending.outdated(self.index, hidden)
        grown = pending.growth(self.index, sizes, self._ignored, stale)
        later = NOTHING
        if grown or stale:
            later = pending.load(self.index, grown, self._limit, hidden, stale, before=before)
        with self._lock:
            self._state, self._pending = state, later
        return later

    def _join(self, stored: Snapshot, later: Pending) -> Snapshot:
        if later.segment is None:
            self._joined = None  # else two moments of the past would stay in memory
            return stored
        with self._lock:
            if self._joined is not None and self._joined[0] is stored and self._joined[1] is later:
                return self._joined[2]
        joined = stored.extended(later.segment, later.new, later.replaced)
        with self._lock:
            self._joined = (stored, later, joined)
        return joined
