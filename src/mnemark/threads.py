"""Run work on threads of its own."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_T = TypeVar("_T")


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


def settle(future: "Future[_T]", work: Callable[[], _T]) -> None:
    """Run `work` and set its result or exception on `future`."""
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - nothing is swallowed: `future.result()` raises it
        future.set_exception(error)
