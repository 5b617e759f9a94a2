"""The daemon's web application: JSON API, hooks, MCP. Who may ask is the guard's business."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mnemark._version import __version__
from mnemark.errors import MnemarkError, UsageError
from mnemark.interfaces.http.bodies import ToolCall
from mnemark.interfaces.http.calls import CALLS, Call, status_of
from mnemark.interfaces.http.guard import Activity
from mnemark.interfaces.http.openapi import document
from mnemark.interfaces.http.pool import Workspaces
from mnemark.interfaces.mcp import sdk
from mnemark.interfaces.tools import BY_NAME
from mnemark.types import KINDS, ORIGINS

THREADS: Final = 8
"""Requests that are worked on at the same time; each thread keeps its own connection to an index."""
_HEADER: Final = "mnemark-workspace"

_log = logging.getLogger("mnemark.serve")
Lifespan = Callable[[], Any]
Endpoint = Callable[[Request], Awaitable[Response]]


class Api:
    """Answers requests about the workspaces of `workspaces`; work is done on threads."""

    def __init__(self, workspaces: Workspaces, activity: Activity, *, workspace: str | None = None) -> None:
        self.workspaces = workspaces
        self.activity = activity
        self._default = workspace
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="mnemark-request")
        self._sdk = sdk.installed()
        self._mcp = sdk.Endpoint(self._tool_for)
        self._decoders = {call.name: msgspec.json.Decoder(call.body) for call in CALLS}
        self._tool_body = msgspec.json.Decoder(ToolCall)

    def app(self, *around: Lifespan) -> Starlette:
        """The application; each of `around` is a context that is open while it runs."""
        routes = [
            Route("/health", _told(self._health), methods=["GET"]),
            Route("/openapi.json", _told(self._openapi), methods=["GET"]),
            Route("/hook/{event}", _told(self._hook), methods=["POST"]),
            Route("/v1/tools/{tool}", _told(self._tool), methods=["POST"]),
            *(Route(f"/v1/{call.name}", _told(self._answering(call)), methods=["POST"]) for call in CALLS),
            Route("/mcp", _Asgi(self._mcp_app), methods=["POST"]),
        ]

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with AsyncExitStack() as stack:
                stack.callback(self._close)
                stack.push_async_callback(self._mcp.close)
                for context in around:
                    await stack.enter_async_context(context())
                yield

        return Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _http_failure})

    def _close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.workspaces.close()

    async def work(self, job: Callable[[], Any]) -> Any:
        """Do something on one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, job)

    async def _health(self, _: Request) -> Response:
        return _json({
            "name": "mnemark", "version": __version__, "pid": os.getpid(),
            "workspaces": self.workspaces.count(), "running": self.activity.running,
            "served": self.activity.served, "mcp": self._sdk,
        })  # fmt: skip

    async def _openapi(self, _: Request) -> Response:
        return _json(document())

    def _answering(self, call: Call) -> Endpoint:
        decoder = self._decoders[call.name]

        async def answer(request: Request) -> Response:
            body = _decoded(decoder, await request.body())

            def job() -> bytes:
                with self.workspaces.lease(body.workspace) as opened:
                    return msgspec.json.encode(call.run(opened, body), enc_hook=_plain)

            return Response(await self.work(job), media_type="application/json")

        return answer

    async def _tool(self, request: Request) -> Response:
        body = _decoded(self._tool_body, await request.body())
        name = request.path_params["tool"]
        if name not in BY_NAME:
            raise HTTPException(404, f"there is no tool {name!r}; tools: {', '.join(BY_NAME)}")
        return _json(await self.work(lambda: self._run_tool(body.workspace, name, body.arguments)))

    def _run_tool(self, workspace: object, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        from mnemark.interfaces.tools_run import call

        with self.workspaces.lease(workspace) as opened:
            return call(opened.memory, name, arguments)

    async def _hook(self, request: Request) -> Response:
        event = request.path_params["event"]
        body = _decoded(msgspec.json.Decoder(dict[str, Any]), await request.body())
        return _json(await self.work(lambda: self._run_hook(event, body)))

    def _run_hook(self, event: str, body: dict[str, Any]) -> Any:
        from mnemark.agent.hook.warm import handle

        with self.workspaces.lease(body.get("workspace")) as opened:
            return handle(opened, event, body)

    async def _mcp_app(self, scope: Any, receive: Any, send: Any) -> None:
        if self._sdk is None:
            missing = (
                'MCP over HTTP needs the official SDK: pip install "mnemark[mcp]"; `mnemark mcp` does not'
            )
            await _error(501, "not_installed", missing)(scope, receive, send)
            return
        await self._mcp.handle(scope, receive, send)

    async def _tool_for(self, request: Any, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A tool called through the SDK. Which workspace is in the address or a header."""
        from mnemark.interfaces.tools_run import failed

        workspace = self._default
        if request is not None:
            workspace = request.query_params.get("workspace") or request.headers.get(_HEADER) or workspace
        if workspace is None:
            return failed("no workspace given; add ?workspace=/absolute/path to the address of this server")
        try:
            found = await self.work(lambda: self._run_tool(workspace, name, arguments))
        except MnemarkError as error:
            return failed(str(error))
        except Exception as bug:  # noqa: BLE001 - an interface: told and logged
            _log.exception("unexpected in %s", name)
            return failed(f"unexpected {type(bug).__name__} in {name}; see the daemon's log")
        return dict(found)


class _Asgi:
    """Marks a function as an ASGI application for the router."""

    def __init__(self, run: Callable[[Any, Any, Any], Any]) -> None:
        self._run = run

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._run(scope, receive, send)


def _decoded(decoder: msgspec.json.Decoder[Any], data: bytes) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = str(error).replace("`", "")
        valid = ORIGINS if "$.origin" in text else KINDS if "$.kind" in text else ()
        named = f" (must be one of {', '.join(valid)})" if valid and text.startswith("Invalid enum") else ""
        raise UsageError(f"invalid request: {text}{named}; see /openapi.json for all fields") from None


def _plain(value: Any) -> Any:
    """What JSON does not know: named tuples are known, sets and paths become lists and text."""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return str(value)


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value, enc_hook=_plain), media_type="application/json")


def _error(status: int, code: str, message: str) -> Response:
    said = {"error": {"code": code, "message": message}}
    headers = {"retry-after": "1"} if code == "busy" else {}
    return Response(msgspec.json.encode(said), status, headers, media_type="application/json")


def _told(endpoint: Endpoint) -> Endpoint:
    """The endpoint; what goes wrong becomes an answer, and what nobody expected is in the log."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except HTTPException:
            raise
        except MnemarkError as error:
            status, code = status_of(error)
            return _error(status, code, str(error))
        except Exception as bug:  # noqa: BLE001 - an interface: told and logged
            _log.exception("unexpected in %s", request.url.path)
            what = f"unexpected {type(bug).__name__}; see the daemon's log"
            return _error(500, "unexpected", what)

    return answer


async def _http_failure(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    codes = {404: "not_found", 405: "method"}
    said = (
        error.detail if error.status_code != 404 or error.detail != "Not Found" else "there is no such path"
    )
    return _error(error.status_code, codes.get(error.status_code, "http"), said)
