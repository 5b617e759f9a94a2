"""Define the calls of the JSON API: name, request body, action; what they answer is in `answers`.

A client of the command line sends its query whole: `answer_query` prints what the command would have printed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemark.errors import DegradedError, MnemarkError, NotFoundError, UsageError
from mnemark.files import trust
from mnemark.files.private import private
from mnemark.files.scopes import check_known
from mnemark.memory.review.correct import meant
from mnemark.memory.sessions.session import Session
from mnemark.present import receipts
from mnemark.present.words import preferred
from mnemark_interfaces import output, shortcut, speech
from mnemark_interfaces.http import bodies, browse
from mnemark_interfaces.http.bodies import Call, fields_of
from mnemark_interfaces.http.pool import PooledWorkspace, Workspaces
from mnemark_interfaces.queries import QUERIES, read_text
from mnemark_interfaces.status import Status
from mnemark_interfaces.tools_read import latest
from mnemark_interfaces.tools_write import listed_facts, note
from mnemark_interfaces.workspace import place

_OWNERS: Final = ("user", "agent", "project")
"""Fields of a body that say whose session it is about."""


def _as_objects(value: Any) -> Any:
    """Convert named tuples, which JSON would encode as arrays, to objects."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _as_objects(one) for name, one in value._asdict().items()}
    return [_as_objects(one) for one in value] if isinstance(value, (list, tuple)) else value


def _session(at: PooledWorkspace, body: Any) -> Session:
    return at.session(body.session, **{name: getattr(body, name) for name in _OWNERS})


def _recall(at: PooledWorkspace, body: bodies.RecallBody) -> Any:
    if body.session is None:
        if any(getattr(body, name) is not None for name in _OWNERS):
            raise UsageError("user, agent and project need a session; without a session, give a scope")
        return at.memory.recall(**fields_of(body, "session", *_OWNERS))
    if body.scope is not None:
        raise UsageError("a session has its own scope; leave scope out")
    return _session(at, body).recall(body.query, deadline=body.deadline, budget=body.budget, k=body.k)


def _turns(at: PooledWorkspace, body: bodies.TurnsBody) -> Any:
    session = _session(at, body)
    said = [session.turn(**fields_of(turn)) for turn in body.turns]
    kept = session.add_once(said, body.call) if body.call else session.add_many(said)
    turns = [{"id": turn.id, "time": turn.time} for turn in kept]
    off = {} if all(turn.id for turn in kept) else {"off_record": True}  # these are not kept, and have no id
    return {"session": body.session, "path": session.path, "turns": turns, **off}


def _observe(at: PooledWorkspace, body: bodies.ObserveBody) -> Any:
    kept = _session(at, body).observe(**fields_of(body, "session", *_OWNERS))
    return {"observation": _as_objects(kept)}


def _write(at: PooledWorkspace, body: bodies.WriteBody) -> Any:
    return note(at.memory, **fields_of(body))


def _timeline(at: PooledWorkspace, body: bodies.TimelineBody) -> Any:
    return {"entries": latest(at.memory, fields_of(body))}


def _prompt(at: PooledWorkspace, body: bodies.PromptBody) -> Any:
    session = None if body.session is None else _session(at, body)
    return at.memory.prompt(session=session, **fields_of(body, "session", *_OWNERS))


def _correct(at: PooledWorkspace, body: bodies.CorrectBody) -> Any:
    with listed_facts():
        named = meant(at.memory.workspace, body.ref, scope=body.scope)
        return at.memory.correct(named, **fields_of(body, "ref", "scope"))


def _forget(at: PooledWorkspace, body: bodies.ForgetBody) -> Any:
    done = at.memory.forget(**fields_of(body))
    return receipts.forgotten(at.memory.workspace, done)


def _undo(at: PooledWorkspace, body: bodies.UndoBody) -> Any:
    return {"undone": receipts.told(at.memory.workspace, at.memory.undo(body.id))}


def _revert(at: PooledWorkspace, body: bodies.RevertBody) -> Any:
    return receipts.reverted(at.memory.workspace, at.memory.revert(**fields_of(body)))


def _merge(at: PooledWorkspace, body: bodies.MergeBody) -> Any:
    folder = Path(body.other).expanduser()
    if not folder.is_dir() or not trust.is_trusted(folder):
        raise UsageError(
            f"{body.other} is no folder made or trusted on this machine; run `mnemark trust` there first"
        )
    return at.memory.merge(folder, dry_run=body.dry_run)


def _status(at: PooledWorkspace, _: bodies.StatusBody) -> Any:
    return Status.of(at.memory)


CALLS: Final[tuple[Call, ...]] = (
    Call("search", bodies.SearchBody, lambda at, body: at.memory.search(**fields_of(body)),
         "Search notes, facts and conversations.", reads=True),
    Call("recall", bodies.RecallBody, _recall, "Recall text for a prompt, within a deadline.", reads=True),
    Call("read", bodies.ReadBody, lambda at, body: {"ref": body.ref, "text": at.memory.read(body.ref)},
         "Read a file or some of its lines.", reads=True),
    Call("turns", bodies.TurnsBody, _turns,
         "Record turns of a session; they are on the disk when this answers."),
    Call("observe", bodies.ObserveBody, _observe, "Record a tool call."),
    Call("session/end", bodies.EndSessionBody,
         lambda at, body: _session(at, body).end(summary=body.summary, wait=False),
         "End a session: summarize it and save its facts."),
    Call("remember", bodies.RememberBody, lambda at, body: at.memory.remember(**fields_of(body)),
         "Remember a fact; it is on the disk when this answers."),
    Call("correct", bodies.CorrectBody, _correct,
         "Correct a fact that is wrong, as if it had always been so; `undo` takes it back.",
         idempotent=False),
    Call("facts", bodies.FactsBody, lambda at, body: {"facts": list(at.memory.facts(**fields_of(body)))},
         "List the facts that are true now, or were at a given time.", reads=True),
    Call("forget", bodies.ForgetBody, _forget, "Forget something; returns a receipt.", idempotent=False),
    Call("undo", bodies.UndoBody, _undo, "Undo a change.", idempotent=False),
    Call("merge", bodies.MergeBody, _merge, "Bring everything of another memory of yours into this one.",
         idempotent=False, one_machine=True),
    Call("revert", bodies.RevertBody, _revert,
         "Undo everything that came from one session or source.", idempotent=False),
    Call("pin", bodies.PinBody, lambda at, body: at.memory.pin(body.ref),
         "Keep something from being archived."),
    Call("said", bodies.SaidBody, lambda at, body: {"turns": _as_objects(at.memory.turns(**fields_of(body)))},
         "List turns by session, time, role and tool.", reads=True),
    Call("write", bodies.WriteBody, _write, "Write a note."),
    Call("timeline", bodies.TimelineBody, _timeline, "List the latest turns, notes and changes.", reads=True),
    Call("context", bodies.ContextBody, lambda at, body: {"text": at.memory.context(**fields_of(body))},
         "Core memory and today's notes, without recall.", reads=True),
    Call("prompt", bodies.PromptBody, _prompt, "Assemble all layers of a prompt, with recall.", reads=True),
    Call("sync", bodies.SyncBody, lambda at, body: at.memory.sync(embed=body.embed),
         "Update the index after files have changed.", one_machine=True),
    Call("status", bodies.StatusBody, _status, "Show the contents and state of a workspace.", reads=True),
    Call("consolidate", bodies.ConsolidateBody, lambda at, body: at.memory.consolidate(**fields_of(body)),
         "Merge duplicates, archive unused facts, update core memory.", idempotent=False),
    *browse.CALLS,
)  # fmt: skip

_ANY_SCOPE: Final = (
    bodies.RememberBody,
    bodies.WriteBody,
    bodies.RecallBody,
    bodies.PromptBody,
    bodies.ContextBody,
)
"""Requests that make a scope, or that programs make for a user before anything of theirs is written."""
_CODES: Final[Mapping[str, tuple[int, str]]] = {
    "TooLargeError": (413, "size"),
    "UsageError": (400, "usage"),
    "ConfigError": (400, "config"),
    "NotFoundError": (404, "not_found"),
    "ReadOnlyError": (409, "read_only"),
    "OffRecordError": (409, "off_record"),
    "UnavailableError": (503, "unavailable"),  # of a server's database
    "BusyError": (409, "busy"),
    "DegradedError": (500, "degraded"),
    "IntegrityError": (500, "integrity"),
    "NewerFormatError": (500, "integrity"),
}


def run(call: Call, at: PooledWorkspace, body: Any) -> Any:
    """Run a call; a scope to read has to exist."""
    if not isinstance(body, _ANY_SCOPE):
        check_known(at.memory.workspace.scopes(), getattr(body, "scope", None))
    return call.run(at, body)


def status_of(error: MnemarkError) -> tuple[int, str]:
    """Return the HTTP status and the code of an error."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_CODES[name] for name in names if name in _CODES), (500, "error"))


class ClientQuery(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A command line and where it was given."""

    arguments: list[str]
    folder: str
    """The current folder."""
    workspace: str | None
    """Absolute path of the workspace; None: the one that contains `folder`."""
    terminals: tuple[bool, bool]
    """Whether stdout and stderr are terminals."""
    colour: bool
    environment: dict[str, str]
    language: str = ""
    """That of the locale of the client's terminal."""


def answer_query(workspaces: Workspaces, query: ClientQuery) -> dict[str, list[tuple[bool, str]]]:
    """Run a query; return the texts it printed in order, each with whether it is for stderr.

    Raises:
        MnemarkError: there is no output, or not the same as in the client: the client has to run the command.
    """
    line = shortcut.parsed(query.arguments)
    if line is None or line.options.get("raw"):
        raise UsageError("this is no command that a daemon runs")
    if query.environment != shortcut.environment(named=query.workspace is not None):
        raise UsageError("the daemon has another environment")
    to_out, to_err = query.terminals
    printed: list[tuple[bool, str]] = []
    data = output.ClientStream(printed, to_stderr=False, terminal=to_out, colour=query.colour)
    messages = output.ClientStream(printed, to_stderr=True, terminal=to_err)
    language = line.language or preferred(locale=query.language)
    with output.printing_to(data, messages), speech.speaking(language):
        given = None if query.workspace is None else Path(query.workspace)
        at = place(given, any_folder=True, current=Path(query.folder))
        if not private(at.root).is_dir():
            raise NotFoundError(f"{at.root} has no index yet")
        text = line.text if line.command == "read" else read_text(line.text)
        with workspaces.lease(str(at.root.resolve())) as opened:
            found = QUERIES[line.command](at, text, opened.memory, **line.options)
            # Mounted folders may still be synced in the background, where a process alone waits.
            behind = (
                found is not None and not found.complete and bool(opened.memory.workspace.searcher.mounts)
            )
    if found is not None and (found.degraded or behind):
        raise DegradedError("; ".join(found.degraded) or "a mounted folder is not up to date")
    return {"printed": printed}
