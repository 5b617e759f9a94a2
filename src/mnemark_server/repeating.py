"""Do a job again and again, on a thread of its own."""

import logging
import threading
from collections.abc import Callable

from mnemark.errors import MnemarkError
from mnemark_server.database import said

_log = logging.getLogger("mnemark.server")


class Repeating:
    """A thread that does a job every so many seconds until it is closed; one that fails is tried again.

    Also where nobody foresaw why: else one memory could end what is done for all.
    """

    def __init__(self, name: str, seconds: float, job: Callable[[], object]) -> None:
        self.closing = False
        self._seconds = seconds
        self._job = job
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to wait for the first time."""
        self._thread.start()

    def soon(self) -> None:
        """Do the job now, not only when its time has come."""
        self._wake.set()

    def close(self) -> None:
        """End the thread, when the job that runs is done."""
        self.closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while True:
            self._wake.wait(self._seconds)
            self._wake.clear()
            if self.closing:
                return
            try:
                self._job()
            except MnemarkError as error:
                _log.warning("%s: %s; tried again in a moment", self._thread.name, said(error))
            except Exception:  # noqa: BLE001 - what one memory fails at is done for the others
                _log.exception("unexpected in %s; tried again in a moment", self._thread.name)
