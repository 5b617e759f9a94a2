"""Another embedder: search goes on while everything is embedded anew, and never mixes two models."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemark.embed.hashing import HashingEmbedder
from mnemark.index.vectors import embed_missing
from mnemark.memory.memory import Memory
from mnemark.retrieval import embeddings

pytestmark = pytest.mark.timed

TEXTS = 40


class Stepwise(HashingEmbedder):
    """Embeds a batch for each permit it was given; asks and answers are in its own space."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.permits = threading.Semaphore(0)
        self.seen = 0

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert self.permits.acquire(timeout=20)
        self.seen += len(texts)
        return super().passages(texts)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(embed_missing, "BATCH", 10)
    for number in range(TEXTS):
        (tmp_path / f"note{number}.md").write_text(f"# Note {number}\n\nalpha beta{number} harbour\n")
    with Memory.open(tmp_path, embedder=HashingEmbedder(64)) as memory:
        memory.sync()
        assert memory.search("harbour").complete
    return tmp_path


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def test_search_goes_on_while_all_is_embedded_anew(root: Path) -> None:
    new = Stepwise(96)
    with Memory.open(root, embedder=new) as memory:
        store = memory.workspace.searcher.embeddings.store()
        for batch in range(5):
            until(lambda: store.refresh() or store.count == batch * 10)  # noqa: B023 - called at once
            found = memory.search("beta7 harbour")
            assert found.hits[0].path == "note7.md"
            assert ("dense" in found.mode) == (batch > 0)  # without any vector nothing is compared
            if batch < 4:
                assert not found.complete
                assert f"{batch * 25}%" in " ".join(found.degraded)
                new.permits.release()
        assert found.complete
        assert not found.degraded
    assert new.seen == TEXTS
    assert len(list((root / ".mnemark" / "vectors").glob("*.vec"))) == 2  # one file a model


def test_changing_back_finds_the_old_vectors(root: Path) -> None:
    new = Stepwise(96)
    with Memory.open(root, embedder=new) as memory:
        memory.search("harbour")  # begins, and is cut off
        new.permits.release()
        until(lambda: new.seen == 10)
    new.permits.release()  # for the batch at work
    old = Stepwise(64)
    with Memory.open(root, embedder=old) as memory:
        until(lambda: memory.search("harbour").complete)  # the batch that was at work may hold the lock
    assert old.seen == 0


def test_closing_does_not_wait_for_what_is_left(root: Path) -> None:
    new = Stepwise(96)
    memory = Memory.open(root, embedder=new)
    memory.search("harbour")
    started = time.monotonic()
    memory.close()
    assert time.monotonic() - started < 1
    for _ in range(8):
        new.permits.release()
    until(lambda: not any(thread.name == "mnemark-embed-all" for thread in threading.enumerate()))
    assert new.seen <= 20  # the batch at work; the next one is not begun once it sees the end


def test_much_text_does_not_hold_up_the_bundled_embedder_either(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemark.embed.bundled import BundledEmbedder

    for number in range(80):  # more than a search embeds by itself
        (root / f"more{number}.md").write_text(f"gamma{number} pier\n")
    go = threading.Event()
    whole = BundledEmbedder.passages

    def slowly(self: BundledEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
        assert go.wait(20)
        return whole(self, texts)

    monkeypatch.setattr(BundledEmbedder, "passages", slowly)
    monkeypatch.setattr(embeddings, "_PATIENCE", 0.05)
    with Memory.open(root) as memory:
        found = memory.search("beta7 harbour")
        assert found.hits[0].path == "note7.md"
        assert "0%" in " ".join(found.degraded)
        go.set()
        until(lambda: memory.search("beta7 harbour").complete)
