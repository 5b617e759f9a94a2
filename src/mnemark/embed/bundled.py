"""Embed texts with the bundled word table: one vector space for Chinese and English, offline.

A text's vector is the sum of its words' vectors, normalised. Weights are part of the table, so a vector
depends on the text alone and never changes with the corpus. `tools/build_embedder` makes the table (see
docs/embedder.md): four bits per number, one half-precision scale per row.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemark.embed.rows import Bags, WordRows
from mnemark.embed.sections import read_about, read_sections, unpack_words

DATA = Path(__file__).resolve().parent.parent / "data" / "embedder.bin"
"""Path of the word table."""

_BATCH_SIZE = 128

_PAIRS = (np.arange(256) % 16 - 8 + (np.arange(256) // 16 - 8) * 1j).astype(np.complex64)
"""(256,): the two numbers that each byte encodes, low nibble first; as one element, looked up faster."""


class _Table(msgspec.Struct, frozen=True):
    rows: WordRows
    codes: NDArray[np.uint8]
    """(n, dimension / 2): two numbers per byte, each plus 8; memory-mapped."""
    scales: NDArray[np.float16]
    """(n,): factor of each row's numbers, which includes the word's weight."""


class BundledEmbedder:
    """Embedder that uses the bundled word table, loaded at first use.

    Args:
        path: the word table; another one to build and measure it.
    """

    semantic = True

    def __init__(self, path: Path = DATA) -> None:
        self.path = path
        """The word table: embedders of any process that use it compute the same vectors."""
        self._lock = _load_lock if path == DATA else threading.Lock()
        self._loaded: _Table | None = None

    @cached_property
    def _about(self) -> Mapping[str, Any]:
        return read_about(self.path)

    @property
    def name(self) -> str:
        """The name `bundled-FINGERPRINT-DIMENSION`, so that vectors of two tables are never mixed."""
        return f"bundled-{self._about['fingerprint']}-{self.dimension}"

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return int(self._about["dimension"])

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed `texts`: float32 (len(texts), dimension), unit rows, zero rows without a known word.

        A row depends on its own text only, bit for bit, whatever else is in the batch.

        Raises:
            IntegrityError: the data file is damaged.
        """
        table = self._table()
        out = np.zeros((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _BATCH_SIZE):
            part = slice(start, start + _BATCH_SIZE)
            _sum(table, table.rows.bags(texts[part]), out[part])
        return out

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed a question: float32 (dimension,), the same as `passages([text])[0]`."""
        vector: NDArray[np.float32] = self.passages([text])[0]
        return vector

    def query_weighted(self, text: str, idf: Callable[[str], float]) -> NDArray[np.float32]:
        """Embed a question with words weighted by their rarity in the corpus: float32 (dimension,).

        `idf` takes a word of the text, normalised (lower case, simplified Chinese; not stemmed), and
        returns 0 or more; the word's weight is multiplied by its square root. So a word of every text, such
        as a speaker's name, does not dominate the vector.
        """
        table = self._table()
        out = np.zeros((1, self.dimension), np.float32)
        _sum(table, table.rows.bags([text], lambda word: max(idf(word), 0.0) ** 0.5), out)
        vector: NDArray[np.float32] = out[0]
        return vector

    def weights(self, words: Sequence[str]) -> list[float]:
        """Return how much each word tells of a subject: about 4 for "good", 15 for "pottery".

        It is the length of the word's row. Function words have 0, words that are not in the table -1.
        """
        table = self._table()
        bags = table.rows.bags(words)
        whole = bags.rows[(np.cumsum(bags.sizes) - bags.sizes)[bags.sizes == 1]]
        out = np.where(bags.sizes == 0, 0.0, -1.0)
        lengths = np.linalg.norm(_PAIRS[table.codes[whole]].reshape(len(whole), self.dimension // 2), axis=1)
        out[bags.sizes == 1] = lengths * table.scales[whole].astype(np.float32)
        return [float(weight) for weight in out]

    def _table(self) -> _Table:
        # Taking the lock each time is cheap beside the work, and two threads never load the table twice.
        with self._lock:
            if self._loaded is None:
                self._loaded = _load_bundled() if self.path == DATA else _load(self.path)
            return self._loaded


def _sum(table: _Table, bags: Bags, out: NDArray[np.float32]) -> None:
    """Write the normalised weighted sum of each text's rows to `out`; skip texts without rows."""
    filled = np.flatnonzero(bags.sizes)
    if not len(filled):
        return
    sizes = bags.sizes[filled]
    values = _PAIRS.take(table.codes.take(bags.rows, axis=0)).view(np.float32)
    values *= table.scales.take(bags.rows).astype(np.float32)[:, None]
    values *= bags.weights[:, None]
    sums = np.add.reduceat(values, np.cumsum(sizes) - sizes, axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
    out[filled] = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)


_load_lock = threading.Lock()


@cache
def _load_bundled() -> _Table:
    """Load the bundled table once for all open workspaces; the caller holds `_load_lock`."""
    return _load(DATA)


def _load(path: Path) -> _Table:
    about, arrays = read_sections(path)
    rows = WordRows(arrays["words"].tobytes(), unpack_words(arrays["stop"]), about["piece_weight"])
    return _Table(rows, arrays["codes"], arrays["scales"])
