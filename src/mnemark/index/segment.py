"""Build, encode, decode and merge posting lists: which passages contain a term, and how often.

A segment covers up to 65,536 passages, numbered from 0 in it. Its posting list of one term is a blob of n
little-endian `uint16` passage numbers in rising order, then n bytes: the low six bits count the term in the
text (63 at most), the high two in the head (title, file name, speaker, date; 3 at most). Three bytes a
posting, read by numpy without a copy.

Segments are immutable except for their `dead` bits; a changed document is marked dead here and added to a
new segment. Small segments are merged (`merge`).
"""

import secrets
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.index.analysis import Analysis, PassageText, Receiver, Sent, TermNumbers, analysed
from mnemark.index.rows import ROW, SUSPECT, Rows
from mnemark.index.workers import Answer, Workers

MAX_SIZE: Final = 65_536
_BLOCK: Final = 512
"""Passages that are analysed together."""
_LONGEST: Final = np.iinfo(np.uint16).max

Ids = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.uint8]


class Posting(NamedTuple):
    """The posting list of one term: passage numbers and packed counts, both of shape (n,)."""

    ids: Ids
    counts: Counts


class _Block(NamedTuple):
    """Passages of a segment that are analysed together; `first` is the number of the first."""

    first: int
    passages: list[PassageText]


class SegmentBuilder:
    """Builder of a segment of up to `MAX_SIZE` passages.

    Args:
        workers: analyse passages where one is free.
    """

    def __init__(self, workers: Workers | None = None) -> None:
        self._workers = workers
        self._name = secrets.token_hex(8)
        """Tells workers this segment from others."""
        self._receivers: defaultdict[int, Receiver] = defaultdict(Receiver)
        """By the number of the worker."""
        self._numbers = TermNumbers()
        self._rows: list[tuple[object, ...]] = []
        self._block = _Block(0, [])
        """The last passages, which are not analysed."""
        self._awaited: deque[tuple[_Block, Answer]] = deque()
        """Passages that a worker analyses."""
        self._analyses: dict[int, Analysis] = {}
        """Those of all others, by the number of their first passage."""
        self._built: dict[str, bytes] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def copy(self) -> "SegmentBuilder":
        """Return an independent copy."""
        self.analyse()
        other = SegmentBuilder()
        other._numbers.update(self._numbers)
        other._rows, other._analyses = self._rows[:], self._analyses.copy()
        other._block = _Block(len(self), [])
        return other

    def add(self, row: tuple[object, ...], passage: PassageText) -> None:
        """Add a passage; `row` has the fields of `ROW` in order, `rows` adds what follows from the text."""
        self._rows.append(row)
        self._block.passages.append(passage)
        self._built = {}
        if len(self._block.passages) >= _BLOCK:
            self._pass_on()

    def analyse(self) -> None:
        """Analyse all passages."""
        self._analyse_here(self._block)
        self._block = _Block(len(self), [])
        while self._awaited:
            self._take_answer()

    def _pass_on(self) -> None:
        """Let a worker analyse the block, or do it here, and start the next block."""
        block, self._block = self._block, _Block(len(self), [])
        answer = self._workers.submit("analyse", self._name, block.passages) if self._workers else None
        if answer is None:
            self._analyse_here(block)
        else:
            self._awaited.append((block, answer))
        while self._awaited and self._awaited[0][1].ready:
            self._take_answer()

    def _analyse_here(self, block: _Block) -> None:
        if block.passages:
            self._analyses[block.first] = analysed(block.passages, self._numbers)

    def _take_answer(self) -> None:
        block, answer = self._awaited.popleft()
        found = answer.result()
        if found is None:  # the worker is lost
            self._analyse_here(block)
        else:
            receiver = self._receivers[answer.worker]
            self._analyses[block.first] = receiver.received(Sent(*found), self._numbers)

    def rows(self) -> Rows:
        """Return the ranking columns, shape (size,)."""
        self.analyse()
        rows = np.array(self._rows, dtype=ROW)
        for first, found in self._analyses.items():
            block = rows[first : first + len(found.lengths)]
            block["length"] = np.minimum(found.lengths, _LONGEST)
            block["flags"] |= np.where(found.suspects, SUSPECT, 0).astype(np.uint8)
        return rows

    def postings(self) -> Iterator[tuple[str, bytes]]:
        """Yield every term with its encoded posting list, sorted by term."""
        self.analyse()
        found = [analysis.keys + (first << 8) for first, analysis in self._analyses.items()]
        keys = np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)
        ids, counts = (keys >> 8).astype("<u2").tobytes(), keys.astype(np.uint8).tobytes()
        ends = np.cumsum(np.bincount(keys >> 24, minlength=len(self._numbers))).tolist()
        for term in sorted(self._numbers):
            number = self._numbers[term]
            start, end = ends[number - 1] if number else 0, ends[number]
            if start < end:
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
