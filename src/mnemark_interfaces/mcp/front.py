"""Serve MCP on stdin and stdout (`mnemark mcp`), passing tool calls to the daemon.

Imports stay light: `initialize` and `tools/list` are answered from a table. The daemon is started meanwhile
and runs the tools; where there is none, or the connection ends, they run in this process.
"""

import os
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from mnemark.errors import MnemarkError, NotFoundError
from mnemark.files.disk_errors import shortage
from mnemark_agents import daemon
from mnemark_interfaces.mcp import protocol
from mnemark_interfaces.process import SEARCH, load
from mnemark_interfaces.tools import BY_NAME, failed

if TYPE_CHECKING:
    import subprocess

    from mnemark.memory.client import Client
    from mnemark.memory.memory import Memory

MAX_LINE: Final = 16 * 1024 * 1024
"""Maximum size of a message."""
_AT_ONCE: Final = 8
"""Maximum number of concurrent tool calls."""
_CALL_SECONDS: Final = 60.0
_START_SECONDS: Final = 5.0
"""Seconds that a call waits for a daemon that was just started."""
_AGAIN_SECONDS: Final = 60.0
"""Minimum seconds between two starts of a daemon."""
_POLL: Final = 0.05


class Front:
    """A connection with one client."""

    def __init__(
        self, workspace: Path | None, *, alone: bool, source: BinaryIO, target: BinaryIO,
        server: "Client | None" = None,
    ) -> None:  # fmt: skip
        self._server = server
        self._given = workspace
        self._alone = alone
        self._source = source
        self._target = target
        self._writing = threading.Lock()
        self._opening = threading.Lock()
        self._starting = threading.Lock()
        self._folder = _folder()
        self._memory: Memory | None = None
        self._root: Path | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._asked = 0.0
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._running: dict[Any, threading.Thread] = {}
        self._cancelled: set[Any] = set()

    def run(self) -> None:
        """Answer messages until the end of input, then finish running calls."""
        while line := self._source.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                while (rest := self._source.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    pass
                error = protocol.RpcError(
                    protocol.PARSE_ERROR, f"a message must not be longer than {MAX_LINE:,} bytes"
                )
                self._send(protocol.failure(None, error))
            elif line.strip():
                self._handle_line(line)
        for thread in list(self._running.values()):
            thread.join()
        if self._memory is not None:
            self._memory.close()

    def _handle_line(self, line: bytes) -> None:
        try:
            message = protocol.decode(line)
        except protocol.RpcError as error:
            self._send(protocol.failure(None, error))
            return
        if isinstance(message, list):  # a batch, as revision 2025-03-26 allows it
            self._handle_batch(message)
        else:
            self._handle(message)

    def _handle_batch(self, messages: list[Any]) -> None:
        if not messages:
            empty = protocol.RpcError(protocol.INVALID_REQUEST, "an empty batch")
            self._send(protocol.failure(None, empty))
        found = []
        for message in messages:
            if (invalid := _invalid(message)) is not None:
                found.append(invalid)
            elif protocol.is_request(message):
                found.append(protocol.answer(message, self._call))
        if found:
            self._send(found)

    def _handle(self, message: Any) -> None:
        if (invalid := _invalid(message)) is not None:
            self._send(invalid)
        elif not protocol.is_request(message):
            self._handle_notification(message)
        elif message["method"] == "tools/call":
            self._start_call(message)
        else:
            self._send(protocol.answer(message, self._call))
            if message["method"] == "tools/list":
                threading.Thread(target=self._prepare, name="mnemark-start", daemon=True).start()

    def _handle_notification(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            identifier = params.get("requestId")
            if isinstance(identifier, (str, int, float)) and identifier in self._running:
                self._cancelled.add(identifier)

    def _start_call(self, message: dict[str, Any]) -> None:
        """Run a tool on a thread, so that further messages are answered meanwhile."""
        identifier = message["id"]

        def work() -> None:
            try:
                found = protocol.answer(message, self._call)
                if identifier not in self._cancelled:
                    self._send(found)
            finally:
                self._cancelled.discard(identifier)
                self._running.pop(identifier, None)
                self._room.release()

        self._room.acquire()
        thread = threading.Thread(target=work, name="mnemark-call", daemon=True)
        self._running[identifier] = thread
        thread.start()

    def _send(self, message: Any) -> None:
        data = protocol.encode(message)
        # After a disconnect answers are dropped; the end of stdin ends the loop.
        with self._writing, suppress(BrokenPipeError, ValueError):
            self._target.write(data)
            self._target.flush()

    def _call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a tool, from the daemon or this process."""
        try:
            if self._server is not None:
                repeats = BY_NAME[name].repeats
                found = self._server.call(f"tools/{name}", {"arguments": arguments}, repeats=repeats)
                return found if isinstance(found, dict) else failed("the server's answer is no result")
            root = self._workspace()
            running = None if self._alone else self._daemon()
            if running is not None:
                try:
                    return self._ask(running, root, name, arguments)
                except daemon.UnreachableError as error:
                    if error.sent and not BY_NAME[name].repeats:
                        return failed(
                            f"{error}. It is not known whether this was done: check before you repeat it."
                        )
            return self._run_here(root, name, arguments)
        except MnemarkError as error:
            return failed(str(error))
        except Exception as bug:  # noqa: BLE001 - a client must get an answer to each request
            sys.stderr.write(f"mnemark: unexpected {type(bug).__name__} in {name}: {bug}\n")
            return failed(
                shortage(bug)
                or f"unexpected {type(bug).__name__} in {name}; see the client's log of this server"
            )

    def _ask(
        self, running: daemon.Daemon, root: Path, name: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        body = {"workspace": str(root), "arguments": arguments, "folder": self._folder}
        try:
            found = daemon.post(f"/v1/tools/{name}", body, _CALL_SECONDS, daemon=running)
        except daemon.DaemonRefusedError as error:
            if error.status == 503:  # it is shutting down
                raise daemon.UnreachableError(str(error)) from error
            raise
        if not isinstance(found, dict):
            raise daemon.UnreachableError("the daemon's answer is not a valid result", sent=True)
        return found

    def _run_here(self, root: Path, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        with self._opening:
            if self._memory is None:
                load(*SEARCH)
                from mnemark.memory.memory import Memory

                self._memory = Memory.open(root)
        from mnemark_interfaces.tools_run import call

        return call(self._memory, name, arguments, folder=self._folder)

    def _workspace(self) -> Path:
        if self._root is None:
            from mnemark_interfaces.workspace import locate

            self._root = (locate(None) if self._given is None else self._given).resolve()
        return self._root

    def _prepare(self) -> None:
        """Start a daemon if there is none and one can run here; report a failure."""
        if self._alone or self._server is not None:
            return
        with self._starting:
            now = time.monotonic()
            if self._child is not None or daemon.find(any_version=True) is not None:
                return
            if self._asked and now < self._asked + _AGAIN_SECONDS:
                return
            self._asked = now
            try:
                self._child = daemon.start()
            except (OSError, MnemarkError) as error:
                sys.stderr.write(f"mnemark: the daemon could not be started, so it is not used: {error}\n")

    def _daemon(self) -> daemon.Daemon | None:
        """Return the running daemon, after waiting for one that was just started; None without one."""
        found = daemon.find()
        if found is not None:
            return found
        with self._starting:  # one that has ended (idle, or killed) may be followed by another
            if self._child is not None and self._child.poll() is not None:
                self._child = None
        self._prepare()
        while self._child is not None and time.monotonic() < self._asked + _START_SECONDS:
            if (found := daemon.find()) is not None:
                return found
            if self._child.poll() not in {None, 0}:  # 0: it found another that is about to listen
                break
            time.sleep(_POLL)
        return daemon.find()


def _folder() -> str:
    """Return the folder that the client works in: Claude Code names it, others start their servers there."""
    if given := os.environ.get("CLAUDE_PROJECT_DIR"):
        return given
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # deleted meanwhile
        return ""


def _invalid(message: Any) -> dict[str, Any] | None:
    """Return the error response to an invalid message, or None."""
    try:
        protocol.check(message)
    except protocol.RpcError as error:
        identifier = message.get("id") if isinstance(message, dict) else None
        known = isinstance(identifier, (str, int, float)) and not isinstance(identifier, bool)
        return protocol.failure(identifier if known else None, error)
    return None


def serve(workspace: Path | None, *, alone: bool = False, plugin: bool = False, server: str = "") -> None:
    """Speak MCP on stdin and stdout until stdin ends; the default workspace is that of the current folder.

    Args:
        workspace: the workspace.
        alone: neither use nor start the daemon.
        plugin: the server is of a plug-in: see `mnemark_agents.hook.plugin`.
        server: address of a server whose memory is used instead of a folder; see `server_keys` for its key.

    Raises:
        NotFoundError: there is no such folder.
        UsageError: `server` is no address, or has no key.
    """
    client = None
    if plugin and workspace is None:
        server = server or os.environ.get("MNEMARK_SERVER", "")
    if server:
        from mnemark.memory.client import Client

        client = Client(server, timeout=_CALL_SECONDS)
    elif plugin:
        from mnemark_agents.hook.plugin import memory

        workspace = memory("" if workspace is None else str(workspace))
    elif workspace is not None:
        workspace = workspace.expanduser().absolute()
        if not workspace.is_dir():
            raise NotFoundError(
                f"the folder {workspace} does not exist; create it with `mnemark init {workspace}`"
            )
    if sys.stdin is None or sys.stdout is None:
        return
    source, target = sys.stdin.buffer, sys.stdout.buffer
    Front(workspace, alone=alone, source=source, target=target, server=client).run()


def quick(arguments: list[str]) -> bool:
    """Serve if the arguments after `mcp` are simple; return False to use the full command line."""
    named, server = os.environ.get("MNEMARK_WORKSPACE") or None, ""
    alone = plugin = False
    words = iter(arguments)
    for word in words:
        if word in {"-w", "--workspace"} and (value := next(words, None)) is not None:
            named = value
        elif word.startswith("--workspace="):
            named = word.partition("=")[2]
        elif word == "--server" and (value := next(words, None)) is not None:
            server = value
        elif word == "--alone":
            alone = True
        elif word == "--plugin":
            plugin = True
        else:
            return False
    if server:
        named = None
    if not plugin and named is not None and not Path(named).expanduser().is_dir():
        return False  # the full command line says what is wrong
    serve(None if named is None else Path(named), alone=alone, plugin=plugin, server=server)
    return True
