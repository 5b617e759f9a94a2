"""One warm process for all: serve."""

import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemark.errors import BusyError, MnemarkError, NotFoundError, UsageError
from mnemark.interfaces import output

if TYPE_CHECKING:
    from mnemark.agent.daemon import Daemon

_STOP_SECONDS = 15.0


def serve(
    *,
    workspace_: output.Workspace = None,
    port: Annotated[int, typer.Option(metavar="PORT", help="0: one that is free.", min=0, max=65535)] = 0,
    idle: Annotated[
        float, typer.Option(metavar="MINUTES", help="End after so long without a request; 0: never.", min=0)
    ] = 30.0,
    allow: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Open only workspaces in this folder; may be given again."),
    ] = None,
    nightly: Annotated[
        bool, typer.Option("--nightly/--no-nightly", help="Consolidate at the configured time.")
    ] = True,
    stop: Annotated[bool, typer.Option("--stop", help="End the one that runs.")] = False,
    json: output.Json = False,
) -> None:
    """Run the daemon: one warm process for all agents and workspaces of a user.

    Answers on 127.0.0.1 only, and only who has the token. Without it every command works alone.
    """
    from mnemark.agent import daemon

    if stop:
        _stop(json=json)
        return
    if not daemon.installed():
        raise UsageError('the daemon needs two packages more: pip install "mnemark[serve]"')
    from mnemark.interfaces.http.server import RunsAlreadyError, Settings
    from mnemark.interfaces.http.server import serve as run

    for folder in [*(allow or []), *([workspace_] if workspace_ else [])]:
        if not folder.expanduser().is_dir():
            raise NotFoundError(f"there is no folder {folder}")
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    for noisy in ("mcp", "uvicorn", "watchfiles", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    settings = Settings(
        port=port,
        idle_minutes=idle,
        workspace=None if workspace_ is None else workspace_.expanduser().absolute(),
        allowed=tuple(folder.expanduser().absolute() for folder in allow or []),
        nightly=nightly,
    )
    try:
        run(settings, on_ready=lambda mine: _tell(mine, "listening", json=json))
    except RunsAlreadyError as error:
        from mnemark._version import __version__

        if error.daemon.version != __version__:
            raise BusyError(
                f"{error}; this is version {__version__}: `mnemark serve --stop` ends it"
            ) from None
        _tell(error.daemon, "running already", json=json)


def _tell(found: "Daemon", state: str, *, json: bool) -> None:
    if json:
        output.out_json(
            {"url": found.url, "pid": found.pid, "version": found.version, "state": state}, line=True
        )
    else:
        output.out(f"{found.url}  process {found.pid}, version {found.version}, {state}")
    output.flush()


def _stop(*, json: bool) -> None:
    from mnemark.agent import daemon

    found = daemon.find(any_version=True)
    if found is None:
        raise NotFoundError("no daemon of yours runs")
    os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while daemon.is_alive():
        if time.monotonic() > deadline:
            raise MnemarkError(f"process {found.pid} is still finishing its requests; look again in a moment")
        time.sleep(0.05)
    _tell(found, "ended", json=json)


def hook(
    event: Annotated[
        str, typer.Argument(help="session-start, prompt, tool, response, compact or session-end.")
    ] = "",
    *,
    agent: Annotated[
        str, typer.Option("--agent", "-a", help="claude-code, codex, gemini-cli or cursor.")
    ] = "",
    workspace_: output.Workspace = None,
    alone: Annotated[bool, typer.Option("--alone", help="Do not ask the daemon.")] = False,
) -> None:
    """Answer an event of an agent: JSON on stdin, JSON on stdout, always exit 0.

    `mnemark connect` writes it into the agent's configuration. Why a hook did nothing is in
    .mnemark/hook.log.
    """
    from mnemark.agent.hook.command import run

    words = [event] if event else []
    words += [f"--agent={agent}"] if agent else []
    words += [f"--workspace={workspace_}"] if workspace_ else []
    words += ["--alone"] if alone else []
    if run(words) is None:
        output.out("Give an event: session-start, prompt, tool, response, compact or session-end.")


def mcp(
    *,
    workspace_: output.Workspace = None,
    alone: Annotated[bool, typer.Option("--alone", help="Neither ask nor start the daemon.")] = False,
) -> None:
    """Serve the memory tools to a model on stdin and stdout (MCP).

    Asks the daemon of `mnemark serve`, and starts it when needed.
    """
    from mnemark.interfaces.mcp.front import serve

    serve(workspace_, alone=alone)
