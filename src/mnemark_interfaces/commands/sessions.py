"""Implement `sessions`: list the sessions, or end one."""

from typing import Annotated

import typer

from mnemark.errors import NotFoundError, UsageError
from mnemark.memory.memory import Memory
from mnemark.memory.sessions.ending import Ended, unended
from mnemark.memory.sessions.history import listed
from mnemark.memory.sessions.history import sessions as all_sessions
from mnemark.memory.sessions.reading import end_and_read
from mnemark.present.talks import talk
from mnemark_interfaces import render, speech
from mnemark_interfaces.options import Json, Workspace
from mnemark_interfaces.output import CYAN, DIM, out, out_json, safe, safe_line, say, spoken, style
from mnemark_interfaces.workspace import locate, opened, session_in

_Action = Annotated[
    str | None, typer.Argument(metavar="[end]", help="end: summarize a session and save its facts.")
]
_Idle = Annotated[
    bool, typer.Option("--idle", help="With end: all sessions without a new message for half an hour.")
]
_Summary = Annotated[
    bool, typer.Option("--summary/--no-summary", help="With end: write to the daily note, too.")
]
_Last = Annotated[
    int | None, typer.Option("--last", metavar="N", help="List only the last N sessions.", show_default="all")
]


def sessions(
    action: _Action = None,
    session: Annotated[str | None, typer.Argument(metavar="[ID]", help="The session to end.")] = None,
    *,
    idle: _Idle = False,
    summary: _Summary = True,
    last: _Last = None,
    json: Json = False,
    workspace: Workspace = None,
) -> None:
    """List the sessions, or end one: summarize it, save its facts.

    A configured language model reads it, too; if it does not answer in time, rules serve.

    The latest session is last. Ending one writes an episode (its summary in a file), a link to it in the
    daily note, descriptions of its attachments and tool calls, its open questions to the scratchpad, and its
    facts. The session can still continue and be ended again.
    """
    if action not in {None, "end"} or (action is None and (session or idle)) or (action and last):
        raise UsageError("use `mnemark sessions`, `mnemark sessions end ID` or `mnemark sessions end --idle`")
    root = locate(workspace)
    if action is None:
        with opened(root, readonly=True) as memory:
            _list(memory, last, json=json)
        return
    if (session is None) != idle:
        raise UsageError("give the id of one session, or --idle for all idle sessions")
    with opened(root) as memory:
        ended = _end(memory, session, summary=summary)
    if json:
        out_json({"ended": ended})
        return
    for one in ended:
        _show(one)
    if not ended:
        say("No idle session has new messages.")


def _list(memory: Memory, last: int | None, *, json: bool) -> None:
    found = listed(memory.workspace, last=last)
    if json:
        out_json({"sessions": found})
        return
    words = speech.words()
    for one in found:
        found_talk = talk(memory.workspace, one.path, words)
        title = found_talk.title or words("(without words)")
        when = f"{one.last:%Y-%m-%d %H:%M}" if one.last else "-" * 16
        about = (words.count(one.turns, "1 message", "{n} messages"), found_talk.agent, one.scope)
        more = style(" · ".join(safe_line(part) for part in about if part), DIM)
        out("  ".join((when, safe_line(title), style(safe_line(one.session), CYAN), more)))
    if not found:
        say("No sessions yet.")


def _end(memory: Memory, session: str | None, *, summary: bool) -> list[Ended]:
    """End a session, or without one all that are idle."""
    if session is None:
        return [end_and_read(memory.workspace, one, summary=summary) for one in unended(memory.workspace)]
    scopes = [scope for scope, info in all_sessions(memory.workspace) if info.id == session]
    if not scopes:
        raise NotFoundError(f"session {session!r} not found; `mnemark sessions` lists all sessions")
    return [session_in(memory, session, scopes[0]).end(summary=summary)]


def _show(one: Ended) -> None:
    for line in one.summary:
        out(safe(line))
    for path in dict.fromkeys((*one.episodes, *one.notes, one.scratchpad)):
        if path:
            out(style(safe(path), DIM))
    if one.rejected:
        say(
            "The language model gave {statements} that the messages do not support; left out.",
            statements=render.counted(one.rejected, "statement"),
        )
    for problem in one.problems:
        say("Warning: {error}", error=spoken(problem))
    if one.status == "unchanged":
        say("No new messages in {session} since it was last ended.", session=safe_line(one.session))
    elif one.group:
        say("Undo with `mnemark undo {id}`.", id=one.group)
