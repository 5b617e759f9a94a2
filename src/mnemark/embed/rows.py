"""Convert text to weighted rows of a word table.

The bundled embedder and the tools that make its table both use it, so that both tokenize the same way.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import in_form, normalize

LONGEST_WORD = 24
"""Maximum characters of an unknown word; a longer run is a hash, a key or noise."""

PIECE = "##"
"""Prefix of an English subword that is not at the start of a word."""

_CACHE_LIMIT = 50_000
_SCANS = 16
"""Number of words that are looked for in the packed words; with more, a dictionary of all (20 ms) pays."""
_LATIN = "a-z0-9\u00df-\u00f6\u00f8-\u024f"
_TOKENS = lazy_pattern(f"[{_LATIN}]+|[\u3400-\u9fff]+")
_FIRST_HAN = "\u3400"


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
        self._cache: dict[str, tuple[tuple[int, float], ...]] = {}

    def counts(self, texts: Sequence[str]) -> list[dict[int, float]]:
        """Return the weight by row of each text; empty for a text without known words."""
        out: list[dict[int, float]] = []
        for tokens in self._tokens(texts):
            counts: dict[int, float] = {}
            for token in tokens:
                found = self._cache.get(token)
                for row, weight in self._resolve(token) if found is None else found:
                    counts[row] = counts.get(row, 0.0) + weight
            out.append(counts)
        return out

    def scaled_counts(self, text: str, scale: Callable[[str], float]) -> dict[int, float]:
        """Return `counts` of one text with each word's weight multiplied by `scale(word)`."""
        counts: dict[int, float] = {}
        for token in self._tokens([text])[0]:
            found = self._resolve(token)
            factor = scale(token) if found else 0.0
            for row, weight in found:
                counts[row] = counts.get(row, 0.0) + weight * factor
        return counts

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Split texts into words; segment all Chinese runs in one call, as each call has a fixed cost."""
        found = [_TOKENS.findall(normalize(text)) for text in texts]
        runs = [token for tokens in found for token in tokens if token >= _FIRST_HAN]
        if not runs:
            return found
        # With its model for unknown words (HMM), jieba does not split most names into characters.
        lines: list[list[str]] = [[]]
        for word in _jieba()("\n".join(runs)):
            if word == "\n":
                lines.append([])
            else:
                lines[-1].append(word)
        cut = iter(lines)
        return [
            [word for token in tokens for word in (next(cut) if token >= _FIRST_HAN else (token,))]
            for tokens in found
        ]

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

    def _resolve(self, token: str) -> tuple[tuple[int, float], ...]:
        plain = token
        if token < _FIRST_HAN and not token.isascii():  # without accents
            plain = "".join(char for char in in_form("NFKD", token) if not unicodedata.combining(char))
        row = self._row(plain)
        found: tuple[tuple[int, float], ...] = ()
        if row is not None:
            found = ((row, 1.0),) if row >= 0 else ()
        elif plain.isalpha() and len(plain) <= LONGEST_WORD:
            found = self._pieces(plain)
        if len(self._cache) >= _CACHE_LIMIT:
            self._cache.clear()
        self._cache[token] = found
        return found

    def _pieces(self, token: str) -> tuple[tuple[int, float], ...]:
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
        return tuple((row, weight) for row in rows)
