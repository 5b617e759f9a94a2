"""The embedder that comes with mnemark: one space for Chinese and English, offline, from a table of words.

A text's vector is the sum of its words' vectors, made unit length. Weights are part of the table, so a
vector depends on the text alone and never changes with the corpus. The table is made by
`tools/build_embedder` (see docs/embedder.md): four bits a number, one half-precision scale a row.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemark.embed.rows import WordRows
from mnemark.embed.sections import read_about, read_sections, unpack_words

DATA = Path(__file__).resolve().parent.parent / "data" / "embedder.bin"
"""The word table."""

_BATCH = 128

_HALVES = np.stack([np.arange(256) % 16 - 8, np.arange(256) // 16 - 8], axis=1).astype(np.float32)
"""(256, 2): the two numbers of each byte, low half first."""


class _Table(NamedTuple):
    rows: WordRows
    codes: NDArray[np.uint8]
    """(n, dimension / 2): two numbers a byte, each plus 8; mapped, read where needed."""
    scales: NDArray[np.float16]
    """(n,): what a row's numbers are multiplied by; carries the word's weight."""


class BundledEmbedder:
    """The bundled word table as an `Embedder`. Making one costs nothing: the table loads on first use.

    Args:
        path: another table of the same format, for building and measuring.
    """

    semantic = True

    def __init__(self, path: Path = DATA) -> None:
        self._path = path
        self._lock = _loading if path == DATA else threading.Lock()
        self._loaded: _Table | None = None

    @cached_property
    def _about(self) -> Mapping[str, Any]:
        return read_about(self._path)

    @property
    def name(self) -> str:
        """Changes with the table, so that vectors of two tables are never mixed."""
        return f"bundled-{self._about['fingerprint']}-{self.dimension}"

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return int(self._about["dimension"])

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed `texts`: float32 (len(texts), dimension), rows of length 1, or 0 without known words.

        A row depends on its own text only, bit by bit, whatever stands beside it.

        Raises:
            IntegrityError: the data file is damaged.
        """
        table = self._table()
        out = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _BATCH):
            part = slice(start, start + _BATCH)
            _sum(table, table.rows.counts(texts[part]), out[part])
        return out

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed a question: float32 (dimension,), the same as `passages([text])[0]`."""
        vector: NDArray[np.float32] = self.passages([text])[0]
        return vector

    def query_weighted(self, text: str, idf: Callable[[str], float]) -> NDArray[np.float32]:
        """Embed a question whose words weigh as their rarity in the corpus says: float32 (dimension,).

        `idf` is asked for single words as they stand in the text, but folded (lower case, simplified
        Chinese; not stemmed), and answers 0 or more; each word's weight is multiplied by its square root.
        A word that stands in every text, such as a speaker's name, then no longer covers the rest.
        """
        table = self._table()
        out = np.zeros((1, self.dimension), np.float32)
        _sum(table, [table.rows.scaled_counts(text, lambda word: max(idf(word), 0.0) ** 0.5)], out)
        vector: NDArray[np.float32] = out[0]
        return vector

    def _table(self) -> _Table:
        # The lock is taken every time, which costs nothing beside the work: two threads load once.
        with self._lock:
            if self._loaded is None:
                self._loaded = _packaged() if self._path == DATA else _load(self._path)
            return self._loaded


def _sum(table: _Table, counts: Sequence[Mapping[int, float]], out: NDArray[np.float32]) -> None:
    """Add up the weighted rows of each text to a unit vector in `out`; texts without rows are left alone."""
    filled = [number for number, found in enumerate(counts) if found]
    if not filled:
        return
    rows = np.array([row for number in filled for row in counts[number]])
    weights = np.array([weight for number in filled for weight in counts[number].values()], np.float32)
    starts = np.cumsum([0, *(len(counts[number]) for number in filled[:-1])])
    used, place = np.unique(rows, return_inverse=True)
    values = _HALVES[table.codes[used]].reshape(len(used), -1)
    values *= table.scales[used].astype(np.float32)[:, None]
    sums = np.add.reduceat(values[place] * weights[:, None], starts, axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
    out[filled] = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)


_loading = threading.Lock()


@cache
def _packaged() -> _Table:
    """Load the bundled table, once for all open workspaces. Hold `_loading`."""
    return _load(DATA)


def _load(path: Path) -> _Table:
    about, arrays = read_sections(path)
    rows = WordRows(unpack_words(arrays["words"]), unpack_words(arrays["stop"]), about["piece_weight"])
    return _Table(rows, arrays["codes"], arrays["scales"])
