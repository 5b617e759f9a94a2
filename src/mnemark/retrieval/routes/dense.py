"""Dense route: cosines of all passages with the question."""

import threading
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mnemark.embed.base import Embedder
from mnemark.errors import MnemarkError
from mnemark.index.snapshot import Floats, Mask, Snapshot
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.keys import Packed
from mnemark.net import background
from mnemark.retrieval.deadline import TimedOut, by_deadline

_MOST: Final = 0.7
"""Share of the passages from which it is quicker to look at all than to gather those that count."""


class Dense(NamedTuple):
    """Cosines, shape (n,), and the share of passages that have a vector."""

    scores: Floats
    covered: float


class VectorRows:
    """Which vector each passage has, remembered for as long as neither side changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[int, int, int] | None = None
        self._snapshot: Snapshot | None = None
        self._rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self._covered = 0.0

    def rows(self, snapshot: Snapshot, store: VectorStore) -> tuple[NDArray[np.int64], float]:
        """Row numbers in the store, shape (n,), -1 where there is no vector; and the share that has one."""
        store.refresh()
        key = (id(snapshot), store.generation, store.count)
        with self._lock:
            if key != self._key or self._snapshot is not snapshot:
                self._rows = store.lookup(Packed(snapshot.rows["key"]))
                # Turns that no sync has seen yet (numbers below 0) are found by their words only, and soon
                # by meaning.
                stored = self._rows[snapshot.rows["passage"] >= 0]
                self._covered = float(np.count_nonzero(stored >= 0)) / max(len(stored), 1)
                self._snapshot = snapshot
                self._key = key
            return self._rows, self._covered


def shared(scores: Floats, snapshot: Snapshot, neighbour: float) -> Floats:
    """Cosines, with the neighbours' mixed in as their terms are: never negative, on the same scale."""
    positive: Floats = np.maximum(scores, np.float32(0))
    if not neighbour:
        return positive
    mixed = positive / np.float32(1 + neighbour)
    # Into one array again and again: a new one of a million numbers costs more than filling it.
    scratch = np.empty_like(positive)
    for step in (1, 2):
        weight = np.float32(neighbour**step / (1 + neighbour))
        together, part = snapshot.together(step), scratch[step:]
        np.multiply(positive[:-step], together, out=part)
        part *= weight
        mixed[step:] += part
        np.multiply(positive[step:], together, out=part)
        part *= weight
        mixed[:-step] += part
    return mixed


def score(
    snapshot: Snapshot,
    query: NDArray[np.float32],
    store: VectorStore,
    mapping: VectorRows,
    mask: Mask | None = None,
) -> Dense:
    """Cosines of the question with the passages in `mask`; 0 elsewhere and where there is no vector."""
    rows, covered = mapping.rows(snapshot, store)
    if mask is None:
        return Dense(store.scores(query, rows), covered)
    if np.count_nonzero(mask) > _MOST * len(mask):
        return Dense(store.scores(query, rows) * mask, covered)
    chosen = np.flatnonzero(mask)
    scores = np.zeros(len(rows), np.float32)
    scores[chosen] = store.scores(query, rows[chosen])
    return Dense(scores, covered)


Rarity = Callable[[str], float]
"""The idf of a word in the text that is searched."""


@runtime_checkable
class RarityAware(Protocol):
    """An embedder that lets a question's words weigh by how rare they are, and answers at once."""

    def query_weighted(self, text: str, idf: Rarity) -> NDArray[np.float32]:
        """Return the question's vector, float32 of shape (dimension,)."""
        ...


class Ready(NamedTuple):
    """A question's vector and where those of the passages are; or the reason why there is none."""

    vector: NDArray[np.float32] | None
    store: VectorStore | None
    problem: str = ""


class WeightedQuery:
    """The vector of a question whose words weigh by their rarity; made when the rarities are known."""

    def __init__(self, embedder: RarityAware, store: VectorStore, text: str) -> None:
        self._embedder = embedder
        self._store = store
        self._text = text

    def get(self, timeout: float | None, idf: Rarity) -> Ready:
        """Return the vector, unless its time is over; making it takes none worth limiting."""
        if timeout is not None and timeout <= 0:
            return Ready(None, None, "there was no time left for it; allow a longer deadline")
        return Ready(self._embedder.query_weighted(self._text, idf), self._store)


class QueryVector:
    """The question's vector, made on its own thread so that a slow model cannot hold up an answer."""

    def __init__(self, make: Callable[[], tuple[Embedder, VectorStore]], text: str) -> None:
        def embed() -> Ready:
            embedder, store = make()
            return Ready(embedder.query(text), store)

        self._ready = background(embed, "mnemark-embed")

    def get(self, timeout: float | None, idf: Rarity) -> Ready:  # noqa: ARG002 - this embedder weighs by itself
        """Return the vector, or the reason why there is none in time."""
        try:
            ready = by_deadline(self._ready, timeout)
        except MnemarkError as error:
            return Ready(None, None, str(error))
        return (
            Ready(None, None, "the embedder did not answer in time") if isinstance(ready, TimedOut) else ready
        )
