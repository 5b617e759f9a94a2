"""A server of many people under attack: lost connections, stopped nodes, hostile tenants, wrong databases."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mnemark import Memory
from mnemark.errors import BusyError, MnemarkError, NotFoundError, UsageError
from mnemark.files import platform
from mnemark.files.edit import edit
from mnemark_server import tenants
from mnemark_server.database import Database, UnavailableError, connect
from mnemark_server.guard import route_of
from mnemark_server.migrations import migrate
from mnemark_server.node import Tenants
from mnemark_server.rows import FencedError, TenantRows
from server.postgres import Postgres


@pytest.fixture(scope="module")
def address(postgres: Postgres) -> str:
    """The server's, without a database."""
    return postgres.url.removesuffix("/postgres")


@pytest.fixture(scope="module")
def url(address: str) -> str:
    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE broken")
    with connect(f"{address}/broken") as connection:
        migrate(connection)
    return f"{address}/broken"


@pytest.fixture
def tenant(url: str, request: pytest.FixtureRequest) -> int:
    name = request.node.name.lower().replace("[", "-").replace("]", "")[:60]
    with connect(url) as connection:
        tenants.create(connection, name)
        return tenants.number_of(connection, name)


@pytest.fixture
def node(url: str, tmp_path: Path) -> Iterator[Callable[..., Tenants]]:
    made: list[tuple[Tenants, Database]] = []

    def make(name: str = "a", **options: Any) -> Tenants:
        database = Database(url)
        made.append((Tenants(database, tmp_path / name, **options), database))
        return made[-1][0]

    yield make
    for one, database in made:
        one.close()
        database.close()


def _files(tmp_path: Path, name: str, tenant: int) -> dict[str, bytes]:
    root = tmp_path / name / str(tenant)
    found = (path for path in root.rglob("*") if path.is_file() and ".mnemark" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def _end_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_what_another_node_erased_is_not_put_back(
    node: Callable[..., Tenants], tenant: int, tmp_path: Path
) -> None:
    first, second = node("a"), node("b")
    with first.lease(str(tenant)) as here:
        here.memory.remember("door code", "Zanzibar-4711")
    with second.lease(str(tenant)) as there:
        (fact,) = there.memory.facts()
        receipt = there.memory.forget(fact.id, erase=True)
    assert receipt.action == "erased"
    with first.lease(str(tenant)) as here:
        here.memory.remember("tea", "green")  # an edit looks whether its last one was lost
        here.memory.consolidate()
    with second.lease(str(tenant)):
        pass
    for name in ("a", "b"):
        held = {path for path, data in _files(tmp_path, name, tenant).items() if b"Zanzibar" in data}
        assert not held
    assert not list((tmp_path / "a" / str(tenant) / ".mnemark").rglob("*.old"))
    assert _files(tmp_path, "a", tenant) == _files(tmp_path, "b", tenant)


def test_what_another_node_erased_leaves_the_index_here(
    node: Callable[..., Tenants], tenant: int, tmp_path: Path
) -> None:
    first, second = node("a"), node("b")
    with first.lease(str(tenant)) as here:
        here.session("one").add("user", "my door code is Zanzibar-4711")
        here.memory.search("door code")
    with second.lease(str(tenant)) as there:
        there.memory.forget(session="one", erase=True)
    with first.lease(str(tenant)) as here:
        assert not here.memory.search("Zanzibar").hits
    everything = (path for path in (tmp_path / "a" / str(tenant)).rglob("*") if path.is_file())
    assert not [path for path in everything if b"Zanzibar" in path.read_bytes()]


def test_an_erasure_that_was_interrupted_is_finished_by_the_next_request(
    node: Callable[..., Tenants], tenant: int, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> Any:
        raise UnavailableError("the database does not answer; try again")

    with node("a").lease(str(tenant)) as here:
        here.session("one").add("user", "my door code is Zanzibar-4711")
        with monkeypatch.context() as patch:
            patch.setattr(TenantRows, "push", lost)
            receipt = here.memory.forget(session="one", erase=True)
        assert receipt.waiting
    with node("b").lease(str(tenant)):
        pass
    with psycopg.connect(url) as connection:
        held = connection.execute(
            "SELECT path FROM mnemark.parts WHERE tenant = %s AND position('Zanzibar'::bytea IN data) > 0",
            [tenant],
        )
        assert not held.fetchall()


def test_a_memory_that_was_deleted_says_so_at_once(node: Callable[..., Tenants], url: str) -> None:
    with connect(url) as connection:
        tenants.create(connection, "leaving")
        number = tenants.number_of(connection, "leaving")
    with node().lease(str(number)) as here:
        with connect(url) as connection:
            tenants.delete(connection, "leaving")
        begun = time.monotonic()
        with pytest.raises(NotFoundError, match="deleted"):
            edit(here.memory.workspace.truth, "memory/plan.md", lambda _: b"- one\n")
        with pytest.raises(NotFoundError, match="deleted"):
            here.session("one").add("user", "hello")
        assert time.monotonic() - begun < 3


def test_a_memory_stays_open_between_requests(node: Callable[..., Tenants], tenant: int) -> None:
    pool = node()
    with pool.lease(str(tenant)) as first:
        pass
    with pool.lease(str(tenant)) as second:
        assert second is first


def test_a_file_that_could_not_be_taken_from_the_rows_is_taken_by_the_next_request(
    node: Callable[..., Tenants], tenant: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = node("a"), node("b")
    with first.lease(str(tenant)) as here:
        here.memory.remember("tea", "green")
    with second.lease(str(tenant)):
        pass
    with first.lease(str(tenant)) as here:
        here.memory.remember("tea", "black")
    contents = TenantRows.contents

    def gone(*_: object) -> Any:
        raise UnavailableError("the database does not answer; try again")

    monkeypatch.setattr(TenantRows, "contents", gone)  # it goes away between two questions
    with pytest.raises(UnavailableError), second.lease(str(tenant)):
        pass
    monkeypatch.setattr(TenantRows, "contents", contents)
    with second.lease(str(tenant)) as there:
        assert [fact.value for fact in there.memory.facts()] == ["black"]
    assert _files(tmp_path, "a", tenant) == _files(tmp_path, "b", tenant)


def test_lines_that_did_not_arrive_here_are_not_overwritten(
    node: Callable[..., Tenants], tenant: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = node("a"), node("b")
    with first.lease(str(tenant)) as here:
        here.session("one").add("user", "the first line")
        path = here.session("one").path
    with second.lease(str(tenant)) as there:
        truth = there.memory.workspace.truth

        def full(*_: object) -> Any:
            raise OSError(28, "No space left on device")

        def rewrite() -> None:
            with truth.change() as files:
                files.wrote(path)
                with first.lease(str(tenant)) as here:
                    here.session("one").add("user", "the second line")
                with monkeypatch.context() as patch:
                    patch.setattr(platform.FS, "write", full)
                    with pytest.raises(OSError, match="space"):
                        truth.pull()  # type: ignore[attr-defined]

        with pytest.raises(FencedError):
            rewrite()
    for one in (first, second):
        with one.lease(str(tenant)):
            pass
    assert b"the second line" in _files(tmp_path, "a", tenant)[path]
    assert _files(tmp_path, "a", tenant) == _files(tmp_path, "b", tenant)


def test_a_note_whose_change_was_not_taken_is_not_acknowledged(
    node: Callable[..., Tenants], tenant: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with node().lease(str(tenant)) as here:
        truth = here.memory.workspace.truth
        assert edit(truth, "memory/plan.md", lambda _: b"- one\n").status == "written"

        def fenced(*_: object, **__: object) -> Any:
            raise FencedError("another node changed this memory meanwhile; try again")

        with monkeypatch.context() as patch:
            patch.setattr(TenantRows, "push", fenced)
            with pytest.raises(BusyError):
                edit(truth, "memory/plan.md", lambda held: held + b"- two\n")
        assert edit(truth, "memory/plan.md", lambda held: held + b"- three\n").content == b"- one\n- three\n"


def test_a_lease_that_could_not_be_ended_keeps_nobody_out(
    node: Callable[..., Tenants], tenant: int, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with node().lease(str(tenant)) as here:
        truth = here.memory.workspace.truth
        with monkeypatch.context() as patch:

            def lost(*_: object, **__: object) -> Any:
                _end_connections(url)
                raise UnavailableError("the database does not answer; try again")

            patch.setattr(TenantRows, "push", lost)
            patch.setattr(TenantRows, "release", lost)
            with pytest.raises(UnavailableError):
                edit(truth, "memory/plan.md", lambda _: b"- one\n")
        begun = time.monotonic()
        for _ in range(20):
            with suppress(UnavailableError):  # a connection of the pool that is gone
                if edit(truth, "memory/plan.md", lambda _: b"- two\n").status == "written":
                    break
        assert time.monotonic() - begun < 5
        assert (here.memory.workspace.root / "memory" / "plan.md").read_bytes() == b"- two\n"


def test_a_call_that_is_repeated_after_its_session_was_erased_is_kept_again(
    node: Callable[..., Tenants], tenant: int
) -> None:
    with node().lease(str(tenant)) as here:
        session = here.session("one")
        said = [session.turn("user", "my locker is number 18")]
        session.add_once(said, "call-1")
        here.memory.forget(session="one", erase=True)
        path = here.memory.workspace.root / session.path
        path.unlink(missing_ok=True)
        with here.memory.workspace.truth.change() as files:
            files.removed(session.path)
        (turn,) = session.add_once(said, "call-1")
    assert turn.id


def test_a_tenant_with_many_waiting_changes_leaves_connections_to_the_others(url: str, tenant: int) -> None:
    with connect(url) as connection:
        tenants.create(connection, "neighbour")
        other = tenants.number_of(connection, "neighbour")
    database = Database(url, connections=4)
    rows, neighbour = TenantRows(database, tenant, "a"), TenantRows(database, other, "a")
    with psycopg.connect(url) as holder:
        holder.execute("SELECT FROM mnemark.heads WHERE tenant = %s FOR UPDATE", [tenant])

        def append() -> None:
            with pytest.raises(UnavailableError):
                rows.append("sessions/a.jsonl", b"", b"{}\n", [], after=0)

        threads = [threading.Thread(target=append) for _ in range(8)]
        for one in threads:
            one.start()
        time.sleep(0.3)
        begun = time.monotonic()
        assert neighbour.append("sessions/a.jsonl", b"", b"{}\n", [], after=0).seq == 1
        assert time.monotonic() - begun < 2
        for one in threads:
            one.join(30)
    database.close()


def test_a_node_that_stands_still_while_it_sends_lets_go_of_the_row(
    url: str, tenant: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(url)
    stopped, other = TenantRows(database, tenant, "a"), TenantRows(database, tenant, "b")
    put = TenantRows._put

    def stop(self: TenantRows, *given: Any) -> None:
        time.sleep(7)
        put(self, *given)

    monkeypatch.setattr(TenantRows, "_put", stop)
    lease, _ = stopped.lease(1, after=0)
    failed: list[MnemarkError] = []

    def send() -> None:
        try:
            stopped.push(lease, [("MEMORY.md", b"late")], base=0)
        except UnavailableError as error:
            failed.append(error)

    thread = threading.Thread(target=send)
    thread.start()
    time.sleep(0.5)
    assert other.append("sessions/a.jsonl", b"", b'{"id":"one"}\n', ["one"], after=0).seq == 1
    assert thread.is_alive()
    thread.join(20)
    assert failed
    database.close()


def test_a_node_empties_no_folder_but_its_own(url: str, tmp_path: Path) -> None:
    mine = tmp_path / "home"
    mine.mkdir()
    (mine / "letter.txt").write_text("dear Ann")
    database = Database(url)
    with pytest.raises(UsageError, match="other files"):
        Tenants(database, mine)
    assert (mine / "letter.txt").read_text() == "dear Ann"
    first = Tenants(database, tmp_path / "node")
    with pytest.raises(BusyError, match="another node"):
        Tenants(database, tmp_path / "node")
    first.close()
    Tenants(database, tmp_path / "node").close()
    database.close()


def test_folders_beyond_the_most_go_but_none_that_is_being_opened(
    node: Callable[..., Tenants], url: str
) -> None:
    names = [f"many-{n}" for n in range(4)]
    with connect(url) as connection:
        for name in names:
            tenants.create(connection, name)
        numbers = [tenants.number_of(connection, name) for name in names]
    pool = node(most_open=1, most_folders=2)
    failed: list[BaseException] = []

    def use(number: int) -> None:
        try:
            for n in range(6):
                with pool.lease(str(number)) as here:
                    here.memory.remember(f"thing {n}", str(n))
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in numbers]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert not failed
    for number in numbers:
        with pool.lease(str(number)) as here:
            assert len(list(here.memory.facts())) == 6
    assert pool.folders() <= 3


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("postgresql//u:hunter2@127.0.0.1/x", "no address of a database"),
        ("postgresql://u:hunter2@127.0.0.1/x?bogus=1", "no address of a database"),
        ("postgresql://u:hun@ter2@127.0.0.1/x", "%40"),
        ("postgresql://u:hunter2@127.0.0.1:1/x", "does not answer"),
    ],
)
def test_a_wrong_address_is_told_without_its_password(address: str, says: str) -> None:
    with pytest.raises(MnemarkError, match=says) as told, connect(address):
        pass
    assert "ter2" not in str(told.value)


def test_a_database_without_tables_names_the_command(address: str) -> None:
    with (
        pytest.raises(MnemarkError, match="mnemark db migrate"),
        connect(f"{address}/postgres") as connection,
    ):
        tenants.listed(connection)


def test_the_owner_of_the_tables_need_not_be_a_superuser(address: str) -> None:
    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        connection.execute("CREATE ROLE own LOGIN CREATEROLE")
        connection.execute("DROP DATABASE IF EXISTS owned")
        connection.execute("CREATE DATABASE owned OWNER own")
    address = f"{address.replace('postgres@', 'own@')}/owned"
    with connect(address) as connection:
        migrate(connection)
        tenants.create(connection, "ann")
        number = tenants.number_of(connection, "ann")
    database = Database(address)
    TenantRows(database, number, "a").append("sessions/a.jsonl", b"", b"{}\n", [], after=0)
    database.close()
    with psycopg.connect(address) as plain:  # it sees no rows of tenants unless it says that it administers
        assert plain.execute("SELECT count(*) FROM mnemark.parts").fetchone() == (0,)
    with connect(address) as connection:
        assert [(one.name, one.bytes) for one in tenants.listed(connection)] == [("ann", 3)]
        assert tenants.delete(connection, "ann").parts == 1


def test_memory_is_what_it_was_for_one_machine(tmp_path: Path) -> None:
    """Edits in a folder that people edit, too, still look for lost ones."""
    with Memory.open(tmp_path / "own") as memory:
        memory.remember("tea", "green")
        assert memory.workspace.truth.only_door is False


def test_a_ref_longer_than_a_name_can_be_is_not_found_and_tells_no_folder(
    node: Callable[..., Tenants], tenant: int, tmp_path: Path
) -> None:
    with node().lease(str(tenant)) as here, pytest.raises(NotFoundError) as told:
        here.memory.read("x" * 5_000)
    assert str(tmp_path) not in str(told.value)


@pytest.mark.parametrize("path", ["/v1/made-up", "/v1/tools/made-up", "/v1/search/", "/ui/a"])
def test_paths_that_clients_make_up_are_counted_as_one(path: str) -> None:
    assert route_of(path) == "other"
    assert route_of("/v1/search") == "/v1/search"


def test_a_node_leaves_no_copies_nor_those_of_nodes_that_were_killed(url: str, tmp_path: Path) -> None:
    left, running, new = (tmp_path / f"mnemark-node-{name}" for name in ("left", "running", "new"))
    for home in (left, running, new):
        (home / "1").mkdir(parents=True)
        home.chmod(0o700)
        (home / "mnemark-node").touch()
    for home in (left, running):
        os.utime(home / "mnemark-node", (0, 0))
    (tmp_path / "mnemark-node-link").symlink_to(tmp_path)
    before = {running, new, tmp_path / "mnemark-node-link"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mnemark", "serve", "--database", url, "--port", str(port), "--json"]
    with (
        platform.locked(running / "mnemark-node", os.O_RDWR, timeout=0.0),
        subprocess.Popen(
            command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
        ) as node,
    ):
        assert node.stdout is not None
        assert str(port).encode() in node.stdout.readline()
        assert len(set(tmp_path.glob("mnemark-node-*")) - before) == 1
        node.send_signal(signal.SIGTERM)
        assert node.wait(30) == 0
    assert set(tmp_path.glob("mnemark-node-*")) == before
