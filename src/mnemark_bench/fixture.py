"""The product under test: a set's scopes stored in workspaces of their own, opened and asked."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from mnemark.embed import Embedder, make
from mnemark.memory.memory import Memory
from mnemark.retrieval.presets import Preset
from mnemark.retrieval.search import search
from mnemark.retrieval.stages import Found, Request
from mnemark.text.dates import local_now
from mnemark.types import Hit, Recall
from mnemark_bench.data import DataSet, SetQuestion, SetUnit
from mnemark_bench.store import StoredScope

DEPTH: Final = 60
"""Hits asked for where rankings are scored."""


class BenchFixture:
    """One set, ready to be asked. Made by `bedded`."""

    def __init__(self, data: DataSet, places: dict[str, tuple[Memory, StoredScope]], seconds: float) -> None:
        self.data = data
        self.seconds = seconds
        """What the first sync took."""
        self._places = places

    def place(self, question: SetQuestion) -> tuple[Memory, StoredScope]:
        """The memory a question is asked to."""
        return self._places[question.scopes[0]]

    def scopes(self) -> list[str]:
        """All scopes, in order."""
        return list(self._places)

    def memory(self, scope: str) -> Memory:
        """The memory of a scope."""
        return self._places[scope][0]

    def stored(self, scope: str) -> StoredScope:
        """What is stored in a scope."""
        return self._places[scope][1]

    def ask(self, question: SetQuestion, *, preset: str, dated: bool = True, k: int = DEPTH) -> Recall:
        """The answer through the public API; `dated` passes the question's date as now."""
        memory, _ = self.place(question)
        return memory.search(question.query, k=k, preset=preset, now=question.asked_at if dated else None)

    def ask_with(self, question: SetQuestion, preset: Preset, *, k: int = DEPTH) -> Found:
        """The answer with a ranking that has no name: the same steps as `Memory.search`."""
        memory, _ = self.place(question)
        now = question.asked_at or local_now(memory.config.timezone)
        request = Request(text=question.query, k=k, preset=preset, now=now)
        route = (
            memory.workspace.searcher.embeddings.route(question.query)[0]
            if preset.dense or preset.fusion == "rrf"
            else None
        )
        return search(memory.workspace.searcher.reader, request, route)

    def rank(self, question: SetQuestion, hits: tuple[Hit, ...]) -> tuple[list[str], list[str]]:
        """Units and sessions of hits, best first."""
        stored = self.place(question)[1]
        units = stored.ranking(hits)
        return units, stored.sessions(units)


def embedder_for(spec: str) -> Embedder | None:
    """The embedder of a configuration word, shared by all workspaces of a run; None for "none"."""
    return None if spec == "none" else make(spec)


@contextmanager
def kept_or_temporary(keep: Path | None) -> Iterator[Path]:
    """The folder to keep workspaces in, or one that goes away."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="mnemark-bench-") as folder:
        yield Path(folder)


@contextmanager
def bedded(
    data: DataSet, folder: Path, embedder: Embedder | None, *, names: bool = True
) -> Iterator[BenchFixture]:
    """Store a set below `folder`, each scope in a workspace of its own, sync, and open it."""
    kind = "" if names else "-numbered"
    base = folder / f"{data.name.rsplit(' on ', 1)[-1]}{kind}"
    base.mkdir(parents=True, exist_ok=True)
    places: dict[str, tuple[Memory, StoredScope]] = {}
    with ExitStack() as stack:
        seconds = 0.0
        for number, (scope, units) in enumerate(data.units.items()):
            stored = _stored(base / str(number), units, names=names)
            memory = stack.enter_context(opened(stored.root, embedder))
            started = time.perf_counter()
            memory.sync()
            seconds += time.perf_counter() - started
            places[scope] = (memory, stored)
        yield BenchFixture(data, places, seconds)


def opened(root: Path, embedder: Embedder | None) -> Memory:
    """A workspace with that embedder, or with none."""
    config = {"embedder": "none"} if embedder is None else {}
    return Memory.open(root, config=config, embedder=embedder, trusted=True)


def _stored(root: Path, units: list[SetUnit], *, names: bool) -> StoredScope:
    return StoredScope.make(root, units, names=names)
