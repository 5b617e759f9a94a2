"""Stop calling a failing model: a circuit breaker that opens after failures in a row and probes later."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mnemark.llm.base import Kind, LLMUnavailable

_MAX_WAIT = 3600.0
"""Maximum Retry-After in seconds that is honoured."""
_FAILURES: frozenset[Kind] = frozenset({"refused", "unreachable", "invalid"})


class Breaker:
    """Circuit breaker: closed normally, open after `failures` in a row, half open after `pause` seconds.

    Half open lets one call through: its success closes the breaker, its failure opens it again. A server's
    Retry-After opens it too, from the first failure on. Calls that never reached the model (budget, key)
    and prompts that are too long count as neither. State is kept in memory only.

    Args:
        failures: number of failures in a row that opens it.
        pause: seconds it stays open.
        clock: returns monotonic time in seconds.
    """

    def __init__(
        self, failures: int = 5, pause: float = 60.0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = failures
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0
        self._until = 0.0
        self._probing = False

    @property
    def state(self) -> str:
        """`closed`, `open` or `half open`."""
        with self._lock:
            if self._clock() < self._until:
                return "open"
            return "half open" if self._failed >= self._limit else "closed"

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Run the body unless the breaker is open, and count its success or failure.

        Raises:
            LLMUnavailable: of kind `breaker`, before the body runs, while open or another call probes.
        """
        probing = self._enter()
        try:
            yield
        except LLMUnavailable as error:
            if error.kind in _FAILURES:
                self._fail(error.after)
            raise
        else:
            self._succeed()
        finally:
            if probing:
                with self._lock:
                    self._probing = False

    def _enter(self) -> bool:
        with self._lock:
            wait = self._until - self._clock()
            if wait > 0 or self._probing:
                when = f"in {wait:.0f} s" if wait > 0 else "when the current call has answered"
                raise LLMUnavailable(
                    "breaker",
                    f"the language model failed {self._failed} times in a row; it is asked again {when}",
                    max(0.0, wait),
                )
            self._probing = self._failed >= self._limit
            return self._probing

    def _fail(self, after: float | None) -> None:
        with self._lock:
            self._failed += 1
            pauses = [self._pause] if self._failed >= self._limit else []
            pauses += [min(after, _MAX_WAIT)] if after is not None else []
            self._until = max([self._until, *(self._clock() + pause for pause in pauses)])

    def _succeed(self) -> None:
        with self._lock:
            self._failed, self._until = 0, 0.0
