"""Transcripts of Claude Code and Codex brought in: once, under the names that their hooks use."""

import os
from pathlib import Path
from typing import Literal

import pytest

from agent.samples import claude_line, codex_line, event, write
from mnemark import Memory, NotFoundError
from mnemark.memory.transfer.imports import import_from
from mnemark_agents.hook.agents import AGENTS, session_of
from mnemark_agents.hook.capture import PlainRecord, capture

UUID = "0197f0aa-1111-7222-8333-444455556666"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "w").mkdir()
    (tmp_path / "w/mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    return Memory.open(tmp_path / "w")


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "projects/-home-me-project"
    folder.mkdir(parents=True)
    write(
        folder / "one.jsonl",
        {"type": "file-history-snapshot", "messageId": "m"},
        claude_line(1, "user", "灯塔的钥匙在谁那里？"),
        claude_line(2, "assistant", [{"type": "text", "text": "在安娜那里。"}]),
        claude_line(3, "user", "side talk", isSidechain=True),
    )
    write(folder / "agent-7.jsonl", claude_line(4, "user", "search the code", isSidechain=True, agentId="7"))
    (folder / "notes.jsonl").write_text("no json\n", "utf-8")
    return folder.parent


def test_claude_code(memory: Memory, projects: Path) -> None:
    assert memory.import_("claude-code", projects, dry_run=True).turns == 2
    done = import_from(memory.workspace, "claude-code", projects)
    assert (done.sessions, done.turns) == (1, 2)
    assert import_from(memory.workspace, "claude-code", projects).turns == 0
    memory.sync()
    (hit, *_) = memory.search("钥匙").hits
    assert hit.ref.startswith("sessions/claude-code")
    assert (hit.date or "").startswith("2026-03-02")


def test_what_hooks_captured_is_the_same_session_and_not_said_twice(memory: Memory, projects: Path) -> None:
    path = projects / "-home-me-project/one.jsonl"
    agent = next(one for one in AGENTS if one.name == "claude-code")
    data = event(path)
    record = PlainRecord(memory.root, session_of(agent, data))
    assert capture(memory.root, record, agent, data, "response").turns == 2
    assert import_from(memory.workspace, "claude-code", projects).turns == 0
    write(path, claude_line(5, "user", "And the spare key?"))
    assert import_from(memory.workspace, "claude-code", projects).turns == 1
    assert capture(memory.root, record, agent, data, "response").turns == 0


def test_codex(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "sessions/2026/03/02"
    folder.mkdir(parents=True)
    path = folder / f"rollout-2026-03-02T10-00-00-{UUID}.jsonl"
    write(
        path,
        {"timestamp": "2026-03-02T10:00:00.000Z", "type": "session_meta", "payload": {"id": UUID}},
        codex_line(1, "user", "Use tabs in the Makefile."),
        codex_line(2, "assistant", "Will do."),
    )
    assert import_from(memory.workspace, "codex", path).turns == 2
    assert import_from(memory.workspace, "codex", tmp_path / "sessions").turns == 0
    assert [turn.content for turn in memory.session(f"codex:{UUID}").last(10)] == [
        "Use tabs in the Makefile.",
        "Will do.",
    ]


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_folder_without_transcripts_says_where_they_are(
    memory: Memory, tmp_path: Path, agent: Literal["claude-code", "codex"]
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match=r"they are usually in ~/\.c"):
        import_from(memory.workspace, agent, tmp_path / "empty")


def test_what_is_called_like_a_transcript_and_is_none(memory: Memory, projects: Path) -> None:
    (projects / "folder.jsonl").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(projects / "pipe.jsonl")
    assert import_from(memory.workspace, "claude-code", projects).turns == 2
