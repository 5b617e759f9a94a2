"""A whole memory moves between a folder and a server, by the byte; nothing in what is sent is believed."""

import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import BusyError, ConfigError, MnemarkError, NotFoundError, UsageError
from mnemark.files import manifest
from mnemark.memory.merging.source import comes_along
from mnemark.memory.remote import RemoteMemory
from mnemark.memory.transfer.backup import pack
from mnemark.memory.transfer.restore import Most, restore
from mnemark_server import grants, moves, tenants, whole
from mnemark_server.database import Database, connect
from mnemark_server.rows import TenantRows
from server.conftest import MakeNode, truth
from server.test_kills import NodeProcess, post

TYPE = {"content-type": "application/zip"}


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
def node(url: str, tmp_path: Path) -> Iterator[NodeProcess]:
    found = NodeProcess(url, tmp_path / "node", 29_000 + os.getpid() % 9_000)
    yield found
    found.kill()


@pytest.fixture
def server(node: NodeProcess) -> str:
    return f"http://127.0.0.1:{node.port}"


def client(server: str, key: str) -> httpx.Client:
    return httpx.Client(base_url=server, headers={"authorization": f"Bearer {key}"}, timeout=60)


def write(root: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def packed(root: Path, target: Path) -> bytes:
    pack(root, target, without=lambda path: not comes_along(path))
    return target.read_bytes()


def zipped(entries: list[tuple[str, bytes]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return made.getvalue()


def exported(server: str, key: str, folder: Path) -> dict[str, bytes]:
    with Memory.connect(server, key) as memory:
        memory.export(folder)
    return truth(folder)


def a_life(root: Path) -> dict[str, bytes]:
    """A folder with facts, review, an erasure, scopes, attachments; return what is true in it."""
    with Memory.open(root, trusted=True) as memory:
        session = memory.session("chat:1")
        session.add("user", "My cat is called Nimbus and sleeps on the harbour wall.", origin="owner")
        session.add("assistant", "Nimbus, noted.")
        session.add("user", "我的狗叫豆豆，今年三岁。", origin="owner")
        session.end()
        memory.session("chat:2", user="ben").add("user", "I play the violin.", origin="owner")
        memory.remember("city", "Lisbon", since="2026-03-01")
        memory.remember("city", "Porto", since="2026-06-01")
        memory.remember("tea", "green", scope="users/ben")
        memory.session("chat:3").add("user", "The vault code is quetzal-7781.", origin="owner")
        memory.forget(query="quetzal-7781", erase=True)
        hidden = memory.remember("shoe size", "43")
        memory.forget(id=hidden.id)
    write(root, {"memory/attachments/图 1.png": os.urandom(5_000), "notes/Zitrone.md": b"A lemon tree.\n"})
    with Memory.open(root, trusted=True) as memory:
        memory.sync()
    return truth(root)


def of_others(root: Path) -> dict[str, bytes]:
    """What is true in a folder but for what the server noted: that an erasure is done there, too."""
    return {path: data for path, data in truth(root).items() if path != "journal/server.jsonl"}


QUESTIONS = (
    "what is my cat called?",
    "where do I live?",
    "豆豆几岁了？",
    "lemon tree",
    "violin",
    "vault code",
)


def answers(memory: Memory | RemoteMemory) -> list[list[tuple[str, str]]]:
    return [[(hit.ref, hit.text) for hit in memory.search(one, scope="*").hits] for one in QUESTIONS]


# There and back


NAMES = st.text(
    st.one_of(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]),
        st.sampled_from("记忆é .-~:\\\n'\""),
    ),
    min_size=1, max_size=24,
).filter(lambda name: name not in {".", ".."} and len(name.encode()) < 200)  # fmt: skip
PATHS = st.one_of(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join),
    st.tuples(st.sampled_from(["sessions", "memory/facts", "users/ben/sessions", "journal"]), NAMES).map(
        lambda parts: f"{parts[0]}/{parts[1]}.jsonl"
    ),
    st.sampled_from(
        ["MEMORY.md", "memory/2026-02-13.md", ".env", "config.json", "C:notes.md", "a\\..\\b.md"]
    ),
)
CONTENTS = st.one_of(
    st.binary(max_size=200),
    st.just(b""),
    st.just(b'{"torn'),
    st.integers(1, 3).map(lambda n: b"x" * (n << 20)),
)


def possible(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those that can lie in one folder."""
    folders = {"/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)}
    return {path: data for path, data in files.items() if path not in folders}


@given(files=st.dictionaries(PATHS, CONTENTS, max_size=8).map(possible))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_comes_in_goes_out_by_the_byte(
    url: str, server: str, tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    at = tmp_path_factory.mktemp("there")
    write(at / "a", files)
    (at / "a").mkdir(exist_ok=True)
    name = f"t{time.time_ns()}"
    with connect(url) as connection:
        tenants.create(connection, name)
        key = tenants.add_key(connection, name, "k")
    with client(server, key) as http:
        answer = http.post("/v1/import", content=packed(at / "a", at / "a.zip"), headers=TYPE)
    assert answer.status_code == 200, answer.text
    back = exported(server, key, at / "b")
    told = {one["path"] for one in answer.json()["problems"]}
    sent = {path: data for path, data in truth(at / "a").items() if comes_along(path)}
    assert {path: data for path, data in sent.items() if path not in told} == back
    assert answer.json()["complete"] == (not told)
    assert all("\\" in path or ":" in path or "/.git" in f"/{path}".lower() for path in told), told


def test_a_migrated_memory_is_the_same_there_and_when_it_comes_back(
    server: str, new_key: Callable[..., str], tmp_path: Path
) -> None:
    before, key = a_life(tmp_path / "mine"), new_key()
    with Memory.connect(server, key) as remote:
        foreseen = remote.merge(tmp_path / "mine", dry_run=True)
        assert remote.facts() == []
        merged = remote.merge(tmp_path / "mine")
        assert (foreseen.dry_run, merged.dry_run, merged.turns) == (True, False, foreseen.turns)
        assert {one.path for one in merged.files} == {one.path for one in foreseen.files} != set()
        assert not remote.merge(tmp_path / "mine").files  # again, as if the answer had been lost
        there = answers(remote)
        facts = {(one.id, one.value) for one in remote.facts()}
        remote.export(tmp_path / "back")
    assert of_others(tmp_path / "back") == before
    with Memory.open(tmp_path / "back") as back, Memory.open(tmp_path / "mine") as mine:
        assert answers(back) == there == answers(mine)
        assert {(one.id, one.value) for one in back.facts()} == facts
        assert any("Nimbus" in text for _, text in there[0])


def test_what_was_erased_is_in_no_export(
    server: str, new_key: Callable[..., str], tmp_path: Path, url: str
) -> None:
    key = new_key()
    with Memory.connect(server, key) as remote:
        remote.session("chat:1").add("user", "The secret word is quetzal-7781.", origin="owner")
        remote.remember("secret", "quetzal-7781")
        remote.forget(query="quetzal-7781", erase=True)
        archive = remote.export_file(tmp_path / "a.zip")
    with zipfile.ZipFile(archive) as found:
        assert not [name for name in found.namelist() if b"quetzal-7781" in found.read(name)]


def test_an_export_has_nothing_of_another_memory(
    server: str, new_key: Callable[..., str], tmp_path: Path
) -> None:
    ann, bob = new_key("ann"), new_key("bob")
    for key, word in ((ann, "Zanzibar"), (bob, "Reykjavik")):
        with Memory.connect(server, key) as remote:
            remote.remember("island", word)
    found = exported(server, ann, tmp_path / "ann")
    assert any(b"Zanzibar" in data for data in found.values())
    assert not any(b"Reykjavik" in data for data in found.values())
    with client(server, bob) as http:  # nothing in a request names the memory
        answer = http.get("/v1/export?workspace=1", headers={"mnemark-workspace": "1"})
    (tmp_path / "bob.zip").write_bytes(answer.content)
    restore(tmp_path / "bob.zip", tmp_path / "bob")
    assert not any(b"Zanzibar" in data for data in truth(tmp_path / "bob").values())


def test_a_line_that_a_crash_tore_is_closed_by_the_next_append(
    server: str, new_key: Callable[..., str], tmp_path: Path
) -> None:
    with Memory.open(tmp_path / "mine", trusted=True) as memory:
        session = memory.session("chat:1")
        session.add("user", "The lantern is green.", origin="owner")
        log = tmp_path / "mine" / session.path
    with log.open("ab") as file:
        file.write(b'{"id": "torn')
    key = new_key()
    with Memory.connect(server, key) as remote:
        remote.merge(tmp_path / "mine")
        remote.session("chat:1").add("user", "The kettle is red.", origin="owner")
        assert "The kettle is red." in {hit.text for hit in remote.search("what is the kettle?").hits}
        remote.export(tmp_path / "back")
    with Memory.open(tmp_path / "back") as memory:
        said = [one.turn.content for one in memory.turns()]
    assert said == ["The lantern is green.", "The kettle is red."]


# Merging


def test_a_folder_is_merged_as_it_is_locally(
    server: str, new_key: Callable[..., str], tmp_path: Path
) -> None:
    with Memory.open(tmp_path / "mine", trusted=True) as mine:
        mine.remember("city", "Lisbon", since="2026-03-01")
        mine.session("chat:1").add("user", "The secret word is quetzal.", origin="owner")
        mine.session("chat:1").add("user", "The lantern is green.", origin="owner")
    (tmp_path / "mine" / "notes.md").write_text("one\ntwo\n")
    with Memory.connect(server, new_key()) as remote:
        remote.merge(tmp_path / "mine")
        remote.session("chat:2").add("user", "Said on the server.", origin="owner")
        remote.remember("tea", "green")
        with Memory.open(tmp_path / "mine") as mine:
            mine.forget(query="quetzal", erase=True)
        (tmp_path / "mine" / "notes.md").write_text("one\nTWO\n")
        merged = remote.merge(tmp_path / "mine")
        assert merged.erased == 1
        assert merged.id == ""  # what an undo needs would be on one node alone
        found = {hit.text for hit in remote.search("secret word", k=20).hits}
        assert not any("quetzal" in text for text in found)
        assert remote.read("notes.md") == "one\nTWO\n"  # what was sent before is known: no line is doubled
        assert {one.value for one in remote.facts()} == {"Lisbon", "green"}
        remote.export(tmp_path / "back")
    assert not any(b"quetzal" in data for data in truth(tmp_path / "back").values())
    with Memory.open(tmp_path / "back") as back:
        assert {one.turn.content for one in back.turns()} == {"The lantern is green.", "Said on the server."}


def test_two_values_of_a_fact_wait_for_review(
    server: str, new_key: Callable[..., str], tmp_path: Path
) -> None:
    with Memory.open(tmp_path / "mine", trusted=True) as mine:
        mine.remember("city", "Lisbon", since="2026-03-01")
    with Memory.connect(server, new_key()) as remote:
        remote.merge(tmp_path / "mine")
        remote.remember("city", "Porto", since="2026-05-01")
        with Memory.open(tmp_path / "mine") as mine:
            mine.remember("city", "Faro", since="2026-06-01")
        assert remote.merge(tmp_path / "mine").review
        assert [one.value for one in remote.facts()] == ["Faro"]


def test_a_merge_that_did_not_reach_the_rows_leaves_nothing(
    new_node: MakeNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_life(tmp_path / "mine")
    node = new_node()
    with node.lease("1") as at:
        at.memory.remember("tea", "green")
        before = truth(at.root)

    def gone(*_: object, **__: object) -> Any:
        raise BusyError("the database does not answer; try again")

    with monkeypatch.context() as patched:
        patched.setattr(TenantRows, "push", gone)
        with pytest.raises(BusyError):
            moves.merge_into(node, 1, tmp_path / "mine", "mine")
    with node.lease("1") as at:
        kept = truth(at.root)
        assert {path: kept[path] for path in before if not path.startswith("journal/")} == {
            path: data for path, data in before.items() if not path.startswith("journal/")
        }
        assert not [path for path in kept if "图" in path]
    merged = moves.merge_into(node, 1, tmp_path / "mine", "mine")
    assert merged.turns
    with node.lease("1") as at, new_node().lease("1") as there:
        assert truth(at.root) == truth(there.root)
        assert {one.value for one in at.memory.facts()} >= {"green", "Porto"}


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
    assert not list((tmp_path / "node").glob("moving-*"))


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
        files, _ = moves._unpacked(at, Most(10_000, 10))
    except MnemarkError:
        assert not (at / "evil").exists()
    else:
        assert all(one.is_relative_to(at / "files") for one in files.rglob("*"))


def test_links_stay_out_and_settings_start_nothing(
    server: str, new_key: Callable[..., str], tmp_path: Path, new_node: MakeNode
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
    with new_node().lease("1") as at:
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
    key, other = new_key(), NodeProcess(url, tmp_path / "other", node.port + 9_000)
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
        while not (found := list((tmp_path / "node").glob("moving-*/*"))) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert found
        with client(server, key) as http:  # one at a time
            busy = http.get("/v1/export")
        assert (busy.status_code, busy.json()["error"]["code"]) == (409, "busy")
    deadline = time.monotonic() + 10
    while list((tmp_path / "node").glob("moving-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not list((tmp_path / "node").glob("moving-*"))
    assert exported(server, key, tmp_path / "out") == {}


def test_a_node_that_is_killed_in_the_middle_leaves_all_or_nothing(
    server: str, node: NodeProcess, new_key: Callable[..., str], tmp_path: Path, url: str
) -> None:
    before = a_life(tmp_path / "mine")
    write(tmp_path / "mine", {f"memory/attachments/{n}.bin": os.urandom(2_000_000) for n in range(12)})
    before = truth(tmp_path / "mine")
    archive = packed(tmp_path / "mine", tmp_path / "mine.zip")
    key = new_key()
    outcomes = set()
    for number, seconds in enumerate((0.15, 0.4, 0.7, 1.1)):

        def send() -> None:
            with client(server, key) as http, suppress(httpx.HTTPError):
                http.post("/v1/import", content=archive, headers=TYPE)

        sending = threading.Thread(target=send)
        sending.start()
        time.sleep(seconds)
        node.kill()
        sending.join(30)
        node.start()
        found = exported(server, key, tmp_path / f"back{number}")
        assert found in ({}, before)
        outcomes.add(bool(found))
    with client(server, key) as http:
        assert http.post("/v1/import", content=archive, headers=TYPE).status_code == 200
    assert exported(server, key, tmp_path / "last") == before
    assert False in outcomes
    assert not list((tmp_path / "node").glob("moving-*"))


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
    for number, seconds in enumerate((0.3, 0.6, 1.0)):

        def send() -> None:
            with client(server, key) as http, suppress(httpx.HTTPError):
                http.post("/v1/merge", content=archive, headers=TYPE)

        sending = threading.Thread(target=send)
        sending.start()
        time.sleep(seconds)
        node.kill()
        sending.join(30)
        node.start()
        found = exported(server, key, tmp_path / f"back{number}")
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


# On the command line


@pytest.fixture
def shell(server: str, tmp_path: Path, url: str) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    def run(*words: str, key: str = "", at: str = server) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "mnemark", *words, *(["--server", at] if key != "-" else [])],
            capture_output=True, text=True, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL,
            env={**os.environ, "MNEMARK_KEY": key, "MNEMARK_DATABASE": url},
        )  # fmt: skip

    return run


def test_a_memory_moves_by_commands(
    shell: Callable[..., Any], new_key: Callable[..., str], tmp_path: Path
) -> None:
    before, key = a_life(tmp_path / "mine"), new_key()
    dry = shell("merge", "mine", "--dry-run", key=key)
    assert (dry.returncode, "Would bring" in dry.stdout) == (0, True), dry.stderr
    done = shell("merge", "mine", "--json", key=key)
    assert (done.returncode, json.loads(done.stdout)["turns"] > 0) == (0, True), done.stderr
    again = shell("merge", "mine", key=key)
    assert "Nothing is new there." in again.stdout
    assert shell("export", "back", key=key).returncode == 0
    assert of_others(tmp_path / "back") == before
    assert shell("export", "back.zip", key=key).returncode == 0
    restore(tmp_path / "back.zip", tmp_path / "restored")
    assert of_others(tmp_path / "restored") == before
    pages = shell("export", "obsidian", "vault", key=key)
    assert (pages.returncode, (tmp_path / "vault").is_dir()) == (0, True), pages.stderr
    (tmp_path / "diary.csv").write_text("day,said\n2026-02-01,I bought a red kite.\n")
    words = ("import", "csv", "diary.csv", "--columns", "text=said,time=day")
    assert "1 message" in shell(*words, "--dry-run", key=key).stdout
    came = shell(*words, key=key)
    assert (came.returncode, "1 message" in came.stdout) == (0, True), came.stderr
    assert "1 already there" in shell(*words, key=key).stdout
    shell("export", "jsonl", "all.jsonl", key=key)
    assert "red kite" in (tmp_path / "all.jsonl").read_text("utf-8")


def test_what_is_wrong_is_told_in_a_line(
    shell: Callable[..., Any], new_key: Callable[..., str], tmp_path: Path
) -> None:
    key, reading = new_key(), new_key(key="reader", readonly=True)
    write(tmp_path / "mine", {"MEMORY.md": b"- one\n"})
    (tmp_path / "empty").mkdir()
    cases = (
        (("merge", "mine"), "", 2, "MNEMARK_KEY"),
        (("export", "out"), "mnk_wrong", 2, "send the key"),
        (("merge", "mine"), reading, 2, "only read"),
        (("merge", "empty"), key, 3, "holds no memory"),
        (("merge", "nowhere"), key, 3, "no folder"),
        (("merge", "--repair"), key, 2, "--repair"),
        (("merge", "mine", "-w", "empty"), key, 2, "not both"),
        (("export", "mine"), key, 2, "not empty"),
        (("import", "nothing.csv"), key, 3, "does not exist"),
    )
    for words, given_key, code, said in cases:
        ran = shell(*words, key=given_key)
        assert (ran.returncode, ran.stdout) == (code, ""), (words, ran)
        assert said in ran.stderr, (words, ran.stderr)
        assert "Traceback" not in ran.stderr
        assert len(ran.stderr.splitlines()) <= 3
    away = shell("merge", "mine", key=key, at="http://127.0.0.1:1")
    assert (away.returncode, "does not answer" in away.stderr) == (5, True)
    assert shell("export", "out", key=reading).returncode == 0


def test_an_operator_moves_rows_without_a_node(shell: Callable[..., Any], tmp_path: Path, url: str) -> None:
    before = a_life(tmp_path / "mine")

    def db(*words: str) -> Any:
        return shell("db", "tenants", *words, key="-")

    made = db("import", "cleo", "mine", "--json")
    assert (made.returncode, json.loads(made.stdout)["files"]) == (0, len(before)), made.stderr
    assert db("export", "cleo", "out").returncode == 0
    assert truth(tmp_path / "out") == before
    refused = db("import", "cleo", "mine")
    assert (refused.returncode, "--merge" in refused.stderr) == (2, True)
    with Memory.open(tmp_path / "out") as memory:
        memory.remember("boat", "Marisol")
    assert db("import", "cleo", "out", "--merge").returncode == 0
    assert db("export", "cleo", "out2").returncode == 0
    assert any(b"Marisol" in data for data in truth(tmp_path / "out2").values())
    (tmp_path / "mine" / "link.md").symlink_to("MEMORY.md")
    linked = db("import", "dora", "mine")
    assert (linked.returncode, "link.md" in linked.stderr) == (8, True)
    for words, code in (
        (("export", "nobody", "x"), 3), (("import", "eve", "nowhere"), 3), (("export", "cleo"), 2),
        (("import", "Eve Lee", "mine"), 2), (("export", "cleo", "mine"), 2), (("create", "x", "mine"), 2),
    ):  # fmt: skip
        ran = db(*words)
        assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), (words, ran.stderr)
    (tmp_path / "mine" / "mnemark.toml").write_text("wrong = 1")
    assert db("import", "finn", "mine").returncode == 2
    assert "finn" not in db().stdout  # what was made for it is gone
