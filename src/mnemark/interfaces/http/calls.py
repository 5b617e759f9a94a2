"""Table of the JSON API: name, request body, what is done with it."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from mnemark.errors import MnemarkError, UsageError
from mnemark.interfaces.http import bodies
from mnemark.interfaces.http.pool import Opened
from mnemark.memory.sessions.session import Session


class Call(NamedTuple):
    """One request: `POST /v1/<name>`."""

    name: str
    body: type[bodies.Body]
    run: Callable[[Opened, Any], Any]
    summary: str


def _fields(body: bodies.Body, *left_out: str) -> dict[str, Any]:
    """What the request holds, but for the workspace."""
    without = {"workspace", *left_out}
    return {name: getattr(body, name) for name in body.__struct_fields__ if name not in without}


def named(value: Any) -> Any:
    """Named tuples as objects with their names, which JSON would give as bare lists."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: named(one) for name, one in value._asdict().items()}
    return [named(one) for one in value] if isinstance(value, (list, tuple)) else value


def _search(at: Opened, body: bodies.Search) -> Any:
    fields = _fields(body, "query")
    return at.memory.search(body.query, **fields)


def _recall(at: Opened, body: bodies.Recall) -> Any:
    if body.session is None:
        if body.user is not None or body.agent is not None:
            raise UsageError("user and agent need a session; without a session, give a scope")
        return at.memory.recall(body.query, **_fields(body, "query", "session", "user", "agent"))
    if body.scope is not None:
        raise UsageError("a session has its own scope; leave scope out")
    session = _session(at, body)
    return session.recall(body.query, deadline=body.deadline, budget=body.budget, k=body.k)


def _read(at: Opened, body: bodies.Read) -> Any:
    return {"ref": body.ref, "text": at.memory.read(body.ref)}


def _turns(at: Opened, body: bodies.Turns) -> Any:
    session = _session(at, body)
    turns = [session.turn(one.role, one.content, **_turn_fields(one)) for one in body.turns]
    kept = session.add_many(turns)
    return {
        "session": body.session,
        "path": session.path,
        "turns": [{"id": turn.id, "time": turn.time} for turn in kept],
    }


def _turn_fields(turn: bodies.NewTurn) -> dict[str, Any]:
    return {name: getattr(turn, name) for name in turn.__struct_fields__ if name not in {"role", "content"}}


def _session(at: Opened, body: Any) -> Session:
    return at.session(body.session, user=body.user, agent=body.agent)


def _observe(at: Opened, body: bodies.Observe) -> Any:
    fields = _fields(body, "session", "user", "agent", "tool", "arguments", "result")
    kept = _session(at, body).observe(body.tool, body.arguments, body.result, **fields)
    return {"observation": named(kept)}


def _end(at: Opened, body: bodies.EndSession) -> Any:
    ended = _session(at, body).end(summary=body.summary)
    at.memory.searcher.refresher.mark_stale()
    return ended


def _remember(at: Opened, body: bodies.Remember) -> Any:
    fact = at.memory.remember(body.predicate, body.value, **_fields(body, "predicate", "value"))
    at.memory.searcher.refresher.mark_stale()
    return fact


def _facts(at: Opened, body: bodies.Facts) -> Any:
    return {"facts": list(at.memory.facts(**_fields(body)))}


def _forget(at: Opened, body: bodies.Forget) -> Any:
    receipt = at.memory.forget(body.ref, **_fields(body, "ref"))
    at.memory.searcher.refresher.mark_stale()
    return receipt


def _undo(at: Opened, body: bodies.Undo) -> Any:
    undone = at.memory.undo(body.id)
    at.memory.searcher.refresher.mark_stale()
    return {"undone": named(undone)}


def _revert(at: Opened, body: bodies.Revert) -> Any:
    reverted = at.memory.revert(**_fields(body))
    at.memory.searcher.refresher.mark_stale()
    return reverted


def _pin(at: Opened, body: bodies.Pin) -> Any:
    return at.memory.pin(body.ref)


def _said(at: Opened, body: bodies.Said) -> Any:
    return {"turns": named(at.memory.turns(**_fields(body)))}


def _write(at: Opened, body: bodies.Write) -> Any:
    from mnemark.interfaces.tools_write import note

    return note(at.memory, body.text, target=body.target, scope=body.scope)


def _timeline(at: Opened, body: bodies.Timeline) -> Any:
    from mnemark.interfaces.tools_read import latest

    return {"entries": latest(at.memory, _fields(body))}


def _context(at: Opened, body: bodies.Context) -> Any:
    return {"text": at.memory.context(scope=body.scope, budget=body.budget)}


def _prompt(at: Opened, body: bodies.Prompt) -> Any:
    session = None if body.session is None else _session(at, body)
    return at.memory.prompt(body.query, session=session, **_fields(body, "query", "session", "user", "agent"))


def _sync(at: Opened, body: bodies.Sync) -> Any:
    return at.memory.sync(embed=body.embed)


def _status(at: Opened, _: bodies.Status) -> Any:
    from mnemark.interfaces.render import Status

    return Status.of(at.memory)


def _consolidate(at: Opened, body: bodies.Consolidate) -> Any:
    report = at.memory.consolidate(
        dry_run=body.dry_run, force=body.force, commit=body.commit, since=body.since
    )
    at.memory.searcher.refresher.mark_stale()
    return report


CALLS: Final[tuple[Call, ...]] = (
    Call("search", bodies.Search, _search, "Search notes, facts and conversations."),
    Call("recall", bodies.Recall, _recall, "Recall text for a prompt, within a deadline."),
    Call("read", bodies.Read, _read, "Read a file or some of its lines."),
    Call("turns", bodies.Turns, _turns, "Record turns of a session; they are on the disk when this answers."),
    Call("observe", bodies.Observe, _observe, "Record a tool call."),
    Call("session/end", bodies.EndSession, _end, "End a session: summarize it and save its facts."),
    Call("remember", bodies.Remember, _remember, "Remember a fact; it is on the disk when this answers."),
    Call("facts", bodies.Facts, _facts, "List the facts that are true now, or were at a given time."),
    Call("forget", bodies.Forget, _forget, "Forget something; returns a receipt."),
    Call("undo", bodies.Undo, _undo, "Undo a change."),
    Call("revert", bodies.Revert, _revert, "Undo everything that came from one session or source."),
    Call("pin", bodies.Pin, _pin, "Keep something from being archived."),
    Call("said", bodies.Said, _said, "List turns by session, time, role and tool."),
    Call("write", bodies.Write, _write, "Write a note."),
    Call("timeline", bodies.Timeline, _timeline, "List the latest turns, notes and changes."),
    Call("context", bodies.Context, _context, "Core memory and today's notes, without recall."),
    Call("prompt", bodies.Prompt, _prompt, "Assemble all layers of a prompt, with recall."),
    Call("sync", bodies.Sync, _sync, "Update the index after files have changed."),
    Call("status", bodies.Status, _status, "Show the contents and state of a workspace."),
    Call(
        "consolidate",
        bodies.Consolidate,
        _consolidate,
        "Merge duplicates, archive unused facts, update core memory.",
    ),
)

CODES: Final[Mapping[str, tuple[int, str]]] = {
    "UsageError": (400, "usage"),
    "ConfigError": (400, "config"),
    "NotFoundError": (404, "not_found"),
    "ReadOnlyError": (409, "read_only"),
    "BusyError": (409, "busy"),
    "DegradedError": (500, "degraded"),
    "IntegrityError": (500, "integrity"),
    "NewerFormatError": (500, "integrity"),
}
"""Status of HTTP and code by kind of error."""


def status_of(error: MnemarkError) -> tuple[int, str]:
    """Status of HTTP and code of an error raised on purpose."""
    for kind in type(error).__mro__:
        if kind.__name__ in CODES:
            return CODES[kind.__name__]
    return 500, "error"
