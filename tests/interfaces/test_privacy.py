"""Files of a memory are their owner's alone, whatever the umask: in a shared home, others read nothing."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from faults.people import append_text
from mnemark import Memory
from mnemark.files import platform
from mnemark.files.edit import edit
from mnemark.files.truth import Folder
from mnemark.index import schema, state
from mnemark.index.check import rebuild
from mnemark.index.vectors import open_store
from mnemark_agents import daemon
from mnemark_agents.connect import connect
from mnemark_agents.connect.hosts import Host, Setting, Target
from mnemark_agents.hook import cold
from mnemark_agents.hook.event import parse_call
from mnemark_agents.hook.log import log
from mnemark_agents.hook.shown import note_compaction

from .conftest import Shell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


@pytest.fixture
def workspace(shell: Shell) -> Shell:
    assert shell("init").code == 0
    return shell


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """Files that others can read, and folders that they can look into, with their modes."""
    found = [folder, *folder.rglob("*")]
    return {
        path.relative_to(folder).as_posix(): f"{stat.S_IMODE(path.lstat().st_mode):04o}"
        for path in found
        if not path.is_symlink() and path.lstat().st_mode & 0o077
    }


def test_all_that_commands_make_is_private(shell: Shell, umask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    del umask
    monkeypatch.setenv("XDG_STATE_HOME", str(shell.folder / "state"))
    root = shell.folder / "new/memory"
    shell("init", str(root))
    at = ("-w", str(root))
    for command in (
        ["add", "the ferry leaves at nine"],
        ["add", "Please fix the importer of project Atlas.", "--session", "s", "--role", "user"],
        ["add", "Fixed: the importer keeps empty rows.", "--session", "s", "--role", "assistant"],
        ["add", "好的，谢谢。下一步写迁移指南。", "--session", "s", "--role", "user"],
        ["remember", "city", "Oslo"],
        ["remember", "city", "Bergen"],
        ["search", "ferry"],
        ["sessions", "end", "s"],
        ["consolidate"],
        ["prompt"],
        ["export", str(shell.folder / "all.zip")],
        ["export", "--format", "jsonl", str(shell.folder / "all.jsonl")],
        ["backup", str(shell.folder / "saved.zip")],
        ["doctor", "--fix"],
    ):
        ran = shell(*command, *at)
        assert ran.code == 0, ran
    assert shell("restore", str(shell.folder / "saved.zip"), str(shell.folder / "back/memory")).code == 0
    assert shell("demo", str(shell.folder / "demo")).code == 0
    made = {path.name for path in root.rglob("*")}
    assert {"index.db", "salt", "vectors", "compiled", "displaced", "sessions", "journal", "episodes"} <= made
    shell.folder.chmod(0o700)  # this one was given
    assert modes(shell.folder) == {}


def test_all_that_hooks_and_a_daemon_make_is_private(
    tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    del umask
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(cold, "_run_in_background", lambda *_: None)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: None)
    root = tmp_path / "memory"
    root.mkdir(0o700)
    call: dict[str, Any] = {"session_id": "s", "tool_name": "Write", "tool_input": {"file_path": "/a.md"}}
    for event, more in (("session-start", {}), ("prompt", {"prompt": "is the ferry late?"}), ("tool", call)):
        cold.handle(root, parse_call(event, "cursor", {"conversation_id": "s", **more}))
    (session,) = (root / "sessions").glob("*.jsonl")
    note_compaction(root, session.relative_to(root).as_posix())
    log(root, "a line")
    log(None, "a line")
    daemon.start()
    platform.write_private(daemon.state_file(), b"{}")
    with platform.locked(platform.state_folder() / daemon.LOCK, os.O_RDWR | os.O_CREAT, timeout=1):
        pass
    made = {path.name for path in tmp_path.rglob("*")}
    assert {"hook.log", "hooks.lock", "hooks", daemon.LOG, daemon.STATE, daemon.LOCK} <= made
    tmp_path.chmod(0o700)
    assert modes(tmp_path) == {}


@pytest.mark.parametrize("engine", ["exact", "sqlite-vec"])
def test_vectors_are_private(tmp_path: Path, umask: int, engine: str) -> None:
    del umask
    pytest.importorskip("sqlite_vec" if engine == "sqlite-vec" else "numpy")
    import numpy as np

    folder = tmp_path / "vectors"
    store = open_store(folder, "model", 4, engine=engine)
    keys = [bytes([n]) * 16 for n in range(3)]
    store.add(keys, np.eye(3, 4, dtype=np.float32))
    store.compact(keys[:1])
    assert modes(folder) == {}
    store.close()


@pytest.mark.parametrize("connect_to", [schema.connect, state.connect])
def test_a_database_and_its_log_are_private_from_the_first_moment(
    tmp_path: Path, umask: int, connect_to: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    del umask
    path = tmp_path / "index.db"
    seen: list[str] = []
    real = apsw.Connection

    def spy(name: str, **more: Any) -> apsw.Connection:
        seen.append(f"{stat.S_IMODE(os.lstat(name).st_mode):04o}")  # SQLite has not made it
        return real(name, **more)

    monkeypatch.setattr(apsw, "Connection", spy)
    connection = connect_to(path)
    connection.execute("CREATE TABLE if not exists t (a); INSERT INTO t VALUES ('private')")
    assert seen == ["0600"]
    there = {p.name for p in tmp_path.iterdir()}
    assert there == {"index.db", "index.db-wal", "index.db-shm"}
    tmp_path.chmod(0o700)
    assert modes(tmp_path) == {}
    connection.close()


def test_another_connection_does_not_let_go_of_locks(tmp_path: Path) -> None:
    """The system drops all of a process's locks on a file when any descriptor of it is closed."""
    path = tmp_path / "index.db"
    first = schema.connect(path)
    first.execute("CREATE TABLE t (a)")
    first.execute("BEGIN IMMEDIATE")
    schema.connect(path).close()
    other = "import sys, apsw; apsw.Connection(sys.argv[1]).execute('BEGIN IMMEDIATE')"
    done = subprocess.run([sys.executable, "-c", other, str(path)], capture_output=True, check=False)
    assert b"BusyError" in done.stderr
    first.close()


def test_a_rebuilt_index_is_private(tmp_path: Path, umask: int) -> None:
    del umask
    (tmp_path / "a.md").write_text("the ferry leaves at nine\n", encoding="utf-8")
    rebuild(tmp_path)
    (tmp_path / ".mnemark/index.db").write_bytes(b"no database" * 1000)
    rebuild(tmp_path)
    assert modes(tmp_path / ".mnemark") == {}


@pytest.mark.parametrize("mode", [0o644, 0o664, 0o600, 0o640])
def test_a_persons_file_keeps_its_mode(tmp_path: Path, umask: int, mode: int) -> None:
    del umask
    note = tmp_path / "note.md"
    note.write_text("# Note\n", encoding="utf-8")
    note.chmod(mode)
    result = append_text(tmp_path, "note.md", "- milk", quiet=0.0)
    assert result.status == "written"
    assert stat.S_IMODE(note.stat().st_mode) == mode


def test_a_persons_file_keeps_its_mode_where_files_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Without(platform.FileSystem):
        def exchange(self, one: Path, other: Path) -> bool:
            del one, other
            return False

    monkeypatch.setattr(platform, "FS", Without())
    note = tmp_path / "note.md"
    note.write_text("# Note\n", encoding="utf-8")
    note.chmod(0o664)
    append_text(tmp_path, "note.md", "- milk", quiet=0.0)
    assert stat.S_IMODE(note.stat().st_mode) == 0o664


def test_a_new_text_is_never_readable_before_it_has_its_files_mode(
    tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    del umask
    seen: list[int] = []

    class Watched(platform.FileSystem):
        def open(self, path: Path, flags: int) -> int:
            fd = super().open(path, flags)
            if flags & os.O_CREAT:
                seen.append(stat.S_IMODE(os.fstat(fd).st_mode))
            return fd

    monkeypatch.setattr(platform, "FS", Watched())
    note = tmp_path / "note.md"
    note.write_text("# Note\n", encoding="utf-8")
    note.chmod(0o600)
    append_text(tmp_path, "note.md", "- milk", quiet=0.0)
    assert seen
    assert set(seen) == {0o600}


def test_a_conflict_copy_is_private(tmp_path: Path, umask: int) -> None:
    del umask
    note = tmp_path / "note.md"
    note.write_text("one\n", encoding="utf-8")
    edit(Folder(tmp_path), "note.md", lambda _: b"ours\n", quiet=0.0)
    for _ in range(5):  # somebody's program saves its own version over ours, again and again
        note.write_text("theirs\n", encoding="utf-8")
        done = edit(Folder(tmp_path), "note.md", lambda text: text + b"more\n", quiet=0.0)
        if done.problems:
            break
    (copy,) = tmp_path.glob("*.conflict-*")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_folder_that_was_given_keeps_its_mode_and_one_that_is_made_is_private(
    tmp_path: Path, umask: int
) -> None:
    del umask
    given, made = tmp_path / "given", tmp_path / "made/inside"
    given.mkdir()
    given.chmod(0o755)
    for folder in (given, made):
        with Memory.open(folder, config={"embedder": "none"}) as memory:
            memory.sync()
    assert stat.S_IMODE(given.stat().st_mode) == 0o755
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert stat.S_IMODE((given / ".mnemark").stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o640])
def test_other_programs_settings_keep_their_mode_and_so_does_their_copy(
    tmp_path: Path, umask: int, mode: int
) -> None:
    del umask
    path = tmp_path / "agent/settings.json"
    entry = Setting(("mcpServers", "mnemark"), {"command": "mnemark", "args": ["mcp", "--workspace", "/w"]})
    target = Target("tools", path, (entry,))
    host = Host("x", "X", ("x",), lambda: tmp_path, lambda *_: (target,))
    connect.apply(connect.plan(host, tmp_path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # where there was none
    path.write_text(json.dumps({"theme": "dark"}), encoding="utf-8")
    path.chmod(mode)
    connect.apply(connect.plan(host, tmp_path))
    copy = path.with_name(path.name + connect.BACKUP)
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, copy)] == [mode, mode]


def test_doctor_names_what_others_can_read_and_closes_what_is_mnemarks(workspace: Shell) -> None:
    root = workspace.folder
    workspace("add", "see you at the pier", "--session", "s")
    workspace("remember", "city", "Oslo")
    workspace("sync")
    for path in (root, *root.rglob("*")):  # as it was made by earlier versions
        path.chmod(0o755 if path.is_dir() else 0o644)
    script = workspace.write("run.sh", "true\n")
    before = {path: path.stat().st_mode for path in root.rglob("*")}
    said = workspace("doctor")
    assert "of mnemark: " in said.out
    assert ".mnemark" in said.out
    assert "in this folder: " in said.out
    assert "MEMORY.md" in said.out
    assert f"chmod go= {root}" in said.out
    assert {path: path.stat().st_mode for path in before} == before
    fixed = workspace("doctor", "--fix")
    assert "of mnemark to other users of this machine" in fixed.out
    open_still = set(modes(root))
    assert open_still >= {".", "MEMORY.md", "run.sh", "memory"}
    assert not [
        name for name in open_still if name.startswith((".mnemark", "sessions", "journal", "memory/facts"))
    ]
    assert script.stat().st_mode == before[script]
    again = workspace("doctor", "--json").data["findings"]
    assert not [one for one in again if "of mnemark's" in one["what"]]
    root.chmod(0o700)  # nobody gets in
    assert not [
        one for one in workspace("doctor", "--json").data["findings"] if "in this folder: " in one["what"]
    ]
