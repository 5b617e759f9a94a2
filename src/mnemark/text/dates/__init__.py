"""Parse time words such as "last Tuesday" as time spans."""

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
