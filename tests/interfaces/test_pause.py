"""Off the record: while it is on, nothing comes in by any door, and what was said meanwhile never does."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interfaces.conftest import Shell
from mnemark import Memory
from mnemark.errors import OffRecordError
from mnemark.files import off_record, platform
from mnemark.files.private import private
from mnemark_agents.hook import cold, missed
from mnemark_agents.hook.event import parse_call
from mnemark_agents.upkeep import is_due
from mnemark_interfaces.tools_run import call


def texts(root: Path) -> str:
    """All that the files of a memory say."""
    return "\n".join(
        path.read_text("utf-8", "replace") for path in root.rglob("*") if path.suffix in {".jsonl", ".md"}
    )


def said(path: Path, *rows: tuple[datetime, str, str]) -> Path:
    """A transcript of Claude Code."""
    lines = [
        {"type": role, "uuid": f"{number:08d}-0000-4000-8000-000000000000", "timestamp": time.isoformat(),
         "sessionId": "s1", "message": {"role": role, "content": text}}
        for number, (time, role, text) in enumerate(rows)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def hook(root: Path, event: str, **data: Any) -> dict[str, Any]:
    """What a hook of Claude Code answers."""
    native = {"prompt": "UserPromptSubmit", "response": "Stop", "session-start": "SessionStart"}[event]
    given = {"session_id": "s1", "hook_event_name": native, "cwd": str(root), **data}
    return cold.handle(root, parse_call(event, "claude-code", given))


def test_nothing_comes_in_by_any_door(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("chat").add("user", "the ferry leaves at seven")
        off_record.begin(tmp_path)
        kept = memory.session("chat").add("user", "my secret plan")
        assert (kept.id, kept.content) == ("", "my secret plan")
        assert (
            memory.session("new").add_many([memory.session("new").turn("user", "another secret")])[0].id == ""
        )
        assert not (tmp_path / "sessions" / "new.jsonl").exists()
        assert memory.session("chat").observe("Bash", {"command": "make secret"}, "done") is None
        yesterday = datetime.now(UTC) - timedelta(days=1)
        assert memory.session("chat").add("user", "an old secret", time=yesterday).id == ""
        for refused in (
            lambda: memory.remember("plan", "secret"), memory.learn, memory.consolidate,
        ):  # fmt: skip
            with pytest.raises(OffRecordError, match="off the record"):
                refused()
        assert memory.session("chat").end().status == "deferred"
        for name, arguments in (
            ("memory_remember", {"predicate": "plan", "value": "secret"}),
            ("memory_write", {"text": "secret"}),
        ):  # fmt: skip
            answer = call(memory, name, arguments)
            assert answer["isError"]
            assert "off the record" in json.dumps(answer)
        assert not is_due(memory.workspace, memory.workspace.now() + timedelta(seconds=1))
        assert "secret" not in texts(tmp_path)
        assert memory.search("ferry").hits  # it is still read
        assert memory.remember("plan", "secret", dry_run=True).value == "secret"
        assert off_record.end(tmp_path)
        assert not off_record.end(tmp_path)
        assert memory.session("chat").add("user", "back again").id
        assert memory.remember("city", "Lisbon").value == "Lisbon"
        assert memory.session("chat").end().status == "ended"


def test_a_transcript_that_is_read_later_brings_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    with Memory.open(tmp_path) as memory:
        memory.sync()
    now = datetime.now(UTC)
    span = off_record.begin(tmp_path)
    off_record._save(tmp_path, (off_record.Span(now - timedelta(minutes=30)),))
    assert span.end is None
    rows = [
        (now - timedelta(minutes=40), "user", "before it"),
        (now - timedelta(minutes=20), "user", "the secret"),
        (now - timedelta(minutes=19), "assistant", "a secret answer"),
    ]  # fmt: skip
    path = said(tmp_path.parent / f"{tmp_path.name}.jsonl", *rows)
    hook(tmp_path, "response", transcript_path=str(path))
    assert "before it" not in texts(tmp_path)
    off_record.end(tmp_path)
    said(path, *rows, (datetime.now(UTC) + timedelta(seconds=1), "user", "after it"))
    hook(tmp_path, "response", transcript_path=str(path))
    found = texts(tmp_path)
    assert "before it" in found
    assert "after it" in found
    assert "secret" not in found


def test_agents_are_told_at_the_start_and_a_missed_event_leaves_no_note(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.remember("city", "Lisbon")
    until = datetime.now(UTC) + timedelta(hours=1)
    off_record.begin(tmp_path, until)
    told = json.dumps(hook(tmp_path, "session-start", source="startup"))
    assert "This memory is off the record until" in told
    missed.note(tmp_path, "UserPromptSubmit", "claude-code", {"session_id": "s"}, OSError("full"))
    assert not any(place.exists() for place in missed.places(tmp_path))
    off_record.end(tmp_path)
    assert "off the record" not in json.dumps(hook(tmp_path, "session-start", source="startup"))


def test_it_ends_by_itself(tmp_path: Path) -> None:
    begun = off_record.begin(tmp_path, datetime.now(UTC) + timedelta(hours=1))
    known = off_record.load(tmp_path)
    assert known.current(begun.end) is None
    assert known.current(begun.begin) == begun
    longer = off_record.begin(tmp_path)  # asked again: the same time, now without an end
    assert (longer.begin, longer.end) == (begun.begin, None)
    assert len(off_record.load(tmp_path).spans) == 1


def test_another_process_is_heard_at_the_next_turn(tmp_path: Path) -> None:
    """The times are read again only where their file changed; each change counts."""
    place = private(tmp_path) / off_record.NAME
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        assert memory.session("chat").add("user", "one").id
        off_record.begin(tmp_path)
        paused = place.read_bytes()
        off_record.end(tmp_path)
        assert memory.session("chat").add("user", "two").id
        platform.write_private(place, paused)  # as another process does it
        assert not memory.session("chat").add("user", "three").id
        place.unlink()
        assert memory.session("chat").add("user", "four").id


@given(st.binary(max_size=60))
def test_what_cannot_be_read_keeps_it_off_the_record(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    root = tmp_path_factory.mktemp("w")
    off_record.begin(root)
    (private(root) / off_record.NAME).write_bytes(data)
    found = off_record.load(root)
    assert found.current() is not None or found == off_record.OffRecord()
    off_record.end(root)
    assert off_record.load(root).current() is None


def test_the_command_says_what_it_did(shell: Shell) -> None:
    shell("init")
    begun = shell("pause", "--for", "2h")
    assert begun.code == 0
    assert "This memory is off the record until" in begun.out
    status = shell("status")
    assert "off the record until" in status.out
    assert shell("status", "--json").data["off_record"]
    refused = shell("remember", "city", "Lisbon")
    assert refused.code == 5
    assert "mnemark pause --end" in refused.err
    assert shell("facts", "--json").data["facts"] == []
    for doing in (("add", "a secret plan"), ("add", "a secret plan", "--session", "chat")):
        refused = shell(*doing)
        assert (refused.code, refused.out) == (5, "")
        assert "off the record until" in refused.err
    assert "secret plan" not in texts(shell.folder)
    assert "recorded again" in shell("pause", "--end").out
    assert "was not off the record" in shell("pause", "--end").out
    assert shell("remember", "city", "Lisbon").code == 0
    assert shell("add", "a secret plan").code == 0
    assert shell("status", "--json").data["off_record"] == ""
    for wrong in (("--for", "soon"), ("--for", "0h"), ("--for", "1h", "--end")):
        assert shell("pause", *wrong).code == 2
