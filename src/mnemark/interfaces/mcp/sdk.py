"""MCP over streamable HTTP with the official SDK, of major version 1 or 2: the same table of tools.

Without sessions: each request is answered by itself and as JSON, so that a client that goes away leaves
nothing open. The SDK's types differ between its versions and are not looked at here.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from importlib import import_module, metadata
from typing import Any, NamedTuple

from mnemark._version import __version__
from mnemark.interfaces.tools import INSTRUCTIONS, listed

CallTool = Callable[[Any, str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Runs a tool for a request (a Starlette `Request`) and gives the result; it must not raise."""


class Endpoint(NamedTuple):
    """What answers at /mcp, and what has to run around it."""

    handle: Callable[[Any, Any, Any], Awaitable[None]]
    running: Callable[[], AbstractAsyncContextManager[None]]
    version: str
    """Of the SDK."""


def endpoint(call: CallTool) -> Endpoint | None:
    """The endpoint; None where the SDK is not installed."""
    try:
        version = metadata.version("mcp")
    except metadata.PackageNotFoundError:
        return None
    make = _first if version.startswith("1.") else _second
    server = make(call)
    module: Any = import_module("mcp.server.streamable_http_manager")
    manager = module.StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    return Endpoint(manager.handle_request, manager.run, version)


def _first(call: CallTool) -> Any:
    """A server of SDK 1.x: handlers are registered with decorators."""
    types: Any = import_module("mcp.types")
    lowlevel: Any = import_module("mcp.server.lowlevel")
    server = lowlevel.Server("mnemark", version=__version__, instructions=INSTRUCTIONS)

    async def list_tools() -> Any:
        return [types.Tool.model_validate(tool) for tool in listed()]

    async def call_tool(name: str, arguments: dict[str, Any] | None) -> Any:
        found = await call(server.request_context.request, name, arguments or {})
        return types.CallToolResult.model_validate(found)

    server.list_tools()(list_tools)
    server.call_tool(validate_input=False)(
        call_tool
    )  # the tools take aliases and say themselves what is wrong
    return server


def _second(call: CallTool) -> Any:
    """A server of SDK 2.x: handlers are given when it is made."""
    types: Any = import_module("mcp.types")
    lowlevel: Any = import_module("mcp.server.lowlevel")

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult.model_validate({"tools": listed()})

    async def call_tool(context: Any, params: Any) -> Any:
        found = await call(context.request, params.name, params.arguments or {})
        return types.CallToolResult.model_validate(found)

    return lowlevel.Server(
        "mnemark", version=__version__, title="mnemark", instructions=INSTRUCTIONS,
        on_list_tools=list_tools, on_call_tool=call_tool,
    )  # fmt: skip
