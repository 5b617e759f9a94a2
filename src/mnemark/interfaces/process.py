"""Exit codes of the process, and the handling of a closed stdout."""

import os
import sys
from typing import Final

INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report it."""
PIPE_CLOSED: Final = 141
"""128 + SIGPIPE: the reader of our output has gone."""


def debugging() -> bool:
    """Tell whether errors are shown with their trace."""
    return os.environ.get("MNEMARK_DEBUG", "") not in {"", "0"}


def abandon_stdout() -> int:
    """Redirect stdout, whose reader has gone, to the null device; return the exit code.

    Python flushes once more at exit and would complain about the same pipe again.
    """
    if sys.stdout is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    return PIPE_CLOSED
