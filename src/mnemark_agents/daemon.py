"""Find, query and start the user's daemon.

Imports stay light: a hook has 150 ms for everything. The daemon's files are described in docs/daemon.md.
"""

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemark._version import __version__
from mnemark.errors import MnemarkError
from mnemark.files import platform

if TYPE_CHECKING:
    import subprocess

STATE: Final = "daemon.json"
"""File in the user's state folder with the daemon's address and token."""
LOCK: Final = "daemon.lock"
"""File beside it that a daemon locks while it runs."""
LOG: Final = "daemon.log"
"""File beside it with the messages of a daemon started in the background."""
SLOW: Final = "daemon.slow"
"""File beside it whose time says when a hook waited in vain."""
_SLOW_SECONDS: Final = 10.0
MAX_ANSWER: Final = 64 * 1024 * 1024
_CHUNK: Final = 65_536
_MAX_LOG_BYTES: Final = 1_000_000


class Daemon(NamedTuple):
    """A running daemon."""

    url: str
    """Base address without a slash at the end, such as `http://127.0.0.1:40123`."""
    token: str
    pid: int
    version: str


class UnreachableError(MnemarkError):
    """There is no daemon, or the connection ended before its answer was complete.

    Where `sent` is true, the request may have been carried out all the same; where `slow` is true, it timed
    out and may still be running.
    """

    def __init__(self, message: str, *, sent: bool = False, slow: bool = False) -> None:
        super().__init__(message)
        self.sent = sent
        self.slow = slow


class DaemonRefusedError(MnemarkError):
    """The daemon answered with an error: its HTTP `status` and `code`."""

    def __init__(self, message: str, *, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def find(*, any_version: bool = False) -> Daemon | None:
    """Return the user's daemon, if one runs and is of this version (or `any_version`).

    A state file that is not private, or was left by a killed daemon (the lock is free), is ignored.
    """
    folder = platform.state_folder()
    try:
        data, status = platform.read_file(folder / STATE)
        if not platform.is_private(status) or not platform.is_locked(folder / LOCK):
            return None
        known = json.loads(data)
        found = Daemon(str(known["url"]), str(known["token"]), int(known["pid"]), str(known["version"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if any_version or found.version == __version__ else None


def was_slow() -> bool:
    """Tell whether a hook waited for the daemon in vain a moment ago, and no other was started since."""
    folder = platform.state_folder()
    try:
        noted = (folder / SLOW).stat().st_mtime
        return 0 <= time.time() - noted < _SLOW_SECONDS and (folder / STATE).stat().st_mtime < noted
    except OSError:
        return False


def note_slow() -> None:
    """Note that the daemon did not answer in time: the next hooks need not wait for it."""
    with suppress(OSError):
        platform.write_private(platform.state_folder() / SLOW, b"")


def post(path: str, body: Any, timeout: float = 10.0, *, daemon: Daemon | None = None) -> Any:
    """Send JSON to the daemon and return the JSON of its answer.

    Args:
        path: such as "/v1/search" or "/hook/session-start".
        body: any JSON value.
        timeout: seconds for everything.
        daemon: the daemon; `find()` by default.

    Raises:
        UnreachableError: there is none of this version, it did not answer in time, or went away.
        DaemonRefusedError: it answered with an error.
    """
    at = daemon or find()
    if at is None:
        raise UnreachableError("no daemon of this version is running; start it with `mnemark serve`")
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    status, answer = _exchange(at, _head(f"POST {path}", at, len(data)) + data, time.monotonic() + timeout)
    return decoded(status, answer, f"the program at {at.url} is not the mnemark daemon")


def decoded(status: int, answer: bytes, other: str) -> Any:
    """Return the JSON of an answer.

    Args:
        status: of the answer.
        answer: its body.
        other: what to say of a body that mnemark does not send.

    Raises:
        UnreachableError: it is no JSON.
        DaemonRefusedError: it is an error.
    """
    try:
        found = json.loads(answer)
    except ValueError as error:
        raise UnreachableError(other, sent=True) from error
    if status >= 400:
        reply = found.get("error", {}) if isinstance(found, dict) else {}
        reply = reply if isinstance(reply, dict) else {}
        raise DaemonRefusedError(
            str(reply.get("message") or f"HTTP {status}"),
            status=status,
            code=str(reply.get("code") or ""),
        )
    return found


def answers(at: Daemon | None = None, timeout: float = 2.0) -> bool:
    """Tell whether a daemon, `find()` by default, answers in time."""
    at = at or find()
    try:
        return (
            at is not None and _exchange(at, _head("GET /health", at), time.monotonic() + timeout)[0] == 200
        )
    except UnreachableError:
        return False


def _head(what: str, at: Daemon, length: int = 0) -> bytes:
    """Return the head of a request: method and path, and the length of its JSON."""
    lines = (
        f"{what} HTTP/1.1", f"Host: {at.url.removeprefix('http://')}", f"Authorization: Bearer {at.token}",
        "Content-Type: application/json", f"Content-Length: {length}", "Accept: application/json",
        "Connection: close", "", "",
    )  # fmt: skip
    return "\r\n".join(lines).encode("ascii")


def _exchange(at: Daemon, request: bytes, deadline: float) -> tuple[int, bytes]:
    """Send a request on a new connection; return status and body of the answer."""
    import socket

    host = at.url.removeprefix("http://")
    name, _, port = host.rpartition(":")
    sent = False
    try:
        left = max(deadline - time.monotonic(), 0.01)
        with socket.create_connection((name.strip("[]"), int(port)), left) as connection:
            sent = True
            connection.sendall(request)
            return _answer(connection, deadline)
    except (OSError, ValueError) as error:
        slow = sent and isinstance(error, TimeoutError)
        raise UnreachableError(
            f"the daemon at {host} does not answer: {error}", sent=sent, slow=slow
        ) from error


def _answer(connection: Any, deadline: float) -> tuple[int, bytes]:
    """Receive status and body; raise ConnectionError for a body that is truncated or has no length."""
    received = bytearray()
    head_end = -1
    length = 0
    while head_end < 0 or len(received) < head_end + length:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("time is over")
        connection.settimeout(left)
        chunk = connection.recv(_CHUNK)
        if not chunk:
            raise ConnectionError("it stopped before the answer was complete")
        received += chunk
        if head_end < 0 and (found := received.find(b"\r\n\r\n")) >= 0:
            head_end = found + 4
            length = _length(bytes(received[:found]))
        if len(received) > MAX_ANSWER:
            raise ConnectionError("the answer is too long")
    return int(received[9:12]), bytes(received[head_end : head_end + length])


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    raise ConnectionError("the answer has no length")


def is_alive() -> bool:
    """Tell whether a daemon of this user runs, even if it is starting or draining."""
    return platform.is_locked(platform.state_folder() / LOCK)


def state_file() -> Path:
    """Return the path of the file with the daemon's address and token."""
    return platform.state_folder() / STATE


def installed() -> bool:
    """Tell whether the packages that the daemon needs are installed, without importing them."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("starlette", "uvicorn"))


def start() -> "subprocess.Popen[bytes] | None":
    """Start a daemon in the background without waiting until it listens; None where it is not installed.

    Where one runs already, the new one ends at once.
    """
    if not installed():
        return None
    folder = platform.state_folder()
    platform.private_folder(folder)
    log = folder / LOG
    if log.exists() and log.stat().st_size > _MAX_LOG_BYTES:
        log.replace(folder / f"{LOG}.1")
    with platform.open_appended(log) as messages:
        return spawn(["-m", "mnemark", "serve"], stderr=messages, cwd=folder, env=platform.lean_environment())


def spawn(arguments: Sequence[str], *, stderr: Any = None, **more: Any) -> "subprocess.Popen[bytes]":
    """Start this Python interpreter in a background process that outlives this one."""
    import subprocess
    import sys

    null = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=null,
        stdout=null,
        stderr=null if stderr is None else stderr,
        start_new_session=True,
        creationflags=0x0000_0208 if sys.platform == "win32" else 0,  # no console, a group of its own
        **more,
    )
