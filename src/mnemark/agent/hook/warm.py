"""Answer an agent's events in the daemon, with the workspace open; no answer waits for a language model."""

from collections.abc import Mapping
from typing import Any, Protocol

from mnemark.agent.hook import agents, shown
from mnemark.agent.hook.briefing import brief
from mnemark.agent.hook.capture import capture, first_visible_line, note_compaction
from mnemark.agent.hook.cold import make_up
from mnemark.agent.hook.event import HookCall, execution, is_question, parse_call
from mnemark.errors import UsageError
from mnemark.memory.memory import Memory
from mnemark.memory.sessions.session import Session


class WarmWorkspace(Protocol):
    """Interface of an open workspace of the daemon."""

    memory: Memory

    def session(self, identifier: str, *, user: str | None = None, agent: str | None = None) -> Session:
        """Return the session of that id."""


def handle(opened: WarmWorkspace, event: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Handle an event and return the answer for the hook.

    Args:
        opened: the workspace.
        event: mnemark's name of the event, or the agent's.
        body: `{"agent": "codex", "event": {...}}`, where `event` is the agent's JSON from stdin.

    Returns:
        `{"output": {...}}`: the JSON that the hook prints.

    Raises:
        UsageError: the agent or the event is unknown.
        MnemarkError: the event could not be handled.
    """
    data = body.get("event")
    if not isinstance(data, Mapping):
        raise UsageError('an event must be an object: {"agent": "codex", "event": {...}}')
    call = parse_call(event, str(body.get("agent") or ""), data)
    return {"output": agents.answer(call.agent, call.native, _run(opened, call))}


def _run(opened: WarmWorkspace, call: HookCall) -> str:
    memory = opened.memory
    if not call.session:
        return brief(memory, call) if call.event == "session-start" else ""
    session = opened.session(call.session)
    # Recall before recording the prompt; a transcript contains it only after the answer.
    block = _recall(memory, session, call) if call.event == "prompt" else ""
    if call.event == "tool":
        if (done := execution(call.data)) is not None:
            session.observe(**done._asdict())
    elif call.event != "prompt" or not call.agent.transcript:
        capture(memory.root, session, call.agent, call.data, call.event)
        make_up(memory.root)
    match call.event:
        case "session-start":
            return brief(memory, call)
        case "compact":
            note_compaction(memory.root, session.path)
            shown.save(memory.root, session.path, frozenset())
        case "session-end":
            shown.save(memory.root, session.path, frozenset())
            session.end(wait=False)
    return block


def _recall(memory: Memory, session: Session, call: HookCall) -> str:
    """Return a recall without the turns in the model's context (those since the last compaction)."""
    said = call.data.get("prompt")
    if not isinstance(said, str) or not is_question(said):
        return ""
    window = ((session.path, first_visible_line(memory.root, session.path)),)
    context = [turn.content for turn in session.last(4)]
    found = memory.recall(said, context=context, exclude=window)
    marks = shown.load(memory.root, session.path)
    text, new = shown.new_block(found, memory.config.recall_hits, marks, memory.config.recall_budget)
    if text:
        shown.save(memory.root, session.path, marks | new)
    return text
