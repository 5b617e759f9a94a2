"""Dense route: compute the cosine of each passage with the query."""

import threading
from collections.abc import Callable, Sequence
from typing import Final, Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemark.embed import Embedder
from mnemark.errors import MnemarkError
from mnemark.index.passage import embedded_text
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot
from mnemark.index.store import Record
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.keys import Packed
from mnemark.retrieval.deadline import TimedOut, by_deadline
from mnemark.threads import background

NO_TIME: Final = "there was no time left for it; allow a longer deadline"
_SCORE_ALL_SHARE: Final = 0.7
"""Share of masked passages above which it is faster to score all than to gather those in the mask."""
_NEW: Final = 64
"""Maximum number of passages that are embedded for a search, in 2 ms."""


class Dense(msgspec.Struct, frozen=True):
    """Cosines, shape (n,), and the positions of the passages that have no vector."""

    scores: Floats
    missing: Positions


class VectorRows:
    """Cache of the vector row of each passage, for one snapshot and one state of the store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: tuple[int, int, int] | None = None
        self._snapshot: Snapshot | None = None
        self._rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self._missing: Positions = np.zeros(0, np.int64)

    def rows(self, snapshot: Snapshot, store: VectorStore) -> tuple[NDArray[np.int64], Positions]:
        """Return row numbers in the store, shape (n,), -1 without a vector; and the positions of those."""
        store.refresh()
        key = (id(snapshot), store.generation, store.count)
        with self._lock:
            if key != self._key or self._snapshot is not snapshot:
                self._rows = store.lookup(Packed(snapshot.rows["key"]))
                self._rows.setflags(write=False)  # the store checks it once
                self._missing = np.flatnonzero(self._rows < 0)
                self._snapshot = snapshot
                self._key = key
            return self._rows, self._missing


def shared(scores: Floats, snapshot: Snapshot, neighbour: float) -> Floats:
    """Mix the neighbours' cosines into each passage's; negative ones count as 0, the scale is kept."""
    positive: Floats = np.maximum(scores, np.float32(0))
    if not neighbour:
        return positive
    mixed = positive / np.float32(1 + neighbour)
    # One scratch array is reused: allocating a million numbers costs more than filling them.
    scratch = np.empty_like(positive)
    for step in (1, 2):
        shares, part = snapshot.shares(step, neighbour**step / (1 + neighbour)), scratch[step:]
        np.multiply(positive[:-step], shares, out=part)
        mixed[step:] += part
        np.multiply(positive[step:], shares, out=part)
        mixed[:-step] += part
    return mixed


Compare = Callable[[Sequence[str]], Floats]
"""Takes texts; returns their cosines with the query."""


def with_new(compared: Dense, more: Compare | None, fetch: Callable[[Positions], Sequence[Record]]) -> Dense:
    """Compare the query with the few passages that have no vector yet, too, where that takes no time."""
    new = compared.missing
    if more is None or not 0 < len(new) <= _NEW:
        return compared
    scores = compared.scores.copy()
    scores[new] = more([embedded_text(record.title, record.text) for record in fetch(new)])
    return Dense(scores, new[:0])


def filled(cosines: Floats, missing: Positions, words: Floats) -> Floats:
    """Return the cosines, those of passages without a vector as their words let expect them.

    That is a straight line through the cosines of the passages with some of the words; without any of them,
    it is the mean. Passages whose words are those of the question mean the same: with 0, or with the mean of
    all, a turn that was just written would stand below all that has a vector.

    Args:
        cosines: shape (n,), 0 outside the search and without a vector.
        missing: positions of the passages without a vector.
        words: scores of the passages' own words and their neighbours', shape (n,).
    """
    known = cosines != 0
    known[missing] = False
    if not len(missing) or not known.any():
        return cosines
    expected = np.full(len(missing), cosines[known].mean(), np.float32)
    known &= words > 0
    has_words = words[missing] > 0
    if np.count_nonzero(known) > 1:
        shares, there = words[known], cosines[known]
        centred = shares - shares.mean()
        slope = float(centred @ there) / max(float(centred @ centred), 1e-6)
        line = there.mean() + slope * (words[missing][has_words] - shares.mean())
        expected[has_words] = np.clip(line, there.min(), 1)
    complete = cosines.copy()
    complete[missing] = expected
    return complete


_MEAN: Final = 0.1
_DEVIATION: Final = 0.09
"""Of the bundled embedder's cosines of a question with all passages; the ranking is made for its scale."""


def standardised(cosines: Floats) -> Floats:
    """Put a model's cosines on the bundled embedder's scale by their z-scores; zeros, for no vector, stay.

    Each model has a scale of its own: unrelated texts are at 0.1 by one and at 0.8 by another, and differ by
    0.02, which would not count beside the words.
    """
    there = np.flatnonzero(cosines)
    if not len(there):
        return cosines
    values = cosines[there]
    deviation = np.float32(_DEVIATION) / max(values.std(), np.float32(1e-6))
    scaled = np.zeros_like(cosines)
    scaled[there] = np.float32(_MEAN) + deviation * (values - values.mean())
    return scaled


def begin(
    snapshot: Snapshot,
    query: NDArray[np.float32],
    store: VectorStore,
    mapping: VectorRows,
    mask: Mask | None = None,
) -> Callable[[], Dense]:
    """Begin to compute the cosines of the query with the passages in `mask`; 0 elsewhere and without vectors.

    Returns:
        The function that waits for them, to be called once.
    """
    rows, missing = mapping.rows(snapshot, store)
    missing = missing if mask is None else missing[mask[missing]]
    score_all = mask is None or np.count_nonzero(mask) > _SCORE_ALL_SHARE * len(mask)
    chosen = None if mask is None or score_all else np.flatnonzero(mask)
    scores = store.begin_scores(query, rows if chosen is None else rows[chosen])

    def finish() -> Dense:
        found = scores()
        if chosen is not None:
            spread = np.zeros(len(rows), np.float32)
            spread[chosen] = found
            return Dense(spread, missing)
        if mask is not None:
            found *= mask
        return Dense(found, missing)

    return finish


Rarity = Callable[[str], float]
"""Takes a word; returns its idf among the visible passages."""


@runtime_checkable
class RarityAware(Protocol):
    """Interface of an embedder that weights the query's words by idf, and answers without delay."""

    def query_weighted(self, text: str, idf: Rarity) -> NDArray[np.float32]:
        """Return the query's vector, float32 of shape (dimension,)."""
        ...

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the texts' unit vectors, float32 of shape (len(texts), dimension)."""
        ...


class Ready(msgspec.Struct, frozen=True):
    """A query vector and the store to compare it with; or the reason why there is none."""

    vector: NDArray[np.float32] | None
    store: VectorStore | None
    problem: str = ""
    encoder: bool = False
    """Whether a model read the texts as wholes: its cosines have a scale of their own (see `standardised`),
    and tell more than those of word vectors."""
    cosines: Compare | None = None
    """Compares it with texts that have no vector yet, where that takes no time."""


class WeightedQuery:
    """Query vector with words weighted by idf, computed in `get`, when the idf is known."""

    def __init__(self, embedder: RarityAware, store: VectorStore, text: str) -> None:
        self._embedder = embedder
        self._store = store
        self._text = text

    def get(self, timeout: float | None, idf: Rarity) -> Ready:
        """Return the vector, unless no time is left; computing it is too fast to need a limit."""
        if timeout is not None and timeout <= 0:
            return Ready(None, None, NO_TIME)
        vector = self._embedder.query_weighted(self._text, idf)
        unit = vector / max(float(np.linalg.norm(vector)), 1e-9)
        return Ready(vector, self._store, cosines=lambda texts: self._embedder.passages(texts) @ unit)


class QueryVector:
    """Query vector computed on a thread of its own, so that a slow model cannot delay the answer."""

    def __init__(self, make: Callable[[], tuple[Embedder, VectorStore]], text: str) -> None:
        def embed() -> Ready:
            embedder, store = make()
            return Ready(embedder.query(text), store, encoder=embedder.semantic)

        self._ready = background(embed, "mnemark-embed")

    def get(self, timeout: float | None, idf: Rarity) -> Ready:  # noqa: ARG002 - this embedder weighs by itself
        """Wait for the vector up to `timeout` seconds; return it, or the reason why there is none."""
        try:
            ready = by_deadline(self._ready, timeout)
        except MnemarkError as error:
            return Ready(None, None, str(error))
        return (
            Ready(None, None, "the embedder did not answer in time") if isinstance(ready, TimedOut) else ready
        )
