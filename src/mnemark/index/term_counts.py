"""Count the terms of passages: how often each is in the text and in the head."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.text.words.segment import heading_terms, index_terms
from mnemark.text.words.stopwords import STOP

TEXT_MAX: Final = 63
HEAD_MAX: Final = 3
HEAD_SHIFT: Final = 6
_PASSAGE: Final = 0xFFFF
_REST: Final = 0xFFFFFF

Keys = npt.NDArray[np.int64]
"""`term << 24 | passage << 8 | packed count`, as numbers of terms and of passages."""


class TermNumbers(dict[str, int]):
    """Numbers of terms; stop words have the lowest."""

    def __init__(self) -> None:
        super().__init__(zip(STOP, range(len(STOP)), strict=True))

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number


class TermCounts(NamedTuple):
    """What `counted` returns, and the terms by their numbers; arrays as bytes, for another process."""

    terms: list[str]
    keys: bytes
    lengths: bytes

    def renumbered(self, numbers: TermNumbers) -> tuple[Keys, Keys]:
        """Return keys with `numbers`, and lengths."""
        keys = np.frombuffer(self.keys, np.int64)
        found = np.fromiter(map(numbers.__getitem__, self.terms), np.int64, len(self.terms))
        return found[keys >> 24] << 24 | keys & _REST, np.frombuffer(self.lengths, np.int64)


def count_terms(texts: Sequence[str], heads: Sequence[str]) -> TermCounts:
    """Count the terms of passages, with numbers of their own."""
    numbers = TermNumbers()
    keys, lengths = counted(texts, heads, numbers)
    return TermCounts(list(numbers), keys.tobytes(), lengths.tobytes())


def counted(texts: Sequence[str], heads: Sequence[str], numbers: TermNumbers) -> tuple[Keys, Keys]:
    """Count the terms of passages, numbered from 0; return keys, and the words that are not stop words.

    All are counted at once by sorting: counting each passage by itself takes twice the time.
    """
    words, parts = zip(*map(index_terms, texts), strict=True)
    in_text = _numbered(words, numbers)
    lengths = np.bincount(in_text[in_text >> 16 >= len(STOP)] & _PASSAGE, minlength=len(texts))
    in_parts, in_heads = _numbered(parts, numbers), _numbered(list(map(_head_terms, heads)), numbers)
    occurrences = np.concatenate((in_text << 1, in_parts << 1, in_heads << 1 | 1))
    found, counts = np.unique(occurrences, return_counts=True)
    packed = np.where(found & 1, np.minimum(counts, HEAD_MAX) << HEAD_SHIFT, np.minimum(counts, TEXT_MAX))
    pairs = found >> 1
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    return pairs[starts] << 8 | np.bitwise_or.reduceat(packed, starts) if len(starts) else pairs, lengths


def _numbered(passages: Sequence[Sequence[str]], numbers: TermNumbers) -> Keys:
    """Return `term << 16 | passage` of every term."""
    sizes = list(map(len, passages))
    terms = np.fromiter(map(numbers.__getitem__, chain.from_iterable(passages)), np.int64, sum(sizes))
    return terms << 16 | np.repeat(np.arange(len(passages)), sizes)


@lru_cache(maxsize=4096)
def _head_terms(head: str) -> tuple[str, ...]:
    """Return the terms of a head; cached, since the turns of a day share a head."""
    words, parts = heading_terms(head)
    return (*words, *parts)
