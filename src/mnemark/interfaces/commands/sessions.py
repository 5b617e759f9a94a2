"""`mnemark sessions`: which there are, and what is written down when one ends."""

from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.errors import NotFoundError, UsageError
from mnemark.interfaces import render
from mnemark.interfaces.output import DIM, Json, Workspace, out, out_json, safe, safe_line, say, style
from mnemark.interfaces.workspace import locate, opened, session_in

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark.memory.sessions.ending import Ended


def sessions(
    action: Annotated[
        str | None, typer.Argument(metavar="[end]", help="end: write down what is to be kept of a session.")
    ] = None,
    session: Annotated[str | None, typer.Argument(metavar="[ID]", help="Which session.")] = None,
    *,
    idle: Annotated[
        bool, typer.Option("--idle", help="With end: all that were silent for half an hour.")
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary/--no-summary", help="With end: a summary in the day's note.")
    ] = True,
    json: Json = False,
    workspace: Workspace = None,
) -> None:
    """List the sessions, the latest last; or end one, which may go on later.

    An ended session has an episode, a summary in the day's note, its attachments and observations described,
    the scratchpad refreshed and its facts learned. Ending it again changes nothing.
    """
    if action not in {None, "end"} or (action is None and (session or idle)):
        raise UsageError(
            "write `mnemark sessions`, `mnemark sessions end ID` or `mnemark sessions end --idle`"
        )
    root = locate(workspace)
    if action is None:
        with opened(root, readonly=True) as memory:
            _list(memory, json=json)
        return
    if (session is None) != idle:
        raise UsageError("name one session, or --idle for all that are silent")
    with opened(root) as memory:
        from mnemark.memory.sessions.ending import catch_up

        found = (
            catch_up(memory, summary=summary) if session is None else [_end(memory, session, summary=summary)]
        )
    if json:
        out_json({"ended": found})
        return
    for one in found:
        _show(one)
    if not found:
        say("No silent session has anything new.")


def _list(memory: "Memory", *, json: bool) -> None:
    from mnemark.memory.sessions.history import listed

    found = listed(memory)
    if json:
        out_json({"sessions": found})
        return
    for one in found:
        when = f"{one.last:%Y-%m-%d %H:%M}" if one.last else "-" * 16
        about = (render.counted(one.turns, "turn"), one.agent, one.scope)
        more = style(" · ".join(safe_line(part) for part in about if part), DIM)
        out("  ".join(part for part in (when, safe_line(one.session), safe_line(one.title), more) if part))
    if not found:
        say("There are no sessions yet.")


def _end(memory: "Memory", session: str, *, summary: bool) -> "Ended":
    from mnemark.memory.sessions.history import sessions as all_sessions

    scopes = [scope for scope, info in all_sessions(memory) if info.id == session]
    if not scopes:
        raise NotFoundError(f"there is no session {session!r}; `mnemark sessions` lists them")
    return session_in(memory, session, scopes[0]).end(summary=summary)


def _show(one: "Ended") -> None:
    for line in one.summary:
        out(safe(line))
    for path in dict.fromkeys((*one.episodes, *one.notes, one.scratchpad)):
        if path:
            out(style(safe(path), DIM))
    for problem in one.problems:
        say(f"To look at: {safe(problem)}")
    if one.status == "unchanged":
        say(f"Nothing new in {safe(one.session)}; all of it was written down before.")
    elif one.group:
        say(f"Take it back with `mnemark undo {one.group}`.")
