"""Run work by a deadline on another thread, and leave it behind when it is late."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

Value = TypeVar("Value")

_MAX_WORKERS: Final = 4
"""Threads that may be stuck (on a locked disk, say) before no more are started."""


class TimedOut:
    """The work did not finish in time."""


LATE: Final = TimedOut()


class DeadlineRunner(Generic[Value]):
    """Runs work with a time limit. Late work goes on in the background and its result is dropped.

    Threads are kept for the next call; `rest` is called on one when it has done its work.
    """

    def __init__(self, rest: Callable[[], None] = lambda: None) -> None:
        self._rest = rest
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._workers = 0

    def run(self, work: Callable[[], Value], seconds: float) -> Value | TimedOut:
        """The result, or LATE after `seconds`. Exceptions of the work are raised here."""
        worker = self._take()
        if worker is None:
            return LATE
        task = _Task(work)
        worker.tasks.put(task)
        if not task.done.wait(max(seconds, 0)):
            return LATE
        return task.result()

    def close(self) -> None:
        """End the threads that are not at work."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._workers -= len(idle)
        for worker in idle:
            worker.tasks.put(None)

    def _take(self) -> "_Worker | None":
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._workers >= _MAX_WORKERS:
                return None
            self._workers += 1
        return _Worker(self._give_back, self._rest)

    def _give_back(self, worker: "_Worker") -> None:
        with self._lock:
            self._idle.append(worker)


class _Worker:
    """A thread that does one task after the other."""

    def __init__(self, finished: "Callable[[_Worker], None]", rest: Callable[[], None]) -> None:
        self.tasks: SimpleQueue[_Task[Any] | None] = SimpleQueue()
        self._finished = finished
        self._rest = rest
        threading.Thread(target=self._loop, name="mnemark-recall", daemon=True).start()

    def _loop(self) -> None:
        while (task := self.tasks.get()) is not None:
            task.run(self._free)
            del task  # its result must not live until the next one comes

    def _free(self) -> None:
        self._rest()
        self._finished(self)


class _Task(Generic[Value]):
    def __init__(self, work: Callable[[], Value]) -> None:
        self.done = threading.Event()
        self._work = work
        self._value: list[Value] = []
        self._error: BaseException | None = None

    def run(self, finished: Callable[[], None]) -> None:
        try:
            self._value.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._error = error
        finally:
            finished()
            self.done.set()

    def result(self) -> Value:
        if self._error is not None:
            raise self._error
        return self._value[0]


_LONGEST: Final = 1.0
"""Seconds that one without a deadline waits."""
_free = threading.BoundedSemaphore(max(os.cpu_count() or 2, 2))


@contextmanager
def in_turn(deadline: float | None) -> Iterator[None]:
    """Wait for a processor that no other search uses, up to a monotonic `deadline`, and go on in any case.

    Eight searches of 15 ms that are begun together on two processors are all done after 60 ms; one after the
    other, half of them are after 30. Only what computes may wait here and hold others up, not what waits for
    a model.
    """
    left = _LONGEST if deadline is None else deadline - time.monotonic()
    taken = _free.acquire(timeout=max(left, 0.0))
    try:
        yield
    finally:
        if taken:
            _free.release()
