"""Run a node: HTTP and MCP for the tenants of a database."""

import asyncio
import contextlib
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mnemark.errors import MnemarkError, UsageError
from mnemark.files import platform
from mnemark.retrieval.searcher import load_words
from mnemark_agents.server import WHO
from mnemark_interfaces.http.app import Api
from mnemark_interfaces.http.guard import Activity
from mnemark_server import logs
from mnemark_server.access import Access, Keys
from mnemark_server.database import Database, connect
from mnemark_server.guard import ACCESS, KeyGuard
from mnemark_server.issuer import METADATA, Issuer
from mnemark_server.limits import Limits
from mnemark_server.metrics import Metrics
from mnemark_server.migrations import lacking, missing
from mnemark_server.moves import Moves
from mnemark_server.nightly import Nightly
from mnemark_server.node import MOST_OPEN, TEMPORARY, Tenants, remove_left
from mnemark_server.pages import guarded, site_of

PORT: Final = 8_765
DRAIN_SECONDS: Final = 20
_MOST_CONNECTIONS: Final = 1_000
_SWITCH_SECONDS: Final = 0.0005
"""How long a thread computes while another waits for its turn. A search waits for one some twenty times: with
Python's 5 ms, an erasure in one memory held up those of all others by a tenth of a second."""
_BACKLOG: Final = 2_048
"""Connections that wait to be accepted: as many as uvicorn lets wait."""


class Settings(NamedTuple):
    """Options of a node."""

    database: str
    host: str = "127.0.0.1"
    port: int = PORT
    folder: Path | None = None
    """Where the folders of tenants are made; a temporary one by default. It is this node's alone."""
    most_open: int = MOST_OPEN
    url: str = ""
    """The address under which people and programs reach this server; empty: any name of it, without TLS."""
    issuer: str = ""
    """The server of identities whose tokens are accepted beside keys; with `url`."""


class Node:
    """What a node consists of."""

    def __init__(self, settings: Settings, home: Path) -> None:
        self._settings = settings
        self._home = home
        self.database = Database(settings.database)
        self.metrics = Metrics()
        self.tenants = Tenants(
            self.database, home, most_open=settings.most_open, filling=self.metrics.filling
        )
        self.activity = Activity()
        self.draining = False
        self.nightly = Nightly(self.database, self.tenants)
        self.issuer = Issuer(settings.issuer, settings.url) if settings.issuer else None
        self._api = Api(self.tenants, self.activity, pages=False)

    def app(self, around: Callable[[], Any]) -> logs.RequestLog:
        """Return the application, which runs inside of `around`, behind its guard."""
        app = self._api.app(around)
        moves = Moves(self.database, self.tenants, self._api.lanes, self._home)
        app.routes[:0] = [
            *moves.routes(),
            Route("/livez", self._live, methods=["GET"]), Route("/readyz", self._ready, methods=["GET"]),
            Route("/metrics", self._metrics, methods=["GET"]), Route(WHO, _who, methods=["POST"]),
            *(Route(f"{METADATA}{path}", self._resource, methods=["GET"]) for path in ("", "/mcp")),
        ]  # fmt: skip
        keys, limits = Keys(self.database, self.issuer), Limits(self.database)
        pages = guarded(
            app, url=self._settings.url, database=self.database, keys=keys, limits=limits,
            workspaces=self.tenants, lanes=self._api.lanes, activity=self.activity, private=str(self._home),
        )  # fmt: skip
        guard = KeyGuard(
            app, keys, limits, self.metrics, self.activity, pages=pages,
            challenge=self.issuer.challenge() if self.issuer is not None else "Bearer",
        )  # fmt: skip
        return logs.RequestLog(guard)

    async def _live(self, _: Request) -> Response:
        return Response("alive\n", media_type="text/plain")

    async def _ready(self, _: Request) -> Response:
        reason = "draining" if self.draining else await asyncio.to_thread(self._not_ready)
        return Response(f"{reason or 'ready'}\n", 503 if reason else 200, media_type="text/plain")

    def _not_ready(self) -> str:
        try:
            with self.database.owning() as connection:
                steps = lacking(connection)  # a newer version may migrate while this node goes on
        except MnemarkError as error:
            return str(error)
        return "the database is not migrated; run `mnemark db migrate`" if steps else ""

    async def _resource(self, _: Request) -> Response:
        if self.issuer is None:
            return Response("this server accepts keys alone\n", 404, media_type="text/plain")
        return Response(msgspec.json.encode(self.issuer.metadata()), media_type="application/json")

    async def _metrics(self, _: Request) -> Response:
        text = await asyncio.to_thread(self.metrics.text, self.tenants, self.database, self.activity)
        return Response(text, media_type="text/plain; version=0.0.4")


async def _who(request: Request) -> Response:
    """Say whose memory a key opens, and what it may do there."""
    key: Access = request.scope[ACCESS]
    return JSONResponse({"memory": key.name, "scopes": key.scopes})


class _Server(uvicorn.Server):
    """A server that ends with `run`: uvicorn ends the process by its signal, before it has cleaned up."""

    def __init__(self, config: uvicorn.Config, node: Node, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._node = node
        self._on_ready = on_ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: Any = None) -> None:
        self._node.draining = True
        await super().shutdown(sockets)


def serve(settings: Settings, *, on_ready: Callable[[str], None]) -> None:
    """Run until SIGTERM or Ctrl-C, then finish running requests; call `on_ready` with the address.

    Raises:
        UsageError: the public address is none, or the node cannot listen where it is told to.
        UnavailableError: the database does not answer.
        MnemarkError: it is not migrated.
    """
    platform.give_back_memory()
    sys.setswitchinterval(_SWITCH_SECONDS)
    site_of(settings.url)
    with connect(settings.database) as connection:
        if missing(connection):
            raise MnemarkError("the database is not migrated; run `mnemark db migrate`")
    logs.start()
    load_words()
    remove_left(Path(tempfile.gettempdir()))
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(_listening(settings.host, settings.port))
        home = settings.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=TEMPORARY)))
        node = Node(settings, home)
        stack.callback(node.database.close)

        @contextlib.asynccontextmanager
        async def alive() -> AsyncIterator[None]:
            node.nightly.start()
            yield
            await asyncio.to_thread(node.nightly.close)

        config = uvicorn.Config(
            node.app(alive), host=settings.host, port=settings.port, ws="none", lifespan="on",
            log_config=None, access_log=False, limit_concurrency=_MOST_CONNECTIONS, server_header=False,
            date_header=False, timeout_keep_alive=30, timeout_graceful_shutdown=DRAIN_SECONDS,
            proxy_headers=False,
        )  # fmt: skip
        server = _Server(config, node, lambda: on_ready(f"http://{settings.host}:{settings.port}"))
        server.run(sockets=[listener])
        if not server.started:
            raise MnemarkError("the node could not start; see the messages above")


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """Have a socket that listens: uvicorn logs what is wrong with an address, and ends the process."""
    try:
        ((family, kind, protocol, _, place), *_) = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )
        with contextlib.ExitStack() as stack:
            found = stack.enter_context(socket.socket(family, kind, protocol))
            if sys.platform != "win32":  # on Windows it would let another program take the port
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(place)
            found.listen(_BACKLOG)
            stack.pop_all()
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}, port {port}: {error.strerror}; give others with --host and --port"
        ) from error
    with found:
        yield found
