"""Each turn of a transcript is kept once: in pieces, again, at the same time, and after a kill."""

import contextlib
import html
import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.samples import claude_line, codex_line, event, write
from mnemark import Memory
from mnemark.files import transcripts
from mnemark.files.sessions import SessionLog
from mnemark.text.quoting.fence import fence
from mnemark.types import Turn
from mnemark_agents.hook.agents import AGENTS, Agent
from mnemark_agents.hook.capture import PlainRecord, capture
from mnemark_agents.hook.event import execution, parse_call
from sampled import examples

CLAUDE, CODEX, GEMINI, CURSOR = (
    next(one for one in AGENTS if one.name == name)
    for name in ("claude-code", "codex", "gemini-cli", "cursor")
)


def keep(root: Path, agent: Agent, data: dict[str, Any], what: Any = "response") -> int:
    return capture(root, PlainRecord(root, "one"), agent, data, what).turns


def kept(root: Path) -> list[Turn]:
    log = SessionLog(root, "one")
    return [placed.turn for placed in log.turns()] if log.path.exists() else []


def said(root: Path) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in kept(root)]


def test_what_was_said_is_kept_and_what_the_agent_added_is_not(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        {"type": "queue-operation", "content": "no message"},
        claude_line(1, "user", "Deploy it, please.\n<system-reminder>Be brief.</system-reminder>"),
        claude_line(2, "assistant", [{"type": "thinking", "thinking": "hm"}]),
        claude_line(3, "assistant", [{"type": "text", "text": "好的，马上。"}]),
        claude_line(4, "assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]),
        claude_line(5, "user", [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]),
        claude_line(6, "user", "<command-name>/clear</command-name>"),
        claude_line(7, "user", "side talk", isSidechain=True),
        claude_line(8, "user", "This session is being continued …", isCompactSummary=True),
        claude_line(9, "assistant", "API Error: 529 overloaded", isApiErrorMessage=True),
        claude_line(9, "user", "hidden", isMeta=True),
    )
    assert keep(tmp_path, CLAUDE, event(path)) == 2
    assert said(tmp_path) == [("user", "Deploy it, please."), ("assistant", "好的，马上。")]
    first = kept(tmp_path)[0]
    assert (first.origin, first.time.isoformat()) == ("owner", "2026-03-02T10:01:00+00:00")
    assert first.meta["agent"] == "claude-code"


def test_codex_says_itself_what_the_user_wrote(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        codex_line(1, "developer", "You are a coding agent."),
        codex_line(2, "user", "<environment_context>…</environment_context>"),
        codex_line(3, "user", "# AGENTS.md instructions for /home/me\n…"),
        codex_line(4, "user", "added by a plug-in", kinds=["hooks.additional_context"]),
        codex_line(5, "user", "Which port does it use?", kinds=["user.text"]),
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "Port 8043."}},
        codex_line(6, "assistant", "Port 8043."),
    )
    assert keep(tmp_path, CODEX, event(path)) == 2
    assert said(tmp_path) == [("user", "Which port does it use?"), ("assistant", "Port 8043.")]


def test_recalled_blocks_are_left_out(tmp_path: Path) -> None:
    block = fence("The code word is pelican.")
    path = write(
        tmp_path / "t.jsonl",
        claude_line(1, "user", f"{block}\nWhat is it?"),
        claude_line(2, "assistant", [{"type": "text", "text": f"Memory says: {block}"}]),
        claude_line(3, "user", block),
    )
    keep(tmp_path, CLAUDE, event(path))
    assert "pelican" not in json.dumps(said(tmp_path))
    assert len(kept(tmp_path)) == 2


def test_secrets_and_private_passages_do_not_reach_the_disk(tmp_path: Path) -> None:
    secret = "sk-" + "proj-" + "Zx81mQ0vTn5Lr7Wc2Kd9Hs4Ya6Bf3Ge8"
    words = f"use api_key={secret} and <private>my diary</private>"
    path = write(tmp_path / "t.jsonl", claude_line(1, "user", words))
    keep(tmp_path, CLAUDE, event(path))
    stored = SessionLog(tmp_path, "one").path.read_text(encoding="utf-8")
    assert secret not in stored
    assert "diary" not in stored


def test_reading_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for number in range(1, 8):
        write(path, claude_line(number, "user", f"turn {number}"))
        assert keep(tmp_path, CLAUDE, event(path)) == 1
        assert keep(tmp_path, CLAUDE, event(path)) == 0
    assert [content for _, content in said(tmp_path)] == [f"turn {n}" for n in range(1, 8)]


def test_a_line_that_is_still_being_written_is_taken_later(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", claude_line(1, "user", "whole"))
    line = json.dumps(claude_line(2, "user", "half")) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(line[:50])
    assert keep(tmp_path, CLAUDE, event(path)) == 1
    with path.open("a", encoding="utf-8") as file:
        file.write(line[50:])
    assert keep(tmp_path, CLAUDE, event(path)) == 1
    assert [content for _, content in said(tmp_path)] == ["whole", "half"]


def test_a_transcript_written_anew_is_not_kept_twice(tmp_path: Path) -> None:
    lines = [claude_line(n, "user", f"turn {n} " + "x" * 300) for n in range(1, 6)]
    path = write(tmp_path / "t.jsonl", *lines)
    assert keep(tmp_path, CLAUDE, event(path)) == 5
    path.unlink()
    write(path, *lines[2:4], claude_line(9, "user", "new"))
    assert keep(tmp_path, CLAUDE, event(path)) == 1
    assert said(tmp_path)[-1] == ("user", "new")


@settings(max_examples=examples(25), deadline=None)
@given(cuts=st.lists(st.integers(0, 4_000), max_size=6), limit=st.integers(1, 4))
def test_however_it_is_cut_and_killed_each_turn_is_kept_once(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], limit: int
) -> None:
    """The transcript grows by any bytes; a kill after any batch loses nothing and repeats nothing."""
    root = tmp_path_factory.mktemp("w")
    whole = write(
        root / "whole.jsonl", *(claude_line(n, "user", f"第 {n} 句") for n in range(1, 9))
    ).read_bytes()
    path = root / "t.jsonl"

    class Dying(PlainRecord):
        left = limit

        def add_many(self, turns: Any) -> list[Turn]:
            done: list[Turn] = []
            for turn in turns:
                if not self.left:
                    raise KeyboardInterrupt
                done += super().add_many([turn])
                self.left -= 1
            return done

    for cut in [*sorted(cuts), len(whole)]:
        path.write_bytes(whole[:cut])
        with contextlib.suppress(KeyboardInterrupt):
            capture(root, Dying(root, "one"), CLAUDE, event(path), "response")
    keep(root, CLAUDE, event(path))
    assert [content for _, content in said(root)] == [f"第 {n} 句" for n in range(1, 9)]


def _keep_often(root: str, path: str, times: int) -> None:
    for _ in range(times):
        keep(Path(root), CLAUDE, event(Path(path)))


def test_hooks_that_overlap_keep_each_turn_once(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", *(claude_line(n, "user", f"turn {n}") for n in range(1, 51)))
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_keep_often, args=(str(tmp_path), str(path), 3)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert [content for _, content in said(tmp_path)] == [f"turn {n}" for n in range(1, 51)]


def test_agents_without_a_transcript_tell_turns_in_their_events(tmp_path: Path) -> None:
    prompt = {"conversation_id": "c", "generation_id": "g1", "prompt": "Where is it?"}
    assert keep(tmp_path, CURSOR, prompt, "prompt") == 1
    assert keep(tmp_path, CURSOR, prompt, "prompt") == 0
    assert keep(tmp_path, CURSOR, prompt | {"text": "On the quay."}, "response") == 1
    assert said(tmp_path) == [("user", "Where is it?"), ("assistant", "On the quay.")]


def test_gemini_tells_a_prompt_twice_and_it_is_kept_once(tmp_path: Path) -> None:
    for reply in ("It is open.", "It is closed.", "It is closed."):
        data = {"session_id": "g", "prompt": "Is it open?", "prompt_response": reply}
        keep(tmp_path, GEMINI, data, "prompt")
        keep(tmp_path, GEMINI, data, "response")
    assert said(tmp_path) == [
        ("user", "Is it open?"), ("assistant", "It is open."),
        *([("user", "Is it open?"), ("assistant", "It is closed.")] * 2),
    ]  # fmt: skip


OURS = "\n".join((fence("The gate is red.", label="owner"), fence("Ann was there.")))
"""As a hook says it."""


@pytest.mark.parametrize("ours", [OURS, html.escape(OURS, quote=False), ""], ids=["plain", "escaped", "none"])
@pytest.mark.parametrize("agent", [CLAUDE, CODEX, GEMINI, CURSOR], ids=lambda agent: agent.name)
def test_no_field_of_any_event_brings_back_what_we_told(tmp_path: Path, agent: Agent, ours: str) -> None:
    """Whatever an agent tells of a session, its turns are what was said, once."""
    hooked = f"<hook_context>{ours}</hook_context>\n\n" if agent is GEMINI else ours and f"{ours}\n"
    asked, reply = "Is <hook_context> a tag?", f"Yes.\n{ours}"
    told = {
        "session_id": "one", "conversation_id": "one", **({} if agent is GEMINI else {"turn_id": "t1"}),
        "prompt": hooked + asked, "prompt_response": reply, "text": reply, "last_assistant_message": reply,
    }  # fmt: skip
    for event_name in ("session-start", "prompt", "prompt", "response", "session-end"):
        call = parse_call(event_name, agent.name, told)
        assert call.data["prompt"] == asked, "what is searched with"
        capture(tmp_path, PlainRecord(tmp_path, "one"), agent, call.data, call.event)
    assert said(tmp_path) == [("user", asked), ("assistant", "Yes.")]


@pytest.mark.parametrize("ours", [OURS, json.dumps(OURS)], ids=["plain", "escaped"])
def test_no_tool_call_brings_back_what_we_told(ours: str) -> None:
    done = {
        "tool_name": "Bash", "tool_input": {"command": f"echo {ours}", "lines": [ours, 3]},
        "tool_response": {"stdout": f"red\n{ours}"}, "error": f"exit 2\n{ours}", "cwd": "/tmp",
    }  # fmt: skip
    found = execution(parse_call("tool", "claude-code", {"session_id": "one", **done}).data)
    assert found is not None
    assert "mnemark-recall" not in repr(found)
    assert "red" in found.result["stdout"]


def test_a_transcript_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    """Claude Code writes it behind the hooks' back, a moment after a quick answer."""
    path = tmp_path / "t.jsonl"
    data = event(path) | {"last_assistant_message": "On the quay."}
    assert keep(tmp_path, CLAUDE, data) == 0
    write(path, claude_line(1, "user", "Where is it?"), claude_line(2, "assistant", "On the quay."))
    assert keep(tmp_path, CLAUDE, data, "session-end") == 2
    assert said(tmp_path) == [("user", "Where is it?"), ("assistant", "On the quay.")]


@pytest.mark.parametrize("name", ["t.txt", ""])
def test_a_path_that_is_no_transcript_is_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.txt").write_text(json.dumps(claude_line(1, "user", "no")), encoding="utf-8")
    data = event(None) | {"transcript_path": name and str(tmp_path / name), "last_assistant_message": "Yes."}
    keep(tmp_path, CLAUDE, data)
    assert said(tmp_path) == [("assistant", "Yes.")]


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(data + b'\n{"type":"user","message":{"role":"user","content":[1,null,{"text":5}]}}\n')
    for found in transcripts.read(path, "codex"):
        assert found.turn.content


def test_what_was_erased_is_not_taken_from_the_transcript_again(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", *(claude_line(n, "user", f"turn {n} of QUAGGA") for n in (1, 2)))
    assert keep(tmp_path, CLAUDE, event(path)) == 2
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        for turn in kept(tmp_path):
            memory.forget(id=turn.id, erase=True)
    write(path, claude_line(3, "user", "new"))
    assert keep(tmp_path, CLAUDE, event(path)) == 1
    assert said(tmp_path) == [("user", "new")]
    assert b"QUAGGA" not in (tmp_path / PlainRecord(tmp_path, "one").path).read_bytes()
