"""Hold one generation of the index in memory as numpy arrays.

Passages are ordered by path and line, so that neighbours are adjacent and a document (a note, a session) is
a slice. Positions (`pos`) are indices into that order. It does not depend on the history of the index, so
sums and ties are reproducible.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.index.rows import ROW, Rows
from mnemark.index.segment import HEAD_SHIFT, TEXT_MAX, Counts, Posting, Postings

Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

_CACHE_POSTINGS: Final = 4_000_000
"""Maximum number of decoded postings cached, 16 bytes each."""


ReadPostings = Callable[[Sequence[str]], Postings]


class SegmentView(NamedTuple):
    """One segment of a snapshot: its ranking columns and dead mask, and where its posting lists are read."""

    rows: Rows
    dead: Mask
    number: int
    """Of the segment, among those that `read` reads."""
    read: ReadPostings
    """Reads the posting lists of terms in all segments of one store, at once."""


class TermHits(msgspec.Struct, frozen=True):
    """The hits of a term: rising positions, counts in text and in head (float32)."""

    pos: Positions
    text: Floats
    head: Floats

    def find(self, positions: Positions) -> tuple[Positions, Mask]:
        """Return where each of these positions stands, and whether it does; there must be a hit."""
        place = np.minimum(np.searchsorted(self.pos, positions), len(self.pos) - 1)
        return place, self.pos[place] == positions

    def among(self, positions: Positions) -> Mask:
        """Return which of these positions hold the term."""
        return self.find(positions)[1] if len(self.pos) else np.zeros(len(positions), np.bool_)

    def in_text(self, positions: Positions) -> Floats:
        """Return how often the text of each of these positions holds the term."""
        return self._at(positions, self.text)

    def in_head(self, positions: Positions) -> Floats:
        """Return how often the head of each of these positions holds the term."""
        return self._at(positions, self.head)

    def _at(self, positions: Positions, counts: Floats) -> Floats:
        if not len(self.pos) or not len(positions):
            return np.zeros(len(positions), np.float32)
        place, there = self.find(positions)
        found: Floats = counts[place] * there
        return found


_ARRAYS: Final = 16
"""Arrays of four bytes a passage that a search may have at a time."""
_MOST_KEPT: Final = 31 << 20
"""Bytes; for larger blocks glibc does not raise its threshold."""


def keep_freed_memory(passages: int) -> None:
    """Let the C library keep the memory of a search's arrays for the next search.

    glibc returns freed memory to the system above a threshold, which is twice the largest block that was
    freed so far. Below it, each search among a million passages would get its arrays anew: 5,900 page faults,
    25 ms. Elsewhere this changes nothing.
    """
    np.empty(min(4 * _ARRAYS * passages, _MOST_KEPT), np.uint8)  # never written to, and freed at once


class Snapshot:
    """All live passages of one generation, and the postings on them."""

    def __init__(self, generation: int, segments: Sequence[SegmentView], ranks: Positions) -> None:
        """Order the live passages; `ranks[document]` is the rank of a document's path."""
        parts = [segment.rows for segment in segments]
        stored = np.concatenate(parts) if parts else np.zeros(0, ROW)
        dead = np.concatenate([s.dead for s in segments]) if segments else np.zeros(0, np.bool_)
        alive = np.flatnonzero(~dead)
        order = alive[_document_order(stored["document"][alive], stored["ordinal"][alive], ranks)]
        self._position = np.full(len(stored), -1, np.int32)
        self._position[order] = np.arange(len(order), dtype=np.int32)
        self._starts = np.cumsum([0, *(len(part) for part in parts)])
        self._arrange(generation, segments, ranks, stored.take(order))  # a third of the time of an index

    def _arrange(
        self, generation: int, segments: Sequence[SegmentView], ranks: Positions, rows: Rows
    ) -> None:
        self.generation = generation
        self._segments = segments
        self._reads = tuple(dict.fromkeys(segment.read for segment in segments))
        self._ranks = ranks
        self.rows = rows
        """Columns in document order, shape (n,)."""
        documents = rows["document"]
        self.follows: Mask = np.concatenate(([False], documents[1:] == documents[:-1]))[: len(rows)]
        """Whether the previous passage belongs to the same document."""
        self.group: Positions = np.cumsum(~self.follows) - 1
        """Index of each passage's document, from 0."""
        self.groups = int(self.group[-1]) + 1 if len(rows) else 0
        self._cache: OrderedDict[str, TermHits] = OrderedDict()
        self._cached = 0
        self._cache_lock = threading.Lock()
        self._same_document: dict[int, Mask] = {}
        self._shares: dict[tuple[int, float], Floats] = {}
        self.memo: dict[object, object] = {}
        """A cache for values that readers derive from this snapshot, by their own keys."""
        keep_freed_memory(len(rows))

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _by_time(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The times in rising order, and the positions of their passages."""
        times = np.ascontiguousarray(self.rows["time"])
        order = np.argsort(times, kind="stable").astype(np.int32)
        return times[order], order

    def between(self, first: int, last: int) -> Positions:
        """Return the rising positions of passages with a time from `first` to `last`, both inclusive."""
        times, order = self._by_time
        part = slice(np.searchsorted(times, first), np.searchsorted(times, last, side="right"))
        return np.sort(order[part]).astype(np.int64)

    def together(self, step: int) -> Mask:
        """Return whether passages i and i + step are of one document, shape (n - step,)."""
        known = self._same_document.get(step)
        if known is None:
            known = self._same_document[step] = self.group[step:] == self.group[:-step]
        return known

    def shares(self, step: int, weight: float) -> Floats:
        """Return `weight` where passages i and i + step are of one document, else 0, shape (n - step,)."""
        known = self._shares.get((step, weight))
        if known is None:
            known = self._shares[step, weight] = self.together(step) * np.float32(weight)
        return known

    @cached_property
    def group_sizes(self) -> Positions:
        """Number of passages of each document, shape (groups,)."""
        return np.bincount(self.group, minlength=self.groups)

    def extended(
        self, segment: SegmentView, new: Sequence[tuple[int, int]], replaced: Sequence[int]
    ) -> "Snapshot":
        """Return this snapshot with one more segment.

        Args:
            segment: passages of known documents or of documents in `new`.
            new: (id, rank) of new documents, in the order of their paths; the rank is the number of known
                documents before it.
            replaced: known documents whose passages in earlier segments are dropped.
        """
        segments = list(self._segments)
        if replaced:
            gone = np.array(replaced)
            segments = [s._replace(dead=s.dead | np.isin(s.rows["document"], gone)) for s in segments]
        step = len(new) + 1
        top = max((number for number, _ in new), default=-1) + 1
        ranks = np.zeros(max(len(self._ranks), top), np.int64)
        ranks[: len(self._ranks)] = self._ranks * step + len(new)
        for index, (number, place) in enumerate(new):
            ranks[number] = place * step + index
        segments.append(segment)
        if replaced or segment.dead.any():
            return Snapshot(self.generation, segments, ranks)
        return _Extended(self, segments, ranks)

    def term(self, term: str) -> TermHits:
        """Return the hits of a term in the live passages."""
        return self.prefetch((term,))[term]

    def prefetch(self, terms: Iterable[str]) -> dict[str, TermHits]:
        """Return the hits of terms in the live passages, in the terms' order.

        The index is asked once for all that are not cached. Whoever needs many terms asks for them here
        first: then `term` answers from the cache.
        """
        wanted = dict.fromkeys(terms)
        with self._cache_lock:
            cached = {term: self._cache[term] for term in wanted if term in self._cache}
            for term in cached:
                self._cache.move_to_end(term)
        if len(cached) == len(wanted):
            return cached
        loaded = self._load([term for term in wanted if term not in cached])
        with self._cache_lock:
            for term, hits in loaded.items():
                if term not in self._cache:  # another thread may have loaded it meanwhile
                    self._cache[term] = hits
                    self._cached += len(hits.pos)
            while self._cached > _CACHE_POSTINGS and len(self._cache) > 1:
                self._cached -= len(self._cache.popitem(last=False)[1].pos)
        return {term: cached.get(term) or loaded[term] for term in wanted}

    def _load(self, terms: Sequence[str]) -> dict[str, TermHits]:
        postings = {read: read(terms) for read in self._reads}
        return {term: self._joined(term, postings) for term in terms}

    def _joined(self, term: str, postings: Mapping[ReadPostings, Postings]) -> TermHits:
        """Return the hits of a term, its posting lists given by where they were read."""
        positions, counts = [], []
        for start, segment in zip(self._starts, self._segments, strict=False):
            posting = postings[segment.read].get(term, {}).get(segment.number)
            if posting is not None:
                positions.append(self._position[posting.ids.astype(np.int64) + start])
                counts.append(posting.counts)
        if not positions:
            return _NO_HITS
        pos, packed = np.concatenate(positions).astype(np.int64), np.concatenate(counts)
        if len(pos) and (pos[0] < 0 or np.any(pos[1:] <= pos[:-1])):
            alive = pos >= 0
            pos, packed = pos[alive], packed[alive]
            order = np.argsort(pos, kind="stable")
            pos, packed = pos[order], packed[order]
        return _unpack(pos, packed)


class _Extended(Snapshot):
    """A snapshot plus one more segment, which reuses the arrays and cached hits of that snapshot.

    Otherwise a newly written turn would cost as much as loading the whole index.
    """

    def __init__(self, below: Snapshot, segments: Sequence[SegmentView], ranks: Positions) -> None:
        """Insert the last of `segments`, without dead passages, into `below`."""
        self._below = below
        self._segment = segments[-1]
        rows = self._segment.rows
        order = _document_order(rows["document"], rows["ordinal"], ranks)
        before = _insert_positions(below.rows, rows[order], ranks)
        added = before + np.arange(len(before))
        size = len(below) + len(added)
        old = np.ones(size, np.bool_)
        old[added] = False
        self._moved = np.flatnonzero(old)
        """New positions of the passages of `below`."""
        self._added = np.zeros(len(rows), np.int64)
        """Positions of the passages of the new segment, by their numbers in it."""
        self._added[order] = added
        joined = np.empty(size, ROW)
        joined[self._moved] = below.rows
        joined[added] = rows[order]
        self._arrange(below.generation, segments, ranks, joined)

    def _load(self, terms: Sequence[str]) -> dict[str, TermHits]:
        new = self._segment.read(terms)
        return {
            term: self._merged(hits, new.get(term, {}).get(self._segment.number))
            for term, hits in self._below.prefetch(terms).items()
        }

    def _merged(self, below: TermHits, posting: Posting | None) -> TermHits:
        moved = TermHits(self._moved[below.pos], below.text, below.head)
        if posting is None:
            return moved
        pos = self._added[posting.ids]
        order = np.argsort(pos)
        new = _unpack(pos[order], posting.counts[order])
        places = np.searchsorted(moved.pos, new.pos)
        return TermHits(
            np.insert(moved.pos, places, new.pos),
            np.insert(moved.text, places, new.text),
            np.insert(moved.head, places, new.head),
        )


def _document_order(documents: npt.NDArray[np.int32], ordinals: Positions, ranks: Positions) -> Positions:
    """Return the positions of passages in document order: by the rank of their document, then by ordinal.

    Where both fit into one number, sorting that takes a third of the time.
    """
    places = ranks[documents]
    span = int(ordinals.max(initial=0)) + 1
    if int(ordinals.min(initial=0)) >= 0 and (int(places.max(initial=0)) + 1) * span < 1 << 63:
        return np.argsort(places * span + ordinals, kind="stable")
    return np.lexsort((ordinals, places))


def _insert_positions(rows: Rows, new: Rows, ranks: Positions) -> Positions:
    """Return how many of `rows` precede each of `new`; both are in document order."""
    known, wanted = ranks[rows["document"]], ranks[new["document"]]
    low, high = np.searchsorted(known, wanted), np.searchsorted(known, wanted, side="right")
    found: Positions = high.copy()
    # New turns of a log follow all of its document; only for others search the place inside it.
    inside = np.flatnonzero(high > low)
    inside = inside[rows["ordinal"][high[inside] - 1] > new["ordinal"][inside]]
    for at in inside.tolist():
        part = rows["ordinal"][low[at] : high[at]]
        found[at] = low[at] + np.searchsorted(part, new["ordinal"][at], side="right")
    return found


def _unpack(pos: Positions, packed: Counts) -> TermHits:
    text = (packed & TEXT_MAX).astype(np.float32)
    return TermHits(pos, text, (packed >> HEAD_SHIFT).astype(np.float32))


_NO_HITS: Final = TermHits(np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.float32))
