"""Tell the time now, in a configured zone or this machine's; light to load."""

from datetime import datetime
from zoneinfo import ZoneInfo


def local_now(timezone: str) -> datetime:
    """Wall time now, with its zone: of the configured place, or of this machine."""
    return datetime.now(ZoneInfo(timezone)) if timezone else datetime.now().astimezone()
