"""Run work by a deadline on another thread, and leave it behind when it is late."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Final, Generic, TypeVar

from mnemark.net import settle

Value = TypeVar("Value")

_MAX_WORKERS: Final = 4
"""Threads that may be stuck (on a locked disk, say) before no more are started."""


class TimedOut:
    """Stands for the result of work that did not finish in time."""


LATE: Final = TimedOut()


class DeadlineRunner(Generic[Value]):
    """Runs work with a time limit. Late work goes on in the background and its result is dropped.

    Threads are kept for the next call; `rest` is called on one when it has done its work.
    """

    def __init__(self, rest: Callable[[], None] = lambda: None) -> None:
        self._rest = rest
        self._lock = threading.Lock()
        self._idle: list[_Tasks] = []
        self._workers = 0

    def run(self, work: Callable[[], Value], seconds: float) -> Value | TimedOut:
        """Return the result, or LATE after `seconds`. Exceptions of the work are raised here."""
        tasks = self._worker()
        if tasks is None:
            return LATE

        def work_and_free() -> Value:
            try:
                return work()
            finally:
                self._rest()
                with self._lock:
                    self._idle.append(tasks)

        future: Future[Value] = Future()
        tasks.put(lambda: settle(future, work_and_free))
        return by_deadline(future, max(seconds, 0.0))

    def close(self) -> None:
        """End the threads that are not at work."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._workers -= len(idle)
        for tasks in idle:
            tasks.put(None)

    def _worker(self) -> "_Tasks | None":
        """Return the tasks of a free thread; None where too many are stuck."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._workers >= _MAX_WORKERS:
                return None
            self._workers += 1
        tasks: _Tasks = SimpleQueue()
        threading.Thread(target=_loop, args=(tasks,), name="mnemark-recall", daemon=True).start()
        return tasks


_Tasks = SimpleQueue[Callable[[], None] | None]


def _loop(tasks: _Tasks) -> None:
    while (task := tasks.get()) is not None:
        task()
        del task  # its result must not live until the next one comes


def by_deadline(future: "Future[Value]", seconds: float | None) -> Value | TimedOut:
    """Return the future's result, or LATE after `seconds` (None: as long as it takes); raise its error."""
    try:
        return future.result(seconds)
    except TimeoutError:  # of the work itself, where that is done
        return future.result() if future.done() else LATE


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
