"""An answer by a deadline: the work runs on its own thread and is left behind when it is late."""

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

Value = TypeVar("Value")

_MAX_LATE: Final = 4
"""Threads that may be stuck (on a locked disk, say) before no more are started."""


class Late:
    """The work did not finish in time."""


LATE: Final = Late()


class Timed(Generic[Value]):
    """Runs work with a time limit. Late work goes on in the background and its result is dropped."""

    def __init__(self) -> None:
        self._slots = threading.Semaphore(_MAX_LATE)

    def run(self, work: Callable[[], Value], seconds: float) -> Value | Late:
        """The result, or LATE after `seconds`. Exceptions of the work are raised here."""
        if not self._slots.acquire(blocking=False):
            return LATE
        task = _Task(work, self._slots)
        threading.Thread(target=task.run, name="mnemark-recall", daemon=True).start()
        if not task.done.wait(max(seconds, 0)):
            return LATE
        return task.result()


class _Task(Generic[Value]):
    def __init__(self, work: Callable[[], Value], slots: threading.Semaphore) -> None:
        self.done = threading.Event()
        self._work = work
        self._slots = slots
        self._value: list[Value] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._value.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._error = error
        finally:
            self._slots.release()
            self.done.set()

    def result(self) -> Value:
        if self._error is not None:
            raise self._error
        return self._value[0]
