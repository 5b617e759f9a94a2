"""A whole memory moves between a folder and a server, by the byte, and is merged as it is locally."""

import base64
import json
import os
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import BusyError
from mnemark.memory.merging.source import comes_along
from mnemark.memory.transfer.restore import restore
from mnemark_server import moves, tenants
from mnemark_server.database import connect
from mnemark_server.rows import TenantRows
from server.command import mnemark
from server.conftest import MakeNode, truth
from server.moving import TYPE, a_life, answers, client, exported, of_others, packed, write
from server.processes import NodeProcess

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


def test_who_has_an_export_may_ask_for_the_next(server: str, new_key: Callable[..., str]) -> None:
    with client(server, new_key()) as http:
        noise = base64.b64encode(os.urandom(4_000_000)).decode()
        turns = [{"role": "user", "content": noise}]
        http.post("/v1/turns", json={"session": "a", "turns": turns}).raise_for_status()
        assert [http.get("/v1/export").status_code for _ in range(20)] == [200] * 20


def test_an_export_has_nothing_of_another_memory(
    server: str, node: NodeProcess, new_key: Callable[..., str], tmp_path: Path
) -> None:
    ann, bob = new_key("ann"), new_key("bob")
    for key, word in ((ann, "Zanzibar"), (bob, "Reykjavik")):
        with Memory.connect(server, key) as remote:
            remote.remember("island", word)
    number = node.number("ann")
    found = exported(server, ann, tmp_path / "ann")
    assert any(b"Zanzibar" in data for data in found.values())
    assert not any(b"Reykjavik" in data for data in found.values())
    with client(server, bob) as http:  # nothing in a request names the memory
        answer = http.get(f"/v1/export?workspace={number}", headers={"mnemark-workspace": str(number)})
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


# On the command line


@pytest.fixture
def shell(server: str, tmp_path: Path) -> Callable[..., CompletedProcess[str]]:
    def run(*words: str, key: str = "", at: str = server) -> CompletedProcess[str]:
        return mnemark(*words, "--server", at, cwd=tmp_path, environment={**os.environ, "MNEMARK_KEY": key})

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
        (("export", "out"), "mnk_wrong", 2, "opens no memory"),
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


def test_an_operator_moves_rows_without_a_node(tmp_path: Path, url: str) -> None:
    before = a_life(tmp_path / "mine")

    def db(*words: str) -> Any:
        environment = {**os.environ, "MNEMARK_DATABASE": url}
        return mnemark("db", "tenants", *words, cwd=tmp_path, environment=environment)

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
