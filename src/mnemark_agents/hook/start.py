"""Load and start quickly what a hook needs, which has no time to import `subprocess` and the like."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mnemark_agents import daemon


def start_python(arguments: Sequence[str]) -> None:
    """Start this Python interpreter in a background process that outlives this one; nobody waits for it."""
    if not _spawned(arguments):
        daemon.spawn(arguments)


def _spawned(arguments: Sequence[str]) -> bool:
    """Start Python as `daemon.spawn` does, without `subprocess`, which takes 5 ms to import.

    Nobody waits for the process, so this is for those that end soon. Where the system cannot, return False.
    """
    if sys.platform == "win32" or not hasattr(os, "posix_spawn"):
        return False
    silent = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    command = [sys.executable, *arguments]
    try:
        closed = [(os.POSIX_SPAWN_CLOSE, number) for number in _inherited()]
        os.posix_spawn(command[0], command, os.environ, file_actions=[*silent, *closed], setsid=True)
    except (NotImplementedError, OSError):
        return False
    return True


def _inherited() -> list[int]:
    """Return the files, beside the standard ones, that a new process would hold open for the agent."""
    found: list[int] = []
    for number in (int(path.name) for path in Path("/dev/fd").iterdir()):
        with suppress(OSError):  # the listing's own is closed by now
            if number > 2 and os.get_inheritable(number):
                found.append(number)
    return found


def load_msgspec() -> None:
    """Import msgspec without `typing_extensions`: it does with `typing`, and a hook saves 10 ms."""
    if not {"msgspec", "typing_extensions"} & sys.modules.keys():
        sys.modules["typing_extensions"] = None  # type: ignore[assignment] # so importing it fails
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules["typing_extensions"]
