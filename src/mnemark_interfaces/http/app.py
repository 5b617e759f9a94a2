"""Route the daemon's HTTP requests: JSON API, hooks, MCP. Access control is in `guard`."""

import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mnemark._version import __version__
from mnemark.errors import MnemarkError, UsageError
from mnemark.files.disk_errors import shortage
from mnemark.types import KINDS, ORIGINS
from mnemark_agents.hook.warm import handle
from mnemark_interfaces.http.bodies import Call, TicketBody, ToolCallBody, WaitingBody
from mnemark_interfaces.http.calls import CALLS, ClientQuery, answer_query, run, status_of
from mnemark_interfaces.http.door import UI, Door
from mnemark_interfaces.http.guard import SESSION, Activity
from mnemark_interfaces.http.pool import Lanes, Workspaces
from mnemark_interfaces.mcp import sdk
from mnemark_interfaces.tools import BY_NAME, failed
from mnemark_interfaces.tools_run import call

_HEADER: Final = "mnemark-workspace"
_PAGES: Final = "mnemark_faces.web.app"

_log = logging.getLogger("mnemark.serve")
Endpoint = Callable[[Request], Awaitable[Response]]


class Pages(Protocol):
    """The pages for browsers, which lie outside of `mnemark`."""

    def routes(self) -> list[Route]:
        """Return their routes."""

    def ticket(self, root: Path) -> tuple[str, str]:
        """Return a ticket that lets a browser in, at a workspace, and the address to keep of that."""

    def refused(self, message: str, accepted: str, target: str = "") -> str:
        """Return a page that says why a browser is not let in, in one of its languages.

        Where it may come in with a ticket, that leads to `target`.
        """

    def close(self) -> None:
        """End their background work."""


class Api:
    """Endpoints on the workspaces of a pool, which run on worker threads."""

    def __init__(
        self,
        workspaces: Workspaces,
        activity: Activity,
        *,
        workspace: str | None = None,
        door: Door | None = None,
        pages: bool = True,
    ) -> None:
        self.workspaces = workspaces
        self.activity = activity
        self._default = workspace
        self.lanes = Lanes()
        self.door = door or Door()
        self.web = self._pages() if pages and find_spec("jinja2") is not None else None
        self._sdk = sdk.installed()
        self._mcp = sdk.Endpoint(self._call_from_sdk)

    def app(self, around: Callable[[], Any]) -> Starlette:
        """Build the application; it runs inside the context manager returned by `around`."""
        routes = [
            Route("/health", with_errors(self._health), methods=["GET"]),
            Route("/openapi.json", with_errors(self._openapi), methods=["GET"]),
            Route("/query", with_errors(self._query), methods=["POST"]),
            Route("/hook/{event}", with_errors(self._hook), methods=["POST"]),
            Route("/v1/tools/{tool}", with_errors(self._tool), methods=["POST"]),
            *(
                Route(f"/v1/{call.name}", with_errors(self._endpoint(call)), methods=["POST"])
                for call in CALLS
            ),
            Route("/v1/ui/ticket", with_errors(self._ticket), methods=["POST"]),
            Route("/v1/ui/sign-out", with_errors(self._sign_out), methods=["POST"]),
            Route("/v1/ui/waiting", with_errors(self._waiting), methods=["POST"]),
            Route("/mcp", self._mcp if self._sdk else _no_mcp, methods=["POST"]),
            *(self.web.routes() if self.web is not None else [Route("/ui", _no_pages)]),
        ]

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with AsyncExitStack() as stack:
                stack.callback(self._close)
                stack.push_async_callback(self._mcp.close)
                await stack.enter_async_context(around())
                yield

        return Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _http_failure})

    def _pages(self) -> Pages:
        pages: Pages = import_module(_PAGES).Web(
            self.door, lease=self.workspaces.memory, work=self.lanes.run, opened=self.workspaces.opened,
            status_of=status_of, session_key=SESSION, confined=self.workspaces.confined,
        )  # fmt: skip
        return pages

    async def _ticket(self, request: Request) -> Response:
        body = _decoded(msgspec.json.Decoder(TicketBody), await request.body())
        if self.web is None:
            return await _no_pages(request)
        web = self.web

        def job() -> tuple[str, str]:
            return web.ticket(self.workspaces.root_of(body.workspace))

        ticket, bookmark = await self.lanes.run(body.workspace, job)
        moved = {"moved_from": port} if (port := self.door.moved_from()) else {}
        return _json({"path": f"{UI}/enter", "ticket": ticket, "bookmark": bookmark, **moved})

    async def _sign_out(self, _: Request) -> Response:
        return _json({"ended": self.door.sign_out()})

    async def _waiting(self, request: Request) -> Response:
        body = _decoded(msgspec.json.Decoder(WaitingBody), await request.body())
        return _json({"waiting": self.door.is_waiting(body.ticket)})

    def _close(self) -> None:
        self.lanes.close()
        if self.web is not None:
            self.web.close()
        self.workspaces.close()

    async def _health(self, _: Request) -> Response:
        return _json({
            "name": "mnemark", "version": __version__, "pid": os.getpid(),
            "workspaces": self.workspaces.count(), "running": self.activity.running,
            "served": self.activity.served, "mcp": self._sdk,
        })  # fmt: skip

    async def _openapi(self, _: Request) -> Response:
        from mnemark_interfaces.http.document import openapi  # and all that can be answered

        return _json(openapi())

    def _endpoint(self, call: Call) -> Endpoint:
        decoder = msgspec.json.Decoder(call.body)

        async def answer(request: Request) -> Response:
            body = _decoded(decoder, await request.body())

            def job() -> tuple[Response, bool]:
                with self.workspaces.lease(body.workspace) as opened:
                    found = run(call, opened, body)
                    return _json(found), bool(getattr(found, "degraded", ()))

            done: tuple[Response, bool] = await self.lanes.run(body.workspace, job)
            self.activity.degraded += done[1]
            return done[0]

        return answer

    async def _tool(self, request: Request) -> Response:
        body = _decoded(msgspec.json.Decoder(ToolCallBody), await request.body())
        name = request.path_params["tool"]
        if name not in BY_NAME:
            raise HTTPException(404, f"there is no tool {name!r}; tools: {', '.join(BY_NAME)}")
        return _json(
            await self.lanes.run(
                body.workspace, lambda: self._run_tool(body.workspace, name, body.arguments, body.folder)
            )
        )

    def _run_tool(
        self, workspace: object, name: str, arguments: Mapping[str, Any], folder: str = ""
    ) -> dict[str, Any]:
        with self.workspaces.lease(workspace) as opened:
            return call(opened.memory, name, arguments, folder=folder)

    async def _query(self, request: Request) -> Response:
        query = _decoded(msgspec.json.Decoder(ClientQuery), await request.body())
        return _json(
            await self.lanes.run(
                query.workspace or query.folder, lambda: answer_query(self.workspaces, query)
            )
        )

    async def _hook(self, request: Request) -> Response:
        event = request.path_params["event"]
        body = _decoded(msgspec.json.Decoder(dict[str, Any]), await request.body())
        return _json(await self.lanes.run(body.get("workspace"), lambda: self._run_hook(event, body)))

    def _run_hook(self, event: str, body: dict[str, Any]) -> Any:
        with self.workspaces.lease(body.get("workspace")) as opened:
            return handle(opened, event, body)

    async def _call_from_sdk(self, request: Any, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool called through the SDK; the workspace is in the address or a header."""
        workspace = self._default
        if request is not None:
            workspace = request.query_params.get("workspace") or request.headers.get(_HEADER) or workspace
        if workspace is None:
            return failed("no workspace given; add ?workspace=/absolute/path to the address of this server")
        try:
            found: dict[str, Any] = await self.lanes.run(
                workspace, lambda: self._run_tool(workspace, name, arguments)
            )
        except MnemarkError as error:
            return failed(str(error))
        except Exception as bug:  # noqa: BLE001 - an interface: reported and logged
            _log.exception("unexpected in %s", name)
            return failed(shortage(bug) or f"unexpected {type(bug).__name__} in {name}; see the daemon's log")
        return found


async def _no_pages(_: Request) -> Response:
    return _error(501, "not_installed", 'pages need one more package; run: pip install "mnemark[serve]"')


async def _no_mcp(_: Request) -> Response:
    missing = 'MCP over HTTP needs the official SDK: pip install "mnemark[mcp]"; `mnemark mcp` does not'
    return _error(501, "not_installed", missing)


def _decoded(decoder: msgspec.json.Decoder[Any], data: bytes) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = str(error).replace("`", "")
        valid = ORIGINS if "$.origin" in text else KINDS if "$.kind" in text else ()
        named = f" (must be one of {', '.join(valid)})" if valid and text.startswith("Invalid enum") else ""
        raise UsageError(f"invalid request: {text}{named}; see /openapi.json for all fields") from None


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else str(value)


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value, enc_hook=_plain), media_type="application/json")


def _error(status: int, code: str, message: str) -> Response:
    data = msgspec.json.encode({"error": {"code": code, "message": message}})
    headers = {"retry-after": "1"} if code in {"busy", "unavailable"} else {}
    return Response(data, status, headers, media_type="application/json")


def with_errors(endpoint: Endpoint) -> Endpoint:
    """Wrap an endpoint: convert errors to error responses, and log unexpected ones."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except HTTPException:
            raise
        except MnemarkError as error:
            status, code = status_of(error)
            return _error(status, code, str(error))
        except Exception as bug:  # noqa: BLE001 - an interface: reported and logged
            _log.exception("unexpected in %s", request.url.path)
            return _error(
                500, "unexpected", shortage(bug) or f"unexpected {type(bug).__name__}; see the daemon's log"
            )

    return answer


async def _http_failure(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    codes = {404: "not_found", 405: "method"}
    message = "there is no such path" if error.detail == "Not Found" else error.detail
    return _error(error.status_code, codes.get(error.status_code, "http"), message)
