"""Run work on another thread until a deadline; limit how many searches compute at once."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from mnemark.net import settle

if TYPE_CHECKING:
    from concurrent.futures import Future

Value = TypeVar("Value")

_MAX_WORKERS: Final = 4
"""Maximum number of threads, so that stuck ones (on a locked disk, say) cannot pile up."""


class TimedOut:
    """Sentinel for the result of work that did not finish in time."""


LATE: Final = TimedOut()


class DeadlineRunner(Generic[Value]):
    """Run work on a few threads. Work whose result comes too late continues in the background.

    Threads are reused; each calls `rest` when its work is done.
    """

    def __init__(self, rest: Callable[[], None] = lambda: None) -> None:
        self._rest = rest
        self._lock = threading.Lock()
        self._idle: list[_Tasks] = []
        self._workers = 0
        self._closed = False

    def start(self, work: Callable[[], Value]) -> "Future[Value] | None":
        """Start the work, and return its future result; None where all threads are busy."""
        tasks = self._worker()
        if tasks is None:
            return None

        def work_and_free() -> Value:
            try:
                return work()
            finally:
                self._rest()
                with self._lock:
                    if self._closed:
                        tasks.put(None)
                    else:
                        self._idle.append(tasks)

        from concurrent.futures import Future  # it loads `logging`

        future: Future[Value] = Future()
        tasks.put(lambda: settle(future, work_and_free))
        return future

    def close(self) -> None:
        """Stop the idle threads, and the others when their work is done."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            self._workers -= len(idle)
        for tasks in idle:
            tasks.put(None)

    def _worker(self) -> "_Tasks | None":
        """Return the task queue of an idle or new thread; None where `_MAX_WORKERS` are busy."""
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
        del task  # release its result before waiting for the next task


def by_deadline(future: "Future[Value] | None", seconds: float | None) -> Value | TimedOut:
    """Return the future's result, or LATE after `seconds` (None: as long as it takes); raise its error.

    Without a future it is LATE at once.
    """
    if future is None:
        return LATE
    try:
        return future.result(None if seconds is None else max(seconds, 0.0))
    except TimeoutError:  # of the work itself, where that is done
        return future.result() if future.done() else LATE


_MAX_WAIT: Final = 1.0
"""Seconds that a search without a deadline waits for a processor."""
_processors = threading.BoundedSemaphore(max(os.cpu_count() or 2, 2))


@contextmanager
def in_turn(deadline: float | None) -> Iterator[None]:
    """Hold one of as many slots as there are processors; wait for it until `deadline` (monotonic) at most.

    The search runs even without a slot. Eight searches of 15 ms started together on two processors all end
    after 60 ms; in turn, half of them end after 30. Hold a slot to compute, never to wait for a model.
    """
    left = _MAX_WAIT if deadline is None else deadline - time.monotonic()
    taken = _processors.acquire(timeout=max(left, 0.0))
    try:
        yield
    finally:
        if taken:
            _processors.release()
