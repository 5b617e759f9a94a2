"""Answer an agent's events in the daemon, with the workspace open; no answer waits for a language model."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mnemark.errors import UsageError
from mnemark.files import said
from mnemark.files.projects import FOLDER, Project
from mnemark.files.sessions import SessionLog
from mnemark.memory.memory import Memory
from mnemark.memory.sessions.session import Session
from mnemark.retrieval.turns import in_turn
from mnemark.summary.tool_titles import is_significant, significant_tools
from mnemark.types import Turn
from mnemark_agents.hook import agents, shown
from mnemark_agents.hook.capture import capture
from mnemark_agents.hook.cold import make_up
from mnemark_agents.hook.event import HookCall, execution, is_question, parse_call, said_in
from mnemark_agents.hook.forwarded import Forwarded
from mnemark_agents.hook.project import folder_of, forget_note, project_of, scope_for
from mnemark_agents.hook.told import brief


class WarmWorkspace(Protocol):
    """Interface of an open workspace of the daemon."""

    memory: Memory
    one_machine: bool
    """Whether the agents are on this machine, with their transcripts and the folders that they work in."""

    def session(
        self,
        identifier: str,
        *,
        user: str | None = None,
        agent: str | None = None,
        project: str | None = None,
    ) -> Session:
        """Return the session of that id."""


def handle(opened: WarmWorkspace, event: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Handle an event and return the answer for the hook.

    Args:
        opened: the workspace.
        event: mnemark's name of the event, or the agent's.
        body: `{"agent": "codex", "event": {...}}`, where `event` is the agent's JSON from stdin; of another
            machine more, see `Forwarded`.

    Returns:
        `{"output": {...}}`: the JSON that the hook prints.

    Raises:
        UsageError: the agent or the event is unknown.
        MnemarkError: the event could not be handled.
    """
    data = body.get("event")
    if not isinstance(data, Mapping):
        raise UsageError('an event must be an object: {"agent": "codex", "event": {...}}')
    sent = None if opened.one_machine else Forwarded.of(body)
    call = parse_call(event, str(body.get("agent") or ""), data if sent is None else sent.event)
    return {"output": agents.answer(call.agent, call.native, _run(opened, call, sent))}


class _Recording:
    """A session of the workspace as a hook records it: the scope of a project is made with its first turn."""

    def __init__(self, opened: WarmWorkspace, identifier: str, project: Project) -> None:
        self._opened = opened
        self._identifier = identifier
        self.belongs_to(project)

    def belongs_to(self, project: Project) -> None:
        """Note whose memory the session is."""
        self._project = project
        self.session = self._in(project.scope)

    def _in(self, scope: str) -> Session:
        name = scope.removeprefix(f"{FOLDER}/")
        return self._opened.session(self._identifier, **({"project": name} if name else {}))

    @property
    def path(self) -> str:
        return self.session.path

    @property
    def log(self) -> SessionLog:
        return self.session.log

    def add_many(self, turns: Sequence[Turn]) -> list[Turn]:
        return self.settled().add_many(turns) if turns else []

    def settled(self) -> Session:
        """Return the session in the scope of its project, made where it has none."""
        if self._project.repository:
            self._project = Project(scope_for(self._opened.memory.root, self._project))
            self.session = self._in(self._project.scope)
        return self.session


def _run(opened: WarmWorkspace, call: HookCall, sent: Forwarded | None) -> str:
    memory = opened.memory
    project = sent.project_in(memory, call.session) if sent else project_of(
        memory.root, call.session, folder_of(call.data), begins=call.event in {"session-start", "tool"},
        kept=memory.config.projects,
    )  # fmt: skip
    answers = sent is None or not sent.late
    if not call.session:
        return brief(memory.workspace, call, project.scope) if call.event == "session-start" else ""
    recording = _Recording(opened, call.session, project)
    # Recall before recording the prompt; a transcript contains it only after the answer.
    block = _recall(memory, recording.session, call) if answers and call.event == "prompt" else ""
    if sent is None or not sent.asks:
        _record(memory, recording, call, sent)
    if call.event == "session-start" and answers:
        return brief(memory.workspace, call, project.scope)
    return block


def _record(memory: Memory, recording: _Recording, call: HookCall, sent: Forwarded | None) -> None:
    """Record what an event says, and do what it asks for."""
    if call.event == "tool":
        _observe(memory, recording, call, sent)
    elif call.event == "prompt" and call.agent.transcript:
        said.note(  # its transcript will have it
            memory.root, recording.log.name, said_in(call.data), lambda: memory.workspace.rules
        )
    elif sent is not None:
        sent.record(memory.root, recording, call)
    else:
        with in_turn():
            capture(memory.root, recording, call.agent, call.data, call.event)
        make_up(memory.root)
    match call.event:
        case "compact":
            shown.note_compaction(memory.root, recording.path)
            shown.save(memory.root, recording.log.name, frozenset())
        case "session-end":
            shown.save(memory.root, recording.log.name, frozenset())
            forget_note(memory.root, call.session)
            recording.session.end(wait=False)


def _observe(memory: Memory, recording: _Recording, call: HookCall, sent: Forwarded | None) -> None:
    done = execution(call.data)
    tools = significant_tools(memory.config.observe)
    if done is not None and is_significant(done.tool, done.arguments, tools):
        recording.settled().observe(**done._asdict(), time=None if sent is None else sent.time)


def _recall(memory: Memory, session: Session, call: HookCall) -> str:
    """Return a recall without the turns in the model's context (those since the last compaction)."""
    words = said_in(call.data)
    if not is_question(words):
        return ""
    window = ((session.path, shown.first_visible_line(memory.root, session.path)),)
    context = [turn.content for turn in session.last(4)]
    found = memory.recall(words, context=context, scope=session.scope, exclude=window)
    with in_turn(first=True):  # the recall has used up its time
        marks = shown.load(memory.root, session.log.name)
        text, new = shown.new_block(
            found, marks, memory.config.recall_budget, agent=call.agent.name, folder=folder_of(call.data)
        )
    if text:
        shown.save(memory.root, session.log.name, marks | new)
    return text
