"""Handle an agent's event for a memory on a server.

What is of this machine is read here: the transcript, the project around the folder the agent works in. The
server then does what a daemon does (`warm`). What is to be recorded is first put into the outbox, so that it
is not lost where the server does not answer. Imports stay light.
"""

import json
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.errors import UsageError
from mnemark.files import platform, server_keys
from mnemark.hashes import blake2b
from mnemark_agents.daemon import DaemonRefusedError, UnreachableError
from mnemark_agents.hook import agents
from mnemark_agents.hook.agents import Agent, Event
from mnemark_agents.hook.start import load_msgspec, start_python
from mnemark_agents.outbox import Outbox, Sending, Sent

_SECONDS: Final = 2.0
"""How long an agent waits for a server."""
_ANSWERED: Final = frozenset({"session-start", "prompt"})
"""Events whose answers hold text for the model."""
_SENT: Final = (
    "session_id", "conversation_id", "hook_event_name", "prompt", "turn_id", "prompt_id", "generation_id",
    "tool_name", "tool_input", "tool_response", "tool_output", "tool_use_id", "duration_ms", "duration",
    "error", "error_message", agents.CALL,
)  # fmt: skip
"""Fields of an event that a server needs; none names a place on this machine."""
_OF_TOOLS: Final = frozenset({"tool_input", "tool_response", "tool_output"})
_END_OF_TOOL: Final = 20_000
"""Characters of the beginning and of the end of a text in these that are sent."""
_SESSION: Final = ".session"
"""Ending of the note of a session: how far its transcript was read, and its project."""
_OLD_SECONDS: Final = 60 * 86_400.0
"""Age at which the note of a session that was not continued is removed."""


class _Session(NamedTuple):
    """What is noted of a session."""

    project: str = ""
    transcript: str = ""
    end: int = 0


def handle(url: str, given: str, agent: Agent, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Handle an event, and return what the hook prints; what went wrong is logged, and nothing is lost.

    Args:
        url: the address of the server.
        given: the event as on the command line.
        agent: the sender.
        data: the event from stdin, with its number and the path of the transcript.

    Raises:
        UsageError: the event is unknown.
        OSError: nothing can be written on this machine.
    """
    found = agents.event_of(agent, given, data)
    if found is None:
        raise UsageError(f"{agent.title} has no event {given!r}; give one of {', '.join(agents.EVENTS)}")
    event, native = found
    known, problem = server_keys.key_or_why(url.rstrip("/"))  # without one, what is recorded waits for it
    outbox = Outbox(url.rstrip("/"), known)
    waited = outbox.has()
    body, new = _put(outbox, agent, event, {**data, "hook_event_name": native})
    may_ask = not problem and not outbox.is_silent()
    if waited or len(new) > 1:  # it is sent in its order; an answer is all that is wanted at once
        body = {**body, "turns": [], "asks": True}
        _left(new)
        new = []
        if may_ask:
            start_python(["-P", "-m", "mnemark_agents.hook.remote", outbox.url])
    if not may_ask or not (new or event in _ANSWERED):
        return _left(new, f"{event} ({agent.name}): {problem}" if problem else "")
    try:
        answer = outbox.ask(f"/hook/{event}", body, _SECONDS)
    except (UnreachableError, DaemonRefusedError) as error:
        if isinstance(error, UnreachableError):
            outbox.note_silence()
        return _left(new, f"{event} ({agent.name}): {error}")
    for one in new:
        one.is_there()
    output = answer.get("output") if isinstance(answer, dict) else None
    return output if isinstance(output, dict) else {}


def _left(events: list[Sending], problem: str = "") -> Mapping[str, Any]:
    """Leave what was put into the outbox there, log why, and return that there is nothing to say."""
    for one in events:
        one.keep()
    if problem:
        from mnemark_agents.hook.log import log

        log(None, problem)
    return {}


def _put(
    outbox: Outbox, agent: Agent, event: Event, data: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Sending]]:
    """Put what an event records into the outbox; return what to send, or to ask, last, and what was put."""
    session = agents.session_of(agent, data)
    before = _noted(outbox, session)
    note = before or _Session(_project(data))
    sent = {name: _cut(data[name]) if name in _OF_TOOLS else data[name] for name in _SENT if name in data}
    now = datetime.now(UTC).astimezone().isoformat()
    body = {"agent": agent.name, "event": sent, "project": note.project, "time": now}
    if not session:
        return body, []
    batches, after = _new_turns(agent, event, data, note)
    bodies = [{**body, "turns": batch} for batch in batches]
    if not bodies and _is_recorded(event, data):
        bodies = [body]
    names = ["response"] * (len(bodies) - 1) + [event]
    new = [
        outbox.put(f"/hook/{name}", {**one, "late": True}) for name, one in zip(names, bodies, strict=False)
    ]
    if after != before:
        _keep_note(outbox, session, after)
    if event == "session-end":
        _drop_old_notes(outbox)
    return (bodies or [body])[-1], new


def _is_recorded(event: Event, data: Mapping[str, Any]) -> bool:
    """Tell whether an event changes the memory beside its turns."""
    if event != "tool":
        return event in {"compact", "session-end"}
    from mnemark.summary.tool_titles import is_significant
    from mnemark_agents.hook.event import execution

    done = execution(data)
    return done is not None and is_significant(done.tool, done.arguments)


def _cut(value: Any) -> Any:
    """Return what a tool was given or returned with long texts cut short: memory keeps their ends."""
    if isinstance(value, str) and len(value) > 2 * _END_OF_TOOL:
        return f"{value[:_END_OF_TOOL]}\n…\n{value[-_END_OF_TOOL:]}"
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    return list(map(_cut, value)) if isinstance(value, list) else value


def _new_turns(
    agent: Agent, event: Event, data: Mapping[str, Any], note: _Session
) -> tuple[list[list[Any]], _Session]:
    """Return the turns that were not put into the outbox, in batches, and the note of their session then."""
    if event == "tool" or (event == "prompt" and agent.transcript):  # a transcript has it once it is answered
        return [], note
    load_msgspec()
    from mnemark_agents.hook import unsent

    batches, transcript, end = unsent.turns(agent, event, data, note.transcript, note.end)
    return batches, note._replace(transcript=transcript, end=end)


def _project(data: Mapping[str, Any]) -> str:
    """Return the name of the project that an agent works in; empty for none.

    Nobody can choose it by naming a repository: it holds a hash of the path on this machine.
    """
    roots = data.get("workspace_roots")
    folder = data.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    if not isinstance(folder, str) or not folder:
        return ""
    load_msgspec()
    from mnemark.files.new_workspace import folder_name_of
    from mnemark.files.projects import repository_at

    repository = repository_at(platform.state_folder(), folder)
    if not repository:
        return ""
    mark = blake2b(repository.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"{folder_name_of(repository)}-{mark}"


def _note_path(outbox: Outbox, session: str) -> Path:
    mark = blake2b(session.encode("utf-8", "replace"), digest_size=12).hexdigest()
    return outbox.folder / f"{mark}{_SESSION}"


def _noted(outbox: Outbox, session: str) -> _Session | None:
    """Return the note of a session; None where there is none, and its transcript is read from its start."""
    try:
        return _Session(**json.loads(platform.content(_note_path(outbox, session))))
    except (OSError, ValueError, TypeError):
        return None


def _keep_note(outbox: Outbox, session: str, note: _Session) -> None:
    platform.private_folder(outbox.folder)
    platform.write_private(_note_path(outbox, session), json.dumps(note._asdict()).encode())


def _drop_old_notes(outbox: Outbox) -> None:
    with suppress(OSError):
        for path in outbox.folder.glob(f"*{_SESSION}"):
            if path.stat().st_mtime < time.time() - _OLD_SECONDS:
                platform.FS.unlink(path)


def send_waiting(url: str) -> Sent:
    """Send what waits for a server. Raises UsageError where there is no key."""
    return Outbox(url, server_keys.key_of(url)).send()


if __name__ == "__main__":
    done = send_waiting(sys.argv[1])
    _left([], done.problem and f"{sys.argv[1]}: {done.problem}; what was said waits")
