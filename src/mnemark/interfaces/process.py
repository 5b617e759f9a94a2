"""Exit codes of the process, and what to do when nobody reads stdout any more."""

import os
import sys
from typing import Final

INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report it."""


PIPE_CLOSED: Final = 141
"""128 + SIGPIPE: the reader of our output has gone, which is nobody's mistake."""


def debugging() -> bool:
    """Whether errors are to be shown with their trace."""
    return os.environ.get("MNEMARK_DEBUG", "") not in {"", "0"}


def abandon_stdout() -> int:
    """The reader of stdout has gone: write to nowhere from here on; returns the exit code.

    Python flushes once more at its end, and would complain about the same pipe again.
    """
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    return PIPE_CLOSED
