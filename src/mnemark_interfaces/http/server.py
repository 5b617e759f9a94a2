"""Run the daemon: one per user, announced by a file and a lock, ending when idle or signalled.

Once a night, at the configured time, it consolidates the workspaces that are open.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mnemark._version import __version__
from mnemark.errors import BusyError, MnemarkError, UsageError
from mnemark.files import platform
from mnemark.retrieval.searcher import load_words
from mnemark_agents import daemon
from mnemark_agents.upkeep import keep_up
from mnemark_interfaces.http import door_file
from mnemark_interfaces.http.app import Api
from mnemark_interfaces.http.door import Door
from mnemark_interfaces.http.guard import BODY_SECONDS, Activity, Guard
from mnemark_interfaces.http.pool import Lanes, Workspaces

IDLE_MINUTES: Final = 30.0
HEAD_SECONDS: Final = 10.0
"""Time limit for the head of a request."""
DRAIN_SECONDS: Final = 10
SEND_SECONDS: Final = 30.0
"""Time limit for a client to read an answer."""
_START_WAIT: Final = 15.0
"""Seconds that a start waits for another daemon that is starting or draining."""
_MOST_CONNECTIONS: Final = 200
_TICK: Final = 1.0
_TRIM_TICKS: Final = 10
_LOOK_TICKS: Final = 30
_LOOK_SECONDS: Final = 60.0
_QUIET_SECONDS: Final = 300.0
"""Seconds for which a workspace must be unused, so that no agent is working there."""

_log = logging.getLogger("mnemark.serve")


class Settings(NamedTuple):
    """Options of a daemon."""

    port: int = 0
    """0: the one that this user's daemon had before, or a free one."""
    idle_minutes: float = IDLE_MINUTES
    """Minutes without a request after which it ends; 0: never."""
    workspace: Path | None = None
    """Default workspace of MCP clients."""
    allowed: tuple[Path, ...] = ()
    """Folders that workspaces must lie in; empty: any."""
    nightly: bool = True
    watching: bool = True


class RunsAlreadyError(MnemarkError):
    """Another daemon of this user is running."""

    def __init__(self, found: daemon.Daemon) -> None:
        super().__init__(
            f"a daemon is already running: version {found.version}, process {found.pid}, at {found.url}"
        )
        self.daemon = found


class _Protocol(H11Protocol):
    """HTTP with time limits for receiving the head of a request and for sending its answer."""

    _head: asyncio.TimerHandle | None = None
    _unsent: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        # Pause writing as soon as anything is unsent, to start the timer: uvicorn considers the request done
        # once the answer is written, and a closing connection stays open until the client has read all.
        transport.set_write_buffer_limits(high=0)
        super().connection_made(transport)
        self._head = self.loop.call_later(HEAD_SECONDS, self._too_slow)

    def data_received(self, data: bytes) -> None:
        waiting = not self._answering()
        super().data_received(data)
        under_way = self._answering()
        if under_way and self._head is not None:
            self._head.cancel()
            self._head = None
        elif waiting and not under_way and self._head is None:  # the head of a further request has begun
            self._head = self.loop.call_later(HEAD_SECONDS, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._head, self._unsent):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unsent = self.loop.call_later(SEND_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        if self._unsent is not None:
            self._unsent.cancel()
        super().resume_writing()

    def _too_slow(self) -> None:
        self._head = None
        if not self._answering():
            self.transport.abort()

    def _answering(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete


class _Server(uvicorn.Server):
    """A server that withdraws its announcement before it drains, so that clients no longer find it."""

    def __init__(self, config: uvicorn.Config, withdraw: Callable[[], None]) -> None:
        super().__init__(config)
        self._withdraw = withdraw

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._withdraw()
        await super().shutdown(sockets)


def serve(settings: Settings, *, on_ready: Callable[[daemon.Daemon], None]) -> None:
    """Run until idle, SIGTERM or Ctrl-C, then finish running requests; call `on_ready` when it listens.

    Raises:
        RunsAlreadyError: this user has a running daemon.
        UsageError: the port is taken.
    """
    platform.give_back_memory()
    folder = platform.state_folder()
    platform.private_folder(folder)
    with contextlib.ExitStack() as stack:
        _lock(stack, folder / daemon.LOCK)
        (folder / daemon.STATE).unlink(missing_ok=True)  # left by a killed daemon
        load_words()  # who finds a daemon finds one that answers in time
        kept = door_file.load()
        listener = stack.enter_context(_listening(settings.port, kept))
        kept.listens_at(port := listener.getsockname()[1], asked=bool(settings.port))
        door_file.save(kept)
        mine = daemon.Daemon(f"http://127.0.0.1:{port}", secrets.token_urlsafe(32), os.getpid(), __version__)
        _run(settings, mine, listener, Door(kept, save=door_file.save), on_ready)


def _lock(stack: contextlib.ExitStack, lock: Path) -> None:
    """Hold the lock for as long as `stack` is open; wait for a daemon that is draining."""
    deadline = time.monotonic() + _START_WAIT
    while True:
        try:
            stack.enter_context(platform.locked(lock, os.O_RDWR | os.O_CREAT, timeout=0.2))
        except BusyError:
            found = daemon.find(any_version=True)
            if found is not None:
                raise RunsAlreadyError(found) from None
            if time.monotonic() > deadline:
                raise BusyError(
                    f"another daemon holds {lock} but does not listen; stop it, then start again"
                ) from None
        else:
            return


@contextlib.contextmanager
def _listening(port: int, kept: door_file.DoorFile) -> Iterator[socket.socket]:
    # asyncio sets TCP_NODELAY on what it accepts only where the protocol is named; without it a client that
    # keeps its connection waits 40 ms for the second half of each answer.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        if sys.platform != "win32":  # on Windows it would let another program take the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(listener, port, (port,) if port else (*kept.ports(), 0))
        listener.listen(128)
        yield listener


def _bind(listener: socket.socket, asked: int, ports: Iterable[int]) -> None:
    """Bind to the first port that is free; raise UsageError where none is."""
    for port in ports:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            failed = error
        else:
            return
    raise UsageError(
        f"cannot listen on port {asked}: {failed.strerror}; leave out --port to use any free port"
    ) from failed


def _run(
    settings: Settings,
    mine: daemon.Daemon,
    listener: socket.socket,
    door: Door,
    on_ready: Callable[[daemon.Daemon], None],
) -> None:
    activity = Activity()
    workspaces = Workspaces(allowed=settings.allowed, watching=settings.watching)
    chosen = None if settings.workspace is None else str(settings.workspace)
    api = Api(workspaces, activity, workspace=chosen, door=door)

    @contextlib.asynccontextmanager
    async def alive() -> AsyncIterator[None]:
        platform.write_private(daemon.state_file(), json.dumps(mine._asdict()).encode())
        on_ready(mine)
        tasks = [asyncio.create_task(_watch_over(server, activity, settings, mine))]
        if settings.nightly:
            tasks.append(asyncio.create_task(Nightly(workspaces, api.lanes).run()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    config = uvicorn.Config(
        _guarded(api, alive, mine), http=_Protocol, ws="none", lifespan="on", log_config=None,
        access_log=False, limit_concurrency=_MOST_CONNECTIONS, timeout_keep_alive=30, server_header=False,
        date_header=False, timeout_graceful_shutdown=DRAIN_SECONDS,
        h11_max_incomplete_event_size=16_384, proxy_headers=False,
    )  # fmt: skip
    server = _Server(config, lambda: _withdraw(mine))
    with _quiet_end():
        server.run(sockets=[listener])
    if not server.started:
        raise MnemarkError("the daemon could not start; see its messages above")


def _guarded(api: Api, alive: Callable[[], Any], mine: daemon.Daemon) -> Guard:
    """Return the application, which runs inside of `alive`, behind its guard."""
    port = mine.url.rpartition(":")[2]
    return Guard(
        api.app(alive),
        token=mine.token,
        hosts=frozenset({f"127.0.0.1:{port}", f"localhost:{port}"}),
        activity=api.activity,
        door=api.door,
        refused=api.web.refused if api.web is not None else None,
        body_seconds=BODY_SECONDS,
    )


@contextlib.contextmanager
def _quiet_end() -> Iterator[None]:
    """Ignore the signal that uvicorn sends itself once more after draining."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _withdraw(mine: daemon.Daemon) -> None:
    """Remove the announcement, unless another daemon has replaced it."""
    if _is_announced(mine):
        daemon.state_file().unlink(missing_ok=True)


def _is_announced(mine: daemon.Daemon) -> bool:
    found = daemon.find(any_version=True)
    return found is not None and found.token == mine.token


async def _watch_over(server: Any, activity: Activity, settings: Settings, mine: daemon.Daemon) -> None:
    """Stop the server when it is idle or its announcement is gone."""
    limit = settings.idle_minutes * 60
    for ticks in itertools.count(1):
        await asyncio.sleep(min(_TICK, limit / 4) if limit else _TICK)
        if ticks % _TRIM_TICKS == 0:
            await asyncio.to_thread(platform.trim_memory)
        if limit and activity.idle() > limit:
            _log.info("idle for %.0f minutes: ending", settings.idle_minutes)
            server.should_exit = True
        elif ticks % _LOOK_TICKS == 0 and not await asyncio.to_thread(_is_announced, mine):
            _log.warning("%s is gone: nobody can find this daemon, ending", daemon.state_file())
            server.should_exit = True


class Nightly:
    """Consolidate open workspaces that are not in use."""

    def __init__(self, workspaces: Workspaces, lanes: Lanes) -> None:
        self._workspaces = workspaces
        self._lanes = lanes

    async def run(self) -> None:
        """Check all unused workspaces every minute until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for root in self._workspaces.unused(_QUIET_SECONDS):
                await self._lanes.run(str(root), partial(self.visit, root))

    def visit(self, root: Path, now: datetime | None = None) -> bool:
        """Consolidate a workspace if due and return whether it was; a failure is retried the next day."""
        try:
            with self._workspaces.lease(str(root)) as opened:
                if not keep_up(opened.memory, now):
                    return False
        except MnemarkError as error:
            _log.warning("%s was not consolidated: %s", root, error)
            return False
        _log.info("%s was consolidated", root)
        return True
