"""The panel as a program in a terminal: what it sends there, byte by byte."""

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT = 30.0


class Terminal:
    """A terminal with the panel in it."""

    def __init__(self, process: "subprocess.Popen[bytes]", end: int) -> None:
        self.process = process
        self._end = end
        self.sent = b""

    def wait_for(self, text: str) -> None:
        """Read until this was painted."""
        deadline = time.monotonic() + WAIT
        while text.encode() not in self.sent:
            assert time.monotonic() < deadline, self.sent[-2_000:]
            self._read(0.2)

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._end, keys.encode())

    def ended(self) -> int:
        """Read until the program ends; return its exit code."""
        deadline = time.monotonic() + WAIT
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.sent[-2_000:]
            self._read(0.1)
        self._read(0.1)
        return self.process.returncode

    def _read(self, seconds: float) -> None:
        ready, _, _ = select.select([self._end], [], [], seconds)
        if ready:
            try:
                self.sent += os.read(self._end, 65_536)
            except OSError:  # Linux's word for the end
                return


@contextmanager
def terminal(root: Path, *, size: tuple[int, int] = (80, 24), **environment: str) -> Iterator[Terminal]:
    """Start `mnemark tui` in a terminal of that size, as over ssh: nothing is known but TERM."""
    import fcntl
    import termios

    end, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    known = {name: os.environ[name] for name in ("PATH", "HOME", "MNEMARK_CONFIG") if name in os.environ}
    environment = {**known, "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemark", "tui", "-w", str(root)],
        stdin=inside, stdout=inside, stderr=inside, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(inside)
    try:
        yield Terminal(process, end)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(end)
