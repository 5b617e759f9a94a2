"""As many searches at once as there are processors: with more, each would only wait for the others longer."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

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
