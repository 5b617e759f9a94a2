"""Let one thread of this process compute at a time.

Threads that compute side by side gain little, since the interpreter runs one of them at a time, and lose
much: each statement, each look at a file hands the interpreter to another one, which may keep it for 5 ms.
With eight agents on two processors, threads were switched 14,000 times a second, and recalls were late.
"""

import heapq
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from mnemark.errors import MnemarkError

_LENT: Final = 0.05
"""Seconds after which the next may begin although the one before still computes, so that none waits for long
work: a sync of many files, a search of a million passages."""
_MAX_WAIT: Final = 1.0
"""Seconds that work without a deadline waits for its turn; then it computes beside the others."""
_SHORTEST: Final = 0.001


class OutOfTimeError(MnemarkError):
    """A search got no turn before its deadline; what it would find comes too late."""

    def __init__(self) -> None:
        super().__init__("no time was left to search it; allow more (deadline, recall_deadline_ms)")


class QueuedTurn:
    """A thread's place in the queue, later its turn; ordered by who goes first, then by arrival."""

    __slots__ = ("_order", "came", "ends")

    def __init__(self, number: int, *, first: bool) -> None:
        self._order = not first, number
        self.came = threading.Lock()
        """Held until the turn comes."""
        self.ends = 0.0
        """Monotonic time from which the next may begin."""
        self.came.acquire()

    def __lt__(self, other: "QueuedTurn") -> bool:
        return self._order < other._order


class TurnQueue:
    """Gives turns to threads, one at a time. Thread-safe.

    Args:
        lent: seconds after which a turn passes on although it has not ended.
    """

    def __init__(self, lent: float = _LENT) -> None:
        self._lent = lent
        self._guard = threading.Lock()
        self._current: QueuedTurn | None = None
        self._waiting: list[QueuedTurn] = []
        """A heap."""
        self._count = 0

    def take(self, until: float, *, first: bool = False) -> QueuedTurn | None:
        """Wait for a turn until a monotonic time; None where none came. With `first`, before all others."""
        with self._guard:
            self._count += 1
            turn = QueuedTurn(self._count, first=first)
            heapq.heappush(self._waiting, turn)
            if self._begin(turn):
                return turn
        try:
            return turn if self._wait(turn, until) else None
        except BaseException:  # a signal: nobody waits for a turn that nobody takes
            self._give_up(turn)
            raise

    def _wait(self, turn: QueuedTurn, until: float) -> bool:
        while True:
            now = time.monotonic()
            current = self._current
            ends = now if current is None else current.ends
            if turn.came.acquire(timeout=max(min(until, ends) - now, _SHORTEST)):
                return True
            with self._guard:
                # It may have come since, and be over: this thread may have stood still.
                if turn.came.acquire(blocking=False) or self._begin(turn):
                    return True
                if time.monotonic() >= until:
                    self._leave(turn)
                    return False

    def _give_up(self, turn: QueuedTurn) -> None:
        with self._guard:
            if turn in self._waiting:
                self._leave(turn)
        self.give_back(turn)

    def _leave(self, turn: QueuedTurn) -> None:
        self._waiting.remove(turn)
        heapq.heapify(self._waiting)

    def give_back(self, turn: QueuedTurn) -> None:
        """End a turn; the next begins, unless it has begun already."""
        with self._guard:
            if self._current is turn:
                self._current = None
                if self._waiting:
                    following = self._waiting[0]
                    self._begin(following)
                    following.came.release()

    def is_wanted(self) -> bool:
        """Return whether anyone waits for a turn."""
        return bool(self._waiting)

    def _begin(self, turn: QueuedTurn) -> bool:
        """Begin it if nobody goes before and the current one ended or took too long. Hold `_guard`."""
        now = time.monotonic()
        if self._waiting[0] is not turn or (self._current is not None and now < self._current.ends):
            return False
        heapq.heappop(self._waiting)
        turn.ends = now + self._lent
        self._current = turn
        return True


class _Mine(threading.local):
    computing = False
    """Whether this thread is inside `in_turn`."""


_turns = TurnQueue()
_mine = _Mine()


@contextmanager
def in_turn(until: float | None = None, *, first: bool = False) -> Iterator[Callable[[], None]]:
    """Compute in turn; inside of another `in_turn` of the thread this does nothing.

    Work that waits for a model, or for another thread that computes, waits outside.

    Args:
        until: monotonic deadline. None: after a second it computes beside the others.
        first: before all others: little is left of a deadline, and the work is short.

    Yields:
        A function that lets those go who wait; long work calls it between its parts.

    Raises:
        OutOfTimeError: the turn did not come until the deadline.
    """
    if _mine.computing:
        yield lambda: None
        return

    def take() -> QueuedTurn | None:
        return _turns.take(time.monotonic() + _MAX_WAIT if until is None else until, first=first)

    turn = take()
    if turn is None and until is not None:
        raise OutOfTimeError

    def pass_on() -> None:
        nonlocal turn
        if _turns.is_wanted():
            end()
            turn = take()

    def end() -> None:
        if turn is not None:
            _turns.give_back(turn)

    _mine.computing = True
    try:
        yield pass_on
    finally:
        _mine.computing = False
        end()
