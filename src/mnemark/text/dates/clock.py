"""Return the current time; a separate module because it is fast to import."""

from datetime import datetime
from zoneinfo import ZoneInfo


def local_now(timezone: str) -> datetime:
    """Return the current time in `timezone`, or in the machine's time zone if empty."""
    return datetime.now(ZoneInfo(timezone)) if timezone else datetime.now().astimezone()
