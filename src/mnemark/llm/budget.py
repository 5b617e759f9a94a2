"""Limit what language models may cost per day: every request is reserved in a ledger before it is sent.

An entry with the maximum expected tokens is appended before the request, and one that corrects it after the
answer. A process killed in between leaves the estimate, so less than the budget is spent rather than more.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal
from uuid import uuid4

import msgspec

from mnemark.llm.base import LLMUnavailable


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
