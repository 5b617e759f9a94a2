"""An embedder without meaning: what it gains comes from joining two scores, not from understanding.

Words keep their weights and texts stay sums of their words, so that equal words still make texts alike; only
what a word is near to is random.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemark.embed import Embedder
from mnemark.embed.bundled import DATA, BundledEmbedder
from mnemark.embed.sections import read_sections, write_sections
from mnemark_bench.baselines import document_terms

SEED: Final = 20_260_213


def control_for(embedder: Embedder, folder: Path) -> Embedder:
    """The control of an embedder; for the bundled one a table is written below `folder`."""
    if isinstance(embedder, BundledEmbedder):
        return shuffled(folder / "control.bin")
    return RandomWords(embedder.dimension)


def shuffled(path: Path, source: Path = DATA) -> BundledEmbedder:
    """The bundled word table with the numbers of each row in an order of its own: as long, and no meaning."""
    about, arrays = read_sections(source)
    codes = arrays["codes"]
    random = np.random.default_rng(SEED)
    numbers = np.stack([codes & 15, codes >> 4], axis=2).reshape(len(codes), -1)
    mixed = random.permuted(numbers, axis=1)
    packed = (mixed[:, 0::2] | mixed[:, 1::2] << 4).astype(np.uint8)
    fingerprint = f"control-{about['fingerprint']}"
    write_sections(path, {**about, "fingerprint": fingerprint}, {**arrays, "codes": packed})
    return BundledEmbedder(path)


class RandomWords:
    """Every word a random direction drawn from its letters; a text the sum of its words, made unit length.

    Args:
        dimension: of the embedder it stands for.
    """

    semantic = False

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.name = f"control-words-{dimension}"

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed `texts`: float32 (len(texts), dimension)."""
        matrix = np.zeros((len(texts), self.dimension), np.float32)
        for number, text in enumerate(texts):
            matrix[number] = self.query(text)
        return matrix

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed one text: float32 (dimension,), zero where it has no word."""
        words = document_terms(text)
        if not words:
            return np.zeros(self.dimension, np.float32)
        total = np.sum([_direction(word, self.dimension) for word in words], axis=0)
        return np.asarray(total / np.linalg.norm(total), np.float32)


@lru_cache(maxsize=50_000)
def _direction(word: str, dimension: int) -> NDArray[np.float64]:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.random.default_rng([SEED, int.from_bytes(digest, "little")]).standard_normal(dimension)
