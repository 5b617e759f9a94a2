"""Serve MCP over streamable HTTP with the official SDK, major version 1 or 2, and the same tools.

Stateless: each request is answered by itself and as JSON, so that a disconnected client leaves nothing open.
The SDK's types differ between its versions and are not checked here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module, metadata
from typing import Any

from mnemark._version import __version__
from mnemark_interfaces.tools import INSTRUCTIONS, listed

CallTool = Callable[[Any, str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Runs a tool for a Starlette `Request`; must not raise."""


def installed() -> str | None:
    """Return the version of the SDK, or None, without importing it."""
    try:
        return metadata.version("mcp")
    except metadata.PackageNotFoundError:
        return None


class Endpoint:
    """The ASGI application at /mcp. The SDK, half a second of CPU, is imported with the first request."""

    def __init__(self, call: CallTool) -> None:
        self._call = call
        self._loading = asyncio.Lock()
        self._manager: Any = None
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request (ASGI)."""
        async with self._loading:
            if self._manager is None:
                manager = await asyncio.to_thread(_manager, self._call)
                ready = asyncio.Event()
                self._task = asyncio.create_task(self._run(manager, ready))
                await ready.wait()
                self._manager = manager
        await self._manager.handle_request(scope, receive, send)

    async def _run(self, manager: Any, ready: asyncio.Event) -> None:
        """Keep the manager's context open; the SDK requires that one task enters and exits it."""
        async with manager.run():
            ready.set()
            await self._over.wait()

    async def close(self) -> None:
        """Stop the manager."""
        self._over.set()
        if self._task is not None:
            await self._task


def _manager(call: CallTool) -> Any:
    make = _server_v1 if str(installed()).startswith("1.") else _server_v2
    module: Any = import_module("mcp.server.streamable_http_manager")
    return module.StreamableHTTPSessionManager(make(call), json_response=True, stateless=True)


def _server_v1(call: CallTool) -> Any:
    """Make a server of SDK 1.x, where handlers are registered with decorators."""
    types: Any = import_module("mcp.types")
    lowlevel: Any = import_module("mcp.server.lowlevel")
    server = lowlevel.Server("mnemark", version=__version__, instructions=INSTRUCTIONS)

    async def list_tools() -> Any:
        return [types.Tool.model_validate(tool) for tool in listed()]

    async def call_tool(name: str, arguments: dict[str, Any] | None) -> Any:
        found = await call(server.request_context.request, name, arguments or {})
        return types.CallToolResult.model_validate(found)

    server.list_tools()(list_tools)
    # The tools accept aliases and report errors themselves.
    server.call_tool(validate_input=False)(call_tool)
    return server


def _server_v2(call: CallTool) -> Any:
    """Make a server of SDK 2.x, where handlers are constructor arguments."""
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
