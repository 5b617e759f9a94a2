"""Limit how often language models are asked: a daily budget, and a circuit breaker for a failing one.

Every request is reserved in a ledger before it is sent: an entry with the maximum expected tokens is appended
before the request, and one that corrects it after the answer. A process killed in between leaves the
estimate, so less than the budget is spent rather than more.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal
from uuid import uuid4

import msgspec

from mnemark.llm.base import Kind, LLMUnavailable

_MAX_WAIT = 3600.0
"""Maximum Retry-After in seconds that is honoured."""
_FAILURES: frozenset[Kind] = frozenset({"refused", "unreachable", "invalid"})


class Budget(msgspec.Struct, frozen=True):
    """Maximum requests and tokens per local day. The default allows none."""

    calls_per_day: int = 0
    """Maximum number of requests, including retries and repairs."""
    tokens_per_day: int = 0
    """Maximum number of tokens, prompts and answers together."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the append-only ledger. A day's usage is the sum of its entries."""

    id: str
    """Request id, shared by the entry that reserves and the one that corrects it."""
    day: date
    """The local day that the entry counts for: the day of the request, even if answered after midnight."""
    time: datetime
    model: str
    what: Literal["asked", "answered", "failed", "withdrawn"]
    calls: int = 0
    tokens_in: int = 0
    """Prompt tokens; in a correction the difference to the reservation, so it may be negative."""
    tokens_out: int = 0


class Spent(msgspec.Struct, frozen=True):
    """Number of calls and tokens used in a day."""

    calls: int = 0
    tokens: int = 0


def spent_on(day: date, entries: Iterable[Entry]) -> Spent:
    """Return the sum of the `entries` of `day`."""
    ours = [entry for entry in entries if entry.day == day]
    return Spent(
        calls=sum(entry.calls for entry in ours),
        tokens=sum(entry.tokens_in + entry.tokens_out for entry in ours),
    )


@dataclass(frozen=True)
class Ledger:
    """Storage of ledger entries.

    `append` writes an entry durably before it returns; `spent` returns a day's sum, including entries of
    other processes: two processes that append first and sum then cannot both take the last call.
    """

    append: Callable[[Entry], None]
    spent: Callable[[date], Spent]

    @classmethod
    def in_memory(cls) -> "Ledger":
        """Return a ledger that is kept in memory only, for tests and single runs."""
        entries: list[Entry] = []
        return cls(entries.append, lambda day: spent_on(day, list(entries)))


class Ticket:
    """A reserved request and the tokens it used. Made by `Meter.request`."""

    def __init__(self, tokens_in: int, tokens_out: int) -> None:
        self.what: Literal["answered", "failed"] = "failed"
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out

    def answered(self, tokens_in: int, tokens_out: int) -> None:
        """Record that the request was answered, and the tokens it used."""
        self.what, self.tokens_in, self.tokens_out = "answered", tokens_in, tokens_out

    def unused(self) -> None:
        """Record that no tokens were used: the server certainly did not process the request."""
        self.tokens_in = self.tokens_out = 0


def _now() -> datetime:
    return datetime.now().astimezone()


class Meter:
    """Enforces a daily budget. Safe for threads, and for processes that share a ledger.

    Args:
        budget: maximum per day.
        ledger: storage of the usage.
        clock: returns the local time, whose date is the day that counts.
    """

    def __init__(self, budget: Budget, ledger: Ledger, *, clock: Callable[[], datetime] = _now) -> None:
        self.budget = budget
        self._ledger = ledger
        self._clock = clock
        self._lock = threading.Lock()

    def spent(self) -> Spent:
        """Return the usage of today, including requests in flight."""
        return self._ledger.spent(self._clock().date())

    @contextmanager
    def request(self, model: str, tokens_in: int, tokens_out: int) -> Iterator[Ticket]:
        """Reserve one request of about `tokens_in` and `tokens_out` tokens, and correct it afterwards.

        The ticket's tokens are recorded also after an exception; by default they are the estimate.

        Raises:
            LLMUnavailable: of kind `budget`, before the body runs.
        """
        entry = self._reserve(model, tokens_in, tokens_out)
        ticket = Ticket(tokens_in, tokens_out)
        try:
            yield ticket
        finally:
            self._ledger.append(
                msgspec.structs.replace(
                    entry,
                    time=self._clock(),
                    what=ticket.what,
                    calls=0,
                    tokens_in=ticket.tokens_in - tokens_in,
                    tokens_out=ticket.tokens_out - tokens_out,
                )
            )

    def _reserve(self, model: str, tokens_in: int, tokens_out: int) -> Entry:
        now = self._clock()
        entry = Entry(
            id=uuid4().hex,
            day=now.date(),
            time=now,
            model=model,
            what="asked",
            calls=1,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )
        with self._lock:
            self._check(entry, before=True)
            self._ledger.append(entry)
            try:
                # Another process may have reserved at the same time: at worst neither gets the last call.
                self._check(entry, before=False)
            except LLMUnavailable:
                withdrawal = msgspec.structs.replace(
                    entry, what="withdrawn", calls=-1, tokens_in=-tokens_in, tokens_out=-tokens_out
                )
                self._ledger.append(withdrawal)
                raise
        return entry

    def _check(self, entry: Entry, *, before: bool) -> None:
        """Raise `LLMUnavailable` if `entry` exceeds the budget; `before`: it is not in the ledger yet."""
        budget = self.budget
        if budget.calls_per_day <= 0 or budget.tokens_per_day <= 0:
            raise LLMUnavailable(
                "budget",
                "no budget for the language model is configured; set calls_per_day and tokens_per_day",
            )
        spent = self._ledger.spent(entry.day)
        calls = spent.calls + (entry.calls if before else 0)
        needed = entry.tokens_in + entry.tokens_out
        tokens = spent.tokens + (needed if before else 0)
        if calls > budget.calls_per_day:
            raise LLMUnavailable(
                "budget",
                f"the day's budget of {budget.calls_per_day} calls is used up; wait until "
                "tomorrow, or raise calls_per_day",
            )
        if tokens > budget.tokens_per_day:
            raise LLMUnavailable(
                "budget",
                f"this call may take {needed} tokens and the day's budget of {budget.tokens_per_day} has "
                f"{max(0, budget.tokens_per_day - tokens + needed)} left; wait until tomorrow, or "
                "raise tokens_per_day",
            )


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
