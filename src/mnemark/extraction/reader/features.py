"""Features of tokens for the reader's network: rows of its hashed table, and vectors of words."""

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemark.embed.bundled import BundledEmbedder
from mnemark.extraction.reader.lexicon import lexicon
from mnemark.extraction.reader.tokens import Token, Word, tokens, words

BUCKETS: Final = 1 << 15
"""Rows of the hashed table; row 0 is nothing."""
COLUMNS: Final = 10
"""Features of a token at most."""
CLASSES: Final = 4
"""The last columns: classes that the lexicon gives a token."""


class Encoded(NamedTuple):
    """A message as the network takes it, of n tokens."""

    tokens: list[Token]
    rows: NDArray[np.int64]
    """(n, COLUMNS): rows of the hashed table."""
    vectors: NDArray[np.float32]
    """(n, dimension): what the bundled table knows of the token's word."""
    places: NDArray[np.int64]
    """(n,): where in its word a token stands, see `Word`."""


class Encoder:
    """Encodes messages; keeps the vectors of words that it met."""

    def __init__(self) -> None:
        self._lexicon = lexicon()
        self._embedder = BundledEmbedder()
        self._known: dict[str, NDArray[np.float32]] = {}

    def encode(self, text: str) -> Encoded:
        """Encode a message; an empty one has no tokens."""
        found = tokens(text)
        owners = words(text, found)
        return Encoded(
            found, self._rows(found, owners), self._vectors(owners),
            np.array([word.place for word in owners], np.int64),
        )  # fmt: skip

    def _rows(self, found: Sequence[Token], owners: Sequence[Word]) -> NDArray[np.int64]:
        rows = np.zeros((len(found), COLUMNS), np.int64)
        forms = ["^", *(token.form for token in found), "$"]
        for n, token in enumerate(found):
            before, form, after = forms[n : n + 3]
            if token.is_han:
                own: tuple[int, ...] = (
                    *_alone(form, token.shape)[:2], bucket("b", form + after), bucket("c", before + form),
                    bucket("t", before + form + after), bucket("W", owners[n].form),
                )  # fmt: skip
            else:
                own = (*_alone(form, token.shape), bucket("n", form + " " + after))
            rows[n, : len(own)] = own
        for n, classes in self._lexicon.classes(found).items():
            for column, name in enumerate(classes[:CLASSES], COLUMNS - CLASSES):
                rows[n, column] = bucket("L", name)
        return rows

    def _vectors(self, owners: Sequence[Word]) -> NDArray[np.float32]:
        if not owners:
            return np.zeros((0, self._embedder.dimension), np.float32)
        new = [form for form in dict.fromkeys(word.form for word in owners) if form not in self._known]
        if new:
            if len(self._known) > 1 << 14:
                self._known.clear()
                new = list(dict.fromkeys(word.form for word in owners))
            self._known.update(zip(new, self._embedder.passages(new), strict=True))
        return np.stack([self._known[word.form] for word in owners])


def bucket(kind: str, text: str) -> int:
    """Return the row of a feature, never 0."""
    return zlib.crc32(f"{kind}\0{text}".encode("utf-8", "replace")) % (BUCKETS - 1) + 1


@lru_cache(maxsize=1 << 14)
def _alone(form: str, shape: str) -> tuple[int, int, int, int, int]:
    """Return what a word has by itself: form, shape, its beginning, its ends."""
    long = len(form) > 3
    return (
        bucket("w", form), bucket("s", shape), bucket("p", form[:3]) if long else 0,
        bucket("e", form[-3:]) if long else 0, bucket("e", form[-4:]) if len(form) > 4 else 0,
    )  # fmt: skip
