"""A memory is consolidated once a day by whoever uses it, and the next briefing says so."""

import json
import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from mnemark import Memory
from mnemark.files import platform, private
from mnemark.text.quoting.fence import all_fenced
from mnemark_agents import daemon, upkeep
from mnemark_agents.hook import background, cold
from mnemark_agents.hook.event import parse_call
from mnemark_interfaces import workspace

LEXICAL = {"embedder": "none"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory that was last kept up two days ago, and has learned something since."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "memory"
    with Memory.open(root, config=LEXICAL) as memory:
        memory.remember("city", "Leeds")
        memory.sync()
    (root / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    seen(root, days=2)
    return root


def seen(root: Path, *, days: float) -> None:
    mark = private.private_folder(root) / upkeep.MARK
    mark.write_bytes(b"")
    os.utime(mark, (time.time() - days * 86_400,) * 2)


def runs(root: Path) -> int:
    lines = [
        line for path in (root / "journal").glob("*.jsonl") for line in path.read_text("utf-8").splitlines()
    ]
    return sum(json.loads(line)["kind"] == "consolidate" for line in lines)


def briefed(root: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(cold, "_run_in_background", lambda root, session: None)
    output = cold.handle(root, parse_call("session-start", "claude-code", {"session_id": "s"}))
    return str(output["hookSpecificOutput"]["additionalContext"])


def test_the_background_keeps_up_once_a_day_and_the_next_briefing_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        background.run(root, "")
    assert runs(root) == 1
    assert "Leeds" in (root / "USER.md").read_text("utf-8")
    first, second = briefed(root, monkeypatch), briefed(root, monkeypatch)
    assert all_fenced(first)
    assert first.count("Tidied ") == 1
    assert "Tidied " not in second
    assert not (root / ".mnemark/hook.log").exists()
    seen(root, days=1.1)
    with Memory.open(root) as memory:
        assert upkeep.is_due(memory.workspace)
        assert not upkeep.is_due(memory.workspace, memory.workspace.now() - timedelta(days=2))


def test_a_day_without_changes_is_not_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    background.run(root, "")
    upkeep.take_news(root)
    seen(root, days=2)
    journal = next((root / "journal").glob("*.jsonl"))
    lines = [line for line in journal.read_text("utf-8").splitlines() if '"consolidate"' not in line]
    journal.write_text("\n".join(lines) + "\n", "utf-8")  # as if that had been yesterday
    background.run(root, "")
    assert upkeep.take_news(root) == ""


@pytest.mark.parametrize("case", ["new", "switched off", "done by hand", "another does it", "read only"])
def test_upkeep_waits(root: Path, case: str) -> None:
    if case == "new":
        (root / ".mnemark" / upkeep.MARK).unlink()
    if case == "switched off":
        (root / "mnemark.toml").write_text('embedder = "none"\n[consolidate]\nat = ""\n', "utf-8")
    with Memory.open(root, readonly=case == "read only") as memory:
        if case == "done by hand":
            memory.consolidate()
        before = runs(root)
        if case == "another does it":
            with platform.locked(root / ".mnemark/upkeep.lock", os.O_RDWR | os.O_CREAT, timeout=1):
                assert not upkeep.keep_up(memory)
        else:
            assert not upkeep.keep_up(memory)
    assert runs(root) == before


def test_a_failure_is_retried_the_next_day(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr(Memory, "consolidate", fails)
        background.run(root, "")
        background.run(root, "")
    log = (root / ".mnemark/hook.log").read_text("utf-8")
    assert log.count("the disk is gone") == 1
    assert runs(root) == 0


@pytest.mark.timed
def test_a_command_leaves_it_to_the_background(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "mnemark", "remember", "editor", "Emacs", "-w", str(root)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "tidied" not in done.stdout + done.stderr
    deadline = time.monotonic() + 60
    while not (root / ".mnemark" / upkeep.NEWS).exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert runs(root) == 1
    started: list[object] = []
    monkeypatch.setattr(daemon, "spawn", lambda words, **_: started.append(words))
    with Memory.open(root) as memory:
        upkeep.start_if_due(memory.workspace)
    assert started == []


@pytest.mark.parametrize("changed", ["x'6665737279'", "x'66e5727269'"])  # in ASCII, and not even UTF-8
def test_a_posting_list_with_another_bit_is_found_at_night(
    root: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    (root / "memory/trip.md").write_text("# Trip\n\nThe ferry leaves at nine.\n", "utf-8")
    with Memory.open(root) as memory:
        assert memory.search("ferry").hits
    connection = apsw.Connection(str(root / ".mnemark/index.db"))
    connection.execute(f"UPDATE postings SET term = CAST({changed} AS TEXT) WHERE term = 'ferri'")
    assert connection.changes()
    connection.close()
    with Memory.open(root) as memory:
        assert not memory.search("ferry").hits  # no search can know
    background.run(root, "")
    with Memory.open(root) as memory:
        assert memory.search("ferry").hits
    assert "The search index was damaged" in briefed(root, monkeypatch)
    assert runs(root) == 1


def test_a_memory_that_no_agent_is_briefed_on_keeps_no_long_news(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        monkeypatch.setattr(upkeep, "_heal_index", lambda _, number=number: f"damage {number}")
        seen(root, days=2)
        background.run(root, "")
    news = upkeep.take_news(root).splitlines()
    assert [line for line in news if "damage" in line][-1].count("damage 4")
    assert 1 < len(news) <= 3


def test_a_mark_in_the_future_does_not_stop_upkeep(root: Path) -> None:
    """The clock was wrong once, or the mark came with a copied folder."""
    seen(root, days=-3_650)
    background.run(root, "")
    assert runs(root) == 1
    with Memory.open(root) as memory:
        assert not upkeep.is_due(memory.workspace)


def test_a_command_starts_upkeep_whose_mark_lies_in_the_future(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Path] = []
    monkeypatch.setattr(upkeep, "start_if_due", lambda memory: started.append(memory.root))
    for days, count in ((0, 0), (-3_650, 1), (2, 2)):
        seen(root, days=days)
        with workspace.opened(root):
            pass
        assert len(started) == count


def test_a_consolidation_in_the_future_does_not_stop_upkeep(root: Path) -> None:
    with Memory.open(root) as memory:
        later = memory.workspace.now() + timedelta(days=3_650)
        memory.consolidate(now=later)
        memory.remember("editor", "Helix")
    background.run(root, "")
    assert runs(root) == 2
    assert "Helix" in (root / "USER.md").read_text("utf-8")


def test_a_slow_daemon_noted_in_the_future_is_none(root: Path) -> None:
    platform.state_folder().mkdir(parents=True, exist_ok=True)
    daemon.note_slow()
    (platform.state_folder() / daemon.STATE).touch()
    os.utime(platform.state_folder() / daemon.STATE, (0, 0))
    assert daemon.was_slow()
    later = time.time() + 86_400 * 3_650
    os.utime(platform.state_folder() / daemon.SLOW, (later, later))
    assert not daemon.was_slow()
