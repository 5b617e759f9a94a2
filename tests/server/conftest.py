"""Memories of a server for tests."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from mnemark.retrieval.searcher import load_words
from mnemark_server import tenants
from mnemark_server.database import Database, connect
from mnemark_server.migrations import migrate
from mnemark_server.node import Tenants
from server.postgres import Postgres

if TYPE_CHECKING:
    from server.test_kills import NodeProcess

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


@pytest.fixture
def new_key(url: str) -> Callable[..., str]:
    """Makes a memory where there is none of that name, and a key of it."""

    def make(name: str = "ann", key: str = "laptop", *, readonly: bool = False) -> str:
        with connect(url) as connection:
            if name not in {one.name for one in tenants.listed(connection)}:
                tenants.create(connection, name)
            return tenants.add_key(connection, name, key, scopes=("read",) if readonly else ("read", "write"))

    return make


@pytest.fixture
def node_process(url: str, tmp_path: Path) -> Iterator["NodeProcess"]:
    """A node in a process of its own."""
    from server.test_kills import NodeProcess  # which has what is here

    found = NodeProcess(url, tmp_path / "node", 29_000 + os.getpid() % 9_000)
    yield found
    found.kill()


@pytest.fixture
def server(node_process: "NodeProcess") -> str:
    """The address of that node."""
    return f"http://127.0.0.1:{node_process.port}"
