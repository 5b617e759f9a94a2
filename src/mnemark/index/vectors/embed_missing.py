"""Embed passages that have no vector yet, in batches."""

import os
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Final

import numpy as np

from mnemark.embed import Embedder
from mnemark.embed.bundled import BundledEmbedder
from mnemark.files.truth import sync_lock
from mnemark.index import schema
from mnemark.index.passage import embedded_text
from mnemark.index.rows import ROW, Rows
from mnemark.index.segment import dead_bits
from mnemark.index.store import Index
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.keys import Packed
from mnemark.index.workers import WorkerAnswer, workers_for

BATCH: Final = 256
"""Passages embedded per batch."""

_WAIT: Final = 10.0
"""Seconds to wait for another process that syncs."""
_LARGE: Final = 5_000
"""Passages that are worth the start of workers."""

Progress = Callable[[int, int], None]
"""Called with the number of passages done and to do."""


def keys_of(index: Index) -> set[bytes]:
    """Return the content keys of all passages."""
    return set(Packed(_rows(index)["key"]))


def _rows(index: Index, segments: Collection[int] | None = None) -> Rows:
    """Return the rows of the passages in these segments; of all if there are none given."""
    sql, bindings = "SELECT size, rows, dead FROM segments", tuple[str, ...]()
    if segments is not None:
        sql += " WHERE id IN (SELECT value FROM json_each(?))"
        bindings = (schema.listed(segments),)
    parts = [
        np.frombuffer(blob, ROW)[~dead_bits(dead, size)] for size, blob, dead in index.rows(sql, bindings)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, ROW)


def missing(index: Index, store: VectorStore, segments: Collection[int] | None = None) -> dict[bytes, int]:
    """Return the content keys without a vector, each with the id of a passage with that content.

    Args:
        index: the passages.
        store: the vectors.
        segments: the segments to look at; None for all.
    """
    rows = _rows(index, segments)
    absent = rows[store.lookup(Packed(rows["key"])) < 0]
    found: dict[bytes, int] = {}
    for key, passage in zip(Packed(absent["key"]), absent["passage"].tolist(), strict=True):
        found.setdefault(key, passage)
    return found


def embed_missing(
    index: Index, embedder: Embedder, store: VectorStore, *, progress: Progress | None = None
) -> int:
    """Embed texts without a vector; return how many were embedded.

    May be interrupted at any point: added vectors stay. The lock is held only to write, so that a slow model
    does not block a sync. Processes that embed at once start at random offsets and skip each other's work.

    Raises:
        EmbedderUnavailable: the embedder cannot be used.
        BusyError: another process held the lock for longer than `_WAIT` seconds.
    """
    store.refresh()
    generation, known, sums = store.generation, store.covered, index.sums()
    changed = [one for one, content in sums.items() if not content or known.get(one) != content]
    wanted = missing(index, store, changed)
    keys = list(wanted)
    offset = int.from_bytes(os.urandom(4)) % len(keys) if keys else 0
    keys = keys[offset:] + keys[:offset]
    embedded = _embed(index, embedder, store, {key: wanted[key] for key in keys}, progress)
    if store.generation == generation and not store.missing(keys):
        store.covered = sums  # else a text deleted meanwhile may be that of another passage, too
    return embedded


def _embed(
    index: Index,
    embedder: Embedder,
    store: VectorStore,
    wanted: Mapping[bytes, int],
    progress: Progress | None,
) -> int:
    """Embed the passages of content keys, in this order; return how many."""
    keys = list(wanted)
    embedded = 0

    def add(texts: Mapping[bytes, str], data: bytes | None) -> None:
        matrix = (
            embedder.passages(list(texts.values()))
            if data is None
            else np.frombuffer(data, np.float32).reshape(len(texts), embedder.dimension)
        )
        with sync_lock(index.home, timeout=_WAIT):
            store.refresh()
            store.add(list(texts), matrix)

    table = _shared_table(embedder)
    with workers_for(len(keys) if table else 0, least=_LARGE) as workers:
        awaited: deque[tuple[Mapping[bytes, str], WorkerAnswer]] = deque()
        for start in range(0, len(keys), BATCH):
            store.refresh()
            texts = _texts(index, {key: wanted[key] for key in store.missing(keys[start : start + BATCH])})
            answer = workers.submit("vectors", table, list(texts.values())) if texts else None
            if answer is not None:
                awaited.append((texts, answer))
            elif texts:
                add(texts, None)
            while awaited and (awaited[0][1].ready or start + BATCH >= len(keys)):
                done, answer = awaited.popleft()
                add(done, answer.result())
            embedded += len(texts)
            if progress is not None:
                progress(min(start + BATCH, len(keys)), len(keys))
    return embedded


def _shared_table(embedder: Embedder) -> str:
    """Return the path of the word table with which a worker computes the same vectors; else an empty one."""
    return str(embedder.path) if type(embedder) is BundledEmbedder else ""


def _texts(index: Index, passages: Mapping[bytes, int]) -> dict[bytes, str]:
    """Return the texts to embed of those passages that are still there, by their content keys."""
    sql = "SELECT id, title, text FROM passages WHERE id IN (SELECT value FROM json_each(?))"
    rows = index.rows(sql, (schema.listed(passages.values()),))
    found = {number: embedded_text(title, text) for number, title, text in rows}
    return {key: found[number] for key, number in passages.items() if number in found}
