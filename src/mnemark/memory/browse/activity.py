"""Count what was said, noted and changed by day."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.errors import UsageError
from mnemark.index.rows import KIND_CODE, NO_TIME, Rows, seconds
from mnemark.memory.browse.entries import first_chunks, reading
from mnemark.memory.journal.changes import ChangeLog
from mnemark.memory.open_workspace import OpenWorkspace

_MOST_DAYS: Final = 3_700


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """How much is dated on a day."""

    day: str
    turns: int = 0
    notes: int = 0
    changes: int = 0


def activity(ws: OpenWorkspace, log: ChangeLog, *, days: int = 30, until: date | None = None) -> list[Day]:
    """Count turns, notes and changes of each of the last `days`, oldest first.

    Raises:
        UsageError: `days` is out of range.
    """
    if not 1 <= days <= _MOST_DAYS:
        raise UsageError(f"days must be from 1 to {_MOST_DAYS}, not {days}")
    last = until or ws.now().date()
    first = last - timedelta(days=days - 1)
    start = seconds(datetime.combine(first, datetime.min.time()))
    with reading(ws) as view:
        rows = view.snapshot.rows
        turns = _per_day(rows, first_chunks(rows) & (rows["kind"] == KIND_CODE["turn"]), start, days)
        notes = _per_day(rows, np.isin(rows["kind"], [KIND_CODE["note"], KIND_CODE["episode"]]), start, days)
    log.refresh()
    changed = _between(log.times(), _midnights(ws, first, days))
    return [
        Day(
            day=(first + timedelta(days=n)).isoformat(), turns=int(turns[n]), notes=int(notes[n]),
            changes=int(changed[n]),
        )
        for n in range(days)
    ]  # fmt: skip


def _midnights(ws: OpenWorkspace, first: date, days: int) -> list[float]:
    """Return when each day begins on the workspace's clock, and when the last one ends."""
    begins = (datetime.combine(first + timedelta(days=n), datetime.min.time()) for n in range(days + 1))
    return [ws.local(day).timestamp() for day in begins]


def _between(times: Sequence[float], borders: Sequence[float]) -> npt.NDArray[np.int64]:
    """Count the times from each border to the next."""
    at = np.searchsorted(borders, times, side="right") - 1
    return np.bincount(at[(at >= 0) & (at < len(borders) - 1)], minlength=len(borders) - 1)


def _per_day(rows: Rows, mask: Any, start: int, days: int) -> npt.NDArray[np.int64]:
    times = rows["time"][mask & (rows["time"] != NO_TIME)]
    at = (times - start) // 86_400
    return np.bincount(at[(at >= 0) & (at < days)], minlength=days)
