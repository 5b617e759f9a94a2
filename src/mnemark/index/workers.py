"""Run parts of a large sync in worker processes, so that it uses all processors.

A worker is this Python running `worker_process`: it does not import the main module of the user's program, as
`multiprocessing` would, and nothing is forked with its threads. It is given texts that are redacted already,
and answers with their analysis or vectors; reading, redacting and writing stay in the caller. Whoever gives
work to a worker can do it itself: one that does not start, dies or hangs only costs time.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mnemark.files.pipes import NO_WINDOW, LostError, program, receive, send

if TYPE_CHECKING:  # imported when the first worker starts
    from concurrent.futures import Future

MAX_WORKERS: Final = 3
"""Each takes 65 to 115 MB; beside three, reading and writing fill a processor."""
_QUEUED: Final = 2
"""Requests that a worker has at most; beyond that the caller does the work itself."""
_PATIENCE: Final = 60.0
"""Seconds for one request, which takes less than one: only a worker that hangs takes longer."""
_PROGRAM: Final = "mnemark.index.worker_process"


class Workers:
    """Worker processes. Use them in one thread, and close them."""

    def __init__(self, count: int) -> None:
        self._workers: list[_WorkerProcess] = []
        for _ in range(count):
            with suppress(OSError, RuntimeError):  # nothing can be started here, or Python is ending
                self._workers.append(_WorkerProcess())

    def submit(self, task: str, *arguments: object) -> "WorkerAnswer | None":
        """Let a worker do `worker_process.TASKS[task]`; None if none is ready and free."""
        for worker in self._workers:
            if worker.free:
                with suppress(RuntimeError):  # Python is ending
                    return worker.submit(task, arguments)
        return None

    def close(self) -> None:
        """End all workers, whatever they do."""
        for worker in self._workers:
            worker.close()
        self._workers = []


class WorkerAnswer:
    """The answer to a request, which may still be awaited."""

    def __init__(self, worker: "_WorkerProcess", future: "Future[Any]") -> None:
        self.worker = worker.number
        """The process id of the worker."""
        self._worker = worker
        self._future = future

    @property
    def ready(self) -> bool:
        """Whether `result` returns at once."""
        return self._future.done()

    def result(self) -> Any:
        """Return the answer; None if it does not come, and the caller has to do the work."""
        try:
            return self._future.result(_PATIENCE)
        except LostError:
            return None
        except TimeoutError:
            self._worker.kill()
            return None


class _WorkerProcess:
    """A process, and the thread that talks to it."""

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor
        from subprocess import DEVNULL, PIPE, Popen

        self._process: Any = Popen(
            program(_PROGRAM) or (), stdin=PIPE, stdout=PIPE, stderr=DEVNULL, creationflags=NO_WINDOW
        )
        self.number: int = self._process.pid
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mnemark-worker")
        self._lost = False
        self._requests = [self._thread.submit(self._ask, "ready", ())] * _QUEUED  # full until it has loaded

    @property
    def free(self) -> bool:
        """Whether a request would be worked on soon."""
        self._requests = [request for request in self._requests if not request.done()]
        return not self._lost and len(self._requests) < _QUEUED

    def submit(self, task: str, arguments: tuple[object, ...]) -> WorkerAnswer:
        """Send a request when those before it are answered."""
        self._requests.append(self._thread.submit(self._ask, task, arguments))
        return WorkerAnswer(self, self._requests[-1])

    def _ask(self, task: str, arguments: tuple[object, ...]) -> Any:
        try:
            send(self._process.stdin, (task, arguments))
            return receive(self._process.stdout)
        except (LostError, OSError, ValueError, msgspec.MsgspecError) as error:
            self._lost = True
            raise LostError from error

    def kill(self) -> None:
        """End the process; requests that wait fail."""
        self._lost = True
        self._process.kill()

    def close(self) -> None:
        """End process and thread, and close the pipes."""
        self.kill()
        self._thread.shutdown(cancel_futures=True)
        with suppress(OSError):  # what was not sent
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@contextmanager
def workers_for(work: int, *, least: int) -> Iterator[Workers]:
    """Start workers if there is at least `least` work to do, and end them afterwards."""
    workers = Workers(_count() if work >= least else 0)
    try:
        yield workers
    finally:
        workers.close()


def _count() -> int:
    """Return the number of workers that this machine can use: one processor is the caller's."""
    if program(_PROGRAM) is None:
        return 0
    own = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return min(len(own) - 1, MAX_WORKERS)
