"""Memories of a server for tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mnemark.retrieval.searcher import load_words
from mnemark_server import tenants
from mnemark_server.database import Database, connect
from mnemark_server.migrations import migrate
from mnemark_server.node import Tenants
from server.postgres import Postgres

MakeNode = Callable[[], Tenants]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL that runs; not in the folders of the tests, which are for their user alone."""
    with TemporaryDirectory(prefix="mnemark-postgres-") as folder:
        found = Postgres(Path(folder))
        found.start()
        yield found
        found.stop("immediate")


@pytest.fixture(scope="session")
def migrated(postgres: Postgres) -> str:
    """The name of a migrated database with two memories, "ann" and "bob", whose numbers are 1 and 2."""
    name = "mnemark_template"
    with connect(postgres.database(name)) as connection:
        migrate(connection)
        tenants.create(connection, "ann")
        tenants.create(connection, "bob")
    return name


@pytest.fixture
def url(postgres: Postgres, migrated: str) -> str:
    """A database as `migrated` says, for one test."""
    return postgres.database("mnemark_test", like=migrated)


@pytest.fixture
def new_node(url: str, tmp_path: Path) -> Iterator[MakeNode]:
    """Makes nodes, which have ended when the test has. As in `serve`, what recalls share is loaded first."""
    load_words()
    with ExitStack() as stack:
        made: list[Tenants] = []

        def make() -> Tenants:
            database = Database(url)
            stack.callback(database.close)
            node = Tenants(database, tmp_path / "nodes" / str(len(made)))
            stack.callback(node.close)
            made.append(node)
            return node

        yield make


def truth(root: Path) -> dict[str, bytes]:
    """The files of a memory but for `.mnemark`, which is derived."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".mnemark" not in path.parts
    }
