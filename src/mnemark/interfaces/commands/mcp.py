"""Tools for models: mcp."""

from typing import Annotated

import typer

from mnemark.interfaces import options


def mcp(
    *,
    workspace_: options.Workspace = None,
    alone: Annotated[bool, typer.Option("--alone", help="Neither ask nor start the daemon.")] = False,
) -> None:
    """Serve the memory tools to a model on stdin and stdout (MCP).

    Asks the daemon of `mnemark serve`, and starts it when needed.
    """
    from mnemark.interfaces.mcp.front import serve

    serve(workspace_, alone=alone)
