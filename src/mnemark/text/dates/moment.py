"""Parse times given as arguments, and measure the time since an event."""

import time
from datetime import date, datetime, timedelta

from mnemark.errors import UsageError, text_given
from mnemark.text.dates.ranges import date_ranges


def moment(
    value: date | str | None, name: str, now: datetime, *, end: bool = False, last: bool = False
) -> datetime | None:
    """Return a time given as datetime, ISO format or time words ("last week", 上周五).

    Args:
        value: the argument; a date is that day.
        name: name of the argument, for the message.
        now: the time that words are relative to.
        end: return the (exclusive) end of the span of words or a date, not its start.
        last: return the last second of the span.

    Raises:
        UsageError: `value` is not a time.
    """
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, date):
        value = value.isoformat()
    text_given(value, name)
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
    """Measures the seconds since an event."""

    def __init__(self) -> None:
        self._at = float("-inf")

    def mark(self) -> None:
        """Set the event's time to now."""
        self._at = time.monotonic()

    def forget(self) -> None:
        """Clear the event's time."""
        self._at = float("-inf")

    def passed(self) -> float:
        """Return the seconds since the event; infinity without one."""
        return time.monotonic() - self._at
