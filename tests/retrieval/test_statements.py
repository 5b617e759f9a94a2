"""An answer asks the index a few times, however many terms a question and segments an index have."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from mnemark import Memory
from mnemark.index import schema
from mnemark.retrieval.words import by_words_of

QUESTION = (
    "Which lantern did the captain of the ferry hang beside the harbour bell before the storm of March?"
)
MOST = 4
"""Statements of a search: the generation, postings, texts, speakers."""
MOST_BY_WORDS = 13  # one of them reads the names of notes that the question may name


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        session = memory.session("ferry")
        for number in range(12):  # each sync adds a segment
            session.add("user", f"The captain hung lantern {number} beside the harbour bell in the storm.")
            session.add("assistant", f"So the ferry has {number} lanterns.")
            memory.sync()
        memory.search("warm")
        yield memory


@contextmanager
def counted(connection: apsw.Connection) -> Iterator[list[str]]:
    """Yield the list that statements are added to, without those that begin and end a transaction."""
    statements: list[str] = []

    def note(event: dict[str, object]) -> None:
        if (sql := str(event["sql"])) not in {"BEGIN", "ROLLBACK"}:
            statements.append(sql)

    connection.trace_v2(apsw.SQLITE_TRACE_STMT, note)
    yield statements
    connection.trace_v2(0, None)


def test_a_search_reads_the_postings_of_all_its_terms_at_once(memory: Memory) -> None:
    with counted(memory.workspace.index.connection) as statements:
        assert memory.search(QUESTION).hits
    assert len(statements) <= MOST, statements


def test_words_alone_read_them_at_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[str] = []
    connect: Callable[..., apsw.Connection] = schema.connect
    mine = threading.get_ident()  # the open memory goes on in the background

    def traced(path: Path, *, readonly: bool = False) -> apsw.Connection:
        connection = connect(path, readonly=readonly)
        if threading.get_ident() == mine:
            connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(str(event["sql"])))
        return connection

    monkeypatch.setattr("mnemark.index.schema.connect", traced)
    assert by_words_of(memory.root, QUESTION).hits
    statements = [sql for sql in statements if not sql.casefold().startswith("pragma")]
    assert len(statements) <= MOST_BY_WORDS, statements
