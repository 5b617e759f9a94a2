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
import threading
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
    exec(asked["first"], {})
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
            asked = {"words": list(words), "cwd": str(cwd), "env": dict(env), "first": ""}
            code = self.run_on(asked, [put.fileno(), out.fileno(), err.fileno()])
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(words, code, out.read(), err.read())

    def run_on(self, asked: Mapping[str, object], streams: Sequence[int]) -> int:
        """Run a command on these streams; return its exit code."""
        socket.send_fds(self._mine, [json.dumps(asked).encode()], list(streams))
        return int(self._mine.recv(16))


_parents: Final[list[_Parent]] = []


def _parent() -> _Parent:
    if not _parents:
        _parents.append(_Parent())
    return _parents[0]


_CLIENT: Final = """\
#!{python} -SE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
    door.connect({path!r})
    asked = {{"words": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ), "first": {first!r}}}
    socket.send_fds(door, [json.dumps(asked).encode()], [0, 1, 2])
    sys.exit(int(door.recv(16)))
"""


def command_at(path: Path, *, first: str = "") -> None:
    """Write a program that runs `mnemark` by forking, for scripts of a shell; one command at a time.

    Args:
        path: of the program.
        first: Python that the command runs before anything else.
    """
    if sys.platform != "linux":
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m mnemark "$@"\n', "utf-8")
    else:
        door = Path(tempfile.mkdtemp(prefix="forked-")) / "door"
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(str(door))
        listening.listen()
        threading.Thread(target=_answer, args=(listening, _parent()), daemon=True).start()
        path.write_text(_CLIENT.format(python=sys.executable, path=str(door), first=first), "utf-8")
    path.chmod(0o755)


def _answer(listening: socket.socket, parent: _Parent) -> None:
    while True:
        asking, _ = listening.accept()
        with asking:
            data, streams, *_ = socket.recv_fds(asking, 1_000_000, 3)
            code = parent.run_on(json.loads(data), streams)
            for stream in streams:
                os.close(stream)
            asking.sendall(b"%d" % code)


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
        done = _parent().run(words, put, where, surroundings)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())
