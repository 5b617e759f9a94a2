"""Convert text to weighted rows of a word table.

The bundled embedder and the tools that make its table both use it, so that both tokenize the same way.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, repeat

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import in_form, normalize

LONGEST_WORD = 24
"""Maximum characters of an unknown word; a longer run is a hash, a key or noise."""

PIECE = "##"
"""Prefix of an English subword that is not at the start of a word."""

_UNKNOWN = -2
_CACHE_LIMIT = 50_000
_SCANS = 16
"""Number of words that are looked for in the packed words; with more, a dictionary of all (20 ms) pays."""
_LATIN = "a-z0-9\u00df-\u00f6\u00f8-\u024f"
_TOKENS = lazy_pattern(f"[{_LATIN}]+|[\u3400-\u9fff]+")
_FIRST_HAN = "\u3400"
_ASCII_LETTERS = str.maketrans({chr(c): chr(c).lower() if chr(c).isalnum() else " " for c in range(128)})


class Bags(msgspec.Struct, frozen=True):
    """The rows of texts, one text after the other, each in the order of its words."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float32]
    sizes: NDArray[np.int64]
    """The number of rows of each text."""


_Found = tuple[tuple[int, ...], tuple[float, ...]]
"""Rows of a word, and their weights."""


@cache
def _jieba() -> Callable[[str], list[str]]:
    # Its dictionary takes 0.1 s to load: only when there is Chinese text.
    import rjieba

    cut: Callable[[str], list[str]] = rjieba.cut
    return cut


class WordRows:
    """Tokenizes texts and looks up the rows of their words.

    Function words and unknown words with a digit (numbers, versions, codes) have no rows. Other words that
    are not in the table are split greedily into the longest subwords in it; n subwords weigh 1/sqrt(n) each.

    Args:
        packed: the words of the table in row order, each on a line.
        stop: function words.
        piece_weight: weight factor of the subwords of unknown English words, which are often names.
    """

    def __init__(self, packed: bytes, stop: Iterable[str], piece_weight: float) -> None:
        self._packed = b"\n%b\n" % packed
        self._stop = dict.fromkeys(stop, -1)
        self._rows: dict[str, int] = {}
        self._scans = 0
        self._piece_weight = piece_weight
        self._cache: dict[str, _Found] = {}

    def bags(self, texts: Sequence[str], scale: Callable[[str], float] | None = None) -> Bags:
        """Return the rows of texts with their weights; no rows for a text without known words.

        `scale(word)`, if given, is a factor of a word's weight.
        """
        split = [_words(text) for text in texts]
        words = list(chain.from_iterable(split))
        rows = np.fromiter(map(self._rows.get, words, repeat(_UNKNOWN)), np.int64, len(words))
        unknown = np.flatnonzero(rows == _UNKNOWN).tolist()
        found = [self._cache.get(words[at]) or self._resolve(words[at]) for at in unknown]
        sizes = (rows >= 0).astype(np.int64)
        sizes[unknown] = [len(subwords) for subwords, _ in found]
        rows = np.repeat(rows, sizes)
        weights = np.ones(len(rows))
        subwords = rows == _UNKNOWN
        rows[subwords] = list(chain.from_iterable(rows for rows, _ in found))
        weights[subwords] = list(chain.from_iterable(weights for _, weights in found))
        if scale is not None:
            factors = [scale(word) if size else 0.0 for word, size in zip(words, sizes, strict=True)]
            weights *= np.repeat(factors, sizes)
        owners = np.repeat(np.repeat(np.arange(len(texts)), [len(text) for text in split]), sizes)
        # Sums depend on the order, and a vector must not: rows stay in the order of their words.
        keys, firsts, places = np.unique(owners << 32 | rows, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        total = np.bincount(places, weights, len(keys))[order].astype(np.float32)
        keys = keys[order]
        return Bags(keys & 0xFFFFFFFF, total, np.bincount(keys >> 32, minlength=len(texts)))

    def _row(self, word: str) -> int | None:
        """Return the row of a word: -1 for a function word, None for one that is not in the table."""
        packed = self._packed  # read before `_rows`, which another thread sets first
        if self._rows:
            return self._rows.get(word)
        if word in self._stop:
            return -1
        if self._scans < _SCANS:
            self._scans += 1
            at = packed.find(b"\n%b\n" % word.encode())
            return None if at < 0 else packed.count(b"\n", 0, at)
        words = packed[1:-1].decode().split("\n")
        self._rows = dict(zip(words, range(len(words)), strict=True)) | self._stop
        self._packed = b""
        return self._rows.get(word)

    def _resolve(self, token: str) -> _Found:
        plain = token
        if token < _FIRST_HAN and not token.isascii():  # without accents
            plain = "".join(char for char in in_form("NFKD", token) if not unicodedata.combining(char))
        row = self._row(plain)
        found: _Found = ((), ())
        if row is not None:
            found = ((row,), (1.0,)) if row >= 0 else found
        elif plain.isalpha() and len(plain) <= LONGEST_WORD:
            found = self._pieces(plain)
        else:  # a number or a code: there is no end of them, and nothing to look up
            return found
        if len(self._cache) >= _CACHE_LIMIT:
            self._cache.clear()
        self._cache[token] = found
        return found

    def _pieces(self, token: str) -> _Found:
        english = token < _FIRST_HAN
        found: list[int] = []
        start = 0
        while start < len(token):
            prefix = PIECE if english and start else ""
            for end in range(len(token), start, -1):
                row = self._row(prefix + token[start:end])
                if row is not None:
                    found.append(row)
                    start = end
                    break
            else:
                start += 1
        rows = [row for row in found if row >= 0]
        weight = (self._piece_weight if english else 1.0) / max(len(rows), 1) ** 0.5
        return tuple(rows), (weight,) * len(rows)


def _words(text: str) -> list[str]:
    """Split a text into words."""
    if text.isascii():
        return text.translate(_ASCII_LETTERS).split()
    tokens = _TOKENS.findall(normalize(text))
    runs = [token for token in tokens if token >= _FIRST_HAN]
    # With its model for unknown words (HMM), jieba does not split most names into characters.
    if len(runs) == len(tokens):
        return [word for word in _jieba()("\n".join(runs)) if word != "\n"] if runs else []
    return [word for token in tokens for word in (_jieba()(token) if token >= _FIRST_HAN else (token,))]
