"""Parse time words such as "last Tuesday" as time spans."""

import time
from datetime import datetime, tzinfo


def local_now(timezone: str) -> datetime:
    """Return the current time in `timezone`, or in the machine's time zone if empty."""
    if not timezone:
        return datetime.now().astimezone()
    from zoneinfo import ZoneInfo

    return datetime.now(ZoneInfo(timezone))


def local(when: datetime, zone: tzinfo | None) -> datetime:
    """Return a time on the clock of a zone, or of this machine; a naive one is taken to be of it."""
    if when.tzinfo is None and zone is not None:
        return when.replace(tzinfo=zone)
    try:
        return when.astimezone(zone)
    except (OverflowError, ValueError, OSError):  # at the edges of the calendar
        return when


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
