"""Hold a moment of the index as arrays.

Passages stand in the order of paths and lines, so that a neighbour is one step away and a document (a note,
a session) is a slice. Positions (`pos`) are indices into that order: it is the same however the index came
to be, and with it every sum and every tie.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.index.rows import ROW, Rows
from mnemark.index.segment import HEAD_SHIFT, TEXT_MAX, Counts, Posting

Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

_CACHE_POSTINGS: Final = 4_000_000
"""Decoded postings kept in memory, 16 bytes each."""


class SegmentView(NamedTuple):
    """One segment of a snapshot: its columns, who is dead, and how to read a term."""

    rows: Rows
    dead: Mask
    posting: Callable[[str], Posting | None]


class TermHits(NamedTuple):
    """Where a term stands: positions in rising order, counts in text and in head (float32)."""

    pos: Positions
    text: Floats
    head: Floats


class Snapshot:
    """All live passages of one generation, and the postings on them."""

    def __init__(self, generation: int, segments: Sequence[SegmentView], ranks: Positions) -> None:
        """`ranks` gives each document's place in the order of paths, by its number."""
        parts = [segment.rows for segment in segments]
        stored = np.concatenate(parts) if parts else np.zeros(0, ROW)
        dead = np.concatenate([s.dead for s in segments]) if segments else np.zeros(0, np.bool_)
        alive = np.flatnonzero(~dead)
        order = alive[np.lexsort((stored["ordinal"][alive], ranks[stored["document"][alive]]))]
        self._position = np.full(len(stored), -1, np.int32)
        self._position[order] = np.arange(len(order), dtype=np.int32)
        self._starts = np.cumsum([0, *(len(part) for part in parts)])
        self._arrange(generation, segments, ranks, stored[order])

    def _arrange(
        self, generation: int, segments: Sequence[SegmentView], ranks: Positions, rows: Rows
    ) -> None:
        self.generation = generation
        self._segments = segments
        self._ranks = ranks
        self.rows = rows
        """Columns in document order, shape (n,)."""
        documents = rows["document"]
        self.follows: Mask = np.concatenate(([False], documents[1:] == documents[:-1]))[: len(rows)]
        """Whether the passage before belongs to the same document."""
        self.group: Positions = np.cumsum(~self.follows) - 1
        """Number of the document of each passage, from 0."""
        self.groups = int(self.group[-1]) + 1 if len(rows) else 0
        self._cache: OrderedDict[str, TermHits] = OrderedDict()
        self._cached = 0
        self._counting = threading.Lock()
        self._together: dict[int, Mask] = {}
        self.memo: dict[object, object] = {}
        """What readers computed for this moment, by their own keys."""

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _by_time(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The times in rising order, and the positions they belong to."""
        times = np.ascontiguousarray(self.rows["time"])
        order = np.argsort(times, kind="stable").astype(np.int32)
        return times[order], order

    def between(self, first: int, last: int) -> Positions:
        """Return the positions of the passages with a time from `first` to `last`, rising."""
        times, order = self._by_time
        part = slice(np.searchsorted(times, first), np.searchsorted(times, last, side="right"))
        return np.sort(order[part]).astype(np.int64)

    def together(self, step: int) -> Mask:
        """Whether the passages i and i + step are of one document, shape (n - step,)."""
        known = self._together.get(step)
        if known is None:
            known = self._together[step] = self.group[step:] == self.group[:-step]
        return known

    def extended(
        self, segment: SegmentView, new: Sequence[tuple[int, int]], replaced: Sequence[int]
    ) -> "Snapshot":
        """Return this moment with one more segment on top.

        Args:
            segment: passages of documents that are known or in `new`.
            new: (number, place) of documents that are not known, in the order of their paths; the place is
                how many known documents come before.
            replaced: known documents that only the new segment speaks of.
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
        """Return the hits of a term among the live passages."""
        with self._counting:
            hits = self._cache.get(term)
            if hits is not None:
                self._cache.move_to_end(term)
                return hits
        hits = self._load(term)
        with self._counting:
            if term not in self._cache:  # another thread may have been as fast
                self._cache[term] = hits
                self._cached += len(hits.pos)
            while self._cached > _CACHE_POSTINGS and len(self._cache) > 1:
                self._cached -= len(self._cache.popitem(last=False)[1].pos)
        return hits

    def _load(self, term: str) -> TermHits:
        positions, counts = [], []
        for start, segment in zip(self._starts, self._segments, strict=False):
            posting = segment.posting(term)
            if posting is not None:
                positions.append(self._position[posting.ids.astype(np.int64) + start])
                counts.append(posting.counts)
        if not positions:
            return _NOWHERE
        pos, packed = np.concatenate(positions).astype(np.int64), np.concatenate(counts)
        if len(pos) and (pos[0] < 0 or np.any(pos[1:] <= pos[:-1])):
            alive = pos >= 0
            pos, packed = pos[alive], packed[alive]
            order = np.argsort(pos, kind="stable")
            pos, packed = pos[order], packed[order]
        return _unpacked(pos, packed)


class _Extended(Snapshot):
    """A snapshot with one more segment on top, of which it takes over what it knows.

    A turn that was just written would otherwise cost what reading the whole index costs.
    """

    def __init__(self, below: Snapshot, segments: Sequence[SegmentView], ranks: Positions) -> None:
        """`segments` are those of `below` and one more, of which all passages are alive."""
        self._below = below
        self._segment = segments[-1]
        rows = self._segment.rows
        order = np.lexsort((rows["ordinal"], ranks[rows["document"]]))
        before = _before(below.rows, rows[order], ranks)
        added = before + np.arange(len(before))
        size = len(below) + len(added)
        old = np.ones(size, np.bool_)
        old[added] = False
        self._moved = np.flatnonzero(old)
        """Where the passages below stand now."""
        self._added = np.zeros(len(rows), np.int64)
        """Where those of the segment stand, by their numbers in it."""
        self._added[order] = added
        joined = np.empty(size, ROW)
        joined[self._moved] = below.rows
        joined[added] = rows[order]
        self._arrange(below.generation, segments, ranks, joined)

    def _load(self, term: str) -> TermHits:
        below, posting = self._below.term(term), self._segment.posting(term)
        moved = TermHits(self._moved[below.pos], below.text, below.head)
        if posting is None:
            return moved
        pos = self._added[posting.ids]
        order = np.argsort(pos)
        new = _unpacked(pos[order], posting.counts[order])
        places = np.searchsorted(moved.pos, new.pos)
        return TermHits(
            np.insert(moved.pos, places, new.pos),
            np.insert(moved.text, places, new.text),
            np.insert(moved.head, places, new.head),
        )


def _before(rows: Rows, new: Rows, ranks: Positions) -> Positions:
    """Count the `rows` that stand before each of `new`; both are in document order."""
    known, wanted = ranks[rows["document"]], ranks[new["document"]]
    low, high = np.searchsorted(known, wanted), np.searchsorted(known, wanted, side="right")
    found: Positions = high.copy()
    # A log grows at its end, so that all of the document comes before; else the place in it is looked for.
    inside = np.flatnonzero(high > low)
    inside = inside[rows["ordinal"][high[inside] - 1] > new["ordinal"][inside]]
    for one in inside.tolist():
        part = rows["ordinal"][low[one] : high[one]]
        found[one] = low[one] + np.searchsorted(part, new["ordinal"][one], side="right")
    return found


def _unpacked(pos: Positions, packed: Counts) -> TermHits:
    text = (packed & TEXT_MAX).astype(np.float32)
    return TermHits(pos, text, (packed >> HEAD_SHIFT).astype(np.float32))


_NOWHERE: Final = TermHits(np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.float32))
