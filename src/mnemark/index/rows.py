"""Define the packed row of ranking columns of a passage, and convert dates to its seconds."""

from datetime import datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt

from mnemark.types import KINDS, ORIGINS, Kind, Origin

ROW: Final = np.dtype(
    [
        ("passage", "<i8"),
        ("document", "<i4"),
        ("ordinal", "<i8"),
        ("time", "<i8"),  # seconds of local wall time since 1970, NO_TIME where undated
        ("length", "<u2"),  # words that are not stop words
        ("scope", "<i4"),
        ("kind", "u1"),
        ("origin", "u1"),
        ("flags", "u1"),  # who said it and how, among others: see below
        ("importance", "u1"),  # 0 to 255
        ("key", "u1", (16,)),  # content hash: names the vector
    ]
)
NO_TIME: Final = np.iinfo(np.int64).min
ARCHIVED: Final = 1
"""Flag: under `memory/archive/`; excluded from searches by default."""
SUSPECT: Final = 2
"""Flag: text that looks like instructions, or untrusted text that speaks for the owner; labelled and ranked
lower, and if untrusted left out of results that were not searched for."""
MARKS: Final = 5
"""Version of the rules that set `SUSPECT` and `TASTE`; raise it where they mark other texts."""
UNTRUSTED: Final[frozenset[Origin]] = frozenset({"tool", "web"})
CORE: Final = 4
"""Flag: long-term memory, identity or facts; exempt from recency decay."""
DERIVED: Final = 8
"""Flag: generated text that names its sources; see `derived`."""
USER: Final = 16
"""Flag: said by the user of a chat with an assistant, who has no other name there."""
ASKS: Final = 32
"""Flag: a turn that ends in a question mark; it asks for something rather than tells it."""
TASTE: Final = 64
"""Flag: a turn in which the owner says what they like, avoid or always do, or chooses; see `text.tastes`."""
LINE_SHIFT: Final = 20
"""Bits of the chunk in an ordinal, `line << 20 | chunk`: in file order, for lines of many chunks, too."""

KIND_CODE: Final[dict[Kind, int]] = {kind: code for code, kind in enumerate(KINDS)}
ORIGIN_CODE: Final[dict[Origin, int]] = {origin: code for code, origin in enumerate(ORIGINS)}

Rows = npt.NDArray[np.void]
"""A structured array of `ROW`."""

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - wall time on purpose, as people name days


def first_ordinal(line: int) -> int:
    """Return the lowest ordinal of a passage that begins on `line`."""
    return line << LINE_SHIFT


def seconds(moment: datetime) -> int:
    """Return local wall time as seconds since 1970, ignoring the zone: people name days in local time."""
    return int((moment.replace(tzinfo=None) - _EPOCH).total_seconds())


def wall_time(value: int) -> datetime:
    """Return the wall time of a value of `seconds`."""
    return _EPOCH + timedelta(seconds=value)


def seconds_of(date: str | None) -> int:
    """Return `seconds` of an ISO date or date-time; NO_TIME if it is missing or invalid."""
    if not date:
        return NO_TIME
    try:
        return seconds(datetime.fromisoformat(date))
    except ValueError:
        return NO_TIME
