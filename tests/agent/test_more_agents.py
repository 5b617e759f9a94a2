"""Agents with plug-ins, commands and transcripts of their own: what is written, called and read."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.settings_of import none_named
from mnemark.errors import UsageError
from mnemark.files import transcripts
from mnemark_agents.connect import connect, connections
from mnemark_agents.connect.commands import COMMANDS
from mnemark_agents.connect.hosts import HOSTS, Host, host_named, is_installed
from mnemark_agents.hook import agents

WITH_COMMANDS = {
    "claude-code": ".claude/commands/mnemark-remember.md",
    "codex": ".codex/skills/mnemark-remember/SKILL.md",
    "gemini-cli": ".gemini/commands/mnemark/remember.toml",
    "qwen-code": ".qwen/commands/mnemark/remember.md",
    "opencode": ".config/opencode/commands/mnemark-remember.md",
    "copilot": ".copilot/skills/mnemark-remember/SKILL.md",
    "openclaw": ".openclaw/skills/mnemark-remember/SKILL.md",
    "pi": ".pi/agent/prompts/mnemark-remember.md",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    none_named(monkeypatch)
    return tmp_path


def put_in(name: str, root: Path, *, remove: bool = False) -> list[connect.SettingsChange]:
    changes = connect.plan(connect.host_of(name), root, remove=remove)
    connect.apply(changes)
    return changes


@pytest.mark.parametrize(("name", "file"), WITH_COMMANDS.items())
def test_each_command_has_all_that_its_model_needs(home: Path, name: str, file: str) -> None:
    put_in(name, home / "my memory")
    texts = [(home / file.replace("remember", one.name)).read_text("utf-8") for one in COMMANDS]
    for tool, text in zip(
        ("memory_remember", "memory_get", "memory_forget", "review --json"), texts, strict=True
    ):
        assert tool in text
        assert "{given}" not in text
        assert "{program}" not in text
    assert f"--workspace '{home}/my memory'" in texts[3]


@pytest.mark.parametrize(("name", "file"), WITH_COMMANDS.items())
def test_a_persons_own_command_is_left_alone(home: Path, name: str, file: str) -> None:
    own = home / file
    own.parent.mkdir(parents=True)
    own.write_text("mine\n", "utf-8")
    put_in(name, home / "memory")
    assert own.read_text("utf-8") == "mine\n"
    assert connect.own_commands(connect.host_of(name), home / "memory") == [own]
    assert {one.agent: one.state for one in connections.connections()}[name] == "connected"
    put_in(name, home / "memory", remove=True)
    assert [path for path in home.rglob("*") if path.is_file()] == [own]


def test_a_persons_own_plug_in_is_not_overwritten(home: Path) -> None:
    own = home / ".config/opencode/plugins/mnemark.js"
    own.parent.mkdir(parents=True)
    own.write_text("export const Mine = 1\n", "utf-8")
    with pytest.raises(UsageError, match="mnemark has not written it"):
        put_in("opencode", home / "memory")
    assert [path for path in home.rglob("*") if path.is_file()] == [own]
    assert not put_in("opencode", home / "memory", remove=True)


def test_an_agent_without_settings_of_projects_says_so(home: Path) -> None:
    with pytest.raises(UsageError, match="without --project"):
        connect.plan(connect.host_of("windsurf"), home / "memory", project=home)
    states = {one.agent: one.state for one in connections.connections(home)}
    assert states["windsurf"] == "not connected"


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_empty_folders_are_no_installed_agent(
    home: Path, monkeypatch: pytest.MonkeyPatch, host: Host
) -> None:
    monkeypatch.setenv("PATH", str(home))
    place = host.home()
    (place / "empty" if not place.suffix else place.parent).mkdir(parents=True)
    assert not is_installed(host)
    (place / "x" if not place.suffix else place).touch()
    assert is_installed(host)


EVENTS = {
    "claude-code": {"hook_event_name": "Stop", "transcript_path": "/home/me/.claude/projects/x/one.jsonl"},
    "cursor": {"conversation_id": "one", "hook_event_name": "stop"},
    "qwen-code": {
        "hook_event_name": "SessionStart", "timestamp": "2026-11-22T10:00:00Z",
        "transcript_path": "/home/me/.qwen/projects/x/chats/one.jsonl",
    },
    "copilot": {
        "hook_event_name": "Stop", "timestamp": "2026-11-22T10:00:00Z",
        "transcript_path": "/home/me/.copilot/session-state/one/events.jsonl",
    },
    "gemini-cli": {"hook_event_name": "SessionStart", "timestamp": "2026-11-22T10:00:00Z"},
    "codex": {"hook_event_name": "Stop", "turn_id": "1"},
}  # fmt: skip


@pytest.mark.parametrize(("name", "event"), EVENTS.items())
def test_hooks_that_do_not_say_whose_they_are_are_recognised(name: str, event: dict[str, str]) -> None:
    assert agents.recognised({"session_id": "one", **event}).name == name


def test_each_agent_is_answered_in_its_form() -> None:
    told = {}
    for agent in agents.AGENTS:
        native = next(name for name, event in agent.events.items() if event == "prompt")
        told[agent.name] = json.dumps(agents.answer(agent, native, "known"))
        assert "known" not in json.dumps(agents.answer(agent, "Stop", "known"))
    nested = '{"hookSpecificOutput": {"hookEventName": "%s", "additionalContext": "known"}}'
    assert told["qwen-code"] == told["claude-code"] == nested % "UserPromptSubmit"
    assert told["gemini-cli"] == nested % "BeforeAgent"
    assert told["copilot"] == told["opencode"] == told["openclaw"] == '{"additionalContext": "known"}'
    assert told["cursor"] == '{"continue": true, "additional_context": "known"}'


def copilot_event(number: int, kind: str, **data: object) -> str:
    line = {"type": kind, "data": data, "id": f"id-{number}", "timestamp": f"2026-11-22T10:00:0{number}Z"}
    return json.dumps(line) + "\n"


def test_copilots_events_are_read_without_what_it_and_its_subagents_said(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(
        copilot_event(1, "session.start", sessionId="one")
        + copilot_event(2, "user.message", content="The gate is blue.", transformedContent="<x>The gate</x>")
        + copilot_event(3, "system.message", role="system", content="You are Copilot")
        + copilot_event(4, "assistant.message", content="", toolRequests=[{"name": "bash"}])
        + copilot_event(5, "assistant.message", content="inner", parentToolCallId="call-1")
        + copilot_event(6, "user.message", content="skill text", source="skill-pdf")
        + copilot_event(7, "assistant.message", content="Noted."),
        "utf-8",
    )
    found = [one.turn for one in transcripts.read(path, "copilot")]
    assert [(turn.role, turn.content) for turn in found] == [
        ("user", "The gate is blue."), ("assistant", "Noted."),
    ]  # fmt: skip
    assert [turn.id for turn in found] == [one.turn.id for one in transcripts.read(path, "copilot")]


@pytest.mark.timed
def test_copilots_transcript_is_found_and_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    agent = agents.agent_named("copilot")
    assert agent is not None
    event = {"session_id": "0b50-a", "timestamp": "2026-11-22T10:00:00.123Z"}
    known = agents.with_transcript(agent, event)
    assert known["transcript_path"] == str(tmp_path / "session-state/0b50-a/events.jsonl")
    for other in ({"session_id": "../../x"}, {"session_id": "a", "transcript_path": "/x"}, {}):
        assert agents.with_transcript(agent, other) == other
    began = time.monotonic()
    agents.wait_for(known)
    assert time.monotonic() - began >= 0.5
    path = Path(known["transcript_path"])
    path.parent.mkdir(parents=True)
    path.write_text('{"type":"hook.start","data":{"input":{"timestamp":1795341600123}}}\n', "utf-8")
    began = time.monotonic()
    agents.wait_for(known)
    assert time.monotonic() - began < 0.5


NODE = shutil.which("node")
CALL = """
import {{ Mnemark }} from "{file}"
const text = (said) => [{{ type: "text", text: said }}]
const said = {{ info: {{ id: "m2", role: "assistant", parentID: "m1" }}, parts: text("Noted.") }}
const client = {{ session: {{ messages: async () => ({{ data: [said] }}) }} }}
const hooks = await Mnemark({{ client, directory: "/work" }})
const parts = text("The gate is blue.")
await hooks["chat.message"]({{ sessionID: "s1" }}, {{ message: {{ id: "m1" }}, parts }})
const info = {{ id: "s2", parentID: "s1" }}
await hooks.event({{ event: {{ type: "session.created", properties: {{ info }} }} }})
await hooks["chat.message"]({{ sessionID: "s2" }}, {{ message: {{ id: "m3" }}, parts: text("x") }})
for (const type of ["session.idle", "session.idle", "session.deleted"])
  await hooks.event({{ event: {{ type, properties: {{ sessionID: "s1" }} }} }})
console.log(JSON.stringify(parts.slice(1).map((part) => [part.text, part.synthetic])))
"""


@pytest.mark.skipif(NODE is None or sys.platform == "win32", reason="needs Node and a POSIX shell")
@pytest.mark.parametrize("way", ["answers", "fails", "is gone"])
def test_opencodes_plug_in_tells_each_event_once_and_survives_a_broken_mnemark(
    home: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    program, log = home / "bin/mnemark", home / "log"
    program.parent.mkdir()
    answer = 'printf \'{"additionalContext": "told of %s"}\' "$2"' if way == "answers" else "exit 3"
    program.write_text(f'#!/bin/sh\n{{ echo "$2"; cat; echo; }} >> "{log}"\n{answer}\n', "utf-8")
    program.chmod(0o755)
    if way == "is gone":
        program.unlink()
    monkeypatch.setattr("mnemark_agents.connect.caller.command", lambda *words: [str(program), *words])
    put_in("opencode", home / "memory")
    script = home / "plug-in.mjs"
    script.write_text((home / ".config/opencode/plugins/mnemark.js").read_text("utf-8"), "utf-8")
    run = home / "run.mjs"
    run.write_text(CALL.format(file=script), "utf-8")
    done = subprocess.run([str(NODE), str(run)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    told = [["told of session-start", True], ["told of prompt", True]] if way == "answers" else []
    assert json.loads(done.stdout) == told
    assert done.stderr.count("mnemark could not be started") == (way == "is gone")
    if way != "is gone":
        lines = log.read_text("utf-8").split()
        assert [line for line in lines if line in agents.EVENTS] == [
            "session-start", "prompt", "response", "session-end",
        ]  # fmt: skip
        assert '"text":"Noted."' in log.read_text("utf-8")


def test_the_list_of_agents_is_that_of_the_pages() -> None:
    pages = "".join(
        path.read_text("utf-8") for path in (Path(__file__).parents[2] / "docs/agents").glob("*.md")
    )
    assert [host.name for host in HOSTS if f"mnemark connect {host.name}" not in pages] == []
    assert all(host_named(agent.name) for agent in agents.AGENTS)
