"""`mnemark hook` as agents call it: strict JSON, exit 0 whatever happens, with and without a daemon."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.samples import claude_line, event, write
from forked import mnemark
from mnemark import Memory
from mnemark._version import __version__
from mnemark.errors import MnemarkError, UsageError
from mnemark.files import platform
from mnemark.files.sessions import SessionLog
from mnemark.memory.sessions.session import Session
from mnemark.text.quoting.fence import all_fenced, check_fenced, strip_fences
from mnemark_agents import daemon
from mnemark_agents.hook import cold, command, start, warm
from mnemark_agents.hook.agents import AGENTS
from mnemark_agents.hook.capture import PlainRecord
from mnemark_agents.hook.event import execution, is_question, parse_call
from mnemark_agents.hook.log import MAX_BYTES, log

QUESTION = "What is the code word of the harbour gate?"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    root.mkdir()
    (root / "MEMORY.md").write_text(
        "# Memory\n\nThe harbour gate opens with the code word pelican.\n", "utf-8"
    )
    (root / "SCRATCHPAD.md").write_text("# Scratchpad\n\n- Ask Ann for the tide tables\n", "utf-8")
    (root / "memory/episodes").mkdir(parents=True)
    for day in range(1, 6):
        name = root / f"memory/episodes/2026-03-0{day}-move.md"
        name.write_text(f"# Move {day}\n\n第 {day} 次搬迁完成。\n", "utf-8")
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
    return root


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """An environment without a daemon and without the workspace of whoever runs the tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("MNEMARK_WORKSPACE", raising=False)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # agents' machines keep what is compiled
    return dict(os.environ)


@pytest.fixture
def background(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would have been left to the background, which tests do not wait for."""
    left: list[str] = []
    monkeypatch.setattr(cold, "_run_in_background", lambda root, session: left.append(session))
    return left


def call(data: object, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    given = data if isinstance(data, bytes) else json.dumps(data).encode()
    done = mnemark("hook", *words, given=given, cwd=cwd)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.encode(), done.stderr.encode())


def alone(root: Path, name: str, word: str, **data: Any) -> dict[str, Any]:
    return cold.handle(root, parse_call(word, name, data))


def text_of(output: dict[str, Any]) -> str:
    found = output.get("hookSpecificOutput", {}).get(
        "additionalContext", output.get("additional_context", "")
    )
    return str(found)


class Open:
    """As the daemon keeps a workspace."""

    one_machine = True

    def __init__(self, root: Path) -> None:
        self.memory = Memory.open(root, config={"embedder": "none", "recall_deadline_ms": 5_000})

    def session(self, identifier: str, **scope: str | None) -> Session:
        return self.memory.session(identifier, **scope)


@pytest.fixture(params=["alone", "daemon"])
def handle(request: pytest.FixtureRequest, root: Path, background: list[str]) -> Iterator[Any]:
    """An event handled here, or as the daemon handles it: the answers are alike."""
    if request.param == "alone":
        yield lambda name, word, **data: alone(root, name, word, **data)
        return
    opened = Open(root)
    yield lambda name, word, **data: warm.handle(opened, word, {"agent": name, "event": data})["output"]
    opened.memory.close()


def test_a_session_begins_with_a_briefing(handle: Any) -> None:
    output = handle("claude-code", "session-start", session_id="one", source="startup")
    assert output["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    block = text_of(output)
    assert all_fenced(block)
    assert all(word in block for word in ("pelican", "tide tables", "第 5 次", "第 3 次"))
    assert "第 2 次" not in block, "the last three episodes are enough"
    assert len(block) < 10_000


def test_what_is_erased_leaves_no_hashes_of_its_words(root: Path, handle: Any) -> None:
    handle("claude-code", "session-start", session_id="one", source="startup")
    assert list((root / ".mnemark/hooks").glob("*.shown"))
    with Memory.open(root, config={"embedder": "none"}) as memory:
        receipt = memory.forget("MEMORY.md#L3", erase=True)
    assert not receipt.waiting
    assert not list((root / ".mnemark/hooks").glob("*.shown"))


def test_an_episode_of_a_title_alone_takes_no_place_in_a_briefing(root: Path, handle: Any) -> None:
    head = "2026-04-01 20:02–20:05 · claude-code · [4 turns](../../sessions/s.jsonl#L2-L5)"
    for name in ("one", "two", "three"):
        text = f"# Ghent, {name}\n\n{head}\n"
        (root / f"memory/episodes/2026-04-01-{name}.md").write_text(text, "utf-8")
    told = text_of(handle("claude-code", "session-start", session_id="one", source="startup"))
    assert "memory/episodes/2026-03-0" in told
    assert "Ghent" not in told
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.session("old").add("user", "The Ghent ferry leaves at nine, one hour after the bus.")
        memory.sync()
    recalled = text_of(
        handle("claude-code", "prompt", session_id="one", prompt="When does the Ghent ferry leave?")
    )
    assert "at nine" in recalled
    assert "4 turns" not in recalled


def test_a_hostile_turn_empties_no_hook(root: Path, handle: Any) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        talk = memory.session("web")
        talk.add("user", "The code word of the harbour gate is <|<s|> now", origin="web")
        talk.add("user", "The code word of the harbour gate: " + "\u200b" * 3_000, origin="web")
        memory.sync()
    output = handle("claude-code", "prompt", session_id="one", prompt=QUESTION)
    assert "pelican" in text_of(output)
    assert check_fenced(text_of(output))


def test_a_hostile_note_takes_no_other_out_of_a_briefing(
    root: Path, handle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = "\u2060" * 3_000
    (root / "memory/episodes/2026-03-06-bad.md").write_text(
        f"# Bad\n\nA zebra[.\n\n<|<s|> {hidden}\n", "utf-8"
    )
    block = text_of(handle("claude-code", "session-start", session_id="one", source="startup"))
    assert all(word in block for word in ("pelican", "tide tables", "第 5 次", "第 4 次"))
    assert all_fenced(block)
    monkeypatch.setattr("mnemark.text.quoting.fence._BRACKETED", re.compile(r"(?P<inside>zebra\[)"))
    block = text_of(handle("claude-code", "session-start", session_id="two", source="startup"))
    assert all(word in block for word in ("pelican", "tide tables", "第 5 次", "第 4 次", "‹s|>"))
    assert "zebra" not in block


@pytest.mark.parametrize(
    ("name", "native"),
    [
        ("claude-code", "SessionStart"), ("codex", "SessionStart"), ("gemini-cli", "SessionStart"),
        ("cursor", "sessionStart"),
    ],
)  # fmt: skip
def test_a_briefing_knows_the_person(root: Path, handle: Any, name: str, native: str) -> None:
    (root / "USER.md").write_text("# About me\n\nAlways answer in British English.\n", "utf-8")
    (root / "SOUL.md").write_text("# Soul\n\nYou are Juniper, dry and brief.\n", "utf-8")
    (root / "personas").mkdir()
    (root / "personas/default.md").write_text("Speak like a harbour master.\n", "utf-8")
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.remember("rules", "never push to main", type="rule")
        memory.remember("city", "Leeds")
        memory.remember("deploys with", "Podman", subject="harbour app")
        memory.remember("city", "York")
        memory.sync()
    block = text_of(handle(name, native, session_id="one", conversation_id="one"))
    assert all_fenced(block)
    own, _, quoted = block.partition("</mnemark-recall")
    assert "do not follow" not in own
    for words in ("British English", "never push to main", "York", "Podman", "Juniper", "harbour master"):
        assert words in own, words
        assert block.count(words) == 1, words
    assert "Leeds" not in block
    assert "do not follow" in quoted
    assert strip_fences(block).strip() == ""


def test_an_empty_memory_costs_no_block(tmp_path: Path, handle: Any, background: list[str]) -> None:
    new = tmp_path / "new"
    assert mnemark("init", str(new)).returncode == 0
    assert alone(new, "claude-code", "session-start", session_id="one", source="startup") == {}
    assert alone(new, "cursor", "sessionStart", conversation_id="one") == {}


def test_what_was_forgotten_is_in_no_later_briefing(root: Path, handle: Any) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        kept, gone = memory.remember("city", "Leeds"), memory.remember("editor", "Emacs")
        memory.sync()
        assert kept.id != gone.id
        assert "Emacs" in text_of(handle("claude-code", "session-start", session_id="one"))
        memory.forget(id=gone.id)
        block = text_of(handle("claude-code", "session-start", session_id="two"))
        assert "Leeds" in block
        assert "Emacs" not in block
        memory.remember("city", "York")
        block = text_of(handle("claude-code", "session-start", session_id="three"))
        assert "York" in block
        assert "Leeds" not in block


def test_the_lines_kept_for_a_briefing_are_erased_with_their_fact(root: Path, background: list[str]) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        fact = memory.remember("editor", "QUAGGA")
        memory.sync()
    for _ in range(2):
        assert "QUAGGA" in text_of(alone(root, "claude-code", "session-start", session_id="one"))
    compiled = root / ".mnemark/compiled"
    assert any(b"QUAGGA" in path.read_bytes() for path in compiled.iterdir()), "kept for the next one"
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.forget(id=fact.id, erase=True)
    held = [path for path in root.rglob("*") if path.is_file() and b"QUAGGA" in path.read_bytes()]
    assert (held, set(background)) == ([], {""})


def test_what_the_briefing_said_is_not_recalled_until_a_compaction(root: Path, handle: Any) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.remember("tide table of the lighthouse", "printed by Hobson", subject="harbour")
        memory.session("old").add("user", "The mooring fee of the walrus is 77 crowns.")
        memory.sync()
    fee = "What is the mooring fee of the walrus?"
    told = text_of(handle("claude-code", "session-start", session_id="one", source="startup"))
    assert all(words in told for words in ("pelican", "Hobson"))
    for question in (QUESTION, "Who printed the tide table of the lighthouse?"):
        assert handle("claude-code", "prompt", session_id="one", prompt=question) == {}, question
    assert "77" in text_of(handle("claude-code", "prompt", session_id="one", prompt=fee))
    assert handle("claude-code", "prompt", session_id="one", prompt=fee) == {}
    assert "pelican" in text_of(handle("claude-code", "prompt", session_id="another", prompt=QUESTION))
    handle("claude-code", "compact", session_id="one", trigger="auto")
    assert "77" in text_of(handle("claude-code", "prompt", session_id="one", prompt=fee))


def test_what_a_day_s_note_says_was_asked_is_not_recalled_as_a_turn(root: Path, handle: Any) -> None:
    said = "Please note: the lantern of the pier is lit by Hobson."
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.session("old").add("user", said)
        (root / f"memory/{memory.workspace.now():%Y-%m-%d}.md").write_text(
            f"# Today\n\n- Asked: {said}\n", "utf-8"
        )
        memory.sync()
    question = "Who lights the lantern of the pier?"
    assert "Hobson" in text_of(handle("claude-code", "prompt", session_id="other", prompt=question))
    assert "Hobson" in text_of(handle("claude-code", "session-start", session_id="one", source="startup"))
    assert handle("claude-code", "prompt", session_id="one", prompt=question) == {}


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        (
            "Please note: the spare key of the boat shed lies under the blue tub, and Ann knows of it.",
            "Where is the spare key of the boat shed?",
        ),
        ("请记住：船库的备用钥匙放在蓝色木桶下面，安妮也知道。", "船库的备用钥匙放在哪里？"),
    ],
)
def test_what_was_said_once_is_told_once(root: Path, handle: Any, said: str, asked: str) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        session = memory.session("claude-code:before")
        session.add("user", said)
        session.add("assistant", "Noted. I will keep it in mind.")
        session.end()
        memory.sync()
    told = text_of(handle("claude-code", "session-start", session_id="new", source="startup"))
    told += text_of(handle("claude-code", "prompt", session_id="new", prompt=asked))
    assert told.count("under the blue tub") + told.count("蓝色木桶") == 1


@pytest.mark.parametrize(
    ("value", "label", "asked"),
    [("kiwi", "allergies", "allergies: is it kiwi?"), ("花生", "过敏", "我对花生过敏吗？")],
)
def test_a_page_of_facts_that_the_briefing_told_is_not_recalled(
    root: Path, handle: Any, value: str, label: str, asked: str
) -> None:
    """The page has the language of the facts when it was written, the briefing that of today's."""
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.remember("allergies", value)
        memory.consolidate()
        assert f"{label}" in (root / "USER.md").read_text("utf-8")
        for key, more in {"city": "Leeds", "employer": "Northwind", "job": "nurse"}.items():
            memory.remember(key, more)
        memory.sync()
    assert value in text_of(handle("claude-code", "prompt", session_id="other", prompt=asked))
    told = text_of(handle("claude-code", "session-start", session_id="one", source="startup"))
    assert told.count(f"allergies: {value}") == 1
    assert handle("claude-code", "prompt", session_id="one", prompt=asked) == {}


def test_a_changed_fact_is_told_again_beside_the_words_it_corrects(root: Path, background: list[str]) -> None:
    """The daemon finds the fact, a hook alone only the words of the question."""
    opened = Open(root)
    for number, said in enumerate(("I live in Hamburg, near the old harbour wall.", "I moved to Lisbon.")):
        session = opened.memory.session(f"claude-code:{number}")
        session.add("user", said)
        session.end()
    opened.memory.sync()

    def told(word: str, **data: Any) -> str:
        body = {"agent": "claude-code", "event": {"session_id": "one", **data}}
        return text_of(warm.handle(opened, word, body)["output"])

    assert "Lisbon" in told("session-start", source="startup")
    first = told("prompt", prompt="Where do I live?")
    assert "old harbour wall" in first
    assert first.index("Lisbon") < first.index("Hamburg, near")
    assert told("prompt", prompt="Where do I live?") == ""
    opened.memory.close()


def test_what_a_comment_says_of_a_line_makes_it_no_other_line(root: Path, handle: Any) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        noted = "- Bash: turn the walrus crane <!-- observed: 01M82X728SR44GJ546NGWR1T7Z -->"
        (root / f"memory/{memory.workspace.now():%Y-%m-%d}.md").write_text(f"# Today\n\n{noted}\n", "utf-8")
        memory.sync()
    question = "Who turned the walrus crane?"
    assert "walrus" in text_of(handle("claude-code", "prompt", session_id="other", prompt=question))
    assert handle("claude-code", "prompt", session_id="other", prompt=question) == {}, "told by a recall"
    assert "walrus" in text_of(handle("claude-code", "session-start", session_id="one", source="startup"))
    assert handle("claude-code", "prompt", session_id="one", prompt=question) == {}, "told by the briefing"


def test_an_agent_that_works_in_the_memory_reads_its_own_instructions_itself(root: Path, handle: Any) -> None:
    (root / "AGENTS.md").write_text("# Agents\n\n- Use the blue crane for lifting.\n", "utf-8")
    inside = text_of(handle("codex", "session-start", session_id="one", cwd=str(root)))
    elsewhere = text_of(handle("codex", "session-start", session_id="two", cwd=str(root.parent)))
    assert "blue crane" not in inside
    assert "blue crane" in elsewhere


def test_what_machines_read_is_not_in_a_briefing(root: Path, handle: Any) -> None:
    text = (
        "---\nsession: s-9\n---\n\n# Move 9\n\n<!-- mnemark:begin episode | 8baccc 047b0c -->\n"
        "- Outcome: 第 9 次搬迁完成。\n<!-- mnemark:end episode -->\n"
    )
    (root / "memory/episodes/2026-04-01-move.md").write_text(text, "utf-8")
    done = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}, "tool_response": {"stdout": "ok"}}
    handle("claude-code", "tool", session_id="zero", tool_use_id="t1", **done)
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
    block = text_of(handle("claude-code", "session-start", session_id="one", source="startup"))
    assert "第 9 次" in block
    assert "make deploy" in block
    assert not any(word in block for word in ("s-9", "mnemark:begin", "mnemark:end", "observed:"))


@pytest.mark.parametrize(
    ("name", "native"),
    [("claude-code", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("gemini-cli", "BeforeAgent")],
)
def test_a_prompt_is_answered_with_what_is_known(handle: Any, name: str, native: str) -> None:
    output = handle(name, "prompt", session_id="one", prompt=QUESTION)
    assert output["hookSpecificOutput"]["hookEventName"] == native
    assert check_fenced(text_of(output))
    assert "pelican" in text_of(output)


def test_cursor_reads_another_shape(handle: Any) -> None:
    output = handle("cursor", "beforeSubmitPrompt", conversation_id="one", prompt=QUESTION)
    assert output["continue"] is True
    assert "pelican" in output["additional_context"]
    assert handle("cursor", "sessionStart", conversation_id="one")["additional_context"]
    assert handle("cursor", "beforeSubmitPrompt", conversation_id="one", prompt="ok") == {"continue": True}


@pytest.mark.parametrize(
    "prompt",
    [
        "continue",
        "好的",
        "run the tests",
        "",
        "/clear",
        "Write a sonnet about winter mornings in Prague",
        5,
        None,
    ],
)
def test_silence_beats_noise(handle: Any, prompt: object) -> None:
    assert handle("claude-code", "prompt", session_id="one", prompt=prompt) == {}


def test_a_session_is_not_told_what_it_said_itself(root: Path, handle: Any) -> None:
    path = write(
        root.parent / "t.jsonl", claude_line(1, "user", "The mooring fee of the walrus is 77 crowns.")
    )
    handle("claude-code", "response", **event(path))
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
    words = "What is the mooring fee of the walrus?"
    assert handle("claude-code", "prompt", **event(path, prompt=words)) == {}
    assert "77" in text_of(handle("claude-code", "prompt", session_id="another", prompt=words))
    handle("claude-code", "compact", **event(path, trigger="auto"))
    assert "77" in text_of(handle("claude-code", "prompt", **event(path, prompt=words))), (
        "it is out of its sight"
    )


def test_compaction_is_preceded_by_a_flush(root: Path, handle: Any) -> None:
    path = write(root.parent / "t.jsonl", claude_line(1, "user", "One."), claude_line(2, "assistant", "Two."))
    assert handle("claude-code", "PreCompact", **event(path, trigger="manual")) == {}
    assert [turn.content for turn in SessionLog(root, "claude-code:one").last(9)] == ["One.", "Two."]
    assert text_of(handle("claude-code", "SessionStart", **event(path, source="compact")))


def test_tools_are_observed_once_and_memory_s_own_never(root: Path, handle: Any) -> None:
    done = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}, "tool_response": {"stdout": "ok"}}
    for _ in range(2):
        assert handle("claude-code", "tool", session_id="one", tool_use_id="t1", **done) == {}
    own = {"tool_name": "mcp__mnemark__memory_write", "tool_input": {"text": "x"}, "tool_use_id": "t2"}
    handle("claude-code", "tool", session_id="one", **own)
    read = {"tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": "t3"}
    handle("claude-code", "tool", session_id="one", **read)
    failed = {
        "tool_name": "Bash",
        "tool_input": {"command": "make test"},
        "error": "exit 2",
        "tool_use_id": "t4",
    }
    handle("claude-code", "PostToolUseFailure", session_id="one", **failed)
    text = "".join(path.read_text("utf-8") for path in (root / "journal").glob("*.jsonl"))
    lines = [json.loads(line) for line in text.splitlines()]
    kept = [line["payload"] for line in lines if line["kind"] == "observe"]
    assert [(one["arguments"]["command"], one.get("failed", False)) for one in kept] == [
        ("make deploy", False), ("make test", True),
    ]  # fmt: skip


def test_the_end_of_a_session_is_left_to_the_background_where_nobody_waits(
    root: Path, background: list[str]
) -> None:
    path = write(root.parent / "t.jsonl", claude_line(1, "user", "Good bye."))
    assert alone(root, "claude-code", "session-end", **event(path, reason="exit")) == {}
    assert background == ["claude-code:one"]
    assert PlainRecord(root, "claude-code:one").log.last(1)[0].content == "Good bye."


def test_the_background_ends_the_session_and_indexes_what_was_said(root: Path) -> None:
    path = write(
        root.parent / "t.jsonl",
        *(
            claude_line(n, "user" if n % 2 else "assistant", f"The walrus pays {n} crowns.")
            for n in range(1, 7)
        ),
    )
    alone(root, "claude-code", "response", **event(path))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mnemark_agents.hook.background", str(root), "claude-code:one"],
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0
    assert not (root / ".mnemark/hook.log").exists(), (root / ".mnemark/hook.log").read_text("utf-8")
    assert list((root / ".mnemark/compiled").glob("facts-*")), "the next briefing reads no facts"
    output = alone(root, "codex", "prompt", session_id="other", prompt="How many crowns does the walrus pay?")
    assert "crowns" in text_of(output)


@pytest.mark.parametrize("place", ["own", "folder"])
def test_the_background_lets_the_users_program_read_but_never_a_folders(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    noted = {"title": "The walrus", "observations": [{"text": "The walrus pays 3 crowns.", "turns": [3]}]}
    script, ran = tmp_path / "model.py", tmp_path / "ran"
    script.write_text(
        f"import pathlib, sys\nsys.stdin.read()\npathlib.Path({str(ran)!r}).touch()\n"
        f"print({json.dumps(noted)!r})\n"
    )
    table = (
        f"[llm]\ncommand = {json.dumps([sys.executable, str(script)])}\ncalls_per_day = 5\n"
        "tokens_per_day = 90000\n"
    )
    own = tmp_path / "config.toml"
    monkeypatch.setenv("MNEMARK_CONFIG", str(own))
    own.write_text(f"trusted = [{json.dumps(str(root))}]\n")
    with (own if place == "own" else root / "mnemark.toml").open("a") as settings:
        settings.write(table)
    said = [claude_line(n, "user", f"The walrus pays {n} crowns.") for n in range(1, 5)]
    alone(root, "claude-code", "response", **event(write(root.parent / "t.jsonl", *said)))
    command = [sys.executable, "-P", "-m", "mnemark_agents.hook.background", str(root), "claude-code:one"]
    assert subprocess.run(command, check=False, timeout=120).returncode == 0
    pages = "".join(one.read_text("utf-8") for one in (root / "memory/episodes").glob("*.md"))
    assert pages
    assert ran.exists() == (place == "own")
    assert ("Worth knowing" in pages) == (place == "own")
    assert not (root / ".mnemark/hook.log").exists(), (root / ".mnemark/hook.log").read_text("utf-8")


def test_what_was_forgotten_is_not_told_before_the_next_sync(root: Path) -> None:
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.forget("MEMORY.md#L3")
    assert alone(root, "claude-code", "prompt", session_id="one", prompt=QUESTION) == {}


# The command itself.


def test_the_command_answers_in_strict_json(root: Path, quiet: dict[str, str]) -> None:
    done = call({"session_id": "s", "prompt": QUESTION}, "prompt", "--agent", "claude", "-w", str(root))
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "pelican" in text_of(json.loads(done.stdout))


def test_a_program_that_mnemark_asks_is_not_remembered(
    root: Path, quiet: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(root.rglob("*"))
    monkeypatch.setenv("MNEMARK_HOOKS", "off")
    for event_name in ("session-start", "prompt", "session-end"):
        said = {"session_id": "s", "prompt": QUESTION}
        done = call(said, event_name, "--agent", "claude", "-w", str(root))
        assert (done.returncode, json.loads(done.stdout)) == (0, {})
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", ["prompt"]),
        (b"no json", ["prompt"]),
        (b"[1, 2]", ["prompt"]),
        (b'{"session_id": "\xff\xfe"}', ["prompt"]),
        (b"[" * 100_000, ["session-start"]),
        (b"{}", ["no-such-event"]),
        (b"{}", ["prompt", "--agent", "emacs"]),
        (b"{}", ["prompt", "--what"]),
        (b'{"session_id": {"a": 1}, "prompt": [], "transcript_path": 7}', ["response"]),
        (b'{"session_id": "s", "tool_name": "Bash", "tool_input": 1e999}', ["tool"]),
    ],
)
def test_nothing_that_comes_in_stops_the_agent(
    root: Path, quiet: dict[str, str], data: bytes, words: list[str]
) -> None:
    done = call(data, *words, "--workspace", str(root), "--alone")
    assert (done.returncode, done.stderr) == (0, b"")
    assert isinstance(json.loads(done.stdout), dict)


def test_without_a_workspace_the_log_is_the_users(tmp_path: Path, quiet: dict[str, str]) -> None:
    done = call({"cwd": str(tmp_path)}, "session-start", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"{}\n")
    told = (platform.state_folder() / "hook.log").read_text("utf-8")
    assert "session-start" in told
    gone = call({}, "session-start", "-w", str(tmp_path / "gone"))
    assert (gone.returncode, gone.stdout) == (0, b"{}\n")
    assert not (tmp_path / "gone").exists(), "a hook makes no workspace"


def test_a_damaged_index_is_logged_and_answered_around(
    root: Path, quiet: dict[str, str], background: list[str]
) -> None:
    (root / ".mnemark/index.db").write_bytes(b"no database" * 1000)
    said = {"session_id": "s", "prompt": QUESTION, "cwd": str(root)}
    output = cold.handle(root, parse_call("prompt", "claude-code", said))
    assert "pelican" in json.dumps(output)
    assert "index.db" in (root / ".mnemark/hook.log").read_text("utf-8")
    assert background == [""], "the index is made anew"
    with Memory.open(root, config={"embedder": "none"}) as memory:
        memory.sync()
        assert memory.search("pelican").complete


def test_a_module_in_the_project_is_not_run(root: Path, tmp_path: Path, quiet: dict[str, str]) -> None:
    """Agents run hooks in the user's project: what lies there must not be imported in place of ours."""
    from mnemark_agents.connect.caller import command

    (tmp_path / "json.py").write_text("raise SystemExit('taken over')", "utf-8")
    (tmp_path / "mnemark.py").write_text("raise SystemExit('taken over')", "utf-8")
    done = subprocess.run(
        [*command("hook"), "session-start", "-w", str(root), "--alone"],
        input=b"{}", capture_output=True, check=False, timeout=60, cwd=tmp_path,
    )  # fmt: skip
    assert b"taken over" not in done.stderr
    assert json.loads(done.stdout)["hookSpecificOutput"]


def test_the_log_is_redacted_and_does_not_grow_without_end(root: Path) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4"
    log(root, f"failed with {secret}")
    path = root / ".mnemark/hook.log"
    assert secret not in path.read_text("utf-8")
    path.write_bytes(b"x" * (MAX_BYTES + 1))
    log(root, "one more")
    assert path.stat().st_size < 200
    assert path.with_name("hook.log.1").stat().st_size > MAX_BYTES
    if os.name != "nt":
        assert path.stat().st_mode & 0o077 == 0


def test_agents_are_recognised_by_their_events() -> None:
    said = {
        "claude-code": {"hook_event_name": "UserPromptSubmit", "prompt_id": "p"},
        "codex": {"hook_event_name": "UserPromptSubmit", "turn_id": "t"},
        "gemini-cli": {"hook_event_name": "BeforeAgent", "timestamp": "2026-03-02T10:00:00Z"},
        "cursor": {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "c"},
    }
    for name, data in said.items():
        found = parse_call("", "", data)
        assert (found.agent.name, found.event) == (name, "prompt")
    for agent in AGENTS:
        for native, event_ in agent.events.items():
            assert parse_call(native, agent.name, {}).event == event_
            assert parse_call(event_, agent.name, {"hook_event_name": native}).native == native
    with pytest.raises(UsageError, match="session-start"):
        parse_call("SubagentStop", "claude-code", {})


@pytest.mark.parametrize(
    ("said", "asking"),
    [
        ("who is Ann?", True), ("发布日是哪天", True), ("yes", False), ("提交代码", False), ("what?", False),
        ("move the archive of old invoices to the new disk", True), ("/compact", False), ("", False),
    ],
)  # fmt: skip
def test_only_what_asks_for_something_is_asked(*, said: str, asking: bool) -> None:
    assert is_question(said) is asking


# The daemon, as its clients see it.


def _announce(port: int) -> None:
    folder = platform.state_folder()
    platform.private_folder(folder)
    said = {"url": f"http://127.0.0.1:{port}", "token": "t", "pid": os.getpid(), "version": __version__}
    platform.write_private(folder / daemon.STATE, json.dumps(said).encode())


@pytest.fixture
def answering(quiet: dict[str, str]) -> Iterator[list[bytes]]:
    """A daemon that says one thing, and what it was asked."""
    asked_: list[bytes] = []
    body = json.dumps({"output": {"hookSpecificOutput": {"hookEventName": "x", "additionalContext": "d"}}})
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                asked_.append(connection.recv(65_536))
                connection.sendall(f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with platform.locked(_locked(), os.O_RDWR | os.O_CREAT, timeout=1):
        _announce(server.getsockname()[1])
        yield asked_
    server.close()


def _locked() -> Path:
    platform.private_folder(platform.state_folder())
    return platform.state_folder() / daemon.LOCK


def test_the_daemon_is_asked_first(root: Path, answering: list[bytes]) -> None:
    done = call({"session_id": "s", "prompt": "x"}, "UserPromptSubmit", "--agent", "codex", "-w", str(root))
    assert text_of(json.loads(done.stdout)) == "d"
    head, _, body = answering[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hook/prompt HTTP/1.1")
    sent = json.loads(body)
    assert (sent["agent"], sent["workspace"]) == ("codex", str(root))
    assert sent["event"].pop("mnemark_call")
    assert sent["event"] == {"session_id": "s", "prompt": "x", "hook_event_name": "UserPromptSubmit"}


@pytest.mark.timed
def test_a_daemon_that_is_gone_costs_nothing(root: Path, quiet: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with platform.locked(_locked(), os.O_RDWR | os.O_CREAT, timeout=1):
        _announce(port)
        started = time.monotonic()
        done = call({"session_id": "s", "prompt": QUESTION}, "prompt", "-w", str(root))
    assert "pelican" in text_of(json.loads(done.stdout))
    assert time.monotonic() - started < 5


def _hang_up(server: socket.socket) -> None:
    server.accept()[0].close()


def test_what_a_dying_daemon_was_told_is_kept(root: Path, quiet: dict[str, str]) -> None:
    """Gemini CLI tells a turn in one event and never again."""
    data = {"session_id": "g", "prompt": "Is it open?", "prompt_response": "It is."}
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        platform.locked(_locked(), os.O_RDWR | os.O_CREAT, timeout=1),
    ):
        _announce(server.getsockname()[1])
        threading.Thread(target=_hang_up, args=(server,), daemon=True).start()
        assert command._answer(root, command.CommandLine("response", "gemini-cli"), data) == {}
    assert [turn.content for turn in SessionLog(root, "gemini-cli:g").last(20)] == ["Is it open?", "It is."]


@pytest.mark.timed
def test_a_hung_daemon_costs_a_turn_a_moment_and_nothing_is_kept_twice(
    root: Path, quiet: dict[str, str], background: list[str]
) -> None:
    """It takes connections and never answers; when it wakes up, it does what it was told after all."""
    events: list[tuple[str, dict[str, Any]]] = [
        ("session-start", {"source": "startup"}), ("prompt", {"prompt": QUESTION}),
        *(("tool", {"tool_name": "run_shell_command", "tool_input": {"command": f"make deploy {number}"}})
          for number in range(4)),
        ("response", {"prompt": QUESTION, "prompt_response": "It is pelican."}), ("session-end", {}),
    ]  # fmt: skip
    bodies: list[tuple[str, Any]] = []
    started = time.monotonic()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        platform.locked(_locked(), os.O_RDWR | os.O_CREAT, timeout=1),
    ):
        _announce(server.getsockname()[1])
        told = [
            dict(command._answer(root, command.CommandLine(name, "gemini-cli"), {"session_id": "g", **data}))
            for name, data in events
        ]
        took = time.monotonic() - started
        server.settimeout(0.2)
        with contextlib.suppress(TimeoutError):
            while True:
                connection, _ = server.accept()
                head, _, body = connection.recv(65_536).partition(b"\r\n\r\n")
                bodies.append((head.split()[1].decode().rpartition("/")[2], json.loads(body)))
                connection.close()
    assert "pelican" in text_of(told[0])
    assert took < 3, "it was waited for once"
    assert bodies, "it was asked"
    opened = Open(root)
    for name, body in bodies:
        warm.handle(opened, name, body)
    opened.memory.close()
    said = [(turn.role, turn.content) for turn in SessionLog(root, "gemini-cli:g").last(20)]
    assert said == [("user", QUESTION), ("assistant", "It is pelican.")]


def test_a_slow_daemon_that_wakes_up_keeps_no_turn_twice(
    root: Path, quiet: dict[str, str], background: list[str]
) -> None:
    for name, data in (
        ("prompt", {"prompt": "Is it open?"}),
        ("response", {"prompt": "Is it open?", "prompt_response": "It is."}),
    ):
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            platform.locked(_locked(), os.O_RDWR | os.O_CREAT, timeout=1),
        ):
            _announce(server.getsockname()[1])
            command._answer(root, command.CommandLine(name, "gemini-cli"), {"session_id": "g", **data})
            with server.accept()[0] as connection:
                body = json.loads(connection.recv(65_536).partition(b"\r\n\r\n")[2])
        opened = Open(root)
        warm.handle(opened, name, body)
        opened.memory.close()
    assert [turn.content for turn in SessionLog(root, "gemini-cli:g").last(20)] == ["Is it open?", "It is."]


_HEAVY = """
import sys, time
from mnemark_agents.hook.command import run
run(sys.argv[1:])
heavy = {"anyio", "asyncio", "httpx", "mcp", "numkong", "rich", "rjieba", "starlette", "typer", "uvicorn"}
print(time.process_time(), *sorted(heavy & set(sys.modules)))
"""


@pytest.mark.timed
def test_a_prompt_alone_loads_nothing_heavy_and_takes_little_time(root: Path, quiet: dict[str, str]) -> None:
    """The bar is 300 ms for all of it; `tools/latency.py` measures it as agents call it."""
    command = [sys.executable, "-c", _HEAVY, "prompt", "-a", "claude-code", "-w", str(root), "--alone"]
    quiet |= {"OPENBLAS_NUM_THREADS": "1"}  # as the command sets it
    times = []
    for number in range(3):
        given = json.dumps({"session_id": f"s{number}", "prompt": QUESTION})
        ran = subprocess.run(command, input=given, capture_output=True, text=True, check=True, env=quiet)
        answer, counted = ran.stdout.splitlines()
        assert "pelican" in answer
        seconds, *heavy = counted.split()
        assert heavy == []
        times.append(float(seconds))
    assert min(times) <= 0.3


def test_a_duration_without_end_is_no_duration() -> None:
    for odd in (float("inf"), float("nan"), -1, 1e300, "soon"):
        done = execution({"tool_name": "Bash", "tool_input": {"command": "make"}, "duration_ms": odd})
        assert done is not None
        assert done.duration_ms is None


@pytest.mark.parametrize(
    "said",
    [
        "hi, how are you", "Good morning! How was your day?", "谢谢，再见！", "哈哈哈，太好了吧？",
        "YoYo", "OK. Cool!", "hihi", "Whats up", "i'm fine, and you", "see you later", "Hey 你好",
        "您好！", "大家早上好", "今天天气真不错", "ok的", "ＯＫ，谢啦",
    ],
)  # fmt: skip
def test_small_talk_asks_memory_for_nothing(said: str) -> None:
    assert not is_question(said)


@pytest.mark.parametrize(
    "said", ["hi, where is my passport?", "你好，我的狗叫什么名字？", "how are you storing the keys?"]
)
def test_a_question_after_a_greeting_is_one(said: str) -> None:
    assert is_question(said)


@pytest.mark.timed
def test_long_laughter_is_read_at_once() -> None:
    started = time.process_time()
    is_question("哈" * 59 + "x")
    is_question("hi thanks " * 5 + "good x")
    assert time.process_time() - started < 0.5


@pytest.mark.timed
@pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="the system starts processes in another way")
def test_what_runs_in_the_background_holds_nothing_of_the_agent(tmp_path: Path) -> None:
    began, end = tmp_path / "began", tmp_path / "end"
    code = (
        "import os, pathlib, sys, time; print('x', flush=True); print('x', file=sys.stderr, flush=True)\n"
        "pathlib.Path(sys.argv[1]).write_text(f'{os.getsid(0) == os.getpid()} {sys.stdin.read()!r}')\n"
        "while not os.path.exists(sys.argv[2]): time.sleep(0.01)"
    )
    reads, writes = os.pipe()
    inherited = os.dup2(writes, 60)  # inheritable, as an agent's own that it did not close for its hooks
    try:
        assert start._spawned(["-c", code, str(began), str(end)])
    finally:
        os.close(writes)
        os.close(inherited)
    deadline = time.monotonic() + 30
    while not (began.exists() and began.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.set_blocking(reads, False)
    try:
        assert os.read(reads, 1) == b"", "nobody can write to it any more"
    finally:
        os.close(reads)
        end.touch()
    assert began.read_text() == "True ''"


def test_where_the_system_cannot_start_it_quickly_the_background_runs_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(daemon, "spawn", started.append)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
    cold._run_in_background(tmp_path, "claude-code:one")
    assert started == [["-P", "-m", "mnemark_agents.hook.background", str(tmp_path), "claude-code:one"]]


def test_the_background_runs_where_a_briefing_fails(root: Path, background: list[str]) -> None:
    (root / "mnemark.toml").write_text("owner = [", "utf-8")
    with pytest.raises(MnemarkError):
        cold.handle(root, parse_call("session-start", "claude-code", event(None)))
    assert background == [""]
