"""A workspace cannot lead mnemark elsewhere: links out where it reads and writes by itself are refused."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.errors import MnemarkError, UsageError
from mnemark.files import layout, links, new_workspace, platform, private
from mnemark.files.journal import Change, Journal
from mnemark.files.secrets import salt
from mnemark.files.truth import Folder, workspace_lock
from mnemark.index.state import State
from mnemark.memory.health.doctor import doctor, verify
from mnemark.memory.transfer.backup import backup
from mnemark_agents.hook import cold, command
from mnemark_agents.hook.event import parse_call
from mnemark_agents.hook.log import log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")

LEXICAL: dict[str, Any] = {"embedder": "none"}
PRIVATE = (".mnemark", ".mnemark/index.db", ".mnemark/vectors", ".mnemark/vectors/model.vec", ".mnemark/salt",
           ".mnemark/state.db", ".mnemark/lock", ".mnemark/sync.lock", ".mnemark/displaced",
           ".mnemark/displaced/a.old", ".mnemark/compiled")  # fmt: skip
FOLDERS = ("sessions", "sessions/archive", "journal", "memory", "memory/facts", "memory/episodes",
           "memory/attachments", "memory/archive", "memory/review", "memory/reports", "personas", "users",
           "users/ann", "users/ann/sessions", "users/ann/memory", "journal/other.jsonl")  # fmt: skip


def plant(root: Path, place: str, target: Path) -> None:
    """Put a link to `target` at `place`, where what stands there moved to."""
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path.rename(target)
    elif "." in path.name[1:]:
        target.write_bytes(b"")
    else:
        target.mkdir()
    path.symlink_to(target)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "memory"
    with Memory.open(folder, config=LEXICAL) as memory:
        memory.session("s").add("user", "the ferry leaves at nine")
        memory.remember("city", "Oslo")
        memory.sync()
    return folder


def outside(folder: Path) -> dict[str, tuple[int, int]]:
    found = [folder, *folder.rglob("*")]
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


@pytest.mark.parametrize("place", [*PRIVATE, *FOLDERS])
def test_a_link_out_is_refused_by_name_and_nothing_is_written_there(
    root: Path, tmp_path: Path, place: str
) -> None:
    target = tmp_path / "elsewhere" / "target"
    target.parent.mkdir()
    plant(root, place, target)
    before = outside(target.parent)
    for readonly in (False, True):
        with pytest.raises(UsageError, match="is a link") as told:
            Memory.open(root, config=LEXICAL, readonly=readonly)
        assert str(root / place) in str(told.value)
        assert str(target) in str(told.value)
    for examine in (doctor, verify, backup):
        with pytest.raises(UsageError, match="is a link"):
            examine(root)
    with pytest.raises(UsageError, match="is a link"):
        cold.handle(root, parse_call("prompt", "claude-code", {"session_id": "s", "prompt": "the ferry?"}))
    assert outside(target.parent) == before


@pytest.mark.parametrize("place", ["sessions", "journal", "memory", "memory/facts"])
def test_a_link_that_comes_while_a_memory_is_open_is_refused(root: Path, tmp_path: Path, place: str) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        session = memory.session("s")
        assert memory.search("ferry").hits
        plant(root, place, tmp_path / "target")
        before = outside(tmp_path / "target")
        for use in (
            lambda: memory.search("ferry"),
            lambda: memory.recall("ferry"),
            memory.sync,
            lambda: memory.session("new").add("user", "more"),
            lambda: memory.session("new", user="ann"),
        ):
            with pytest.raises(UsageError, match="is a link"):
                use()
        writes = session.add if place == "sessions" else memory.remember
        with pytest.raises(MnemarkError):
            writes("user", "Bergen")
        assert outside(tmp_path / "target") == before


def test_a_private_folder_that_is_a_link_is_refused_wherever_it_is_used(root: Path, tmp_path: Path) -> None:
    plant(root, layout.PRIVATE, tmp_path / "target")
    before = outside(tmp_path / "target")

    def locked() -> None:
        with workspace_lock(root):
            pass

    for use in (
        lambda: private.private_folder(root),
        lambda: new_workspace.init(root),
        lambda: salt(root),
        lambda: State(root).touch(["a.md#L1"], datetime.now(UTC)),
        locked,
    ):
        with pytest.raises(UsageError, match="is a link"):
            use()
    log(root, "why a hook did nothing")
    assert outside(tmp_path / "target") == before
    assert "why a hook" in (platform.state_folder() / "hook.log").read_text("utf-8")


def test_a_hook_says_why_it_did_nothing(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(root, "sessions", tmp_path / "target")
    before = outside(tmp_path / "target")
    event = {"session_id": "s", "prompt": "when does the ferry leave?", "cwd": str(root)}
    monkeypatch.setattr(command, "_event", lambda: event)
    assert command.run(["prompt", "--agent", "claude-code", "--alone", "-w", str(root)]) == 0
    assert json.loads(capsys.readouterr().out) == {}
    assert "is a link that leads out" in (root / ".mnemark/hook.log").read_text("utf-8")
    assert outside(tmp_path / "target") == before


def test_a_daemon_refuses_a_folder_and_what_became_of_it(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    from mnemark_interfaces.http.pool import Workspaces

    pool = Workspaces(watching=False)
    with pool.lease(str(root)) as opened:
        assert opened.memory.search("ferry").hits
    plant(root, "journal", tmp_path / "target")
    with pytest.raises(UsageError, match="is a link"), pool.lease(str(root)):
        pass
    pool.close()


def test_a_mount_that_leads_elsewhere_is_told_and_not_read(root: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    plant(root, "sessions", tmp_path / "target")
    with Memory.open(own, config=LEXICAL | {"mounts": {"team": str(root)}}) as memory:
        found = memory.search("ferry")
    assert not found.hits
    assert any("is a link" in reason for reason in found.degraded)


@pytest.mark.parametrize("place", ["sessions", "memory", "memory/facts", "journal", "personas"])
def test_a_link_to_a_place_inside_is_followed(root: Path, place: str) -> None:
    inside = root / "kept/here"
    inside.parent.mkdir()
    if (root / place).exists():
        (root / place).rename(inside)
    else:
        inside.mkdir()
    (root / place).symlink_to(inside)
    with Memory.open(root, config=LEXICAL) as memory:
        memory.session("s").add("user", "it came late")
        memory.remember("city", "Bergen")
        assert [fact.value for fact in memory.facts()] == ["Bergen"]


def test_a_workspace_may_itself_be_reached_through_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "shortcut").symlink_to(root)
    with Memory.open(tmp_path / "shortcut", config=LEXICAL) as memory:
        assert memory.search("ferry").hits
        memory.session("s").add("user", "more")


def test_what_a_person_links_elsewhere_is_reported_and_harms_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/secret.md").write_text("the ferry is called Aurora\n", encoding="utf-8")
    (root / "vault").symlink_to(tmp_path / "vault")
    (root / "note.md").symlink_to(tmp_path / "vault/secret.md")
    (root / "sessions/x.jsonl").symlink_to(tmp_path / "vault/secret.md")
    with Memory.open(root, config=LEXICAL) as memory:
        hits = memory.search("ferry Aurora").hits
    assert [hit.path for hit in hits if "Aurora" in hit.text] == []


def test_the_look_costs_little(root: Path) -> None:
    """It is taken with every question: a few system calls, whatever the workspace holds."""
    for number in range(300):
        (root / "users" / f"u{number}").mkdir(parents=True)
        (root / "sessions" / f"{number}.jsonl").touch()
    calls = 0
    real = os.lstat

    def counting(*arguments: Any, **more: Any) -> os.stat_result:
        nonlocal calls
        calls += 1
        return real(*arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "lstat", counting)
        links.check_again(root)
    assert calls <= 10


def test_journals_that_are_links_out_are_not_written(root: Path, tmp_path: Path) -> None:
    journal = Journal(Folder(root))
    (root / "journal" / journal.file).unlink()
    (root / "journal" / journal.file).symlink_to(tmp_path / "other.jsonl")
    with pytest.raises(UsageError, match="is outside the workspace"):
        journal.append(Change(kind="note"))
    assert not (tmp_path / "other.jsonl").exists()
