"""Tell the time now; apart from the rest of `dates` because it is light to import."""

from datetime import datetime
from zoneinfo import ZoneInfo


def local_now(timezone: str) -> datetime:
    """Return the time now in the configured zone, or in that of this machine."""
    return datetime.now(ZoneInfo(timezone)) if timezone else datetime.now().astimezone()
