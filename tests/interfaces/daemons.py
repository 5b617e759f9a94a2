"""A real daemon in a process and state folder of its own, for tests."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnemark_agents import daemon

START_SECONDS = 30.0
_DRIVER = """
import sys
from mnemark_interfaces.http import server
for setting in sys.argv[2:]:
    name, _, value = setting.partition("=")
    setattr(server, name, float(value))
known = server.Settings(idle_minutes=server.IDLE_MINUTES, nightly=False, watching=sys.argv[1] == "True")
server.serve(known, on_ready=lambda mine: None)
"""


class Running:
    """A daemon that runs, and how to ask it."""

    def __init__(self, process: "subprocess.Popen[bytes]", at: daemon.Daemon) -> None:
        self.process = process
        self.at = at
        self.port = int(at.url.rpartition(":")[2])

    def post(self, path: str, timeout: float = 20.0, **body: Any) -> Any:
        return daemon.post(path, body, timeout, daemon=self.at)

    def raw(self, data: bytes, *, timeout: float = 10.0) -> bytes:
        """All that comes back for these bytes until the daemon closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            connection.sendall(data)
            found = b""
            while chunk := connection.recv(65_536):
                found += chunk
        return found

    def request(
        self,
        path: str = "/v1/search",
        body: bytes = b"{}",
        *,
        method: str = "POST",
        without: str = "",
        **headers: str,
    ) -> tuple[int, Any]:
        """Status and JSON of an answer; headers replace the right ones, `without` leaves one out."""
        sent = {
            "host": f"127.0.0.1:{self.port}",
            "authorization": f"Bearer {self.at.token}",
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        sent.pop(without, None)
        head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        answer = self.raw(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
        first, _, rest = answer.partition(b"\r\n\r\n")
        return int(first[9:12]), json.loads(rest) if rest.startswith(b"{") else rest

    def end(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


def surroundings(state: Path) -> dict[str, str]:
    """Environment of a process that sees only this state folder."""
    return {**os.environ, "XDG_STATE_HOME": str(state), "MNEMARK_WORKSPACE": ""}


def found(state: Path) -> daemon.Daemon | None:
    """The daemon that says it is there, from outside of its surroundings."""
    try:
        return daemon.Daemon(**json.loads((state / "mnemark" / daemon.STATE).read_bytes()))
    except FileNotFoundError:
        return None


def wait_for(state: Path, process: "subprocess.Popen[bytes] | None" = None) -> daemon.Daemon:
    deadline = time.monotonic() + START_SECONDS
    while (at := found(state)) is None or (process is not None and at.pid != process.pid):
        assert process is None or process.poll() is None, "the daemon ended"
        assert time.monotonic() < deadline, "no daemon came up"
        time.sleep(0.02)
    return at


@contextmanager
def running(state: Path, *settings: str, watching: bool = True) -> Iterator[Running]:
    """A daemon, which syncs what changes where it is `watching`.

    `settings` such as "HEAD_SECONDS=0.3" change constants of its server.
    """
    command = [sys.executable, "-c", _DRIVER, str(watching), *settings]
    process = subprocess.Popen(command, env=surroundings(state))
    try:
        yield Running(process, wait_for(state, process))
    finally:
        process.kill()
        process.wait()
