"""Build a segment: analyse new passages, to their ranking columns and posting lists."""

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.index.rows import ROW, SUSPECT, Rows
from mnemark.index.segment import HEAD_MAX, HEAD_SHIFT, TEXT_MAX, Postings, decode
from mnemark.index.workers import WorkerAnswer, Workers
from mnemark.text.quoting.injection import instructs
from mnemark.text.quoting.memory_poisoning import speaks_for_owner
from mnemark.text.words.normalize import fold, normalize_folded
from mnemark.text.words.segment import folded_terms, heading_terms
from mnemark.text.words.stopwords import STOP

_BLOCK: Final = 512
"""Passages that are analysed together."""
_LONGEST: Final = np.iinfo(np.uint16).max
_PASSAGE: Final = 0xFFFF
_REST: Final = 0xFFFFFF

Keys = npt.NDArray[np.int64]
"""`term << 24 | passage << 8 | packed count`, as numbers of terms and of passages."""


class PassageText(NamedTuple):
    """What is analysed of a passage."""

    text: str
    head: str
    untrusted: bool


class TermNumbers(dict[str, int]):
    """Numbers of terms; stop words have the lowest."""

    def __init__(self) -> None:
        super().__init__(zip(STOP, range(len(STOP)), strict=True))

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number


class Analysis(NamedTuple):
    """The analysis of passages, numbered from 0; int64, and bool."""

    keys: Keys
    lengths: Keys
    """Words that are not stop words."""
    suspects: npt.NDArray[np.bool_]
    """See `rows.SUSPECT`."""


def analysed(passages: Sequence[PassageText], numbers: TermNumbers) -> Analysis:
    """Analyse passages.

    Terms of all passages are counted at once by sorting: counting each by itself takes twice the time.
    """
    texts, heads, _ = zip(*passages, strict=True)
    folded = list(map(fold, texts))
    words, parts = zip(*map(folded_terms, folded), strict=True)
    in_text = _numbered(words, numbers)
    in_parts, in_heads = _numbered(parts, numbers), _numbered(list(map(_head_terms, heads)), numbers)
    suspects = [
        speaks_for_owner(passage.text) if passage.untrusted else instructs(normalize_folded(text))
        for passage, text in zip(passages, folded, strict=True)
    ]
    return Analysis(
        _counts(np.concatenate((in_text << 1, in_parts << 1, in_heads << 1 | 1))),
        np.bincount(in_text[in_text >> 16 >= len(STOP)] & _PASSAGE, minlength=len(texts)),
        np.array(suspects, np.bool_),
    )


def _numbered(passages: Sequence[Sequence[str]], numbers: TermNumbers) -> Keys:
    """Return `term << 16 | passage` of every term."""
    sizes = list(map(len, passages))
    terms = np.fromiter(map(numbers.__getitem__, chain.from_iterable(passages)), np.int64, sum(sizes))
    return terms << 16 | np.repeat(np.arange(len(passages)), sizes)


def _counts(occurrences: Keys) -> Keys:
    """Count values of `term << 17 | passage << 1 | in the head`."""
    found, counts = np.unique(occurrences, return_counts=True)
    packed = np.where(found & 1, np.minimum(counts, HEAD_MAX) << HEAD_SHIFT, np.minimum(counts, TEXT_MAX))
    pairs = found >> 1
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    return pairs[starts] << 8 | np.bitwise_or.reduceat(packed, starts) if len(starts) else pairs


@lru_cache(maxsize=4096)
def _head_terms(head: str) -> tuple[str, ...]:
    """Return the terms of a head; cached, since the turns of a day share a head."""
    words, parts = heading_terms(head)
    return (*words, *parts)


class Sent(NamedTuple):
    """An analysis from another process, by its own numbers of terms; arrays as bytes."""

    terms: list[str]
    """The terms whose numbers follow those of the analyses sent before."""
    keys: bytes
    lengths: bytes
    suspects: bytes


class Sender:
    """Analyses the passages of one segment, and sends each term once."""

    def __init__(self) -> None:
        self._numbers = TermNumbers()
        self._known = 0

    def analysed(self, passages: Sequence[PassageText]) -> Sent:
        """Analyse passages."""
        found = analysed(passages, self._numbers)
        new = list(self._numbers)[self._known :]
        self._known += len(new)
        return Sent(new, *(array.tobytes() for array in found))


class Receiver:
    """Gives the analyses of one `Sender`, in their order, the numbers of a segment."""

    def __init__(self) -> None:
        self._numbers = np.zeros(0, np.int64)

    def received(self, sent: Sent, numbers: TermNumbers) -> Analysis:
        """Return an analysis with `numbers`."""
        new = np.fromiter(map(numbers.__getitem__, sent.terms), np.int64, len(sent.terms))
        self._numbers = np.concatenate((self._numbers, new))
        keys = np.frombuffer(sent.keys, np.int64)
        return Analysis(
            self._numbers[keys >> 24] << 24 | keys & _REST,
            np.frombuffer(sent.lengths, np.int64),
            np.frombuffer(sent.suspects, np.bool_),
        )


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
