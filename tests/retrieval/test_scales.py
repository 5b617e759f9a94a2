"""Models whose cosines have other scales rank alike."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemark import Memory
from mnemark.embed.bundled import BundledEmbedder
from mnemark.retrieval.routes.dense import standardised

NOTES = {
    "harbour": "We moored the boat at the western pier.",
    "invoice": "The accountant asked for the receipts of April.",
    "garden": "Tomatoes grew well beside the southern wall.",
    "doctor": "The physician prescribed antibiotics for two weeks.",
    "guitar": "She tuned the instrument before the concert.",
    "kitchen": "The oven needs a new heating element.",
    "school": "Pupils hand in their essays on Friday.",
    "winter": "Snow closed the mountain road again.",
}


class Model:
    """The bundled vectors as a model gives them whose unrelated texts have the cosine `base`."""

    semantic = True

    def __init__(self, base: float) -> None:
        self.name = f"scale-{base}"
        self._model = BundledEmbedder()
        self.dimension = self._model.dimension + 1
        self._base = base

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = self._model.passages(texts)
        shared = np.full((len(rows), 1), np.sqrt(self._base), np.float32)
        return np.hstack((np.float32(np.sqrt(1 - self._base)) * rows, shared)).astype(np.float32)

    def query(self, text: str) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self.passages([text])[0]
        return found


def test_a_model_with_close_cosines_ranks_as_one_with_wide_ones(tmp_path: Path) -> None:
    found = []
    for base in (0.0, 0.8):
        root = tmp_path / str(base)
        root.mkdir()
        for name, text in NOTES.items():
            (root / f"{name}.md").write_text(text, encoding="utf-8")
        with Memory.open(root, embedder=Model(base)) as memory:
            memory.sync()
            hits = memory.search("which medicine did I get from the road side clinic").hits
            found.append({hit.path: hit.score for hit in hits})
            assert [hit.path for hit in hits].index("doctor.md") < 2
    wide, close = found
    assert list(wide)[:3] == list(close)[:3]  # stored with 8 bits a value: the rest may be ties
    assert close == pytest.approx(wide, abs=0.02)


def test_passages_without_a_vector_stay_zero() -> None:
    scores = standardised(np.array([0.0, 0.80, 0.82, 0.84], np.float32))
    assert scores[0] == 0
    assert 0 < scores[2] - scores[1] == pytest.approx(scores[3] - scores[2], abs=1e-5)
    assert standardised(np.zeros(3, np.float32)).tolist() == [0, 0, 0]
    assert standardised(np.full(2, 0.8, np.float32)).tolist() == pytest.approx([0.1, 0.1])
