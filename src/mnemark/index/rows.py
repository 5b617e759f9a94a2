"""Columns of passages for ranking, as one packed record each."""

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
        ("flags", "u1"),
        ("importance", "u1"),  # 0 to 255
        ("key", "u1", (16,)),  # content hash: names the vector
    ]
)
NO_TIME: Final = np.iinfo(np.int64).min
ARCHIVED: Final = 1
"""Flag: under `memory/archive/`, found only when asked for."""
SUSPECT: Final = 2
"""Flag: shaped like instructions, or speaking for the owner in the words of an untrusted origin; labelled and
ranked lower, and of such an origin left out of what was not searched for."""
UNTRUSTED: Final[frozenset[Origin]] = frozenset({"tool", "web"})
CORE: Final = 4
"""Flag: long-term memory (MEMORY.md and kin), which never ages."""

KIND_CODE: Final[dict[Kind, int]] = {kind: code for code, kind in enumerate(KINDS)}
ORIGIN_CODE: Final[dict[Origin, int]] = {origin: code for code, origin in enumerate(ORIGINS)}

Rows = npt.NDArray[np.void]
"""A structured array of `ROW`."""

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - wall time on purpose, as people name days


def seconds(moment: datetime) -> int:
    """Wall time as seconds since 1970, the zone left out: days are named as they were lived."""
    return int((moment.replace(tzinfo=None) - _EPOCH).total_seconds())


def wall_time(value: int) -> datetime:
    """Convert `seconds` back to a moment."""
    return _EPOCH + timedelta(seconds=value)


def seconds_of(date: str | None) -> int:
    """`seconds` of an ISO date or date-time; NO_TIME where there is none or it is not one."""
    if not date:
        return NO_TIME
    try:
        return seconds(datetime.fromisoformat(date))
    except ValueError:
        return NO_TIME
