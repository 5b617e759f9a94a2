"""Build, encode, decode and merge posting lists: which passages contain a term, and how often.

A segment covers up to 65,536 passages, numbered from 0 in it. Its posting list of one term is a blob of n
little-endian `uint16` passage numbers in rising order, then n bytes: the low six bits count the term in the
text (63 at most), the high two in the head (title, file name, speaker, date; 3 at most). Three bytes a
posting, read by numpy without a copy.

Segments are immutable except for their `dead` bits; a changed document is marked dead here and added to a
new segment. Small segments are merged (`merge`).
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.index.rows import ROW, Rows
from mnemark.text.words.segment import index_terms
from mnemark.text.words.stopwords import STOP

MAX_SIZE: Final = 65_536
TEXT_MAX: Final = 63
HEAD_MAX: Final = 3
HEAD_SHIFT: Final = 6

Ids = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.uint8]


class Posting(NamedTuple):
    """The posting list of one term: passage numbers and packed counts, both of shape (n,)."""

    ids: Ids
    counts: Counts


class Analysis(NamedTuple):
    """The terms of a passage: packed count by term, and the number of words without stop words."""

    packed: dict[str, int]
    length: int


def analyse(text: str, head: str) -> Analysis:
    """Extract the terms of a passage's text and head."""
    words, parts = index_terms(text)
    length = len(words) - sum(map(STOP.__contains__, words))
    packed: dict[str, int] = Counter(chain(words, parts))
    if max(packed.values(), default=0) > TEXT_MAX:
        packed = {term: min(count, TEXT_MAX) for term, count in packed.items()}
    for term, count in _head_terms(head):
        packed[term] = packed.get(term, 0) | count
    return Analysis(packed, min(length, 65_535))


@lru_cache(maxsize=4096)
def _head_terms(head: str) -> tuple[tuple[str, int], ...]:
    """Return the terms of a head with shifted counts; cached, since the turns of a day share a head."""
    words, parts = index_terms(head)
    return tuple((term, min(count, HEAD_MAX) << HEAD_SHIFT) for term, count in Counter(words + parts).items())


class _TermNumbers(dict[str, int]):
    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number


class SegmentBuilder:
    """Builder of a segment of up to `MAX_SIZE` passages.

    Postings are kept in passage order and sorted by term once at the end, which takes half the time of
    keeping a list for each term.
    """

    def __init__(self) -> None:
        self._numbers = _TermNumbers()
        self._terms = array("I")
        self._counts = bytearray()
        self._sizes: list[int] = []
        self._rows: list[tuple[object, ...]] = []
        self._built: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def copy(self) -> "SegmentBuilder":
        """Return an independent copy."""
        other = SegmentBuilder()
        other._numbers.update(self._numbers)
        other._terms, other._counts = self._terms[:], self._counts[:]
        other._sizes, other._rows = self._sizes[:], self._rows[:]
        return other

    def add(self, row: tuple[object, ...], packed: Mapping[str, int]) -> None:
        """Add a passage; `row` has the fields of `ROW` in order, `packed` its term counts."""
        self._rows.append(row)
        self._terms.extend(map(self._numbers.__getitem__, packed))
        self._counts.extend(packed.values())
        self._sizes.append(len(packed))
        self._built = {}

    def rows(self) -> Rows:
        """Return the ranking columns, shape (size,)."""
        return np.array(self._rows, dtype=ROW)

    def postings(self) -> Iterable[tuple[str, bytes]]:
        """Yield every term with its encoded posting list, sorted by term."""
        terms = np.array(self._terms, np.uint32)
        passages = np.repeat(np.arange(len(self._sizes), dtype="<u2"), self._sizes)
        order = np.argsort(terms, kind="stable")
        ids, counts = passages[order].tobytes(), np.array(self._counts, np.uint8)[order].tobytes()
        ends = np.cumsum(np.bincount(terms, minlength=len(self._numbers))).tolist()
        for term, number in sorted(self._numbers.items()):
            start, end = ends[number - 1] if number else 0, ends[number]
            yield term, ids[2 * start : 2 * end] + counts[start:end]

    def posting(self, term: str) -> Posting | None:
        """Return the decoded posting list of one term, or None."""
        if not self._built:
            self._built = dict(self.postings())
        data = self._built.get(term)
        return None if data is None else decode(data)


def dead_bits(data: bytes, size: int) -> npt.NDArray[np.bool_]:
    """Unpack the dead bits of a segment to a mask of shape (size,)."""
    return np.unpackbits(np.frombuffer(data, np.uint8), count=size).astype(np.bool_)


def encode(ids: Ids, counts: bytes | bytearray | Counts) -> bytes:
    """Encode a posting list as a blob."""
    return ids.astype("<u2").tobytes() + bytes(counts)


def decode(data: bytes) -> Posting:
    """Decode a posting list from a blob, without a copy."""
    size = len(data) // 3
    return Posting(np.frombuffer(data, "<u2", size), np.frombuffer(data, np.uint8, size, 2 * size))


def merged_posting(parts: Sequence[tuple[int, bytes]], renumber: dict[int, npt.NDArray[np.int32]]) -> bytes:
    """Merge one term's posting lists of several segments, given in rising order of their new numbers.

    `renumber[segment]` maps old passage numbers to new ones, -1 for dead passages.
    """
    ids, counts = [], []
    for segment, data in parts:
        posting = decode(data)
        new = renumber[segment][posting.ids]
        alive = new >= 0
        ids.append(new[alive].astype(np.uint16))
        counts.append(posting.counts[alive])
    return encode(np.concatenate(ids), np.concatenate(counts).tobytes())


def due_for_merge(sizes: Sequence[tuple[int, int, int]], *, fan: int = 8, large: int = 32_768) -> list[int]:
    """Return the ids of the segments to merge into one now; empty if none are due.

    `sizes` lists (id, size, dead). Eight segments of similar size (within a factor of eight) are merged, so
    that each passage is rewritten about log8(n) times; a segment that is a quarter dead is rewritten alone.
    """
    for segment, size, dead in sizes:
        if dead * 4 >= size:
            return [segment]
    tiers: dict[int, list[tuple[int, int]]] = {}
    for segment, size, dead in sizes:
        if size < large:
            tiers.setdefault((size.bit_length() - 1) // 3, []).append((segment, size - dead))
    for _, members in sorted(tiers.items()):
        totals = accumulate(alive for _, alive in members)
        chosen = [segment for (segment, _), total in zip(members, totals, strict=True) if total <= MAX_SIZE]
        if len(members) >= fan and len(chosen) > 1:
            return chosen
    return []
