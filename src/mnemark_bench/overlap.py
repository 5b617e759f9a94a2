"""How much of the top ten the vectors' eight bits keep: the same questions with exact float32 vectors."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemark.embed import Embedder
from mnemark.index.passage import embedded_text
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.keys import Packed
from mnemark.memory.memory import Memory
from mnemark.retrieval.presets import preset
from mnemark.retrieval.routes.dense import QueryVector, RarityAware, VectorRows, WeightedQuery
from mnemark.retrieval.search import search
from mnemark.retrieval.stages import Request
from mnemark.retrieval.stages.meaning import DenseRoute
from mnemark.text.dates import local_now

_TOP: Final = 10
_BATCH: Final = 4_096
_SAME: Final = 1e-6
"""Cosines that differ by less are a tie in float32."""


class Exact(VectorStore):
    """A store with the rows of another, as float32. Reads only.

    Args:
        store: the store under test.
        matrix: unit vectors by its row numbers, (count, dimension).
    """

    engine = "float32"
    suffix = ".float32"

    def __init__(self, store: VectorStore, matrix: NDArray[np.float32]) -> None:
        super().__init__(store.path.parent, store.model, store.dimension, readonly=True)
        self._store = store
        self._matrix = matrix

    @property
    def count(self) -> int:
        """As of the other."""
        return self._store.count

    @property
    def generation(self) -> int:
        """As of the other."""
        return self._store.generation

    def close(self) -> None:
        """Nothing to let go of."""

    def _refresh(self) -> None:
        pass

    def _find(self, keys: Packed) -> NDArray[np.int64]:
        return self._store.lookup(keys)

    def _scores(self, query: NDArray[np.float32], rows: NDArray[np.int64] | None) -> NDArray[np.float32]:
        found = np.append(self._matrix @ query, np.float32(0))
        return np.asarray(found[:-1] if rows is None else found[rows], np.float32)

    def _create(self) -> None:
        raise NotImplementedError

    def _append(self, keys: Packed, matrix: NDArray[np.float32]) -> None:
        raise NotImplementedError

    def _compact(self, keep: Packed) -> int:
        raise NotImplementedError


def overlap(memory: Memory, embedder: Embedder, questions: Sequence[str]) -> dict[str, float]:
    """Shares of the ten best with exact vectors that are among the ten best with the stored ones.

    Returns:
        `vectors`: by cosine alone; `vectors, ties`: the same, where one as near as the exact tenth counts
        (texts of the same words have the same vector); `search`: hybrid search as a user has it.
    """
    store = memory.workspace.searcher.embeddings.store()
    store.refresh()
    shares: dict[str, list[float]] = {"vectors": [], "vectors, ties": [], "search": []}
    with tempfile.TemporaryDirectory(prefix="mnemark-overlap-") as folder:
        matrix, known = _matrix(memory, embedder, store, Path(folder) / "exact")
        exact = Exact(store, matrix)
        ways: tuple[tuple[VectorStore, VectorRows], ...] = ((store, VectorRows()), (exact, VectorRows()))
        for question in questions:
            request = Request(text=question, k=_TOP, preset=preset(memory.config.preset), now=local_now(""))
            kept, other = (
                [
                    hit.ref
                    for hit in search(
                        memory.workspace.searcher.reader, request, _route(embedder, way, mapping, question)
                    ).hits
                ]
                for way, mapping in ways
            )
            shares["search"].append(_share(kept, other))
            vector = embedder.query(question)
            if vector.any():
                both = _by_cosine(exact.scores(vector, known), store.scores(vector, known))
                shares["vectors"].append(both[0])
                shares["vectors, ties"].append(both[1])
    return {name: float(np.mean(found)) for name, found in shares.items() if found}


def _route(embedder: Embedder, store: VectorStore, mapping: VectorRows, question: str) -> DenseRoute:
    if isinstance(embedder, RarityAware):
        return DenseRoute(WeightedQuery(embedder, store, question), mapping)
    return DenseRoute(QueryVector(lambda: (embedder, store), question), mapping)


def _matrix(
    memory: Memory, embedder: Embedder, store: VectorStore, path: Path
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """All texts embedded anew, by the store's row numbers, and which of its rows have a text.

    In a file: they may not fit into memory twice.
    """
    shape = (store.count, embedder.dimension)
    matrix = np.memmap(path, np.float32, "w+", shape=shape)
    with memory.workspace.searcher.reader.reading() as view:
        rows, _ = VectorRows().rows(view.snapshot, store)
        first = np.unique(rows, return_index=True)[1]
        first = first[rows[first] >= 0]
        for start in range(0, len(first), _BATCH):
            part = first[start : start + _BATCH]
            texts = [embedded_text(record.title, record.text) for record in view.fetch(part)]
            matrix[rows[part]] = embedder.passages(texts)
    return matrix, rows[first]


def _by_cosine(exact: NDArray[np.float32], stored: NDArray[np.float32]) -> tuple[float, float]:
    k = min(_TOP, len(exact))
    right = np.argpartition(-exact, k - 1)[:k]
    found = np.argpartition(-stored, k - 1)[:k]
    least = float(exact[right].min())
    return _share(found.tolist(), right.tolist()), float(np.mean(exact[found] >= least - _SAME))


def _share(found: Sequence[object], right: Sequence[object]) -> float:
    return len(set(found) & set(right)) / len(right) if right else 1.0
