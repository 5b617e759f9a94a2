"""Calls every memory tool with the official Python client, of SDK 1.x or 2.x, over stdio and HTTP.

Runs in an environment where only the SDK is installed; `tools/conformance.py clients` makes it and sets
SERVER (the Python that has mnemark), WORKSPACE, URL and TOKEN.
"""

import asyncio
import os
from importlib import import_module, metadata
from typing import Any

MAJOR = int(metadata.version("mcp").split(".")[0])
WORKSPACE = os.environ["WORKSPACE"]


def calls(run: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls of one run; what an earlier run corrected does not come back, so each has a value."""
    return [
        ("memory_write", {"content": "The backup runs at noon. 备份在中午。"}),
        ("memory_search", {"query": "backup", "maxResults": 3, "minScore": 0, "corpus": "memory"}),
        ("memory_search", {"q": "备份什么时候", "max_results": "3"}),
        ("memory_get", {"path": "memory/2026-02-13.md", "from": 1, "lines": 3}),
        ("memory_remember", {"key": "editor", "value": f"vim {run}"}),
        ("memory_correct", {"fact": f"vim {run}", "value": f"Helix {run}"}),
        ("memory_timeline", {"limit": 5}),
        ("memory_status", {}),
        ("memory_forget", {"query": "backup noon", "dryRun": True}),
    ]


async def try_all(session: Any, how: str) -> None:
    """List the tools, call each, and check what comes back."""
    listed = await session.list_tools()
    names = sorted(tool.name for tool in listed.tools)
    to_call = calls(f"{MAJOR} {how}")
    assert names == sorted({name for name, _ in to_call}), names
    assert all(tool.annotations is not None for tool in listed.tools)
    for name, arguments in to_call:
        result = await session.call_tool(name, arguments)
        error = result.isError if MAJOR == 1 else result.is_error
        data = result.structuredContent if MAJOR == 1 else result.structured_content
        assert not error, (name, result.content)
        assert data, name
        assert result.content[0].text, name
        if name == "memory_search":
            assert data["results"], (arguments, data)
            assert set(data["results"][0]) >= {"path", "startLine", "endLine", "score", "snippet", "source"}
    missing = await session.call_tool("memory_get", {"path": "../outside"})
    assert missing.isError if MAJOR == 1 else missing.is_error
    print(f"  SDK {metadata.version('mcp')} over {how}: {len(names)} tools, all called")


async def first() -> None:
    """With SDK 1.x."""
    stdio: Any = import_module("mcp.client.stdio")
    http: Any = import_module("mcp.client.streamable_http")
    mcp: Any = import_module("mcp")
    server = stdio.StdioServerParameters(
        command=os.environ["SERVER"], args=["-m", "mnemark", "mcp", "-w", WORKSPACE], env=dict(os.environ)
    )
    async with stdio.stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
        await session.initialize()
        await try_all(session, "stdio")
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    async with (
        http.streamablehttp_client(os.environ["URL"], headers=headers) as (read, write, _),
        mcp.ClientSession(read, write) as session,
    ):
        await session.initialize()
        await try_all(session, "HTTP")


async def second() -> None:
    """With SDK 2.x: the new way of the protocol, and the handshake."""
    stdio: Any = import_module("mcp.client.stdio")
    http: Any = import_module("mcp.client.streamable_http")
    client: Any = import_module("mcp.client")
    httpx: Any = import_module("httpx2")
    for mode in ("auto", "legacy"):
        server = stdio.StdioServerParameters(
            command=os.environ["SERVER"], args=["-m", "mnemark", "mcp", "-w", WORKSPACE], env=dict(os.environ)
        )
        async with client.Client(stdio.stdio_client(server), mode=mode) as session:
            await try_all(session, f"stdio, {mode}, {session.protocol_version}")
        headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
        async with (
            httpx.AsyncClient(headers=headers) as connection,
            client.Client(
                http.streamable_http_client(os.environ["URL"], http_client=connection), mode=mode
            ) as session,
        ):
            await try_all(session, f"HTTP, {mode}, {session.protocol_version}")


asyncio.run(first() if MAJOR == 1 else second())
