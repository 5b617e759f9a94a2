"""Parse times as callers give them, and measure the time since an event."""

import time
from datetime import datetime, timedelta

from mnemark.errors import UsageError
from mnemark.text.dates.ranges import date_ranges


def moment(
    value: datetime | str | None, name: str, now: datetime, *, end: bool = False, last: bool = False
) -> datetime | None:
    """Parse a time given as datetime, ISO text or words ("last week", 上周五).

    Args:
        value: as given.
        name: of the argument, for the message.
        now: what words are relative to.
        end: take the (exclusive) end of the span that words or a bare date name, not its beginning.
        last: take the last second in the span.

    Raises:
        UsageError: it names no time.
    """
    if value is None or isinstance(value, datetime):
        return value
    ranges = date_ranges(value, now)
    found = _iso(value)
    if ranges and (len(value.strip()) <= 10 or not found):
        if last:
            return ranges[-1].end - timedelta(seconds=1)
        return ranges[-1].end if end else ranges[0].start
    if found is None:
        raise UsageError(
            f"{name}: {value!r} is not a time; write 2026-02-13, 2026-02-13T09:30 or words like yesterday"
        )
    return found


def _iso(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        return None


class Clock:
    """Seconds since an event was last marked."""

    def __init__(self) -> None:
        self._at = float("-inf")

    def mark(self) -> None:
        """Set the event to now."""
        self._at = time.monotonic()

    def forget(self) -> None:
        """Forget the event."""
        self._at = float("-inf")

    def passed(self) -> float:
        """Return the seconds since the event; infinite without one."""
        return time.monotonic() - self._at
