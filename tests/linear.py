"""Whether a function takes time in proportion to its text: by doubling it, in processor time."""

import gc
import time
from collections.abc import Callable
from typing import Final, NamedTuple

SMALL: Final = 2_500
"""Characters of the first text; the second has four times as many."""
_GROWTH: Final = 4
_MOST: Final = 8.0
"""Of a text four times as long; linear is 4, quadratic 16."""
_UNSEEN: Final = 0.004
"""Seconds for the long text below which nothing needs to be told apart: a quadratic one takes more."""
_TRIES: Final = 4
_TINY: Final = (16, 24, 36, 54, 81, 121, 182)
_TOO_LONG: Final = 0.25
"""Seconds for so few characters."""

Call = Callable[[str], object]


class Slow(NamedTuple):
    """What was found to grow faster than its text."""

    small: float
    large: float
    size: int

    def __str__(self) -> str:
        small, large = f"{self.small * 1000:.1f} ms", f"{self.large * 1000:.1f} ms"
        return f"{small} for {self.size} characters, {large} for {self.size * _GROWTH}"


def seconds(call: Call, text: str) -> float:
    """Processor time of one call, without the collector: its time is that of all objects of the process."""
    collects = gc.isenabled()
    gc.disable()
    try:
        begin = time.process_time()
        call(text)
        return time.process_time() - begin
    finally:
        if collects:
            gc.enable()


def within(limit: float, work: Callable[[], object]) -> bool:
    """Whether one of three calls takes less than `limit` seconds of processor time: others only add to it."""
    return any(seconds(lambda _: work(), "") < limit for _ in range(3))


def slow(
    call: Call,
    make: Callable[[int], str],
    *,
    size: int = SMALL,
    forget: Callable[[], object] = lambda: None,
    guard: bool = True,
) -> Slow | None:
    """How much longer a text takes that is four times as long, where that is more than it should be.

    Args:
        call: takes the text.
        make: a text of about so many characters.
        size: of the shorter text.
        forget: empties caches, so that each call does its work.
        guard: try very short texts first.
    """
    for tiny in _TINY if guard else ():  # what doubles with each character would never come back
        if (spent := seconds(call, make(tiny))) > _TOO_LONG:
            return Slow(spent, float("inf"), tiny)
    small, large = make(size), make(size * _GROWTH)
    low = high = float("inf")
    for _ in range(_TRIES):  # the least of several: noise only adds
        forget()
        high = min(high, seconds(call, large))
        if high <= _UNSEEN:
            return None
        forget()
        low = min(low, seconds(call, small))
        if high <= _MOST * low:
            return None
    return Slow(low, high, size)
