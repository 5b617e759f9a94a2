"""Map content keys to row numbers with sorted arrays and binary search."""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

KEY_BYTES = 16
"""Length of a content key: a 128-bit hash of the embedded text."""

_U64 = np.dtype("<u8")
Words = NDArray[np.uint64]
"""Keys as pairs of 64-bit words, shape (n, 2): numpy sorts and searches integers much faster than bytes."""


class Packed(Sequence[bytes]):
    """A sequence of keys backed by a uint8 array (n, 16); bytes objects are made on access."""

    def __init__(self, keys: NDArray[np.uint8]) -> None:
        self._keys = np.ascontiguousarray(keys)

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> "Packed": ...
    def __getitem__(self, at: int | slice) -> "bytes | Packed":
        return Packed(self._keys[at]) if isinstance(at, slice) else self._keys[at].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        content = self._keys.tobytes()
        return (content[start : start + KEY_BYTES] for start in range(0, len(content), KEY_BYTES))

    @property
    def words(self) -> Words:
        """The keys as an (n, 2) array."""
        return self._keys.view(_U64)


def as_words(keys: Sequence[bytes]) -> Words:
    """Return keys of 16 bytes each as an (n, 2) array.

    Raises:
        ValueError: a key of another length.
    """
    if isinstance(keys, Packed):
        return keys.words
    if not {KEY_BYTES}.issuperset(map(len, keys)):
        raise ValueError(f"content keys have {KEY_BYTES} bytes")
    return np.frombuffer(b"".join(keys), dtype=_U64).reshape(-1, 2)


class KeyIndex:
    """The keys of rows 0 … n-1, sorted. Immutable: `extended` returns a new one."""

    def __init__(self, words: Words | None = None) -> None:
        words = np.empty((0, 2), dtype=_U64) if words is None else words
        first, second = np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])
        self._store(first, second, np.arange(len(words)), np.argsort(first))

    def _store(
        self,
        first: NDArray[np.uint64],
        second: NDArray[np.uint64],
        rows: NDArray[np.int64],
        order: NDArray[np.int64] | None,
    ) -> None:
        """Store keys; `order` sorts them by their first word, None if they are sorted."""
        if order is not None:
            first, second, rows = first[order], second[order], rows[order]
        self._has_runs = bool((first[1:] == first[:-1]).any())
        if self._has_runs:
            # Equal first words are next to impossible for hashes, so the slower sort is rarely needed. Of
            # equal keys, the first row comes first and is found.
            order = np.lexsort((rows, second, first))
            first, second, rows = first[order], second[order], rows[order]
        self._first, self._second, self._rows = first, second, rows

    def __len__(self) -> int:
        return len(self._rows)

    def extended(self, words: Words) -> "KeyIndex":
        """Return this index with further rows appended, O(n + m log m)."""
        new = KeyIndex(words)
        if not len(self):
            return new
        places = np.searchsorted(self._first, new._first)
        both = KeyIndex()
        both._store(
            np.insert(self._first, places, new._first),
            np.insert(self._second, places, new._second),
            np.insert(self._rows, places, new._rows + len(self)),
            None,
        )
        return both

    def find(self, words: Words) -> NDArray[np.int64]:
        """Return the row numbers of `words`, int64 (n,); -1 for unknown keys."""
        if not len(self) or not len(words):
            return np.full(len(words), -1, dtype=np.int64)
        order = np.argsort(
            words[:, 0]
        )  # a search by rising keys reads the index in order: a fifth of the time
        first, second = words[order, 0], words[order, 1]
        places = np.searchsorted(self._first, first)
        if self._has_runs:
            places = self._within_runs(places, np.searchsorted(self._first, first, side="right"), second)
        places = np.minimum(places, len(self) - 1)
        found = (self._first[places] == first) & (self._second[places] == second)
        rows = np.empty(len(words), dtype=np.int64)
        rows[order] = np.where(found, self._rows[places], -1)
        return rows

    def _within_runs(
        self, low: NDArray[np.int64], high: NDArray[np.int64], second: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Binary-search second words in runs `low … high-1` of equal first words, vectorised over runs."""
        while (low < high).any():
            middle = (low + high) // 2
            before = (low < high) & (self._second[np.minimum(middle, len(self) - 1)] < second)
            high = np.where(before, high, np.minimum(high, middle))
            low = np.where(before, middle + 1, low)
        return low
