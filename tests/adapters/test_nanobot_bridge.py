"""What stands between nanobot and memory, without nanobot: limits, failures, what is kept."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory
from mnemark.errors import MnemarkError, UsageError
from mnemark.text.quoting.fence import fence
from mnemark_adapters.bridge import LIMIT, RecallRequest, Where
from mnemark_adapters.nanobot_bridge import NanobotBridge, root_for
from mnemark_adapters.nanobot_turns import HISTORY, executions, is_skipped
from mnemark_agents.hook import background

pytestmark = pytest.mark.usefixtures("left")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "nanobot" / "workspace"
    (folder / "memory").mkdir(parents=True)
    return folder


@pytest.fixture
def bridge(tmp_path: Path, home: Path) -> Iterator[NanobotBridge]:
    made = NanobotBridge(tmp_path / "mnemark", home, limit=5.0)  # what is found is no question of time
    assert made.ready(20)
    yield made
    made.close()


def message(role: str, content: Any, second: int = 0, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "timestamp": f"2026-03-01T10:00:{second:02}", **more}


def recall(bridge: NanobotBridge, text: str, key: str = "cli:now", seen: int = 0) -> str:
    return asyncio.run(bridge.recall(RecallRequest(Where(key), text, seen)))


def turns(bridge: NanobotBridge, key: str) -> list[tuple[str, str]]:
    bridge.flush()
    with Memory.open(bridge.root, readonly=True) as memory:
        session = memory.session(key)
        return [(t.role, t.content) for t in session.last(100)] if session.log.path.exists() else []


@pytest.mark.parametrize("key", ["cron:3f2a", "dream:20260301-030000", "heartbeat", "Cron:x"])
def test_sessions_in_which_nobody_speaks_are_left_alone(bridge: NanobotBridge, key: str) -> None:
    assert is_skipped(key)
    bridge.record("cli:old", [message("user", "Our staging server is called Kestrel.")])
    bridge.flush()
    bridge.record(key, [message("user", "Check the staging server.")])
    assert turns(bridge, key) == []
    assert recall(bridge, "What is our staging server called?", key) == ""


def test_people_are_not_skipped_for_what_their_key_holds() -> None:
    assert not any(
        is_skipped(key) for key in ("cli:cron", "telegram:heartbeat", "dreamer:1", "unified:default")
    )


def test_a_turn_is_kept_once_however_often_it_is_told(bridge: NanobotBridge) -> None:
    said = [message("user", "我喜欢乌龙茶。"), message("assistant", "好的。", 1)]
    for _ in range(3):
        bridge.record("cli:a", said)
    assert turns(bridge, "cli:a") == [("user", "我喜欢乌龙茶。"), ("assistant", "好的。")]
    assert bridge.counts["kept"] == 2


def test_recalled_blocks_commands_and_automations_are_not_learned(bridge: NanobotBridge) -> None:
    block = fence("The door code is 1234.", label="memory")
    bridge.record(
        "cli:a",
        [
            message("user", f"What now?\n\n{block}"),
            message("user", "/status", 1, _command=True),
            message("user", "Look at the mail.", 2, _automation_turn={"kind": "cron"}),
            message("assistant", [{"type": "text", "text": f"This.\n{block}"}], 3),
            message("assistant", "", 4),
        ],
    )
    assert turns(bridge, "cli:a") == [("user", "What now?"), ("assistant", "This.")]


def test_secrets_are_taken_out_before_anything_is_written(bridge: NanobotBridge) -> None:
    secret = "ghp_" + "a1B2" * 9
    bridge.record("cli:a", [message("user", f"My token is {secret}.")])
    assert turns(bridge, "cli:a")
    assert not [p for p in bridge.root.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]


def test_tool_calls_become_observations_but_memorys_own_do_not() -> None:
    calls = [
        {"id": "c1", "function": {"name": "exec", "arguments": '{"command": "make test"}'}},
        {"id": "c2", "function": {"name": "memory_search", "arguments": "{}"}},
        {"id": "c3", "function": {"name": "write_file", "arguments": "no json"}},
        {"id": "c4", "function": {"name": "exec", "arguments": "{}"}},
    ]
    found = list(
        executions(
            [
                message("assistant", None, tool_calls=calls),
                message("tool", "3 passed", tool_call_id="c1"),
                message("tool", "rows", tool_call_id="c2"),
                message("tool", "written", tool_call_id="c3"),
            ]
        )
    )
    assert found == [
        {"tool": "exec", "arguments": {"command": "make test"}, "result": "3 passed", "call": "c1"},
        {"tool": "write_file", "arguments": "no json", "result": "written", "call": "c3"},
    ]


def test_what_the_model_has_before_it_is_not_recalled(bridge: NanobotBridge) -> None:
    bridge.record("cli:a", [message("user", "Our staging server is called Kestrel.")])
    bridge.flush()
    question = "What is our staging server called?"
    assert "Kestrel" in recall(bridge, question, "cli:b")
    assert recall(bridge, question, "cli:a", seen=1) == ""
    assert "Kestrel" in recall(bridge, question, "cli:a", seen=0), "as after /new"


def test_each_turn_knows_the_person(bridge: NanobotBridge) -> None:
    (bridge.root / "USER.md").write_text("Always answer in British English.\n", "utf-8")
    bridge.ready()
    assert recall(bridge, "Hello").count("British English") == 1
    assert recall(bridge, "In which English do you always answer?").count("British English") == 1


def _sleeps(*_: Any, **__: Any) -> Any:
    time.sleep(1.0)
    raise OSError("too late for anybody")


@pytest.mark.timed
def test_a_slow_memory_delays_no_turn(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bridge = NanobotBridge(tmp_path / "mnemark", home)
    assert bridge.ready(20)
    monkeypatch.setattr(Memory, "recall", _sleeps)

    async def both() -> tuple[str, str, float]:
        started = time.monotonic()
        first = await bridge.recall(RecallRequest(Where("cli:a"), "What is it called?"))
        second = await bridge.recall(RecallRequest(Where("cli:a"), "What is it called?"))
        return first, second, time.monotonic() - started

    first, second, took = asyncio.run(both())
    assert (first, second) == ("", "")
    assert took < 3 * LIMIT
    assert bridge.counts == {"late": 1, "busy": 1}
    bridge.close()


def test_a_failing_memory_is_counted_and_told_once(
    bridge: NanobotBridge, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(Memory, "recall", fails)
    assert [recall(bridge, "What is it called?") for _ in range(3)] == ["", "", ""]
    assert bridge.counts["failed"] == 3
    told = [record for record in caplog.records if record.levelname == "WARNING"]
    assert [record.getMessage() for record in told] == ["mnemark: recall: the disk is gone"]


def test_a_workspace_that_cannot_be_opened(tmp_path: Path, home: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    bridge = NanobotBridge(tmp_path / "file", home)
    assert not bridge.ready(20)
    bridge.record("cli:a", [message("user", "Hello.")])
    assert recall(bridge, "What is it called?") == ""
    with pytest.raises(MnemarkError, match=r"memory is off: .* is a file"):
        bridge.tools()
    bridge.close()
    assert bridge.counts["lost"] == 1


def test_what_is_queued_is_kept_at_the_end(tmp_path: Path, home: Path) -> None:
    bridge = NanobotBridge(tmp_path / "mnemark", home)
    for number in range(30):
        bridge.record("cli:a", [message("user", f"Number {number}.", number)])
    bridge.close()
    bridge.close()
    with Memory.open(tmp_path / "mnemark") as memory:
        assert len(memory.session("cli:a").last(100)) == 30


def test_a_session_of_one_message_is_ended_in_the_background(
    tmp_path: Path, home: Path, left: list[list[str]]
) -> None:
    bridge = NanobotBridge(tmp_path / "mnemark", home)
    said = ["My name is Ann and I live in Leeds.", "Hello Ann.", "Please always answer in British English."]
    turns_of = [message("user" if n % 2 == 0 else "assistant", text, n) for n, text in enumerate(said)]
    bridge.record("cli:a", turns_of)
    bridge.close()
    assert [words[-2:] for words in left] == [[str(tmp_path / "mnemark"), "cli:a"]]
    background.run(tmp_path / "mnemark", "cli:a")
    with Memory.open(tmp_path / "mnemark") as memory:
        assert "Leeds" in {fact.value for fact in memory.facts()}
    idle = NanobotBridge(tmp_path / "mnemark", home)
    idle.close()
    assert len(left) == 1, "nobody spoke"


def test_nanobots_own_files_are_searched_and_not_written(tmp_path: Path, home: Path) -> None:
    entries = [
        {"cursor": 1, "timestamp": "2026-01-05 09:00", "content": "Chose the printer Larkspur."},
        {"cursor": 2, "timestamp": "2026-01-05 09:10", "content": "Swept logs.", "session_key": "cron:1"},
    ]
    log = home / "memory" / "history.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in entries) + "{broken\n", encoding="utf-8")
    (home / "memory" / "MEMORY.md").write_text(
        "# Memory\n\n- The attic key hangs in the pantry.\n", encoding="utf-8"
    )
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    for _ in range(2):
        bridge = NanobotBridge(tmp_path / "mnemark", home)
        assert bridge.ready(20)
        assert turns(bridge, HISTORY) == [("assistant", "Chose the printer Larkspur.")]
        assert bridge.tools().search("attic key").hits[0].ref.startswith("@nanobot/MEMORY.md")
        assert "pantry" not in recall(bridge, "Where is the attic key?"), "nanobot's prompt has it already"
        bridge.close()
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_the_workspace_is_beside_nanobots_or_as_set(tmp_path: Path) -> None:
    home = tmp_path / ".nanobot" / "workspace"
    beside = tmp_path / ".nanobot" / "mnemark"
    assert root_for(home, None) is None
    beside.mkdir(parents=True)
    assert root_for(home, None) is None, "a folder of that name alone says nothing"
    (beside / "mnemark.toml").touch()
    assert root_for(home, None) == beside
    assert root_for(home, str(tmp_path / "notes")) == tmp_path / "notes"


@pytest.mark.parametrize("inside", ["", "mnemark", ".."])
def test_a_workspace_in_nanobots_is_refused(tmp_path: Path, inside: str) -> None:
    home = tmp_path / ".nanobot" / "workspace"
    with pytest.raises(UsageError, match="MNEMARK_WORKSPACE"):
        root_for(home, str(Path(*(home / inside).parts) if inside != ".." else home.parent))


def test_nothing_of_a_host_is_imported() -> None:
    code = (
        "import sys, mnemark, mnemark_adapters.nanobot_bridge, mnemark_adapters.openakita\n"
        "found = {'nanobot', 'openakita', 'numpy', 'apsw', 'mnemark.memory.memory'} & set(sys.modules)\n"
        "assert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
