"""Budget of a day and its ledger: no request is sent that was not booked first.

A request is entered with the most it is expected to cost before it is sent, and corrected when the answer is
there. A process killed in between leaves the estimate: the budget errs on the side of spending less.
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
    """The most to spend in one local day. The default allows nothing."""

    calls_per_day: int = 0
    """Requests sent, retries and repairs included."""
    tokens_per_day: int = 0
    """Prompt and answer together."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the ledger. What was spent is the sum over a day's entries; none is ever changed."""

    id: str
    """Shared by the entry before a request and the one that corrects it."""
    day: date
    """The local day it counts for: that of the request, also where the answer comes after midnight."""
    time: datetime
    model: str
    what: Literal["asked", "answered", "failed", "withdrawn"]
    calls: int = 0
    tokens_in: int = 0
    """Negative where less was used than entered before."""
    tokens_out: int = 0


class Spent(msgspec.Struct, frozen=True):
    """A day's sum."""

    calls: int = 0
    tokens: int = 0


def spent_on(day: date, entries: Iterable[Entry]) -> Spent:
    """Add up the `entries` that count for `day`."""
    ours = [entry for entry in entries if entry.day == day]
    return Spent(
        calls=sum(entry.calls for entry in ours),
        tokens=sum(entry.tokens_in + entry.tokens_out for entry in ours),
    )


@dataclass(frozen=True)
class Ledger:
    """Where the spending is written down.

    `append` keeps an entry and returns when it is kept; `spent` gives a day's sum, with what other processes
    appended: whoever appends first and sums then cannot take the last call together with another.
    """

    append: Callable[[Entry], None]
    spent: Callable[[date], Spent]

    @classmethod
    def in_memory(cls) -> "Ledger":
        """Make a ledger that is forgotten with the process, for tests and single runs."""
        entries: list[Entry] = []
        return cls(entries.append, lambda day: spent_on(day, list(entries)))


class Ticket:
    """Leave to send one request, and how many tokens of what came of it. Made by `Meter.request`."""

    def __init__(self, tokens_in: int, tokens_out: int) -> None:
        self.what: Literal["answered", "failed"] = "failed"
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out

    def answered(self, tokens_in: int, tokens_out: int) -> None:
        """Record that the request was answered and used so many tokens."""
        self.what, self.tokens_in, self.tokens_out = "answered", tokens_in, tokens_out

    def unused(self) -> None:
        """Record that no tokens were used: the request was certainly not worked on."""
        self.tokens_in = self.tokens_out = 0


def _now() -> datetime:
    return datetime.now().astimezone()


class Meter:
    """Lets requests through while the budget lasts. Safe for threads, and for processes that share a ledger.

    Args:
        budget: what a day may cost.
        ledger: where it is written down.
        clock: local time; its date is the day.
    """

    def __init__(self, budget: Budget, ledger: Ledger, *, clock: Callable[[], datetime] = _now) -> None:
        self.budget = budget
        self._ledger = ledger
        self._clock = clock
        self._lock = threading.Lock()

    def spent(self) -> Spent:
        """Return what today cost so far, requests under way included."""
        return self._ledger.spent(self._clock().date())

    @contextmanager
    def request(self, model: str, tokens_in: int, tokens_out: int) -> Iterator[Ticket]:
        """Allow one request that will use at most about so many tokens.

        What the ticket says at the end is what is written down; an exception leaves the estimate.

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
                # Another process may have entered one at the same moment: at worst neither gets the last.
                self._check(entry, before=False)
            except LLMUnavailable:
                back = msgspec.structs.replace(
                    entry, what="withdrawn", calls=-1, tokens_in=-tokens_in, tokens_out=-tokens_out
                )
                self._ledger.append(back)
                raise
        return entry

    def _check(self, entry: Entry, *, before: bool) -> None:
        """Refuse `entry` where the day's sum, which has it already or not, leaves no room."""
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
