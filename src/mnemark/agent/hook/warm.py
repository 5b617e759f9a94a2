"""Answer an agent's events in the daemon, which has the workspace open.

Nothing here asks a model. What is raised goes to the caller: the daemon answers with an error, and the hook
logs it and lets the agent go on.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from mnemark.agent.hook import agents
from mnemark.agent.hook.briefing import briefing
from mnemark.agent.hook.capture import capture
from mnemark.agent.hook.event import FLOOR, Asked, asked, checked, execution, is_question
from mnemark.agent.hook.window import from_line, note_compaction
from mnemark.errors import UsageError
from mnemark.memory.curation.files import past_of
from mnemark.memory.memory import Memory
from mnemark.memory.sessions.session import Session
from mnemark.text.dates.clock import local_now


class Opened(Protocol):
    """An open workspace, as the daemon keeps it."""

    memory: Memory

    def session(self, identifier: str, *, user: str | None = None, agent: str | None = None) -> Session:
        """The session of that id."""


def handle(opened: Opened, event: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Do what an event calls for.

    Args:
        opened: the workspace.
        event: in our words or the agent's.
        body: `{"agent": "codex", "event": {...}}`, where `event` is what the agent wrote on stdin.

    Returns:
        `{"output": {...}}`: what the hook is to print.

    Raises:
        UsageError: the agent or the event is none that we know.
        MnemarkError: it could not be done.
    """
    data = body.get("event")
    if not isinstance(data, Mapping):
        raise UsageError('an event must be an object: {"agent": "codex", "event": {...}}')
    what = asked(event, str(body.get("agent") or ""), data)
    return {"output": agents.answer(what.agent, what.native, checked(_run(opened, what)))}


def _run(opened: Opened, what: Asked) -> str:
    memory = opened.memory
    if not what.session:
        return _briefing(memory) if what.event == "session-start" else ""
    session = opened.session(what.session)
    match what.event:
        case "session-start":
            _capture(memory, session, what)
            return _briefing(memory)
        case "prompt":
            block = _recall(memory, session, what)
            if not what.agent.transcript:
                _capture(memory, session, what)
            return block
        case "tool":
            _observe(session, what.data)
        case "response":
            _capture(memory, session, what)
        case "compact":
            _capture(memory, session, what)
            note_compaction(memory.root, session.path)
        case "session-end":
            _capture(memory, session, what)
            session.end()
    return ""


def _briefing(memory: Memory) -> str:
    return briefing(memory.visible, local_now(memory.config.timezone), is_past=past_of(memory))


def _capture(memory: Memory, session: Session, what: Asked) -> None:
    capture(memory.root, session, what.agent, what.data, what.event)


def _recall(memory: Memory, session: Session, what: Asked) -> str:
    """What memory has to say, without what was said since the context was last condensed."""
    said = what.data.get("prompt")
    if not isinstance(said, str) or not is_question(said):
        return ""
    window = ((session.path, from_line(memory.root, session.path)),)
    context = [turn.content for turn in session.last(4)]
    found = memory.recall(said, context=context, exclude=window)
    return found.text if found.believable >= FLOOR else ""


def _observe(session: Session, data: Mapping[str, Any]) -> None:
    done = execution(data)
    if done is not None:
        session.observe(
            done.tool, done.arguments, done.result, call=done.call, error=done.error,
            duration_ms=done.duration_ms,
        )  # fmt: skip
