"""Define the agents that call `mnemark hook`: their names of events, and the format of answers.

Sources, as of autumn 2026: the hooks references of Claude Code, Codex (codex-rs/hooks/schema), Gemini CLI
(docs/hooks/reference.md), Cursor (cursor.com/docs/agent/hooks), Qwen Code (docs/users/features/hooks.md) and
Copilot CLI (docs.github.com/copilot/reference/hooks-configuration). OpenCode, OpenClaw and Pi have plug-ins
instead of hooks: ours (`connect/plugins/`) call the events by our names. Imports stay light.
"""

import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

Event = Literal["session-start", "prompt", "tool", "response", "compact", "session-end"]
EVENTS: Final[tuple[Event, ...]] = ("session-start", "prompt", "tool", "response", "compact", "session-end")

_TOLD: Final = frozenset({"session-start", "prompt"})
"""The events whose answers hold text for the model."""
CALL: Final = "mnemark_call"
"""Field that `mnemark hook` adds to an event: its number, by which the daemon and the hook alone know it."""

_BEHIND: Final = 0.5
"""Longest wait, in seconds, for a transcript written behind the hooks; the next one reads the rest."""
_PAUSE: Final = 0.02
_TAIL: Final = 65_536
"""Bytes at a transcript's end in which the event is looked for."""

_CLAUDE: Final[Mapping[str, Event]] = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool",
    "PostToolUseFailure": "tool",
    "PreCompact": "compact",
    "Stop": "response",
    "SessionEnd": "session-end",
}
_CODEX: Final[Mapping[str, Event]] = {
    name: event for name, event in _CLAUDE.items() if name != "PostToolUseFailure"
}
_GEMINI: Final[Mapping[str, Event]] = {
    "SessionStart": "session-start",
    "BeforeAgent": "prompt",
    "AfterTool": "tool",
    "PreCompress": "compact",
    "AfterAgent": "response",
    "SessionEnd": "session-end",
}
_CURSOR: Final[Mapping[str, Event]] = {
    "sessionStart": "session-start",
    "beforeSubmitPrompt": "prompt",
    "postToolUse": "tool",
    "postToolUseFailure": "tool",
    "preCompact": "compact",
    "afterAgentResponse": "response",
    "sessionEnd": "session-end",
}


_PLUGIN: Final[Mapping[str, Event]] = {event: event for event in EVENTS}

Answer = Callable[[Event, str, str], dict[str, Any]]
"""Returns the JSON that an agent reads on stdout, for an event, its own name of it and text for the model."""


def _nested(event: Event, native: str, text: str) -> dict[str, Any]:
    if not text or event not in _TOLD:
        return {}
    return {"hookSpecificOutput": {"hookEventName": native, "additionalContext": text}}


def _flat(event: Event, _: str, text: str) -> dict[str, Any]:
    return {"additionalContext": text} if text and event in _TOLD else {}


def _cursor(event: Event, _: str, text: str) -> dict[str, Any]:
    # `additional_context` of beforeSubmitPrompt is read by the client, though its page does not say so.
    output: dict[str, Any] = {"continue": True} if event == "prompt" else {}
    return {**output, "additional_context": text} if text and event in _TOLD else output


Sign = Callable[[Mapping[str, Any]], bool]
"""Tells whether an agent sent an event, by its fields."""


def _keeps_in(folder: str) -> Sign:
    """Return the sign of an agent that keeps its transcripts in a folder."""
    return lambda data: f"/{folder}/" in str(data.get("transcript_path")).replace("\\", "/")


def _of_copilot(session: str) -> str:
    # Of its events only `Stop` names the file, which then often lacks the answer.
    home = Path(os.environ.get("COPILOT_HOME") or "~/.copilot").expanduser()
    return str(home / "session-state" / session / "events.jsonl")


def _is_gemini(data: Mapping[str, Any]) -> bool:
    native = data.get("hook_event_name")
    return native in _GEMINI and (native not in _CLAUDE or "timestamp" in data)


class Agent(NamedTuple):
    """An agent with hooks."""

    name: str
    """Its name in `--agent` and `mnemark connect`."""
    title: str
    events: Mapping[str, Event]
    """mnemark's names of events, by the agent's."""
    transcript: bool
    """Whether turns are read from its transcript, else from the events."""
    aliases: tuple[str, ...] = ()
    reads: str = ""
    """The file with instructions that it reads from the folder it works in."""
    ends: bool = True
    """Whether it tells of each session's end; else the index is brought up to date after each answer."""
    transcript_of: Callable[[str], str] | None = None
    """Returns the path of a session's transcript, where not each event names it and it is written late."""
    answer: Answer = _nested
    sent: Sign = lambda _: False
    """For hooks that do not say whose they are, as ours do: the first whose sign fits, else Claude Code."""


AGENTS: Final[tuple[Agent, ...]] = (
    Agent("claude-code", "Claude Code", _CLAUDE, transcript=True, aliases=("claude",), reads="CLAUDE.md"),
    Agent(
        "cursor", "Cursor", _CURSOR, transcript=False, reads="AGENTS.md", answer=_cursor,
        sent=lambda data: "conversation_id" in data or data.get("hook_event_name") in _CURSOR,
    ),
    Agent(
        "qwen-code", "Qwen Code", _CLAUDE, transcript=False, aliases=("qwen",), reads="QWEN.md", ends=False,
        sent=_keeps_in(".qwen"),
    ),
    Agent(
        "copilot", "Copilot CLI", _CLAUDE, transcript=True, aliases=("copilot-cli",), reads="AGENTS.md",
        transcript_of=_of_copilot, answer=_flat, sent=_keeps_in(".copilot"),
    ),
    Agent("gemini-cli", "Gemini CLI", _GEMINI, transcript=False, aliases=("gemini",), sent=_is_gemini),
    Agent(
        "codex", "Codex", _CODEX, transcript=True, reads="AGENTS.md",
        sent=lambda data: "turn_id" in data or _keeps_in(".codex")(data),
    ),
    Agent("opencode", "OpenCode", _PLUGIN, transcript=False, reads="AGENTS.md", ends=False, answer=_flat),
    Agent("openclaw", "OpenClaw", _PLUGIN, transcript=False, reads="AGENTS.md", ends=False, answer=_flat),
    Agent("pi", "Pi", _PLUGIN, transcript=False, reads="AGENTS.md", answer=_flat),
)  # fmt: skip


def agent_named(name: str) -> Agent | None:
    """Return the agent of that name or alias."""
    wanted = name.casefold()
    return next((one for one in AGENTS if wanted == one.name or wanted in one.aliases), None)


def unknown(name: str) -> str:
    """Return what to say of a name that is no agent's."""
    return f"there are no hooks for {name!r}; choose one of {', '.join(one.name for one in AGENTS)}"


def recognised(data: Mapping[str, Any]) -> Agent:
    """Return the agent that sent an event, recognised by its fields; Claude Code by default."""
    return next((one for one in AGENTS if one.sent(data)), AGENTS[0])


def with_transcript(agent: Agent, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an event with the path of the session's transcript, where the agent's place of it is known."""
    session = data.get("session_id")
    if agent.transcript_of is None or "transcript_path" in data or not isinstance(session, str):
        return data
    if not session.replace("-", "").isalnum():  # it becomes a part of a path
        return data
    return {**data, "transcript_path": agent.transcript_of(session)}


def event_of(agent: Agent, given: str, data: Mapping[str, Any]) -> tuple[Event, str] | None:
    """Return mnemark's name of an event and the agent's; None for an unknown one.

    Args:
        agent: the sender.
        given: either name, as on the command line; may be empty.
        data: the event from stdin; its `hook_event_name` is the agent's name.
    """
    native = str(data.get("hook_event_name") or "")
    if given in EVENTS:
        event: Event = given
    elif given in agent.events or native in agent.events:
        event = agent.events[given] if given in agent.events else agent.events[native]
    else:
        return None
    if agent.events.get(native) != event:
        native = given if given in agent.events else next(n for n, e in agent.events.items() if e == event)
    return event, native


def answer(agent: Agent, native: str, text: str) -> dict[str, Any]:
    """Return the JSON that the agent reads on stdout, with `text` for the model."""
    event = agent.events.get(native)
    return agent.answer(event, native, text) if event is not None else {}


def session_of(agent: Agent, data: Mapping[str, Any]) -> str:
    """Return the id of the session in a workspace, such as `claude-code:0b50…`, or an empty string."""
    own = data.get("session_id") or data.get("conversation_id") or ""
    return f"{agent.name}:{own}" if isinstance(own, str) and own else ""


def wait_for(data: Mapping[str, Any]) -> None:
    """Wait until the transcript holds the start of this hook: what it tells of stands before that."""
    path, given = data.get("transcript_path"), data.get("timestamp")
    try:
        mark = b":%d" % round(datetime.fromisoformat(str(given)).timestamp() * 1000)
    except ValueError:
        return
    deadline = time.monotonic() + _BEHIND
    while mark not in _tail(Path(str(path))) and time.monotonic() < deadline:
        time.sleep(_PAUSE)


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            return file.read()
    except OSError:  # not there yet
        return b""
