"""A moment of the index, as arrays.

Passages stand in the order of paths and lines, so that a neighbour is one step away and a document (a note,
a session) is a slice. Positions (`pos`) are indices into that order: it is the same however the index came
to be, and with it every sum and every tie.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.index.rows import ROW, Rows
from mnemark.index.segment import HEAD_SHIFT, TEXT_MAX, Posting

Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

_CACHE_POSTINGS: Final = 4_000_000
"""Decoded postings kept in memory, about 6 bytes each."""


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
        self.generation = generation
        self._segments = segments
        self._ranks = ranks
        parts = [segment.rows for segment in segments]
        stored = np.concatenate(parts) if parts else np.zeros(0, ROW)
        dead = np.concatenate([s.dead for s in segments]) if segments else np.zeros(0, np.bool_)
        alive = np.flatnonzero(~dead)
        order = alive[np.lexsort((stored["ordinal"][alive], ranks[stored["document"][alive]]))]
        self.rows: Rows = stored[order]
        """Columns in document order, shape (n,)."""
        self._position = np.full(len(stored), -1, np.int64)
        self._position[order] = np.arange(len(order))
        self._starts = np.cumsum([0, *(len(part) for part in parts)])
        documents = self.rows["document"]
        self.follows: Mask = np.concatenate(([False], documents[1:] == documents[:-1]))[: len(order)]
        """Whether the passage before belongs to the same document."""
        self.group: Positions = np.cumsum(~self.follows) - 1
        """Number of the document of each passage, from 0."""
        self.groups = int(self.group[-1]) + 1 if len(order) else 0
        self._cache: OrderedDict[str, TermHits] = OrderedDict()
        self._cached = 0
        self._together: dict[int, Mask] = {}
        self.memo: dict[object, object] = {}
        """What readers computed for this moment, by their own keys."""

    def __len__(self) -> int:
        return len(self.rows)

    def together(self, step: int) -> Mask:
        """Whether the passages i and i + step are of one document, shape (n - step,)."""
        known = self._together.get(step)
        if known is None:
            known = self._together[step] = self.group[step:] == self.group[:-step]
        return known

    def extended(
        self, segment: SegmentView, new: Sequence[tuple[int, int]], replaced: Sequence[int]
    ) -> "Snapshot":
        """This moment with one more segment on top.

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
        return Snapshot(self.generation, [*segments, segment], ranks)

    def term(self, term: str) -> TermHits:
        """Where the term stands among the live passages."""
        if term in self._cache:
            self._cache.move_to_end(term)
            return self._cache[term]
        hits = self._load(term)
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
            empty = np.zeros(0, np.float32)
            return TermHits(np.zeros(0, np.int64), empty, empty)
        pos, packed = np.concatenate(positions), np.concatenate(counts)
        if len(pos) and (pos[0] < 0 or np.any(pos[1:] <= pos[:-1])):
            alive = pos >= 0
            pos, packed = pos[alive], packed[alive]
            order = np.argsort(pos, kind="stable")
            pos, packed = pos[order], packed[order]
        text = (packed & TEXT_MAX).astype(np.float32)
        head = (packed >> HEAD_SHIFT).astype(np.float32)
        return TermHits(pos, text, head)
