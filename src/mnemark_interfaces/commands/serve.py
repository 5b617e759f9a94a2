"""Implement `serve`, `hook` and `mcp`: run the daemon, handle hooks, serve MCP."""

import logging
import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from mnemark._version import __version__
from mnemark.errors import BusyError, MnemarkError, NotFoundError, UsageError
from mnemark_agents import daemon
from mnemark_agents.connect.used import memory_used_in
from mnemark_agents.daemon import Daemon
from mnemark_agents.hook import command
from mnemark_interfaces import options, output, speech
from mnemark_interfaces.mcp import front

_STOP_SECONDS = 15.0
_MANY = "mnemark_server.commands.serve"
_HOST = "127.0.0.1"


_Port = Annotated[
    int, typer.Option(metavar="PORT", help="Port to listen on; 0: any free port.", min=0, max=65535)
]
_Idle = Annotated[
    float, typer.Option(metavar="MINUTES", help="Stop after this long without a request; 0: never.", min=0)
]
_Allow = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FOLDER", help="Only open workspaces inside this folder; can be given several times."
    ),
]
_Database = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="Serve the memories of a database, such as postgresql://USER@HOST/NAME.",
    ),
]  # fmt: skip
_Host = Annotated[str, typer.Option(metavar="ADDRESS", help="With --database: the address to listen on.")]
_Folder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="With --database: where this node keeps its copies; emptied first."),
]
_PublicUrl = Annotated[
    str,
    typer.Option(
        "--url",
        metavar="URL",
        help="With --database: the public address, such as https://memory.example.org.",
    ),
]
_Issuer = Annotated[
    str,
    typer.Option(metavar="URL", help="With --database: accept tokens of this server of identities, too."),
]
_Nightly = Annotated[
    bool,
    typer.Option(
        "--nightly/--no-nightly", help="Run `consolidate` every night, at the time set in mnemark.toml."
    ),
]


def serve(
    *,
    workspace_: options.Workspace = None,
    port: _Port = 0,
    idle: _Idle = 30.0,
    allow: _Allow = None,
    nightly: _Nightly = True,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the running daemon.")] = False,
    database: _Database = "",
    host: _Host = _HOST,
    folder: _Folder = None,
    url: _PublicUrl = "",
    issuer: _Issuer = "",
    json: options.Json = False,
) -> None:
    """Run the daemon, which answers all your agents quickly.

    One process serves all workspaces. It listens on 127.0.0.1 only and requires a token. It is optional: all
    commands work without it.

    With --database, run a server for many people instead, whose memories are in PostgreSQL.
    """
    if stop:
        _stop(json=json)
        return
    if database:
        import_module(_MANY).serve(
            database, host=host, port=port, folder=folder, url=url, issuer=issuer, json=json
        )
        return
    if given := [f"--{name}" for name, is_set in {
        "host": host != _HOST, "folder": folder, "url": url, "issuer": issuer,
    }.items() if is_set]:  # fmt: skip
        raise UsageError(
            f"{', '.join(given)} go with --database, such as --database postgresql://USER@HOST/NAME; the"
            " daemon is for this machine alone"
        )
    if not daemon.installed():
        raise UsageError('the daemon needs more packages; run: pip install "mnemark[serve]"')
    from mnemark_interfaces.http import server

    settings = server.Settings(
        port=port, idle_minutes=idle, nightly=nightly,
        workspace=None if workspace_ is None else _existing(workspace_),
        allowed=tuple(map(_existing, allow or ())),
    )  # fmt: skip
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    for noisy in ("mcp", "uvicorn", "watchfiles", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    try:
        server.serve(settings, on_ready=lambda mine: _tell(mine, "listening", json=json))
    except server.RunsAlreadyError as error:
        if error.daemon.version != __version__:
            raise BusyError(
                f"{error}; this is version {__version__}; stop the other with `mnemark serve --stop`"
            ) from None
        _tell(error.daemon, "running already", json=json)


def _existing(folder: Path) -> Path:
    if not folder.expanduser().is_dir():
        raise NotFoundError(f"the folder {folder} does not exist")
    return folder.expanduser().absolute()


def _tell(found: Daemon, state: str, *, json: bool) -> None:
    if json:
        output.out_json(
            {"url": found.url, "pid": found.pid, "version": found.version, "state": state}, line=True
        )
    else:
        output.tell(
            "{url}  process {pid}, version {version}, {state}",
            url=found.url, pid=str(found.pid), version=found.version, state=speech.words()(state),
        )  # fmt: skip
    output.flush()


def _stop(*, json: bool) -> None:
    found = daemon.find(any_version=True)
    if found is None:
        raise NotFoundError("no daemon is running")
    os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while daemon.is_alive():
        if time.monotonic() > deadline:
            raise MnemarkError(f"process {found.pid} is still finishing its requests; try again in a moment")
        time.sleep(0.05)
    _tell(found, "ended", json=json)


_PluginFlag = Annotated[
    bool,
    typer.Option(
        "--plugin",
        help="Called by a plug-in: the workspace is ~/mnemark by default, and made if it is missing.",
    ),
]


def hook(
    event: Annotated[
        str,
        typer.Argument(
            metavar="[EVENT]", help="session-start, prompt, tool, response, compact or session-end."
        ),
    ] = "",
    *,
    agent: Annotated[
        str, typer.Option("--agent", "-a", metavar="AGENT", help="claude-code, codex, gemini-cli or cursor.")
    ] = "",
    workspace_: options.Workspace = None,
    server: options.Server = "",
    alone: Annotated[bool, typer.Option("--alone", help="Do not use the daemon.")] = False,
    plugin: _PluginFlag = False,
) -> None:
    """Handle an event of an agent; agents call this, not people.

    Reads JSON on stdin, writes JSON on stdout, always exits with 0. `mnemark connect` adds it to the agent's
    settings. Errors are logged in .mnemark/hook.log. With --plugin it does nothing where the agent's settings
    have such a hook, so that nothing is recorded or recalled twice.
    """
    words = [event] if event else []
    words += [f"--agent={agent}"] if agent else []
    words += [f"--workspace={workspace_}"] if workspace_ else []
    words += [f"--server={server}"] if server else []
    words += [f"--{name}" for name, is_set in (("alone", alone), ("plugin", plugin)) if is_set]
    if command.run(words, memory_used_in) is None:
        output.tell("Give an event: session-start, prompt, tool, response, compact or session-end.")


def mcp(
    *,
    workspace_: options.Workspace = None,
    alone: Annotated[bool, typer.Option("--alone", help="Neither use nor start the daemon.")] = False,
    server: options.Server = "",
    plugin: _PluginFlag = False,
) -> None:
    """Offer the memory tools over MCP, on stdin and stdout.

    Uses the daemon (`mnemark serve`) and starts it if needed.
    """
    if server and workspace_ is not None:
        raise UsageError("give a workspace or a server, not both: the key names the memory on a server")
    front.serve(workspace_, alone=alone, plugin=plugin, server=server)
