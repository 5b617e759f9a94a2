"""Build, encode, decode and merge posting lists: which passages contain a term, and how often.

A segment covers up to 65,536 passages, numbered from 0 in it. Its posting list of one term is a blob of n
little-endian `uint16` passage numbers in rising order, then n bytes: the low six bits count the term in the
text (63 at most), the high two in the head (title, file name, speaker, date; 3 at most). Three bytes a
posting, read by numpy without a copy.

Segments are immutable except for their `dead` bits; a changed document is marked dead here and added to a
new segment. Small segments are merged (`merge`).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.index.rows import ROW, Rows
from mnemark.text.words.segment import Terms, heading_terms, index_terms
from mnemark.text.words.stopwords import STOP

MAX_SIZE: Final = 65_536
TEXT_MAX: Final = 63
HEAD_MAX: Final = 3
HEAD_SHIFT: Final = 6
_BLOCK: Final = 256
"""Passages whose terms are counted together."""
_PASSAGE: Final = 0xFFFF

Ids = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.uint8]
Keys = npt.NDArray[np.int64]


class Posting(NamedTuple):
    """The posting list of one term: passage numbers and packed counts, both of shape (n,)."""

    ids: Ids
    counts: Counts


@lru_cache(maxsize=4096)
def _head_terms(head: str) -> tuple[str, ...]:
    """Return the terms of a head; cached, since the turns of a day share a head."""
    words, parts = heading_terms(head)
    return (*words, *parts)


class _TermNumbers(dict[str, int]):
    """Numbers of terms; stop words have the lowest."""

    def __init__(self) -> None:
        super().__init__(zip(STOP, range(len(STOP)), strict=True))

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number


class _Occurrences:
    """Terms of passages with repeats, and how many each passage has."""

    def __init__(self) -> None:
        self._terms: list[str] = []
        self._sizes: list[int] = []

    def add(self, terms: Sequence[str]) -> None:
        """Add the terms of the next passage."""
        self._terms += terms
        self._sizes.append(len(terms))

    def numbered(self, numbers: _TermNumbers, first: int) -> Keys:
        """Return `term << 16 | passage` of each; `first` is the number of the first passage."""
        terms = np.fromiter(map(numbers.__getitem__, self._terms), np.int64, len(self._terms))
        return terms << 16 | np.repeat(np.arange(first, first + len(self._sizes)), self._sizes)


class SegmentBuilder:
    """Builder of a segment of up to `MAX_SIZE` passages.

    The terms of some passages wait as strings, then are counted all at once by sorting: counting each passage
    by itself takes twice the time.
    """

    def __init__(self) -> None:
        self._numbers = _TermNumbers()
        self._waiting = (_Occurrences(), _Occurrences(), _Occurrences())
        """Words, parts and terms of heads of the last passages."""
        self._counted = 0
        """Passages that do not wait."""
        self._keys: list[Keys] = []
        """`term << 24 | passage << 8 | packed count` of those."""
        self._lengths: list[npt.NDArray[np.int64]] = []
        self._rows: list[tuple[object, ...]] = []
        self._built: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def copy(self) -> "SegmentBuilder":
        """Return an independent copy."""
        self._count()
        other = SegmentBuilder()
        other._numbers.update(self._numbers)
        other._counted, other._keys, other._lengths = self._counted, self._keys[:], self._lengths[:]
        other._rows = self._rows[:]
        return other

    def add(self, row: tuple[object, ...], text: str, head: str) -> None:
        """Add a passage; `row` has the fields of `ROW` in order, the length is set here."""
        self.add_terms(row, index_terms(text), _head_terms(head))

    def add_terms(self, row: tuple[object, ...], text: Terms, head: Sequence[str]) -> None:
        """Add a passage by its terms."""
        for waiting, terms in zip(self._waiting, (*text, head), strict=True):
            waiting.add(terms)
        self._rows.append(row)
        self._built = {}
        if len(self._rows) - self._counted >= _BLOCK:
            self._count()

    def _count(self) -> None:
        """Count the terms of the passages that wait."""
        first, last = self._counted, len(self._rows)
        words, parts, heads = (waiting.numbered(self._numbers, first) for waiting in self._waiting)
        meaning = words[words >> 16 >= len(STOP)]
        self._lengths.append(np.bincount((meaning & _PASSAGE) - first, minlength=last - first))
        self._keys.append(_counts(np.concatenate((words << 1, parts << 1, heads << 1 | 1))))
        self._waiting = (_Occurrences(), _Occurrences(), _Occurrences())
        self._counted = last

    def rows(self) -> Rows:
        """Return the ranking columns, shape (size,)."""
        self._count()
        rows = np.array(self._rows, dtype=ROW)
        rows["length"] = np.minimum(np.concatenate(self._lengths), np.iinfo(np.uint16).max)
        return rows

    def postings(self) -> Iterator[tuple[str, bytes]]:
        """Yield every term with its encoded posting list, sorted by term."""
        self._count()
        keys = np.concatenate(self._keys)
        keys.sort()
        self._keys = [keys]
        ids, counts = (keys >> 8).astype("<u2").tobytes(), keys.astype(np.uint8).tobytes()
        ends = np.cumsum(np.bincount(keys >> 24, minlength=len(self._numbers))).tolist()
        for term, number in sorted(self._numbers.items()):
            start, end = ends[number - 1] if number else 0, ends[number]
            if start < end:
                yield term, ids[2 * start : 2 * end] + counts[start:end]

    def posting(self, term: str) -> Posting | None:
        """Return the decoded posting list of one term, or None."""
        if not self._built:
            self._built = dict(self.postings())
        data = self._built.get(term)
        return None if data is None else decode(data)


def _counts(occurrences: Keys) -> Keys:
    """Count `term << 17 | passage << 1 | in the head`: return `term << 24 | passage << 8 | packed count`."""
    found, counts = np.unique(occurrences, return_counts=True)
    packed = np.where(found & 1, np.minimum(counts, HEAD_MAX) << HEAD_SHIFT, np.minimum(counts, TEXT_MAX))
    pairs = found >> 1
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    return pairs[starts] << 8 | np.bitwise_or.reduceat(packed, starts) if len(starts) else pairs


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
