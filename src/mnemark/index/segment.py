"""Postings: which passages hold a term, and how often.

A segment covers up to 65,536 passages, numbered from 0 in it. Its posting list of one term is a blob of n
little-endian `uint16` passage numbers in rising order, then n bytes: the low six bits count the term in the
text (63 at most), the high two in the head (title, file name, speaker, date; 3 at most). Three bytes a
posting, read by numpy without a copy.

Segments are never changed but for their `dead` bits; a change of a document is a death here and a birth in
a new segment. Small ones are merged (`merge`), so that there are few.
"""

import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.index.rows import ROW, Rows
from mnemark.text.segment import index_terms
from mnemark.text.stopwords import STOP

MAX_SIZE: Final = 65_536
TEXT_MAX: Final = 63
HEAD_MAX: Final = 3
HEAD_SHIFT: Final = 6
_FEW: Final = 24

Ids = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.uint8]


class Posting(NamedTuple):
    """Where one term stands: passage numbers and packed counts, both of shape (n,)."""

    ids: Ids
    counts: Counts


class Analysis(NamedTuple):
    """One passage's terms: packed count by term, and the number of words that are not stop words."""

    packed: dict[str, int]
    length: int


def analyse(text: str, head: str) -> Analysis:
    """Terms of a passage's text and head."""
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
    """Terms of a head, counted and shifted; the turns of a day share theirs."""
    words, parts = index_terms(head)
    return tuple((term, min(count, HEAD_MAX) << HEAD_SHIFT) for term, count in Counter(words + parts).items())


class SegmentBuilder:
    """Collects the postings of up to `MAX_SIZE` passages."""

    def __init__(self) -> None:
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._rows: list[tuple[object, ...]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: tuple[object, ...], packed: Mapping[str, int]) -> None:
        """Add one passage: `row` holds the fields of `ROW` in order."""
        number = len(self._rows) << 8
        self._rows.append(row)
        postings = self._postings
        for term, count in packed.items():
            postings[term].append(number | count)

    def rows(self) -> Rows:
        """The columns, shape (size,)."""
        return np.array(self._rows, dtype=ROW)

    def postings(self) -> Iterable[tuple[str, bytes]]:
        """Every term with its encoded posting list, in the order of the terms."""
        for term in sorted(self._postings):
            yield term, _encode_packed(self._postings[term])

    def posting(self, term: str) -> Posting | None:
        """The posting list of one term, as a reader would see it."""
        packed = self._postings.get(term)
        return None if packed is None else decode(_encode_packed(packed))


def _encode_packed(packed: list[int]) -> bytes:
    """A posting list from `number << 8 | count` values; most lists are too short for numpy to pay."""
    if len(packed) < _FEW:
        numbers = array("H", [value >> 8 for value in packed])
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers.tobytes() + bytes([value & 0xFF for value in packed])
    values = np.array(packed, np.uint32)
    return encode((values >> 8).astype(np.uint16), (values & 0xFF).astype(np.uint8))


def encode(ids: Ids, counts: bytes | bytearray | Counts) -> bytes:
    """A posting list as a blob."""
    return ids.astype("<u2").tobytes() + bytes(counts)


def decode(data: bytes) -> Posting:
    """A blob as a posting list; no copy is made."""
    size = len(data) // 3
    return Posting(np.frombuffer(data, "<u2", size), np.frombuffer(data, np.uint8, size, 2 * size))


def merged_posting(parts: Sequence[tuple[int, bytes]], renumber: dict[int, npt.NDArray[np.int32]]) -> bytes:
    """Join one term's lists of several segments, given in rising order of their first new number.

    `renumber[segment]` maps old numbers to new ones, -1 for the dead.
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
    """Which segments to merge into one now, by id; empty when there is nothing to do.

    `sizes` lists (id, size, dead). Segments of a like size (within a factor of eight) are merged when there
    are eight of them, so that each passage is rewritten about log8(n) times; one that is a quarter dead is
    rewritten alone.
    """
    for segment, size, dead in sizes:
        if dead * 4 >= size:
            return [segment]
    tiers: dict[int, list[tuple[int, int]]] = {}
    for segment, size, dead in sizes:
        if size < large:
            tiers.setdefault((size.bit_length() - 1) // 3, []).append((segment, size - dead))
    for tier in sorted(tiers):
        members = tiers[tier]
        if len(members) >= fan:
            chosen, total = [], 0
            for segment, size in members:
                if total + size > MAX_SIZE:
                    break
                chosen.append(segment)
                total += size
            if len(chosen) > 1:
                return chosen
    return []
