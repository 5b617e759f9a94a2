"""Run jobs in order on a background thread with a bounded queue, which is drained at the end.

Where the queue is full, `submit` waits `patience` seconds, then refuses, and the caller runs the job itself.
So memory is bounded, no job is dropped, and a caller that is too fast is slowed down.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple, Self

ROOM: Final = 256
PATIENCE: Final = 1.0
"""Seconds that `submit` waits while the queue is full."""
DRAIN: Final = 10.0
"""Seconds that `close` waits for queued jobs."""
_TICK: Final = 0.5

_log = logging.getLogger("mnemark.agent")
Job = Callable[[], object]


class JobCounts(NamedTuple):
    """Counts of a worker's jobs."""

    done: int
    failed: int
    refused: int
    waiting: int


class Worker:
    """Runs jobs one after the other on its own thread. A context manager.

    Args:
        name: of the thread.
        room: maximum number of queued jobs.
        tick: called about twice a second between jobs, for timeouts.
    """

    def __init__(self, name: str = "mnemark-worker", *, room: int = ROOM, tick: Job | None = None) -> None:
        self._queue: queue.Queue[Job | None] = queue.Queue(room)
        self._tick = tick
        self._closed = False
        self._guard = threading.Lock()
        self._done = self._failed = self._refused = 0
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def counts(self) -> JobCounts:
        """Counts of jobs done, failed, refused and waiting."""
        with self._guard:
            return JobCounts(self._done, self._failed, self._refused, self._queue.qsize())

    def submit(self, job: Job, *, patience: float = PATIENCE) -> bool:
        """Queue a job; return False if the queue stays full for `patience` seconds, or is closed."""
        if not self._closed:
            try:
                self._queue.put(job, timeout=patience)
            except queue.Full:
                _log.warning("the queue is full; the work is done at once")
            else:
                return True
        with self._guard:
            self._refused += 1
        return False

    def flush(self, timeout: float = DRAIN) -> bool:
        """Wait until all queued jobs are done; return False after `timeout` seconds."""
        reached = threading.Event()
        deadline = time.monotonic() + timeout
        if not self._thread.is_alive() or not self.submit(reached.set, patience=timeout):
            return self._queue.empty()
        return reached.wait(max(deadline - time.monotonic(), 0.0))

    def close(self, timeout: float = DRAIN) -> int:
        """Finish queued jobs and end the thread; return how many are left after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._guard:
            first, self._closed = not self._closed, True
        if first:
            try:
                self._queue.put(None, timeout=timeout)
            except queue.Full:
                _log.error("the queue is full and does not move")
        self._thread.join(max(deadline - time.monotonic(), 0.0))
        left = self._queue.qsize()
        if left and self._thread.is_alive():
            _log.error("%d jobs were not done within %.0f s", left, timeout)
        return left

    def _run(self) -> None:
        while True:
            done = 1
            try:
                job = self._queue.get(timeout=_TICK if self._tick is not None else None)
            except queue.Empty:
                job, done = self._tick, 0
            if job is None:
                return
            try:
                job()
            except Exception:  # noqa: BLE001 - one bad job must not end the others; logged and counted
                _log.exception("a job failed")
                with self._guard:
                    self._failed += 1
            else:
                with self._guard:
                    self._done += done
