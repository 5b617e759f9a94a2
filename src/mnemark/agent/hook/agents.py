"""Define the agents that call `mnemark hook`: their names of events, and the format of answers.

Sources, as of autumn 2026: the hooks references of Claude Code, Codex (codex-rs/hooks/schema), Gemini CLI
(docs/hooks/reference.md) and Cursor (cursor.com/docs/agent/hooks). Imports stay light.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

Event = Literal["session-start", "prompt", "tool", "response", "compact", "session-end"]
EVENTS: Final[tuple[Event, ...]] = ("session-start", "prompt", "tool", "response", "compact", "session-end")

CALL: Final = "mnemark_call"
"""Field that `mnemark hook` adds to an event: its number, by which the daemon and the hook alone know it."""

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


AGENTS: Final[tuple[Agent, ...]] = (
    Agent("claude-code", "Claude Code", _CLAUDE, transcript=True, aliases=("claude",), reads="CLAUDE.md"),
    Agent("codex", "Codex", _CODEX, transcript=True, reads="AGENTS.md"),
    Agent("gemini-cli", "Gemini CLI", _GEMINI, transcript=False, aliases=("gemini",)),
    Agent("cursor", "Cursor", _CURSOR, transcript=False, reads="AGENTS.md"),
)


def agent_named(name: str) -> Agent | None:
    """Return the agent of that name or alias."""
    wanted = name.casefold()
    return next((one for one in AGENTS if wanted == one.name or wanted in one.aliases), None)


def recognised(data: Mapping[str, Any]) -> Agent:
    """Return the agent that sent an event, recognised by its fields; Claude Code by default."""
    native = data.get("hook_event_name")
    if "conversation_id" in data or native in _CURSOR:
        return AGENTS[3]
    if native in _GEMINI and (native not in _CLAUDE or "timestamp" in data):
        return AGENTS[2]
    if "turn_id" in data or "/.codex/" in str(data.get("transcript_path")):
        return AGENTS[1]
    return AGENTS[0]


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
    if agent.name == "cursor":
        # `additional_context` of beforeSubmitPrompt is read by the client, though its page does not say so.
        output: dict[str, Any] = {"continue": True} if event == "prompt" else {}
        if text and event in {"session-start", "prompt"}:
            output["additional_context"] = text
        return output
    if not text or event not in {"session-start", "prompt"}:
        return {}
    return {"hookSpecificOutput": {"hookEventName": native, "additionalContext": text}}


def session_of(agent: Agent, data: Mapping[str, Any]) -> str:
    """Return the id of the session in a workspace, such as `claude-code:0b50…`, or an empty string."""
    own = data.get("session_id") or data.get("conversation_id") or ""
    return f"{agent.name}:{own}" if isinstance(own, str) and own else ""
