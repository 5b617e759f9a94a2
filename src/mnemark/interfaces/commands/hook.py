"""Command for agents: hook. The events are answered before the command line is read, see `agent.hook`."""

from typing import Annotated

import typer

from mnemark.interfaces import options
from mnemark.interfaces.output import out


def hook(
    event: Annotated[
        str, typer.Argument(help="session-start, prompt, tool, response, compact or session-end.")
    ] = "",
    *,
    agent: Annotated[
        str, typer.Option("--agent", "-a", help="claude-code, codex, gemini-cli or cursor.")
    ] = "",
    workspace_: options.Workspace = None,
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
        out("Give an event: session-start, prompt, tool, response, compact or session-end.")
