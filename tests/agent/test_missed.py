"""What was said while the memory was broken is taken in by the next good hook, or said to be missing."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.samples import claude_line, event, write
from mnemark.errors import MnemarkError
from mnemark.files import jsonl, platform
from mnemark.files.sessions import SessionLog
from mnemark_agents.hook import cold, command


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(cold, "_run_in_background", lambda *_: None)
    folder = tmp_path / "memory"
    (folder / ".mnemark").mkdir(parents=True)
    return folder


def hook(root: Path, name: str, agent: str, data: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.TextIOWrapper(io.BytesIO(json.dumps(data).encode()))
    monkeypatch.setattr(sys, "stdin", said)
    assert command.run([name, "--agent", agent, "-w", str(root), "--alone"]) == 0


def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise MnemarkError("the disk is full and nothing was saved")

    monkeypatch.setattr(jsonl, "append", fails)


def said(root: Path, session: str) -> list[str]:
    return [placed.turn.content for placed in SessionLog(root, session).turns()]


def test_a_session_that_was_not_recorded_is_read_from_its_transcript(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = write(tmp_path / "one.jsonl", claude_line(1, "user", "The gate opens at nine."))
    two = write(tmp_path / "two.jsonl", claude_line(2, "user", "Hello again."))
    with pytest.MonkeyPatch.context() as patch:
        broken(patch)
        hook(root, "response", "claude-code", event(one), monkeypatch)
    write(one, claude_line(3, "assistant", "Noted."))
    assert said(root, "claude-code:one") == []
    for _ in range(2):
        hook(root, "response", "claude-code", event(two) | {"session_id": "two"}, monkeypatch)
    assert said(root, "claude-code:two") == ["Hello again."]
    assert said(root, "claude-code:one") == ["The gate opens at nine.", "Noted."]
    assert not list(tmp_path.rglob("*hooks-missed*"))
    hook(root, "response", "claude-code", event(one), monkeypatch)
    assert said(root, "claude-code:one") == ["The gate opens at nine.", "Noted."], "nothing twice"


@pytest.mark.parametrize("inside", [False, True])
def test_what_stands_nowhere_else_is_said_to_be_missing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, inside: bool
) -> None:
    data = {"conversation_id": "one", "generation_id": "g1", "prompt": "The gate opens at nine."}
    with pytest.MonkeyPatch.context() as patch:
        broken(patch)
        if inside:
            whole = platform.FS.open

            def closed(path: Path, flags: int) -> int:
                if path.name.endswith("-hooks-missed.jsonl"):
                    raise PermissionError(13, "Permission denied")
                return whole(path, flags)

            patch.setattr(platform.FS, "open", closed)
        hook(root, "prompt", "cursor", data, monkeypatch)
        hook(
            root,
            "prompt",
            "cursor",
            data | {"generation_id": "g2", "prompt": "And closes at six."},
            monkeypatch,
        )
    (noted,) = tmp_path.rglob("*hooks-missed.jsonl")
    assert "gate" not in noted.read_text("utf-8")
    for number in (3, 4):
        more = {"generation_id": f"g{number}", "prompt": f"Hello {number}."}
        hook(root, "prompt", "cursor", data | more, monkeypatch)
    hello, gap, last = said(root, "cursor:one")
    assert (hello, last) == ("Hello 3.", "Hello 4.")
    assert gap.startswith("[Missing here: 2 messages, from ")
    assert "the disk is full" in gap


def test_a_note_in_a_cloned_folder_names_no_transcript_to_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.jsonl"
    row = {"type": "user", "uuid": "u1", "timestamp": "2026-11-20T10:00:00Z"}
    other.write_text(
        json.dumps(row | {"message": {"role": "user", "content": "My secret plan."}}) + "\n", "utf-8"
    )
    note = {
        "agent": "claude-code", "session": "claude-code:one", "event": "prompt",
        "time": "2026-11-20T10:00:00+00:00", "transcript": str(other),
    }  # fmt: skip
    (root / ".mnemark").mkdir(exist_ok=True)
    (root / ".mnemark/hooks-missed.jsonl").write_text(json.dumps(note) + "\n", "utf-8")
    data = {"conversation_id": "two", "generation_id": "g1", "prompt": "Hello."}
    hook(root, "prompt", "cursor", data, monkeypatch)
    (gap,) = said(root, "claude-code:one")
    assert gap.startswith("[Missing here: 1 message, from ")


def test_what_still_cannot_be_recorded_stays_noted(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"conversation_id": "one", "generation_id": "g1", "prompt": "The gate opens at nine."}
    with pytest.MonkeyPatch.context() as patch:
        broken(patch)
        hook(root, "prompt", "cursor", data, monkeypatch)
        hook(root, "prompt", "cursor", data | {"generation_id": "g2"}, monkeypatch)
    (noted,) = (tmp_path / "state").rglob("*hooks-missed.jsonl")
    assert len(noted.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    "line", [b'{"agent": 5}', b"xx", b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"session": "a", "ev']
)
def test_a_damaged_note_stops_no_hook(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    """It lies in the folder, too, which someone else may have written."""
    for name in ("hooks-missed.jsonl", "hooks-missed.jsonl.taken"):
        good = b'{"agent":"claude-code","session":"old","event":"prompt","time":"2026-02-13T08:00:00Z"}'
        (root / ".mnemark" / name).write_bytes(line + b"\n" + good + b"\n")
        one = write(tmp_path / "one.jsonl", claude_line(1, "user", "The gate opens at nine."))
        hook(root, "response", "claude-code", event(one), monkeypatch)
        assert said(root, "claude-code:one") == ["The gate opens at nine."]
        assert "Missing here: 1 message" in said(root, "old")[0]
        assert not list(root.rglob("*hooks-missed*"))
