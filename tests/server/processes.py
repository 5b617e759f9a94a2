"""Nodes in processes of their own, for what a process is: its end, its signals, who else asks it."""

import json
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from mnemark_server import tenants
from mnemark_server.database import connect
from server.cluster import free_port


class NodeProcess:
    """A node in a process, at a port that it keeps."""

    def __init__(self, url: str, folder: Path, port: int = 0) -> None:
        self.url = url
        self.port = port or free_port()
        self.folder = folder
        self._database: tuple[Any, ...] | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mnemark", "serve", "--json", "--database", self.url,
             "--port", str(self.port), "--folder", str(self.folder)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def renew(self) -> None:
        """Be as new: with two empty memories, "ann" and "bob", whose numbers nobody had before."""
        with connect(self.url) as connection:
            for one in tenants.listed(connection):
                tenants.delete(connection, one.name)
            for name in ("ann", "bob"):
                tenants.create(connection, name)
            database = connection.execute("SELECT pg_postmaster_start_time()").fetchone()
        if self._database not in {None, database}:  # its connections are of one that another test ended
            self.kill()
        self._database = database
        if self.process.poll() is not None:
            self.start()

    def number(self, name: str) -> int:
        """Return the number of a memory."""
        with connect(self.url) as connection:
            return tenants.number_of(connection, name)

    def moving(self) -> list[Path]:
        """Return the folders of archives on their way, once what was answered is cleared away."""
        deadline = time.monotonic() + 10
        while (found := list(self.folder.glob("moving-*"))) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found


def post(port: int, key: str, path: str, body: dict[str, Any], *, timeout: float = 15) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(),
        {"authorization": f"Bearer {key}", "content-type": "application/json"},
    )  # fmt: skip
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)
