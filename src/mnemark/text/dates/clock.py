"""Return the current time; a separate module because it is fast to import."""

from datetime import datetime


def local_now(timezone: str) -> datetime:
    """Return the current time in `timezone`, or in the machine's time zone if empty."""
    if not timezone:
        return datetime.now().astimezone()
    from zoneinfo import ZoneInfo

    return datetime.now(ZoneInfo(timezone))
