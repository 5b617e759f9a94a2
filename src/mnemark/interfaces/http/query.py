"""Run a query of the command line for a client, which prints what the command would have printed."""

from pathlib import Path

import msgspec

from mnemark.errors import DegradedError, NotFoundError, UsageError
from mnemark.files.private import private
from mnemark.interfaces import output, shortcut
from mnemark.interfaces.http.pool import Workspaces
from mnemark.interfaces.queries import QUERIES, read_text
from mnemark.interfaces.workspace import place


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


def answer(workspaces: Workspaces, query: ClientQuery) -> dict[str, list[tuple[bool, str]]]:
    """Run a query; return the texts it printed in order, each with whether it is for stderr.

    Raises:
        MnemarkError: there is no output, or not the same as in the client: the client has to run the command.
    """
    line = shortcut.parsed(query.arguments)
    if line is None or line.options.get("raw"):
        raise UsageError("this is no command that a daemon runs")
    if query.environment != shortcut.environment():
        raise UsageError("the daemon has another environment")
    to_out, to_err = query.terminals
    printed: list[tuple[bool, str]] = []
    data = output.ClientStream(printed, to_stderr=False, terminal=to_out, colour=query.colour)
    messages = output.ClientStream(printed, to_stderr=True, terminal=to_err)
    with output.printing_to(data, messages):
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
