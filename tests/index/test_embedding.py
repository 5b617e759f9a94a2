"""Vectors for every passage: interrupted, side by side, and without keeping the index from following."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from mnemark.embed import EmbedderUnavailable
from mnemark.embed.hashing import HashingEmbedder
from mnemark.index.check import coverage
from mnemark.index.store import Index
from mnemark.index.sync import sync
from mnemark.index.vectors import embed_missing as embedding
from mnemark.index.vectors import open_store
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.embed_missing import embed_missing


class Embedder(HashingEmbedder):
    """Says what it was asked, may fail, and may wait in the middle."""

    def __init__(self, fail_at: int = -1) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.fail_at = fail_at
        self.inside = threading.Event()
        self.go = threading.Event()
        self.go.set()

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.inside.set()
        self.go.wait(10)
        if self.fail_at == 0:
            raise EmbedderUnavailable("gone")
        self.fail_at -= 1
        self.asked.extend(texts)
        return super().passages(texts)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    monkeypatch.setattr(embedding, "BATCH", 4)
    for number in range(20):
        (tmp_path / f"n{number}.md").write_text(f"# N\n\nalpha {number // 2}\n")  # each text twice
    found = Index(tmp_path)
    sync(found)
    yield found
    found.close()


def store(index: Index, embedder: Embedder) -> VectorStore:
    return open_store(index.root / ".mnemark/vectors", embedder.name, embedder.dimension)


def test_each_text_is_embedded_once(index: Index) -> None:
    embedder = Embedder()
    vectors = store(index, embedder)
    told: list[tuple[int, int]] = []
    assert embed_missing(index, embedder, vectors, progress=lambda done, of: told.append((done, of))) == 10
    assert len(set(embedder.asked)) == len(embedder.asked) == 10
    assert told[-1] == (10, 10)
    assert coverage(index, vectors) == (0, 10)
    assert embed_missing(index, embedder, vectors) == 0
    vectors.close()


def test_passages_are_looked_at_until_all_of_their_segment_have_a_vector(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Embedder(fail_at=1)
    vectors = store(index, embedder)
    with pytest.raises(EmbedderUnavailable):
        embed_missing(index, embedder, vectors)
    embedder.fail_at = -1
    assert embed_missing(index, embedder, vectors) == 6
    looked: list[int] = []
    lookup = VectorStore.lookup

    def look(self: VectorStore, keys: Sequence[bytes]) -> NDArray[np.int64]:
        looked.append(len(keys))
        return lookup(self, keys)

    monkeypatch.setattr(VectorStore, "lookup", look)
    (index.root / "new.md").write_text("gamma")
    sync(index)
    assert embed_missing(index, embedder, vectors) == 1
    assert max(looked) == 1
    vectors.close()


def test_vectors_that_are_gone_and_an_index_made_anew_are_looked_at(index: Index) -> None:
    embedder = Embedder()
    vectors = store(index, embedder)
    embed_missing(index, embedder, vectors)
    vectors.path.write_bytes(b"")  # damaged behind its back
    vectors.close()
    vectors = store(index, embedder)
    assert embed_missing(index, embedder, vectors) == 10
    for number in range(20):  # other texts in segments of the same numbers
        (index.root / f"n{number}.md").write_text(f"# N\n\nbeta {number}\n")
    index.discard_unless_replaced("test")
    sync(index)
    assert embed_missing(index, embedder, vectors) == 20
    assert coverage(index, vectors) == (0, 20)
    vectors.close()


def test_an_index_without_checksums_is_embedded(index: Index) -> None:
    with apsw.Connection(str(index.path)) as connection:  # as an earlier version left it
        connection.execute("DELETE FROM meta WHERE key LIKE 'sum:%'")
    connection.close()
    embedder = Embedder()
    vectors = store(index, embedder)
    assert embed_missing(index, embedder, vectors) == 10
    vectors.close()


def test_a_text_deleted_meanwhile_is_embedded_for_the_passage_that_shares_it(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts_of = embedding._texts

    def texts_after_deleting(index: Index, passages: Mapping[bytes, int]) -> dict[bytes, str]:
        for number in (0, 1):
            (index.root / f"n{number}.md").unlink(missing_ok=True)
        sync(index)
        return texts_of(index, passages)

    (index.root / "n20.md").write_text("# N\n\nalpha 0\n")  # in a segment of its own
    sync(index)
    monkeypatch.setattr(embedding, "_texts", texts_after_deleting)
    embedder = Embedder()
    vectors = store(index, embedder)
    assert embed_missing(index, embedder, vectors) == 9
    assert embed_missing(index, embedder, vectors) == 1
    assert coverage(index, vectors) == (0, 10)
    vectors.close()


def test_what_was_embedded_before_a_failure_stays(index: Index) -> None:
    embedder = Embedder(fail_at=1)
    vectors = store(index, embedder)
    with pytest.raises(EmbedderUnavailable):
        embed_missing(index, embedder, vectors)
    assert coverage(index, vectors) == (6, 10)
    embedder.fail_at = -1
    assert embed_missing(index, embedder, vectors) == 6
    vectors.close()


def test_the_index_follows_while_a_model_is_slow(index: Index) -> None:
    embedder = Embedder()
    embedder.go.clear()
    vectors = store(index, embedder)
    worker = threading.Thread(target=embed_missing, args=(index, embedder, vectors))
    worker.start()
    assert embedder.inside.wait(10)
    (index.root / "new.md").write_text("gamma")
    assert sync(index).added == 1
    (index.root / "n3.md").unlink()
    assert sync(index).removed == 1
    embedder.go.set()
    worker.join()
    embed_missing(index, embedder, vectors)
    assert coverage(index, vectors)[0] == 0
    vectors.close()


def test_two_at_once(index: Index) -> None:
    embedders = [Embedder(), Embedder()]
    stores = [store(index, embedder) for embedder in embedders]
    threads = [
        threading.Thread(target=embed_missing, args=(index, *pair))
        for pair in zip(embedders, stores, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for vectors in stores:
        assert coverage(index, vectors) == (0, 10)
        vectors.close()
