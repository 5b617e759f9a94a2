"""Run work on threads of its own."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_T = TypeVar("_T")
_LOW = 10
"""The priority ("nice" value) of work in the background."""


def within(seconds: float, work: Callable[[], _T]) -> _T:
    """Run `work` with a time limit and return its result.

    It runs in its own thread, which is abandoned at the time limit: name lookups, several addresses and
    slow headers are not covered by socket timeouts.

    Raises:
        TimeoutError: `work` did not end in time.
    """
    return background(work, "mnemark-net").result(seconds)


def background(work: Callable[[], _T], name: str) -> "Future[_T]":
    """Run `work` in a daemon thread called `name` and return its future."""
    from concurrent.futures import Future  # it loads `logging`

    future: Future[_T] = Future()
    threading.Thread(target=settle, args=(future, work), name=name, daemon=True).start()
    return future


def yield_to_others() -> None:
    """Let threads of other work go first, where the system knows of priorities of threads."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOW)


class Beside:
    """A thread that takes parts of other threads' work. Thread-safe.

    To wake it takes 0.1 ms, to start one for each work 0.3. Work gains by it that leaves the interpreter to
    others, such as a pass through much memory.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle = threading.Lock()
        self._handed: _Parts | None = None
        self._called = threading.Lock()
        """Held until there is work for the thread."""
        self._called.acquire()
        self._process = 0
        """Where the thread runs; a fork has none."""

    def begin(self, work: Callable[[int], object], parts: int) -> Callable[[], None]:
        """Begin `work(0)` … `work(parts - 1)`; return the function that does what is left of it.

        That function is to be called once; after it all parts are done. It raises what a part raised.
        A single part, or one while the thread does other work or cannot be had, does not begin before.
        """
        shared = _Parts(work, parts)
        if parts < 2 or not self._idle.acquire(blocking=False):
            return shared.finish
        if self._process != os.getpid():
            try:
                threading.Thread(target=self._serve, name=self._name, daemon=True).start()
            except RuntimeError:  # the system gives this process no more threads
                self._idle.release()
                return shared.finish
            self._process = os.getpid()
        shared.runs.acquire()
        self._handed = shared
        self._called.release()
        return shared.finish

    def _serve(self) -> None:
        while True:
            self._called.acquire()
            if self._handed is not None:
                self._handed.help()
            self._handed = None  # with the arrays that its work holds
            self._idle.release()


class _Parts:
    """The parts of a work that are left, for two threads."""

    def __init__(self, work: Callable[[int], object], parts: int) -> None:
        self._work = work
        self._left = deque(range(parts))
        self._error: BaseException | None = None
        self.runs = threading.Lock()
        """Held until the other thread has done its share."""

    def _do(self) -> None:
        while True:
            try:
                part = self._left.popleft()
            except IndexError:
                return
            self._work(part)

    def help(self) -> None:
        """Do parts on the other thread."""
        try:
            self._do()
        except BaseException as error:  # noqa: BLE001 - nothing is swallowed: `finish` raises it
            self._error = error
        finally:
            self.runs.release()

    def finish(self) -> None:
        """Do what is left, and wait for the other thread."""
        self._do()
        with self.runs:
            if self._error is not None:
                raise self._error


def settle(future: "Future[_T]", work: Callable[[], _T]) -> None:
    """Run `work` and set its result or exception on `future`."""
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - nothing is swallowed: `future.result()` raises it
        future.set_exception(error)
