"""A person at the panel in tmux: a terminal as people have it, read as it is painted; keys are counted."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT = 30.0
_BARS = "▁▂▃▄▅▆▇█"


class Hand:
    """A terminal with the panel in it, and the hand at its keys.

    A key that acts counts one; words that are typed do not, nor the Enter that ends them.
    """

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.count = 0

    def tmux(self, *arguments: str) -> str:
        """Run a command of tmux; return what it printed."""
        ran = subprocess.run(
            ["tmux", "-S", self._socket, "-f", os.devnull, *arguments],
            capture_output=True, text=True, check=True, timeout=WAIT,
        )  # fmt: skip
        return ran.stdout

    @property
    def screen(self) -> str:
        """What is painted now."""
        return self.tmux("capture-pane", "-p", "-t", "panel")

    def press(self, *keys: str) -> "Hand":
        """Press keys that act."""
        self.count += len(keys)
        self.tmux("send-keys", "-t", "panel", *keys)
        if "Escape" in keys:  # what follows at once would be taken for Alt
            time.sleep(0.5)
        return self

    def type(self, words: str) -> "Hand":
        """Type words, and the Enter that ends them."""
        self.tmux("send-keys", "-t", "panel", "-l", words)
        self.tmux("send-keys", "-t", "panel", "Enter")
        return self

    def sees(self, *texts: str) -> str:
        """Wait until all of this is painted, wherever lines break; return the screen."""
        deadline = time.monotonic() + WAIT
        while not all(_holds(screen := self.screen, text) for text in texts):
            assert time.monotonic() < deadline, f"{texts} not in\n{screen}"
            time.sleep(0.05)
        return screen

    def holds(self, text: str) -> bool:
        """Return whether this is painted now."""
        return _holds(self.screen, text)


def _holds(screen: str, text: str) -> bool:
    """Return whether a text stands in a column of a screen."""
    columns: dict[int, str] = {}
    for line in screen.splitlines():
        for number, part in enumerate(line.split("│")):
            columns[number] = columns.get(number, "") + _plain(part)
    return any(_plain(text) in column for column in columns.values())


def _plain(text: str) -> str:
    """Return a text without blanks, line breaks and scroll bars."""
    return "".join(char for char in text if not char.isspace() and char not in _BARS)


@contextmanager
def hand(
    root: Path, socket: Path, *, size: tuple[int, int] = (80, 24), language: str = "en"
) -> Iterator[Hand]:
    """Open the panel of a workspace in a terminal of that size."""
    at = Hand(str(socket))
    locale = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}[language]
    program = f"'{sys.executable}' -m mnemark tui -w '{root}'"
    command = f"env -u COLUMNS -u LINES LANG={locale} {program}; echo ended $?; cat"
    width, height = map(str, size)
    at.tmux("-u", "new-session", "-d", "-s", "panel", "-x", width, "-y", height, command)
    try:
        yield at
    finally:
        at.tmux("kill-server")
