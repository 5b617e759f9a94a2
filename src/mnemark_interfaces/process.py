"""Define exit codes of the process, load modules at its start, and handle a closed stdout."""

import gc
import os
import sys
from importlib import import_module
from typing import Final

SEARCH: Final = ("numpy", "mnemark.memory.memory")
"""Modules that a search needs. numpy is the first, not imported from the depth of our own imports: where its
thousands of small calls cross a piece of Python's stack, it takes 15 ms longer."""
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report it."""
PIPE_CLOSED: Final = 141
"""128 + SIGPIPE: the reader of our output has closed it."""


def debugging() -> bool:
    """Tell whether errors are shown with their trace."""
    return os.environ.get("MNEMARK_DEBUG", "") not in {"", "0"}


def holds_nothing() -> bool:
    """Tell whether the process can end at once: nothing is left that only Python's own end completes.

    That are threads to wait for, databases to close, and what a profiler or `MNEMARK_DEBUG` shows.
    """
    if debugging() or sys.gettrace() is not None or sys.getprofile() is not None:
        return False
    threading, apsw = sys.modules.get("threading"), sys.modules.get("apsw")
    if threading is not None and any(
        not one.daemon and one is not threading.main_thread() for one in threading.enumerate()
    ):
        return False
    return apsw is None or not apsw.connections()


def abandon_stdout() -> int:
    """Redirect stdout, which its reader has closed, to the null device; return the exit code.

    Python flushes once more at exit and would complain about the same pipe again.
    """
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    return PIPE_CLOSED


def load(*modules: str) -> None:
    """Import modules that stay, without letting the collector look through them again and again."""
    gc.disable()
    try:
        for name in modules:
            import_module(name)
        gc.freeze()
    finally:
        gc.enable()  # a server answers with the error, and goes on
