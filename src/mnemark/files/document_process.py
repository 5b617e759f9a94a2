"""The program that converts documents (see `documents`): answer on standard output until the pipe closes."""

import os
import signal
import sys
from contextlib import suppress
from typing import Final

from mnemark.files.pipes import LostError, receive, send
from mnemark.text.documents import UnreadableDocumentError, convert

_MEMORY: Final = 2 << 30
"""Maximum bytes of memory, where the system bounds them."""


def main() -> None:
    """Convert documents until the caller closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who then ends this process
    _bound()
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # nothing else writes between answers
        try:
            while True:
                path, data = receive(sys.stdin.buffer)
                send(answers, _converted(path, data))
        except (LostError, BrokenPipeError):
            os._exit(0)


def _converted(path: str, data: bytes) -> tuple[str, str]:
    """Return the view and no problem, or none and the problem."""
    try:
        return convert(path, data), ""
    except UnreadableDocumentError as error:
        return "", str(error)
    except MemoryError:
        return "", "cannot be converted, it takes too much memory: save it as text"


def _bound() -> None:
    """Bound the memory of this process: what is zipped may unpack to any size."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
