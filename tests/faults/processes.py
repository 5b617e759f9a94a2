"""What other processes do in tests: hold locks, append side by side, and die in the middle.

They stand in a module of their own, because a spawned process has to import them.
"""

import os
import sys
import time
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

from mnemark.files.journal import Change, Journal
from mnemark.files.sessions import SessionLog
from mnemark.files.truth import Folder, sync_lock, workspace_lock
from mnemark.types import Turn


def hold(root: Path, ready: Connection) -> None:
    """Hold both locks of a workspace until killed."""
    with workspace_lock(root), sync_lock(root):
        ready.send(os.getpid())
        time.sleep(30)


def turn(said: str) -> Turn:
    """A turn that says something."""
    return Turn(id="", time=datetime.now(UTC), role="user", content=said)


def append_side_by_side(root: Path, who: str, count: int) -> None:
    """Append to the session and the journal that all share, one by one."""
    log, journal = SessionLog(root, "shared"), Journal(Folder(root), "shared")
    for number in range(count):
        log.append(Folder(root), [turn(f"{who} {number} " + "x" * 5000)])
        journal.append(Change(kind="note", payload=f"{who} {number}"))


def append_for_ever(root: Path) -> None:
    """Append turns and print each one's text after it was acknowledged, until killed."""
    log = SessionLog(root, "victim")
    for number in range(1_000_000):
        said = f"{os.getpid()}-{number} " + "y" * (number * 997 % 20_000)
        log.append(Folder(root), [turn(said)])
        sys.stdout.write(f"{said.split()[0]}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    append_for_ever(Path(sys.argv[1]))
