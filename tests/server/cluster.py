"""What `packaging/server/compose.yaml` runs, as processes: the shipped files, with other ports."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psycopg

from server.postgres import NOBODY, programs

SHIPPED: Final = Path(__file__).parents[2] / "packaging" / "server"
BOUNCER: Final = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
PASSWORDS: Final = {
    "MNEMARK_PASSWORD": "made-up-1", "REPLICATION_PASSWORD": "made-up-2", "POSTGRES_PASSWORD": "made-up-3",
}  # fmt: skip
_AS_NOBODY: Final[dict[str, Any]] = {"user": NOBODY} if os.name == "posix" and os.getuid() == 0 else {}
_WAIT_SECONDS: Final = 30.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """A program that runs as a user without rights, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if _AS_NOBODY:
            shutil.chown(folder, NOBODY)
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def environment(self, **named: object) -> dict[str, str]:
        path = f"{programs()}:{Path(BOUNCER).parent if BOUNCER else ''}:/usr/bin:/bin"
        return {"PATH": path, **PASSWORDS, **{name: str(value) for name, value in named.items()}}

    def spawn(self, *command: object, **environment: object) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*map(str, command)], env=self.environment(**environment), cwd=self.folder, stdout=log,
                stderr=log, **_AS_NOBODY,
            )  # fmt: skip

    def run(self, *command: object, **environment: object) -> None:
        done = subprocess.run(
            [*map(str, command)], env=self.environment(**environment), cwd=self.folder, check=False,
            capture_output=True, text=True, **_AS_NOBODY,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout, done.stderr)

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", errors="replace")

    def end(self, number: int = signal.SIGQUIT) -> None:
        """Send a signal, and wait until it has ended. SIGQUIT ends PostgreSQL as a crash does."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(number)
            self.process.wait(_WAIT_SECONDS)
            self.process = None


class Member(Process):
    """A PostgreSQL of a cluster, with the shipped settings."""

    def __init__(self, folder: Path, *, durable: bool = False, archive: Path | None = None) -> None:
        super().__init__(folder)
        self.data = folder / "cluster"
        shutil.copytree(SHIPPED / "postgres", folder / "shipped", copy_function=shutil.copy)
        self.settings = [
            "-p", self.port, "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}",
            "-c", "shared_buffers=32MB", "-c", f"fsync={'on' if durable else 'off'}",
        ]  # fmt: skip
        self.config = folder / "shipped" / "postgresql.conf"
        if archive is not None:
            text = (folder / "shipped" / "archive.conf").read_text("utf-8").replace("/archive", str(archive))
            (folder / "shipped" / "archive.conf").write_text(text, "utf-8")
            with self.config.open("a", encoding="utf-8") as config:
                config.write("include 'archive.conf'\n")

    def first_start(self) -> None:
        """Make the folder and start as the image of PostgreSQL does: first without the network."""
        self.run("initdb", "-D", self.data, "-U", "postgres", "-E", "UTF8", "--no-sync", "-A", "trust")
        hba = self.data / "pg_hba.conf"  # as in the image, but for connections of this machine, which are all
        hba.write_text(
            "local all all trust\nlocal replication all trust\nhost all all all scram-sha-256\n", "utf-8"
        )
        self.start("-c", "listen_addresses=")
        self.run("sh", self.folder / "shipped" / "first-start", PGDATA=self.data, **self._socket())
        self.end(signal.SIGINT)
        self.start()

    def start(self, *more: object) -> None:
        self.spawn("postgres", "-D", self.data, "-c", f"config_file={self.config}", *self.settings, *more)
        self.wait()

    def follow(self, primary: "Member") -> None:
        """Copy another, where there is no copy yet, and follow it."""
        self.spawn(
            "sh", self.folder / "shipped" / "standby", *self.settings, PGDATA=self.data, CONFIG=self.config,
            PRIMARY_HOST="127.0.0.1", PRIMARY_PORT=primary.port,
        )  # fmt: skip
        self.wait()

    def promote(self) -> None:
        self.run("pg_ctl", "promote", "-w", PGDATA=self.data)

    def lead(self, standby: "Member") -> None:
        """Have a standby after this one was promoted: as docs/server.md says."""
        self.execute("SELECT pg_create_physical_replication_slot('standby')")
        standby.follow(self)
        self.execute("ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (standby)'")
        self.execute("SELECT pg_reload_conf()")

    def wait(self) -> None:
        """Wait until it answers."""
        end = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                assert self.process is not None
                assert self.process.poll() is None, self.log()
                assert time.monotonic() < end, self.log()
                time.sleep(0.05)
            else:
                return

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement as the administrator."""
        address = f"host={self.folder} port={self.port} user=postgres dbname=postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def send(self, number: int) -> None:
        """Send a signal to all its processes."""
        assert self.process is not None
        for pid in (self.process.pid, *children(self.process.pid)):
            os.kill(pid, number)

    def _socket(self) -> dict[str, object]:
        return {"PGHOST": self.folder, "PGPORT": self.port}


class Bouncer(Process):
    """The shipped pgbouncer before one of two."""

    def __init__(self, folder: Path, to: Member) -> None:
        super().__init__(folder)
        shutil.copytree(SHIPPED / "pgbouncer", folder / "shipped", copy_function=shutil.copy)
        self._ini = folder / "shipped" / "pgbouncer.ini"
        self._text = (
            self._ini.read_text("utf-8")
            .replace("0.0.0.0", "127.0.0.1")
            .replace("listen_port = 6432", f"listen_port = {self.port}")
            .replace("/run/pgbouncer", str(folder))
        )
        self.point_to(to)
        self.spawn("sh", folder / "shipped" / "start", PGBOUNCER_INI=self._ini)
        end = time.monotonic() + _WAIT_SECONDS
        while not _listens(self.port):
            assert time.monotonic() < end, self.log()
            time.sleep(0.02)

    def end(self, number: int = signal.SIGTERM) -> None:
        """End at once, also where SIGQUIT is ignored, as by what a shell runs in the background."""
        super().end(signal.SIGTERM if number == signal.SIGQUIT else number)

    def point_to(self, to: Member) -> None:
        """Lead to another from now on: as docs/server.md says."""
        given = "host=primary port=5432"
        assert given in self._text
        self._ini.write_text(self._text.replace(given, f"host=127.0.0.1 port={to.port}"), "utf-8")
        if self.process is not None:
            self.process.send_signal(signal.SIGHUP)


class Cluster:
    """A primary, its synchronous standby, and pgbouncer where it is installed."""

    def __init__(self, folder: Path, *, durable: bool = False, archive: Path | None = None) -> None:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        self.members = [Member(folder / name, durable=durable, archive=archive) for name in ("a", "b")]
        self.primary, self.standby = self.members
        self.bouncer: Bouncer | None = None
        try:
            self.primary.first_start()
            self.standby.follow(self.primary)
            self.wait_synchronous()
            self.bouncer = Bouncer(folder / "bouncer", self.primary) if BOUNCER else None
        except BaseException:
            self.close()
            raise
        here, there = (one.port for one in self.members)
        signed = f"postgresql://mnemark:{PASSWORDS['MNEMARK_PASSWORD']}"
        self.direct = f"{signed}@127.0.0.1:{here},127.0.0.1:{there}/mnemark?target_session_attrs=read-write"
        """As compose.yaml has it for `migrate`: the one of both that takes writes."""
        self.pooled = f"{signed}@127.0.0.1:{self.bouncer.port}/mnemark" if self.bouncer else ""

    def fail_over(self) -> None:
        """Kill the primary, promote the standby, and lead pgbouncer there."""
        self.primary.end(signal.SIGQUIT)
        self.primary, self.standby = self.standby, self.primary
        self.primary.promote()
        if self.bouncer is not None:
            self.bouncer.point_to(self.primary)

    def renew_standby(self) -> None:
        """Have a standby again, in the place of the one that was killed."""
        shutil.rmtree(self.standby.data)
        self.primary.lead(self.standby)
        self.wait_synchronous()

    def wait_synchronous(self) -> None:
        """Wait until commits wait for the standby."""
        end = time.monotonic() + _WAIT_SECONDS
        while self.primary.execute("SELECT sync_state FROM pg_stat_replication") != [("sync",)]:
            assert time.monotonic() < end, self.primary.log()
            time.sleep(0.05)

    def close(self) -> None:
        for one in (self.bouncer, *self.members):
            if one is not None:
                one.end(signal.SIGQUIT)


class Image:
    """The image of a node: what it runs if it is given words."""

    def __init__(self, url: str, folder: Path, *, source: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self._environment = {
            **os.environ, "PATH": f"{_commands(folder)}:{os.environ.get('PATH', '')}",
            "PYTHONPATH": source or os.environ.get("PYTHONPATH", ""), "MNEMARK_DATABASE": url,
            "MNEMARK_HOST": "127.0.0.1", "MNEMARK_PORT": str(self.port),
            "MNEMARK_FOLDER": str(folder / "node"),
        }  # fmt: skip
        self._log = folder / "log"

    def command(self, *words: str, code: int = 0) -> str:
        """Run a command of mnemark, and return what it prints."""
        done = subprocess.run(
            ["sh", SHIPPED / "mnemark-node", *words], env=self._environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout or done.stderr


class ShippedNode(Image):
    """A node as the image runs it."""

    def __init__(self, url: str, folder: Path, *, source: str = "") -> None:
        super().__init__(url, folder, source=source)
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                ["sh", SHIPPED / "mnemark-node"], env=self._environment, stdout=subprocess.PIPE, stderr=log
            )
        assert self.process.stdout is not None
        assert self.process.stdout.readline(), self.log()

    def log(self) -> str:
        return self._log.read_text("utf-8")

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.communicate(timeout=_WAIT_SECONDS)


def _commands(folder: Path) -> Path:
    """A folder with the command `mnemark`."""
    command = folder / "bin" / "mnemark"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mnemark "$@"\n', "utf-8")
    command.chmod(0o755)
    return command.parent


def children(parent: int) -> Iterator[int]:
    """All processes below one; only Linux lists them so."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == parent:
                yield int(status.parent.name)
                yield from children(int(status.parent.name))
