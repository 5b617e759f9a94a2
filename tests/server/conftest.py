"""Memories of a server for tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from starlette.testclient import TestClient

from mnemark.retrieval.searcher import load_words
from mnemark_server import access, tenants
from mnemark_server.database import Connection, Database, connect, connect_each
from mnemark_server.migrations import migrate
from mnemark_server.node import Tenants
from mnemark_server.server import Node, Settings
from server.postgres import Postgres
from server.processes import NodeProcess
from server.visitors import around

MakeNode = Callable[[], Tenants]
MakeClient = Callable[..., TestClient]


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
def url(request: pytest.FixtureRequest, postgres: Postgres, migrated: str) -> str:
    """A database as `migrated` says, for one test; where there is a `node`, that of the node."""
    if "running" in request.fixturenames:
        node: NodeProcess = request.getfixturevalue("node")
        return node.url
    return postgres.database("mnemark_test", like=migrated)


@pytest.fixture
def owner(url: str) -> Iterator[Connection]:
    """A connection that commits each statement."""
    with connect_each(url) as connection:
        yield connection


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


@pytest.fixture
def new_client(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeClient]:
    """Makes nodes; keys and sessions are looked up for each request."""
    monkeypatch.setattr(access, "KNOWN_SECONDS", 0.0)
    with ExitStack() as stack:
        made: list[TestClient] = []

        def make(**settings: Any) -> TestClient:
            node = Node(Settings(url, **settings), tmp_path / f"node-{len(made)}")
            stack.callback(node.database.close)

            client = TestClient(node.app(around), raise_server_exceptions=False)
            client.node = node  # type: ignore[attr-defined] # for `fill`
            made.append(stack.enter_context(client))
            return client

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


@pytest.fixture(scope="session")
def running(
    postgres: Postgres, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NodeProcess]:
    """A node in a process, for one test after the other: it takes seconds to start."""
    url = postgres.database("mnemark_running", like=migrated)
    found = NodeProcess(url, tmp_path_factory.mktemp("running") / "node")
    yield found
    found.kill()


@pytest.fixture
def node(running: NodeProcess) -> NodeProcess:
    """A node in a process, with two empty memories, "ann" and "bob". It may be killed."""
    running.renew()
    return running


@pytest.fixture
def server(node: NodeProcess) -> str:
    """The address of that node."""
    return node.address


@pytest.fixture
def key(new_key: Callable[..., str]) -> str:
    """A key of "ann"."""
    return new_key()
