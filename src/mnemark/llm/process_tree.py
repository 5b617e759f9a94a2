"""End a program with all that it started.

Its group is not enough: what calls `setsid` leaves it, and whose parent ends is no longer below it. On Linux
all processes are therefore looked through for a variable that what it starts inherits, and for children of
those found, until none is left; only one that cleared its environment and lost its parent before the end is
not found. Elsewhere its group is ended, on Windows the tree below it, and a process that left that goes on.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

RUN: Final = "MNEMARK_RUN"
"""Variable with the name of a run, in the environment of all that it starts."""
_SECONDS: Final = 5.0
_PAUSE: Final = 0.02
_PROC: Final = Path("/proc")


class ProcessTree:
    """A started program, and what it starts.

    Args:
        process: the program, the leader of its own group, with `RUN` in its environment.
        name: the value of that variable, which no other run has.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", name: str) -> None:
        self.process = process
        self._mark = f"{RUN}={name}".encode()

    def end(self) -> None:
        """Kill all of it, and reap the program; nothing where that was done before."""
        if self.process.returncode is not None:
            return
        if sys.platform == "win32":
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(self.process.pid)], capture_output=True, check=False
            )
        else:
            left = self._members()  # before the program ends, with which its children lose their parent
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            until = time.monotonic() + _SECONDS
            while left and time.monotonic() < until:
                for one in left:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(one, signal.SIGKILL)
                time.sleep(_PAUSE)
                left = self._members()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_SECONDS)

    def _members(self) -> set[int]:
        """Return the processes that run and belong to it, without the program itself; see the module."""
        parents: dict[int, int] = {}
        found = {self.process.pid}
        for folder in _PROC.iterdir() if _PROC.is_dir() else ():
            if not folder.name.isdecimal():
                continue
            with suppress(OSError, ValueError, IndexError):  # it ended, or is another user's
                state, parent = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state in {b"Z", b"X"}:
                    continue
                parents[int(folder.name)] = int(parent)
                if self._mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.add(int(folder.name))
        size = 0
        while size != len(found):
            size = len(found)
            found |= {one for one, parent in parents.items() if parent in found}
        return found - {self.process.pid, os.getpid()}
