"""Die or fail at the n-th SQL statement of a sync."""

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw


class BrokenError(Exception):
    """What the n-th statement fails with."""


@contextmanager
def at_statement(number: int, strike: Callable[[], None]) -> Iterator[list[int]]:
    """Call `strike` before the statement of that number (from 0) on connections opened inside."""
    count = [0]

    def trace(cursor: Any, sql: str, bindings: Any) -> bool:
        count[0] += 1
        if count[0] - 1 == number:
            strike()
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    apsw.connection_hooks.append(hook)
    try:
        yield count
    finally:
        apsw.connection_hooks.remove(hook)


def fail() -> None:
    raise BrokenError


def die() -> None:
    os._exit(9)  # as SIGKILL: nothing is cleaned up


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process; its exit code.

    A thread that still loads dictionaries holds their lock, which nobody would give back in the child: it is
    waited for. A child that hangs all the same is ended, and the test fails.
    """
    for thread in threading.enumerate():
        if thread.name == "mnemark-load":
            thread.join(30)
    with warnings.catch_warnings():
        # Threads that idle in the background do not matter to a child that opens everything itself.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        signal.alarm(120)
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def temporary_files(root: Path) -> list[str]:
    """What must not stay in `.mnemark`."""
    known = {"index.db", "index.db-wal", "index.db-shm", ".gitignore", "lock", "salt", "sync.lock", "vectors"}
    return [path.name for path in (root / ".mnemark").iterdir() if path.name not in known]
