"""From content keys to row numbers: sorted arrays and binary search, built once and extended."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

KEY_BYTES = 16
"""Length of a content key: a 128-bit hash of what was embedded."""

_U64 = np.dtype("<u8")
Words = NDArray[np.uint64]
"""Keys as pairs of 64-bit words, shape (n, 2): numpy sorts and searches integers much faster than bytes."""


def as_words(keys: Sequence[bytes]) -> Words:
    """Turn keys of 16 bytes each into an (n, 2) array.

    Raises:
        ValueError: a key of another length.
    """
    if not {KEY_BYTES}.issuperset(map(len, keys)):
        raise ValueError(f"content keys have {KEY_BYTES} bytes")
    return np.frombuffer(b"".join(keys), dtype=_U64).reshape(-1, 2)


class KeyIndex:
    """The keys of rows 0 … n-1, sorted by their first word. Immutable: `extended` returns a new one."""

    def __init__(self, words: Words | None = None) -> None:
        words = np.empty((0, 2), dtype=_U64) if words is None else words
        # Stable: of equal keys the first row stays first and is the one found.
        order = np.argsort(words[:, 0], kind="stable")
        self._first = words[order, 0]
        self._second = words[order, 1]
        self._rows = order.astype(np.int64)

    def __len__(self) -> int:
        return len(self._rows)

    def extended(self, words: Words) -> "KeyIndex":
        """This index with the rows that follow, O(n + m log m)."""
        new = KeyIndex(words)
        places = np.searchsorted(self._first, new._first, side="right")
        both = KeyIndex()
        both._first = np.insert(self._first, places, new._first)
        both._second = np.insert(self._second, places, new._second)
        both._rows = np.insert(self._rows, places, new._rows + len(self))
        return both

    def find(self, words: Words) -> NDArray[np.int64]:
        """Row numbers of `words`, int64 (n,); -1 where there is no such key."""
        if not len(self) or not len(words):
            return np.full(len(words), -1, dtype=np.int64)
        places = np.searchsorted(self._first, words[:, 0])
        inside = np.minimum(places, len(self) - 1)
        same_first = self._first[inside] == words[:, 0]
        found = same_first & (self._second[inside] == words[:, 1])
        rows = np.where(found, self._rows[inside], -1)
        # Two keys that share their first 64 bits: next to impossible for hashes, but it must not be wrong.
        for at in np.flatnonzero(same_first & ~found):
            rows[at] = self._walk(int(places[at]), words[at])
        return rows

    def _walk(self, place: int, word: NDArray[np.uint64]) -> int:
        """Look along the run of equal first words that begins at `place`."""
        while place < len(self) and self._first[place] == word[0]:
            if self._second[place] == word[1]:
                return int(self._rows[place])
            place += 1
        return -1
