"""Load what a recall needs before it is asked for, at once or behind the first message."""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.retrieval.deadline import RecallInTime

_HEAD_START: Final = 0.05
"""Seconds that loading in the background leaves to a message that comes at once: it stops all threads."""
_QUIET: Final = 1.0
"""Seconds for which loading the dictionary, 0.1 s, waits for a first recall."""


class Loader:
    """Load a searcher's parts, once. Thread-safe.

    Args:
        files: load vectors and index.
        words: load dictionaries; they hold the interpreter for 0.1 s.
        then: what follows in the background.
        in_time: the recalls that wait for this, or that this waits for.
    """

    def __init__(
        self,
        files: Callable[[], None],
        words: Callable[[], None],
        then: Callable[[], None],
        in_time: RecallInTime,
    ) -> None:
        self._files = files
        self._words = words
        self._then = then
        self._in_time = in_time
        self._started = threading.Event()
        self._step = threading.Lock()
        self.closed = False

    def load(self) -> None:
        """Load all now: the next recall is in time."""
        self._started.set()
        self._files()
        self._words()
        self._in_time.loaded.set()

    def load_behind(self) -> None:
        """Load all in the background, ahead of the first recall."""
        if not self._started.is_set():
            self._started.set()
            threading.Thread(target=self._run, name="mnemark-load", daemon=True).start()

    def close(self) -> None:
        """Wait for the step that runs, and begin no other: files are to be closed."""
        with self._step:
            self.closed = True

    def _run(self) -> None:
        from mnemark.retrieval import block, quick_mounts, quick_search  # noqa: F401 - words alone need these

        time.sleep(_HEAD_START)
        with contextlib.suppress(MnemarkError):  # the next search reports the same error
            if not self._do(self._files):
                return
            self._in_time.asked.wait(_QUIET)  # words stop all threads: better while the model thinks
            time.sleep(_HEAD_START)
            if not self._do(self._words):
                return
            self._in_time.loaded.set()
        self._then()

    def _do(self, step: Callable[[], None]) -> bool:
        """Do a step while no recall is waited for; return False where the files were closed."""
        while self._in_time.busy and not self.closed:  # it would keep from a recall what it needs
            time.sleep(_HEAD_START)
        with self._step:
            if not self.closed:
                step()
            return not self.closed
