"""Analyse the texts of passages: the terms, the length, and whether one is suspect."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.index.segment import HEAD_MAX, HEAD_SHIFT, TEXT_MAX
from mnemark.text.quoting.injection import instructs
from mnemark.text.quoting.memory_poisoning import speaks_for_owner
from mnemark.text.words.normalize import fold, normalize_folded
from mnemark.text.words.segment import folded_terms, heading_terms
from mnemark.text.words.stopwords import STOP

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
