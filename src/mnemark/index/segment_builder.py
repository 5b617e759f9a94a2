"""Build a segment: the rows and the posting lists of new passages."""

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from mnemark.index.analysis import Analysis, PassageText, Receiver, Sent, TermNumbers, analysed
from mnemark.index.rows import ROW, SUSPECT, Rows
from mnemark.index.segment import Postings, decode
from mnemark.index.workers import WorkerAnswer, Workers

_BLOCK: Final = 512
"""Passages that are analysed together."""
_LONGEST: Final = np.iinfo(np.uint16).max


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
        self._name = os.urandom(8).hex()
        """Tells workers this segment from others."""
        self._receivers: defaultdict[int, Receiver] = defaultdict(Receiver)
        """By the number of the worker."""
        self._numbers = TermNumbers()
        self._rows: list[tuple[object, ...]] = []
        self._block = _Block(0, [])
        """The last passages, which are not analysed."""
        self._awaited: deque[tuple[_Block, WorkerAnswer]] = deque()
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

    def read(self, terms: Sequence[str]) -> Postings:
        """Return the posting lists of terms, as of segment 0."""
        if not self._built:
            self._built = dict(self.postings())
        return {term: {0: decode(self._built[term])} for term in terms if term in self._built}
