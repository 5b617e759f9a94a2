"""Embed passages that have no vector yet, in batches."""

import os
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemark.embed import Embedder
from mnemark.embed.bundled import BundledEmbedder
from mnemark.files.truth import sync_lock
from mnemark.index import schema
from mnemark.index.passage import embedded_text
from mnemark.index.rows import ROW, Rows
from mnemark.index.segment import dead_bits
from mnemark.index.store import Index
from mnemark.index.vectors.background import EmbeddingLog
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.keys import Packed
from mnemark.index.workers import WorkerAnswer, workers_for

BATCH: Final = 256
"""Maximum number of passages embedded per batch."""
_FIRST: Final = 16
"""Passages in a model's first batch; the next ones take about `_SECONDS`."""
_SECONDS: Final = 1.0
"""Seconds of a batch, which is lost where the process ends."""
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
    index: Index,
    embedder: Embedder,
    store: VectorStore,
    *,
    progress: Progress | None = None,
    log: EmbeddingLog | None = None,
) -> int:
    """Embed texts without a vector; return how many were embedded.

    May be interrupted at any point: added vectors stay. The lock is held only to write, so that a slow model
    does not block a sync. Processes that embed at once start at random offsets and skip each other's work.
    With a `log`, batches take about a second, and each is noted there.

    Raises:
        EmbedderUnavailable: the embedder cannot be used.
        BusyError: another process held the lock for longer than `_WAIT` seconds.
        BudgetSpentError: the `log`'s budget is used up.
    """
    store.refresh()
    generation, known, sums = store.generation, store.covered, index.sums()
    changed = [one for one, content in sums.items() if not content or known.get(one) != content]
    wanted = missing(index, store, changed)
    keys = list(wanted)
    offset = int.from_bytes(os.urandom(4)) % len(keys) if keys else 0
    keys = keys[offset:] + keys[:offset]
    work = _Work(index, embedder, store, {key: wanted[key] for key in keys}, progress)
    table = _shared_table(embedder)
    embedded = _embed_by_time(work, log) if log is not None else _embed_with_workers(work, table)
    if store.generation == generation and not store.missing(keys):
        store.covered = sums  # else a text deleted meanwhile may be that of another passage, too
    return embedded


class _Work(NamedTuple):
    """What is to be embedded: passages by their content keys, in this order."""

    source: Index
    embedder: Embedder
    store: VectorStore
    wanted: Mapping[bytes, int]
    progress: Progress | None

    def texts(self, start: int, size: int) -> dict[bytes, str]:
        """Return the texts of a batch that are still there and have no vector yet, by content key."""
        self.store.refresh()
        keys = self.store.missing(list(islice(self.wanted, start, start + size)))
        return _texts(self.source, {key: self.wanted[key] for key in keys})

    def add(self, texts: Iterable[bytes], matrix: NDArray[np.float32]) -> None:
        """Store vectors."""
        with sync_lock(self.source.home, timeout=_WAIT):
            self.store.refresh()
            self.store.add(list(texts), matrix)

    def tell(self, done: int) -> None:
        """Tell how many passages are done."""
        if self.progress is not None:
            self.progress(min(done, len(self.wanted)), len(self.wanted))


def _embed_by_time(work: _Work, log: EmbeddingLog) -> int:
    """Embed by a model that takes time, in batches of about `_SECONDS`; return how many."""
    embedded, start, size, total = 0, 0, min(_FIRST, BATCH), len(work.wanted)
    with sync_lock(work.source.home, timeout=_WAIT):
        log.note(total)
    while start < total:
        texts = work.texts(start, size)
        started = time.monotonic()
        if texts:
            with sync_lock(work.source.home, timeout=_WAIT):
                log.reserve(list(texts.values()))
            work.add(texts, work.embedder.passages(list(texts.values())))
            embedded += len(texts)
        start += size
        with sync_lock(work.source.home, timeout=_WAIT):
            log.note(max(total - start, 0))
        work.tell(start)
        if len(texts) == size:
            size = int(size * min(_SECONDS / max(time.monotonic() - started, 1e-3), 2))
            size = min(max(size, 1), BATCH)
    return embedded


def _embed_with_workers(work: _Work, table: str) -> int:
    """Embed in this process, or in workers where that is faster; return how many."""
    embedded, total = 0, len(work.wanted)
    with workers_for(total if table else 0, least=_LARGE) as workers:
        awaited: deque[tuple[Mapping[bytes, str], WorkerAnswer]] = deque()
        for start in range(0, total, BATCH):
            texts = work.texts(start, BATCH)
            answer = workers.submit("vectors", table, list(texts.values())) if texts else None
            if answer is not None:
                awaited.append((texts, answer))
            elif texts:
                work.add(texts, work.embedder.passages(list(texts.values())))
            while awaited and (awaited[0][1].ready or start + BATCH >= total):
                done, answer = awaited.popleft()
                if (data := answer.result()) is None:
                    work.add(done, work.embedder.passages(list(done.values())))
                else:
                    matrix = np.frombuffer(data, np.float32)
                    work.add(done, matrix.reshape(len(done), work.embedder.dimension))
            embedded += len(texts)
            work.tell(start + BATCH)
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
