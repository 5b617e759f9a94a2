"""The command `mnemark` as a process of its own, without starting Python for it anew.

To start Python and to import the command line takes ten times as long as most commands do. A process that has
imported it, and has done nothing else, forks for each command: what runs has its own memory, streams, folder
and environment, as any process, and ends as one. Tests of what a start loads, of terminals and of signals
start Python.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_PARENT: Final = """
import atexit, io, json, os, socket, sys, threading, time
from contextlib import suppress
from mnemark_agents.hook import cold, command as hook
from mnemark_interfaces import app, main, shortcut
from mnemark_interfaces.mcp import front

for name in app.COMMANDS:
    with suppress(ImportError):
        app.loaded(name)

def run(asked, fds):
    for at, fd in enumerate(fds):
        os.dup2(fd, at)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    sys.argv = ["mnemark", *asked["words"]]
    sys.stdin, sys.stdout, sys.stderr = (open(at, mode, encoding="utf-8") for at, mode in enumerate("rww"))
    try:
        main.command()
    except SystemExit as end:
        return end.code
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()

mine = socket.socket(fileno=int(sys.argv[1]))
mine.sendall(b"ready")
while True:
    data, fds, *_ = socket.recv_fds(mine, 1_000_000, 3)
    if not data:
        break
    child = os.fork()
    if not child:
        code = 1
        try:
            mine.close()
            code = run(json.loads(data), fds)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
        finally:
            os._exit(code)
    for fd in fds:
        os.close(fd)
    mine.sendall(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class _Parent:
    """The process that forks, and how to ask it; one command at a time."""

    def __init__(self) -> None:
        self._mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, "-P", "-c", _PARENT, str(number)]
            self._process = subprocess.Popen(command, pass_fds=[number])
        atexit.register(self._end)
        assert self._mine.recv(16) == b"ready"

    def _end(self) -> None:
        self._mine.close()
        self._process.wait()

    def run(
        self, words: Sequence[str], given: bytes, cwd: Path, env: Mapping[str, str]
    ) -> "subprocess.CompletedProcess[bytes]":
        with (
            tempfile.TemporaryFile() as put,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            put.write(given)
            put.seek(0)
            asked = json.dumps({"words": list(words), "cwd": str(cwd), "env": dict(env)})
            socket.send_fds(self._mine, [asked.encode()], [put.fileno(), out.fileno(), err.fileno()])
            code = int(self._mine.recv(16))
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(words, code, out.read(), err.read())


_parents: Final[list[_Parent]] = []


def mnemark(
    *words: str, given: str | bytes = "", cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the command with these words; return its exit code and what it printed."""
    where, surroundings = cwd or Path.cwd(), os.environ if env is None else env
    put = given.encode() if isinstance(given, str) else given
    if sys.platform != "linux":
        command = [sys.executable, "-P", "-m", "mnemark", *words]
        done = subprocess.run(
            command, input=put, capture_output=True, cwd=where, env=surroundings, check=False
        )
    else:
        if not _parents:
            _parents.append(_Parent())
        done = _parents[0].run(words, put, where, surroundings)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())
