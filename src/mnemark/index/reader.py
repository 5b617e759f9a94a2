"""Read a consistent snapshot of the index combined with turns that are not synced yet."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.errors import IntegrityError
from mnemark.facts.visible import Visible
from mnemark.files.scan import chosen, ignorer
from mnemark.files.tombstones import Tombstones
from mnemark.index.derived import Edges, derived_passages, edges
from mnemark.index.growth import NOTHING, LogSizes, Pending, growth
from mnemark.index.passage import content_keys, names_of
from mnemark.index.rows import KIND_CODE, USER, first_ordinal
from mnemark.index.snapshot import Positions, Snapshot
from mnemark.index.store import Index, Record

_IS_SAID = np.zeros(256, np.bool_)
"""Whether somebody said a passage, by its kind's code."""
_IS_SAID[[KIND_CODE["turn"], KIND_CODE["observation"]]] = True


class View:
    """A snapshot that includes the pending turns. Valid inside `Reader.reading` only."""

    def __init__(self, index: Index, snapshot: Snapshot, pending: Pending) -> None:
        self.snapshot = snapshot
        self.complete = pending.complete
        """Whether it includes everything written so far."""
        self._index = index
        self._pending = pending
        self._speakers: dict[int, str] = {}
        """Who said the stored passages that were read so far, by id."""

    @cached_property
    def scopes(self) -> Mapping[str, int]:
        """The ids of scopes by name."""
        return self._pending.scopes or self._index.scopes()

    def frequencies(self, terms: Iterable[str]) -> Mapping[str, int]:
        """Return how many stored passages hold each of the terms; one that none holds may be missing."""
        return self._index.frequencies(terms)

    def derived(self) -> Edges | None:
        """Return the derived passages with their sources; None where there are none."""
        memo = self.snapshot.memo
        if "derived" not in memo:
            at = derived_passages(self.snapshot)
            sources = self._index.sources(self.snapshot, at) if len(at) else None
            memo["derived"] = None if sources is None else edges(self.snapshot, at, sources)
        return found if isinstance(found := memo["derived"], Edges) else None

    def fetch(self, positions: Sequence[int] | npt.NDArray[np.int64]) -> list[Record]:
        """Return the passages at the given positions, in that order."""
        numbers = [int(number) for number in self.snapshot.rows["passage"][positions]]
        stored = self._index.fetch([number for number in numbers if number >= 0])
        keys = dict(zip(numbers, self.snapshot.rows["key"][positions], strict=True))
        found = content_keys([(record.title, record.text) for record in stored.values()])
        if any(keys[number].tobytes() != key for number, key in zip(stored, found, strict=True)):
            raise IntegrityError("index.db has damaged texts; run `mnemark sync`")
        self._speakers |= {number: record.role for number, record in stored.items()}
        return [self._pending.records[number] if number < 0 else stored[number] for number in numbers]

    def speakers(self, positions: Positions) -> list[str]:
        """Return who said the passages at the given positions; empty for what nobody said."""
        rows = self.snapshot.rows[positions]
        user = (rows["flags"] & USER) > 0
        numbers = rows["passage"].tolist()
        found = ["user" if is_user else "" for is_user in user.tolist()]
        asked = np.flatnonzero(_IS_SAID[rows["kind"]] & ~user).tolist()  # a read from the disk for each
        new = [numbers[at] for at in asked if numbers[at] >= 0 and numbers[at] not in self._speakers]
        if new:
            self._speakers |= self._index.speakers(new)
        pending = self._pending.records
        for at in asked:
            found[at] = self._speakers[numbers[at]] if numbers[at] >= 0 else pending[numbers[at]].role
        return found

    def names(self, positions: Positions) -> list[list[str]]:
        """Return the names of the notes that the passages at the given positions are of; see `names_of`."""
        numbers = self.snapshot.rows["passage"][positions].tolist()
        known = self._index.names([number for number in numbers if number >= 0])
        return [names_of(*known[number]) if number in known else [] for number in numbers]

    def positions(self, path: str, line: int = 0) -> Positions:
        """Return the positions of a document's passages from `line` on; empty for an unknown document."""
        document = self._pending.documents.get(path)
        if document is None:
            document = self._index.document(path)
        if document is None:
            return np.zeros(0, np.int64)
        rows = self.snapshot.rows
        return np.flatnonzero((rows["document"] == document) & (rows["ordinal"] >= first_ordinal(line)))


class _LogState(msgspec.Struct, frozen=True):
    """The sizes of the logs, and the tombstones."""

    logs: int
    """A version number that increases with each change of `sizes`."""
    sizes: Mapping[str, int]
    hidden: Tombstones


class _Cached(msgspec.Struct, frozen=True):
    """A cached stored snapshot joined with pending turns, and the versions it was read at."""

    stored: Snapshot
    logs: int
    hidden: int
    pending: Pending
    joined: Snapshot

    def is_current(self, stored: Snapshot, state: _LogState) -> bool:
        """Whether it is up to date with the stored snapshot, the logs and the tombstones."""
        return self.stored is stored and self.logs >= state.logs and self.hidden == state.hidden.version


class Reader:
    """Reader of an index and of turns written after its last sync. Thread-safe."""

    def __init__(self, index: Index, *, limit: int = 256, ignore: Sequence[str] = ()) -> None:
        self.index = index
        self._ignored = ignorer(ignore)
        self.logs = LogSizes(index.root if chosen(ignore) is None else None)
        self._limit = limit
        self._load_lock = threading.Lock()
        self._cached: _Cached | None = None

    @property
    def visible(self) -> Visible:
        """The filter of the texts."""
        return self.index.visible

    @contextmanager
    def reading(self, *, logs: bool = True) -> Iterator[View]:
        """Open a read transaction and yield a view of the current state.

        Without `logs`, turns that are not synced yet are in it only where they were read before.
        """
        with self.index.reading() as stored:
            cached = self._current(stored, logs=logs)
            yield View(self.index, cached.joined, cached.pending)

    def _current(self, stored: Snapshot, *, logs: bool) -> _Cached:
        """Return the cached snapshot if it is current; else load it in one thread while others wait.

        Loading in every thread would multiply time and memory.
        """
        known = self._cached
        if known is not None and known.is_current(stored, self._log_state()):
            return known
        if not logs:
            return self._load(stored, _LogState(0, {}, self.index.hidden.current()), None)
        with self._load_lock:
            known, state = self._cached, self._log_state()
            if known is not None and known.is_current(stored, state):
                return known
            found = self._load(stored, state, known)
            if self.index.is_newest(stored):  # do not cache an older generation
                self._cached = found
            return found

    def drop_cache(self) -> None:
        """Drop the cached snapshot, because text in it was erased."""
        self._cached = None

    def _log_state(self) -> _LogState:
        return _LogState(*self.logs.current(), self.index.hidden.current())

    def _load(self, stored: Snapshot, state: _LogState, known: _Cached | None) -> _Cached:
        same = known is not None and known.stored is stored and known.hidden == state.hidden.version
        before = known.pending if known is not None and same else NOTHING
        pending, joined = NOTHING, stored
        stale = self.index.outdated(state.hidden)
        grown = growth(self.index, state.sizes, self._ignored, stale)
        if grown or stale:
            from mnemark.index import unindexed

            pending = unindexed.load(self.index, grown, self._limit, state.hidden, stale, before=before)
        if pending.segment is not None:
            joined = stored.extended(pending.segment, pending.new, pending.replaced)
        return _Cached(stored, state.logs, state.hidden.version, pending, joined)
