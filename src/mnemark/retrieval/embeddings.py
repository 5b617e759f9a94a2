"""Open a workspace's embedder and vector store on first use, embed new passages, and report failures."""

import threading
import time
from pathlib import Path
from typing import Final

from mnemark import embed
from mnemark.embed import Embedder, EmbedderUnavailable
from mnemark.errors import BusyError, ConfigError, IntegrityError, MnemarkError, ReadOnlyError
from mnemark.files.config import Config
from mnemark.files.disk_errors import shortage
from mnemark.files.hosts import check_host
from mnemark.files.private import private
from mnemark.index.store import Index
from mnemark.index.vectors import discard_other_models, open_store
from mnemark.index.vectors.background import BudgetSpentError, EmbeddingLog, EmbeddingState
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.embed_missing import Progress, embed_missing
from mnemark.retrieval.routes.dense import QueryVector, RarityAware, VectorRows, WeightedQuery
from mnemark.retrieval.stages.meaning import DenseRoute
from mnemark.threads import yield_to_others

RETRY_SECONDS = 30.0
"""Seconds before a failed embedder is tried again."""
_PATIENCE: Final = 1.0
"""Seconds that a search waits for the bundled embedder to embed new passages."""


class _Closed(Exception):  # noqa: N818 - stops a thread, not an error
    """The memory was closed during embedding."""


class _OutOfTime(Exception):  # noqa: N818 - ends a wait, not an error
    """The rest is embedded later; searches tell how much is done."""


class Embeddings:
    """Embedder and vector store of one workspace. Thread-safe."""

    def __init__(
        self, root: Path, config: Config, *, readonly: bool, embedder: Embedder | None = None
    ) -> None:
        self._folder = private(root) / "vectors"
        self._config = config
        self._readonly = readonly
        self._lock = threading.Lock()
        self._embedder = embedder
        self._store: VectorStore | None = None
        self._mapping = VectorRows()
        self._problem = ""
        self._retry_at = 0.0
        self._over = ""
        """Why the last embedding ended before all was embedded."""
        self._embedded: tuple[int, int] | None = None
        """Generation of the index whose passages all have a vector, and the number of vectors then."""
        self._embedding = threading.Lock()
        self._closed = threading.Event()

    @property
    def wanted(self) -> bool:
        """Whether the dense route is configured."""
        return self._embedder is not None or self._config.embedder != "none"

    def embedder(self) -> Embedder:
        """Return the configured embedder.

        Raises:
            EmbedderUnavailable, ConfigError: see `mnemark.embed.make`.
        """
        with self._lock:
            if self._embedder is None:
                config = self._config
                if config.embedder.startswith("api:"):
                    try:
                        check_host(config.embedder_url, "the embedder")
                    except ConfigError as error:  # the lexical route still works
                        raise EmbedderUnavailable(str(error)) from error
                self._embedder = embed.make(
                    config.embedder,
                    url=config.embedder_url or None,
                    key_env=config.embedder_key_env or None,
                    dimension=config.embedder_dimension or None,
                )
            return self._embedder

    def store(self) -> VectorStore:
        """Return the vector store of the configured embedder; one that was lost or damaged is made anew.

        Raises:
            EmbedderUnavailable, ConfigError: see `embedder`.
            EngineUnavailable, IntegrityError, NewerFormatError, ReadOnlyError: see `VectorStore.open`.
        """
        embedder = self.embedder()
        with self._lock:
            if self._store is not None and not self._readonly and not self._is_usable(self._store):
                self._store.close()
                self._store = self._embedded = None
            if self._store is None:
                engine = self._config.vector_store
                self._store = open_store(
                    self._folder, embedder.name, embedder.dimension, engine=engine, readonly=self._readonly
                )
            return self._store

    def _is_usable(self, store: VectorStore) -> bool:
        """Return whether the vectors, which may be deleted alone or with their folder, are still there."""
        try:
            store.refresh()
        except IntegrityError:
            return False
        return store.path.exists()

    def _is_embedded(self, index: Index) -> bool:
        """Return whether all passages have a vector, and none was lost since."""
        if self._embedded is None or self._store is None:
            return False
        generation, count = self._embedded
        return generation == index.generation() and count <= self._store.count

    def load(self) -> None:
        """Load the embedder and the vector store."""
        if self.wanted:
            self.store()

    def unavailable(self) -> str:
        """Return why there is no embedder that is to be one: a part is missing. No model is loaded."""
        if not self.wanted or self.local:
            return ""
        try:
            self.embedder()
        except MnemarkError as error:
            return str(error)
        return ""

    @property
    def state(self) -> EmbeddingState:
        """What was embedded last by a model that takes time; empty for others."""
        told = self.wanted and not self.local
        return EmbeddingState.of(self._folder) if told else EmbeddingState()

    @property
    def local(self) -> bool:
        """Whether the embedder runs in this process without delay (the bundled one)."""
        if self._embedder is None:
            return self._config.embedder == "bundled"
        return isinstance(self._embedder, RarityAware)

    def route(self, text: str) -> tuple[DenseRoute | None, str]:
        """Start the dense route for a query; return None and the reason where it is unavailable."""
        if not self.wanted:
            return None, ""
        if self._problem and time.monotonic() < self._retry_at:
            return None, self._problem
        if not self.local:
            vector = QueryVector(lambda: (self.embedder(), self.store()), text)
            return DenseRoute(vector, self._mapping, self._over), ""
        try:
            embedder, store = self.embedder(), self.store()
        except (MnemarkError, OSError) as error:
            return None, self.failed(error)
        if not isinstance(embedder, RarityAware):
            raise TypeError(f"{type(embedder).__name__} is not the embedder it was taken for")
        return DenseRoute(WeightedQuery(embedder, store, text), self._mapping), ""

    def embed(
        self,
        index: Index,
        *,
        progress: Progress | None = None,
        unasked: bool = False,
        seconds: float | None = None,
    ) -> str:
        """Embed passages without a vector; return the reason on failure, else an empty string.

        Args:
            index: the passages.
            progress: is told each batch.
            unasked: send no more to a server than the budget of the day.
            seconds: end after the batch that takes longer, but for the bundled embedder.
        """
        if not self.wanted or self._is_embedded(index):
            return ""
        end = None if seconds is None or self.local else time.monotonic() + seconds

        def step(done: int, total: int) -> None:
            if progress is not None:
                progress(done, total)
            if end is not None and done < total and time.monotonic() > end:
                raise _OutOfTime

        with self._embedding:
            self._over = ""
            try:
                generation, store, embedder = index.generation(), self.store(), self.embedder()
                limited = unasked and getattr(embedder, "remote", False)
                budget = self._config.embedder_tokens_per_day if limited else None
                log = None if self.local else EmbeddingLog(self._folder, budget)
                embed_missing(index, embedder, store, progress=step, log=log)
            except (BusyError, _OutOfTime):
                return ""  # another process may be writing; the next call embeds the rest
            except BudgetSpentError:
                self._over = f", as the day's budget of {budget:,} tokens is used up"
                return f"dense: not all is embedded{self._over}"
            except (EmbedderUnavailable, ReadOnlyError, OSError) as error:
                return self.failed(error)
            self._problem = ""
            self._embedded = generation, store.count
        return ""

    def scrub(self, index: Index, *, wait: float) -> tuple[int, bool]:
        """Rewrite the index and the vectors without the bytes of deleted content.

        Returns:
            The number of bytes by which the index shrank, and whether there are vectors.

        Raises:
            BusyError: another process syncs, or reads the index; try again.
        """
        from mnemark.index.erase import scrub_index  # where something was deleted

        store, kept = self._store_to_keep()
        size = scrub_index(index, store, wait=wait)
        if kept is not None:
            discard_other_models(self._folder, kept)
        index.scrubbed()
        return size, kept is not None

    def _store_to_keep(self) -> tuple[VectorStore | None, str | None]:
        """Return the store, and the name of the model to keep: "" for no model, None without vectors."""
        if not self._folder.is_dir():
            return None, None
        if not self.wanted:
            return None, ""
        try:
            return self.store(), self.embedder().name
        except (EmbedderUnavailable, ConfigError):
            return None, ""  # they are embedded again once it answers

    def embed_soon(self, index: Index) -> None:
        """Run `embed` in the background; searches report the share of passages embedded so far.

        Wait up to `_PATIENCE` for the bundled embedder: enough for a few passages, but after a change of
        embedder there may be a hundred thousand.
        """
        if not self.wanted or self._is_embedded(index) or self._embedding.locked():
            return
        work = threading.Thread(
            target=self._embed_in_background, args=(index,), name="mnemark-embed-all", daemon=True
        )
        work.start()
        if self.local:
            work.join(_PATIENCE)

    def _embed_in_background(self, index: Index) -> None:
        def stop_if_closed(_done: int, _total: int) -> None:
            if self._closed.is_set():
                raise _Closed

        if not self.local:
            yield_to_others()  # a model computes for minutes; recalls have 150 ms
        try:
            self.embed(index, progress=stop_if_closed, unasked=True)
        except _Closed:
            return  # finished batches are stored; the next call embeds the rest
        except (MnemarkError, OSError) as error:
            if not self._closed.is_set():
                self.failed(error)

    def failed(self, error: MnemarkError | OSError) -> str:
        """Record why the dense route is unavailable, and return it as a `degraded` reason."""
        self._problem = f"dense: {shortage(error) or error}"
        self._retry_at = time.monotonic() + RETRY_SECONDS
        return self._problem

    def close(self) -> None:
        """Close the vector store; embedding in the background stops after its batch."""
        self._closed.set()
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
