"""Connections of a process that runs long: few, small, and never taken from somebody at work."""

import threading
from pathlib import Path

import apsw
import pytest

from mnemark.errors import UsageError
from mnemark.files.config import Config
from mnemark.index import schema
from mnemark.index.connections import SPARE
from mnemark.index.store import Index
from mnemark.index.sync import sync
from mnemark.retrieval.embeddings import Embeddings

MANY = 12


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "a.md").write_text("alpha beta\n", encoding="utf-8")
    index = Index(tmp_path)
    sync(index)
    return index


def test_threads_that_rest_share_few_connections(index: Index) -> None:
    together, done = threading.Barrier(MANY + 1, timeout=30), threading.Event()

    def work() -> None:
        index.scopes()
        together.wait()  # all have one now
        index.rest()
        together.wait()
        done.wait(30)

    threads = [threading.Thread(target=work) for _ in range(MANY)]
    for thread in threads:
        thread.start()
    together.wait()
    together.wait()
    assert index._connections.open <= SPARE + 1  # the threads live, and hold none
    assert index.scopes() == {"": 0}
    done.set()
    for thread in threads:
        thread.join()
    index.close()
    assert index._connections.open == 0


def test_resting_inside_of_a_transaction_changes_nothing(index: Index) -> None:
    with schema.reading(index.connection):
        before = index.connection
        index.rest()
        assert index.connection is before
        assert before.in_transaction
    index.close()


def test_a_transaction_stays_with_its_database_where_that_is_replaced(index: Index) -> None:
    with index.reading() as before:
        connection, (row,) = index.connection, before.rows
        for path in index.path.parent.glob("index.db*"):
            path.unlink()
        thread = threading.Thread(target=index.follow)
        thread.start()
        thread.join()
        assert index.connection is connection
        assert [one.text.strip() for one in index.fetch([int(row["passage"])]).values()] == ["alpha beta"]
    with index.reading() as now:
        assert index.connection is not connection
        assert len(now) == 0  # until the next sync
    index.close()


def test_resting_twice_never_having_worked_and_after_the_end(index: Index) -> None:
    index.rest()
    index.rest()
    assert index.scopes() == {"": 0}
    index.close()
    index.rest()
    with pytest.raises(UsageError, match="closed"):
        index.scopes()


def test_what_a_large_sync_read_and_wrote_does_not_stay_in_memory(tmp_path: Path) -> None:
    for number in range(40):
        words = " ".join(f"word{number}x{at}" for at in range(3_000))
        (tmp_path / f"n{number}.md").write_text(words + "\n", encoding="utf-8")
    index = Index(tmp_path)
    sync(index)
    assert index.path.stat().st_size > 4 << 20
    used, _ = index.connection.status(apsw.SQLITE_DBSTATUS_CACHE_USED)
    assert used < 2 << 20
    index.close()


@pytest.mark.parametrize("statement", range(4))
def test_embedding_in_the_background_ends_quietly_where_the_memory_is_closed(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: int
) -> None:
    """Closing interrupts what other threads read, at any of their statements."""
    raised: list[object] = []
    read: list[apsw.Connection] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    current = index._connections.current

    def interrupted() -> apsw.Connection:
        connection = current()
        if threading.current_thread().name == "mnemark-embed-all":
            if len(read) == statement:
                connection.set_progress_handler(lambda: True, 1)
            read.append(connection)
        return connection

    monkeypatch.setattr(index._connections, "current", interrupted)
    vectors = Embeddings(tmp_path, Config(embedder="hashing"), readonly=False)
    vectors.embed_soon(index)
    for thread in threading.enumerate():
        if thread.name == "mnemark-embed-all":
            thread.join(30)
    vectors.close()
    assert len(read) == statement + 1
    assert raised == []
