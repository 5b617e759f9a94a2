"""Count what was said, noted and changed by day."""

from datetime import date, datetime, timedelta
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.errors import UsageError
from mnemark.index.rows import KIND_CODE, NO_TIME, Rows, seconds
from mnemark.memory.browse.entries import first_chunks, made_at, reading
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
    changed: dict[int, int] = {}
    log.refresh()
    for identifier, key in reversed(log.keys()):
        at = (seconds(ws.local(log.group(key)[0].time or made_at(identifier))) - start) // 86_400
        if at < 0:
            break
        changed[at] = changed.get(at, 0) + 1
    return [
        Day(
            day=(first + timedelta(days=n)).isoformat(), turns=int(turns[n]), notes=int(notes[n]),
            changes=changed.get(n, 0),
        )
        for n in range(days)
    ]  # fmt: skip


def _per_day(rows: Rows, mask: Any, start: int, days: int) -> npt.NDArray[np.int64]:
    times = rows["time"][mask & (rows["time"] != NO_TIME)]
    at = (times - start) // 86_400
    return np.bincount(at[(at >= 0) & (at < days)], minlength=days)
