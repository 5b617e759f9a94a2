"""What is sent is not believed, and what is cut off, killed or sent twice leaves a memory whole."""

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import BusyError, ConfigError, MnemarkError, NotFoundError, UsageError
from mnemark.files import manifest
from mnemark.memory.transfer.restore import Most
from mnemark_server import grants, moves, whole
from mnemark_server.database import Database, connect
from mnemark_server.rows import TenantRows
from server.conftest import MakeNode, truth
from server.moving import TYPE, a_life, client, exported, packed, write, zipped
from server.processes import NodeProcess, post

# What is sent is not believed


LIST = b'{"mnemark":"backup","version":2}\n'
HOSTILE: dict[str, list[tuple[str, bytes]]] = {
    "out": [("../../evil.md", b"x")],
    "absolute": [("/tmp/evil.md", b"x")],
    "twice": [("a.md", b"1"), ("a.md", b"2")],
    "file and folder": [("a.md", b"1"), ("a.md/b.md", b"2")],
    "no memory": [("setup.exe", b"MZ")],
    "dots": [("memory/./a.md", b"x")],
    "long list": [(manifest.NAME, b"x" * (17 << 20))],
    "wrong list": [(manifest.NAME, LIST + b'{"path":"a.md","kind":"file","size":9}\n')],
    "negative": [
        (manifest.NAME, LIST + b'{"path":"a.md","kind":"file","size":-9}\n'),
        ("a.md", b"x"),
    ],
    "newer": [(manifest.NAME, b'{"mnemark":"backup","version":99}\n')],
    "wrong settings": [("mnemark.toml", b"nonsense = 1\n"), ("MEMORY.md", b"x\n")],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_hostile_archives_are_refused_and_change_nothing(
    server: str, node: NodeProcess, new_key: Callable[..., str], tmp_path: Path
) -> None:
    key = new_key()
    with client(server, key) as http:
        for name, entries in HOSTILE.items():
            for call in ("import", "merge"):
                answer = http.post(f"/v1/{call}", content=zipped(entries), headers=TYPE)
                assert answer.status_code == 400, (name, answer.text)
                assert "Traceback" not in answer.text
                assert str(tmp_path) not in answer.text
        assert http.post("/v1/import", content=b"", headers=TYPE).status_code == 400
        wrong = http.post("/v1/merge", json={"other": "/somewhere"})
        assert (wrong.status_code, "mnemark merge FOLDER --server" in wrong.text) == (400, True)
    assert exported(server, key, tmp_path / "out") == {}
    assert not list(tmp_path.rglob("evil.md"))
    assert not node.moving()


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_archives_are_refused_or_give_what_they_hold(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    at = tmp_path_factory.mktemp("damaged")
    write(at / "a", {"MEMORY.md": b"- one\n", "sessions/a.jsonl": b"{}\n" * 50})
    archive = bytearray(packed(at / "a", at / "a.zip"))
    for _ in range(data.draw(st.integers(1, 4))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    (at / "memory.zip").write_bytes(archive[: data.draw(st.integers(1, len(archive)))])
    try:
        files = moves._unpacked(at, Most(10_000, 10), "").files
    except MnemarkError:
        assert not (at / "evil").exists()
    else:
        assert all(one.is_relative_to(at / "files") for one in files.rglob("*"))


def test_links_stay_out_and_settings_start_nothing(
    server: str, node: NodeProcess, new_key: Callable[..., str], tmp_path: Path, new_node: MakeNode
) -> None:
    root = tmp_path / "mine"
    a_life(root)
    write(root, {"mnemark.toml": b'timezone = "Asia/Shanghai"\nembedder = "api:big"\n[mounts]\nall = "/"\n'})
    write(root, {".git/config": b"[core]\n", ".mnemark/displaced/x": b"mine", "other/mnemark.toml": b""})
    (root / "passwd.md").symlink_to("/etc/passwd")
    key = new_key()
    with Memory.connect(server, key) as remote:
        told = {one.path for one in remote.merge(root).problems}
        assert {"passwd.md", "other"} <= told
    back = exported(server, key, tmp_path / "back")
    assert back["mnemark.toml"] == (root / "mnemark.toml").read_bytes()
    assert not [path for path in back if path.startswith((".git", "passwd", "other"))]
    with new_node().lease(str(node.number("ann"))) as at:
        config = at.memory.workspace.config
        assert (config.timezone, config.embedder, config.mounts) == ("Asia/Shanghai", "bundled", {})


def test_what_is_too_large_is_refused(
    server: str, new_key: Callable[..., str], url: str, tmp_path: Path
) -> None:
    with connect(url) as connection:
        grants.set_limits(connection, "ann", {"import_bytes": 100_000, "import_files": 3})
    key = new_key()
    write(tmp_path / "bomb", {"MEMORY.md": b"a" * 200_000})
    write(tmp_path / "many", {f"memory/{n}.md": b"x\n" for n in range(4)} | {"MEMORY.md": b"x\n"})
    write(tmp_path / "large", {"MEMORY.md": os.urandom(150_000)})
    for name in ("bomb", "many", "large"):
        with (
            Memory.connect(server, key) as remote,
            pytest.raises(UsageError, match="too large for the server"),
        ):
            remote.merge(tmp_path / name)
    archive = packed(tmp_path / "large", tmp_path / "large.zip")
    with client(server, key) as http:  # its length is not said before
        answer = http.post("/v1/import", content=iter([archive[:70_000], archive[70_000:]]), headers=TYPE)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "size")
    assert exported(server, key, tmp_path / "out") == {}


# Lost answers, two at once, kills


def test_an_import_is_for_an_empty_memory_and_can_be_sent_again(
    server: str, new_key: Callable[..., str], tmp_path: Path
) -> None:
    a_life(tmp_path / "mine")
    archive, key = packed(tmp_path / "mine", tmp_path / "mine.zip"), new_key()
    with client(server, key) as http:
        first = http.post("/v1/import", content=archive, headers=TYPE)
        assert (first.status_code, first.json()["again"]) == (200, False), first.text
        http.post("/v1/turns", json={"session": "s", "turns": [{"role": "user", "content": "Since then."}]})
        before = exported(server, key, tmp_path / "one")
        again = http.post("/v1/import", content=archive, headers=TYPE)
        assert (again.status_code, again.json()["again"]) == (200, True)
        other = http.post("/v1/import", content=zipped([("MEMORY.md", b"- other\n")]), headers=TYPE)
        assert (other.status_code, "merge into it" in other.text) == (400, True)
    assert exported(server, key, tmp_path / "two") == before


def test_two_imports_at_once_and_turns_meanwhile(
    server: str, node: NodeProcess, url: str, new_key: Callable[..., str], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        with Memory.open(tmp_path / name, trusted=True) as memory:
            memory.remember("pet", f"pet of {name}")
            memory.session(f"chat:{name}").add("user", f"Said in {name}.", origin="owner")
        write(tmp_path / name, {f"memory/attachments/{name}.bin": os.urandom(8_000_000)})
    key, other = new_key(), NodeProcess(url, tmp_path / "other")
    said: list[str] = []
    done = threading.Event()

    def talk() -> None:
        while not done.is_set():
            text = f"Meanwhile {len(said)}."
            body = {"session": "m", "call": text, "turns": [{"role": "user", "content": text}]}
            try:
                post(node.port, key, "/v1/turns", body)
            except OSError:
                continue  # not acknowledged: it is said again
            said.append(text)
            time.sleep(0.02)

    def merge(name: str, port: int) -> None:
        with Memory.connect(f"http://127.0.0.1:{port}", key) as remote:
            remote.merge(tmp_path / name)

    ports = {"a": node.port, "b": other.port}
    merging = [threading.Thread(target=merge, args=one) for one in ports.items()]
    threads = [threading.Thread(target=talk), *merging]
    try:
        for one in threads:
            one.start()
        for one in threads[1:]:
            one.join(120)
        done.set()
        threads[0].join(30)
        found = exported(server, key, tmp_path / "back")
        assert exported(f"http://127.0.0.1:{other.port}", key, tmp_path / "back2") == found
    finally:
        done.set()
        other.kill()
    assert {"memory/attachments/a.bin", "memory/attachments/b.bin"} <= found.keys()
    with Memory.open(tmp_path / "back") as memory:
        turns = [one.turn.content for one in memory.turns(limit=None)]
        assert {one.value for one in memory.facts()} == {"pet of a", "pet of b"}
    assert said
    assert sorted(turns) == sorted([*said, "Said in a.", "Said in b."])


def test_an_upload_that_is_cut_off_leaves_nothing(
    server: str, node: NodeProcess, new_key: Callable[..., str], tmp_path: Path
) -> None:
    key = new_key()
    with socket.create_connection(("127.0.0.1", node.port)) as sent:
        head = (
            f"POST /v1/import HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n"
            "content-type: application/zip\r\ncontent-length: 5000000\r\n\r\n"
        )
        sent.sendall(head.encode() + b"PK" * 1_000_000)
        deadline = time.monotonic() + 10
        while not (found := list(node.folder.glob("moving-*/*"))) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert found
        with client(server, key) as http:  # one at a time
            busy = http.get("/v1/export")
        assert (busy.status_code, busy.json()["error"]["code"]) == (409, "busy")
    assert not node.moving()
    assert exported(server, key, tmp_path / "out") == {}


def kill_during(node: NodeProcess, path: str, key: str, archive: bytes, seconds: float) -> None:
    """Send an archive, kill the node so many seconds later, and start it again."""

    def send() -> None:
        with client(node.address, key) as http, suppress(httpx.HTTPError):
            http.post(path, content=archive, headers=TYPE)

    sending = threading.Thread(target=send)
    sending.start()
    time.sleep(seconds)
    node.kill()
    sending.join(30)
    node.start()


def test_a_node_that_is_killed_in_the_middle_leaves_all_or_nothing(
    server: str, node: NodeProcess, new_key: Callable[..., str], tmp_path: Path, url: str
) -> None:
    before = a_life(tmp_path / "mine")
    write(tmp_path / "mine", {f"memory/attachments/{n}.bin": os.urandom(2_000_000) for n in range(12)})
    before = truth(tmp_path / "mine")
    archive = packed(tmp_path / "mine", tmp_path / "mine.zip")
    key = new_key()
    outcomes = set()
    for seconds in (0.15, 0.4, 0.7, 1.1):
        kill_during(node, "/v1/import", key, archive, seconds)
        found = exported(server, key, tmp_path / f"back{seconds}")
        assert found in ({}, before)
        outcomes.add(bool(found))
    with client(server, key) as http:
        assert http.post("/v1/import", content=archive, headers=TYPE).status_code == 200
    assert exported(server, key, tmp_path / "last") == before
    assert False in outcomes
    assert not node.moving()


def test_a_merge_whose_node_is_killed_can_be_sent_again_to_the_same_result(
    server: str, node: NodeProcess, new_key: Callable[..., str], tmp_path: Path
) -> None:
    a_life(tmp_path / "mine")
    write(tmp_path / "mine", {f"memory/attachments/{n}.bin": os.urandom(1_000_000) for n in range(8)})
    with Memory.open(tmp_path / "mine") as mine:
        said = {one.turn.id for one in mine.turns(limit=None)}
        known = {one.id for one in mine.facts()}
    key = new_key()
    with Memory.connect(server, key) as remote:
        boat = remote.remember("boat", "Marisol").id
    archive, out = packed(tmp_path / "mine", tmp_path / "mine.zip"), set()
    for seconds in (0.3, 0.6, 1.0):
        kill_during(node, "/v1/merge", key, archive, seconds)
        found = exported(server, key, tmp_path / f"back{seconds}")
        out.add(sum(path.endswith(".bin") for path in found))
    assert out <= {0, 8}  # all files of a merge, or none
    with client(server, key) as http:
        assert http.post("/v1/merge", content=archive, headers=TYPE).status_code == 200
        assert not http.post("/v1/merge", content=archive, headers=TYPE).json()["files"]
    exported(server, key, tmp_path / "last")
    with Memory.open(tmp_path / "last") as last:
        assert [one.turn.id for one in last.turns(limit=None)] == sorted(said)
        assert {one.id for one in last.facts()} == known | {boat}


def test_an_upload_that_is_refused_at_once_is_told_why(
    server: str, new_key: Callable[..., str], url: str, tmp_path: Path
) -> None:
    with connect(url) as connection:
        grants.set_limits(connection, "ann", {"import_bytes": 1_000_000})
    write(tmp_path / "mine", {"MEMORY.md": b"- one\n", "memory/attachments/a.bin": os.urandom(40_000_000)})
    with (
        Memory.connect(server, new_key()) as remote,
        pytest.raises(UsageError, match="takes 1,000,000 bytes"),
    ):
        remote.merge(tmp_path / "mine")
    reading = new_key(key="r", readonly=True)
    with Memory.connect(server, reading) as remote, pytest.raises(UsageError, match="only read"):
        remote.merge(tmp_path / "mine")


def test_who_deletes_or_leases_a_memory_is_seen(url: str, tmp_path: Path) -> None:
    write(tmp_path / "mine", {"MEMORY.md": b"- one\n"})
    database = Database(url)
    try:
        with pytest.raises(NotFoundError):
            whole.take_in(database, 77, tmp_path / "mine")
        rows = TenantRows(database, 1, "other")
        lease, _ = rows.lease(1, after=0)
        with pytest.raises(BusyError):
            whole.take_in(database, 1, tmp_path / "mine")
        rows.release(lease)
        assert whole.take_in(database, 1, tmp_path / "mine").files == 1
        (tmp_path / "mine" / "mnemark.toml").write_text("wrong = 1")
        with pytest.raises(ConfigError):
            whole.take_in(database, 2, tmp_path / "mine")
    finally:
        database.close()
