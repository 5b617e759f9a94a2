"""List what was said, noted and changed by time, the latest first, and count it by day."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime, time, timedelta
from typing import Any, Final, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.errors import UsageError
from mnemark.files.names import split_ref
from mnemark.files.scopes import scopes_of
from mnemark.index.reader import View
from mnemark.index.rows import KIND_CODE, LINE_SHIFT, NO_TIME, SUSPECT, Rows, seconds, wall_time
from mnemark.index.store import Record, passages_of
from mnemark.memory.browse import change_rows
from mnemark.memory.browse.page import Page, checked, cursor, key_of, last_days
from mnemark.memory.journal.changes import ChangeLog, NotedChange, began
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo.undo import undoable
from mnemark.retrieval.filters import Filter, allowed, in_scopes
from mnemark.text.dates.ranges import moment
from mnemark.types import Kind, Origin

EntryKind = Literal["note", "fact", "episode", "turn", "observation", "attachment", "change"]
SHOWN: Final[tuple[EntryKind, ...]] = ("turn", "observation", "note", "episode", "attachment", "change")
"""Kinds shown by default: that a fact was learned is a change."""
_OF_LOGS: Final = tuple(KIND_CODE[kind] for kind in ("turn", "observation"))
_FIRST_CHUNK: Final = (1 << LINE_SHIFT) - 1

_Key = tuple[int, int, str]
"""Sort key of an entry: seconds of wall time; 0 for text, 1 for a change; the ref, or the change's id."""


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the timeline."""

    time: str
    """ISO, on the workspace's clock; a day without a time is at midnight."""
    kind: EntryKind
    ref: str
    """Of text: for `read` and `why`. Empty for changes."""
    origin: Origin
    scope: str = ""
    who: str = ""
    """Speaker of a turn."""
    title: str = ""
    """Session of a turn, heading of a note."""
    text: str
    suspect: bool = False
    """Whether it looks like instructions."""
    change: change_rows.ChangeRow | None = None

    @property
    def key(self) -> str:
        """What tells it from others: the ref, or the id of a change."""
        return self.ref if self.change is None else self.change.id


class Asked(NamedTuple):
    """What is asked for of a list by time."""

    origins: frozenset[Origin]
    """Empty for all."""
    scopes: frozenset[str] | None
    last: int | None
    """Latest second."""
    begin: _Key | None
    """Only entries before this one."""
    most: int
    passages: frozenset[int] | None
    """Numbers of the passages to show; None for all."""


class EntryRow(NamedTuple):
    """An entry before its text is read: a position in the index, or a group of changes."""

    key: _Key
    position: int = -1
    group: str = ""


def timeline(
    ws: OpenWorkspace,
    log: ChangeLog,
    *,
    kinds: Collection[EntryKind] = SHOWN,
    origins: Collection[Origin] = (),
    scope: str | Iterable[str] | None = "*",
    until: datetime | str | None = None,
    session: str = "",
    tool: str = "",
    limit: int = 50,
    after: str = "",
) -> Page[TimelineEntry]:
    """Return a page of what was written, the latest first.

    Args:
        ws: the workspace.
        log: its changes.
        kinds: kinds of entries.
        origins: only entries of these origins; all by default.
        scope: their scopes.
        until: only entries before the end of that time, to begin with an earlier day.
        session: only turns and tool calls of the session with this id.
        tool: only calls of this tool, as the agent names it.
        limit: number of rows.
        after: the cursor of the page.

    Raises:
        UsageError: an argument is wrong.
    """
    if wrong := set(kinds) - {*SHOWN, "fact"}:
        raise UsageError(f"unknown kind {min(wrong)!r}; kinds: fact, {', '.join(SHOWN)}")
    end = moment(until, "until", ws.now(), end=True)
    asked = Asked(
        origins=frozenset(origins), scopes=scopes_of(scope),
        last=None if end is None else seconds(ws.local(end)) - 1, begin=key_of(after, _Key),
        most=checked(limit) + 1,
        passages=_passages(ws, session, tool),
    )  # fmt: skip
    return _latest(ws, log, kinds, asked)


def _passages(ws: OpenWorkspace, session: str, tool: str) -> frozenset[int] | None:
    """Return the numbers of the passages of a session or a tool; None where neither is given."""
    if not (session or tool):
        return None
    ws.searcher.freshen()
    return passages_of(ws.index, session=session, tool=tool)


def _latest(
    ws: OpenWorkspace, log: ChangeLog, kinds: Collection[EntryKind], asked: Asked
) -> Page[TimelineEntry]:
    """Return the page of the latest entries of these kinds; `asked.most` is one more than it may have."""
    size = asked.most - 1
    with reading(ws) as view:
        texts: list[Kind] = [kind for kind in kinds if kind != "change"]
        rows = _texts(view, texts, asked) if texts else []
        if "change" in kinds and asked.passages is None:
            rows += changed(ws, log, asked)
        rows.sort(key=lambda row: row.key, reverse=True)
        entries = _entries(ws, log, view, rows[:size])
    more = cursor(*rows[size - 1].key) if len(rows) > size else ""
    return Page(rows=entries, next=more)


def reading(ws: OpenWorkspace) -> AbstractContextManager[View]:
    """Open a view of the index that is up to date with the files, as far as a moment allows."""
    ws.searcher.freshen()
    return ws.searcher.reader.reading()


def _texts(view: View, kinds: Sequence[Kind], asked: Asked) -> list[EntryRow]:
    """Return the latest passages that match, and all of the same second as the last of them."""
    rows = view.snapshot.rows
    last, begin, count = asked.last, asked.begin, asked.most
    where = Filter(kinds=frozenset(kinds), origins=asked.origins or None)
    mask = first_chunks(rows) & (rows["time"] != NO_TIME)
    for one in (allowed(rows, where), in_scopes(rows, view.scopes, asked.scopes)):
        mask &= True if one is None else one
    if asked.passages is not None:
        mask &= np.isin(rows["passage"], np.fromiter(asked.passages, np.int64, len(asked.passages)))
    if last is not None:
        mask &= rows["time"] <= last
    if begin is not None:
        mask &= rows["time"] <= begin[0]
    found = np.flatnonzero(mask)
    times = rows["time"][found]
    if begin is not None and begin[1] == 0:  # of the same second, those before the cursor's
        found = found[(times < begin[0]) | (found < _position(view, begin[2]))]
        times = rows["time"][found]
    if len(found) > count:
        least = np.partition(times, len(times) - count)[len(times) - count]
        found = found[times >= least]
        found = found[np.lexsort((found, rows["time"][found]))[-count:]]
    records = view.fetch(found)
    return [
        EntryRow((int(rows["time"][at]), 0, _place(record)), int(at))
        for at, record in zip(found, records, strict=True)
    ]


def first_chunks(rows: Rows) -> npt.NDArray[np.bool_]:
    """Return which passages begin an entry: of a long turn only the first one does."""
    of_logs = np.isin(rows["kind"], np.array(_OF_LOGS, np.uint8))
    return np.asarray(~of_logs | ((rows["ordinal"] & _FIRST_CHUNK) == 0), np.bool_)


def _place(record: Record) -> str:
    """Return a key of a passage that sorts as positions do: its path and line."""
    return f"{record.path}#L{record.start_line:09d}"


def _position(view: View, place: str) -> int:
    path, line, _ = split_ref(place)
    found = view.positions(path, line)
    return int(found[0]) if len(found) else 0


def changed(
    ws: OpenWorkspace,
    log: ChangeLog,
    asked: Asked,
    *,
    least: int | None = None,
    shown: Callable[[NotedChange], bool] = lambda _: True,
) -> list[EntryRow]:
    """Return the latest changes that match, none of them from before the second `least`.

    Args:
        ws: the workspace.
        log: its changes.
        asked: what is asked for.
        least: the earliest second.
        shown: whether a group that begins with this change is to be shown.
    """
    log.refresh()
    last, begin = asked.last, asked.begin
    keys = log.keys()
    end = len(keys)
    if begin is not None and begin[1] == 1:
        end = bisect_right(keys, (begin[2], ""))
    rows: list[EntryRow] = []
    for first, key in reversed(keys[:end]):
        noted = log.group(key)[0]
        at = seconds(ws.local(began(noted)))
        too_late = (last is not None and at > last) or (begin is not None and (at, 1, first) >= begin)
        if too_late or (asked.origins and noted.origin not in asked.origins):
            continue
        if least is not None and at < least:
            break
        if (asked.scopes is None or noted.scope in asked.scopes) and shown(noted):
            rows.append(EntryRow((at, 1, first), group=key))
        if len(rows) == asked.most:
            break
    return rows


def _entries(
    ws: OpenWorkspace, log: ChangeLog, view: View, rows: Sequence[EntryRow]
) -> tuple[TimelineEntry, ...]:
    positions = [row.position for row in rows if row.position >= 0]
    records = dict(zip(positions, view.fetch(positions), strict=True))
    changed = [one.id for row in rows if row.position < 0 for one in log.group(row.group)]
    known = undoable(ws, own=False, among=changed) if changed else {}
    flags = view.snapshot.rows["flags"]
    return tuple(
        _of_change(change_rows.row(ws, log, row.group, log.group(row.group), known))
        if row.position < 0
        else _of_text(records[row.position], row.key, int(flags[row.position]))
        for row in rows
    )


def _of_change(row: change_rows.ChangeRow) -> TimelineEntry:
    return TimelineEntry(
        time=row.time, kind="change", ref="", origin=row.origin, scope=row.scope, text=row.text, change=row
    )


def _of_text(record: Record, key: _Key, flags: int) -> TimelineEntry:
    return TimelineEntry(
        time=record.date if record.date and len(record.date) > 10 else wall_time(key[0]).isoformat(),
        kind=record.kind, ref=record.ref, origin=record.origin, scope=record.scope, who=record.role,
        title=record.title, text=record.text, suspect=bool(flags & SUSPECT),
    )  # fmt: skip


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
    shown = last_days(days, until or ws.now().date())
    midnights = [datetime.combine(day, time.min) for day in (*shown, shown[-1] + timedelta(days=1))]
    start = seconds(midnights[0])
    with reading(ws) as view:
        rows = view.snapshot.rows
        turns = _per_day(rows, first_chunks(rows) & (rows["kind"] == KIND_CODE["turn"]), start, days)
        notes = _per_day(rows, np.isin(rows["kind"], [KIND_CODE["note"], KIND_CODE["episode"]]), start, days)
    log.refresh()
    changed = _between(log.times(), [ws.local(midnight).timestamp() for midnight in midnights])
    return [
        Day(day=day.isoformat(), turns=int(turns[n]), notes=int(notes[n]), changes=int(changed[n]))
        for n, day in enumerate(shown)
    ]


def _between(times: Sequence[float], borders: Sequence[float]) -> npt.NDArray[np.int64]:
    """Count the times from each border to the next."""
    at = np.searchsorted(borders, times, side="right") - 1
    return np.bincount(at[(at >= 0) & (at < len(borders) - 1)], minlength=len(borders) - 1)


def _per_day(rows: Rows, mask: Any, start: int, days: int) -> npt.NDArray[np.int64]:
    times = rows["time"][mask & (rows["time"] != NO_TIME)]
    at = (times - start) // 86_400
    return np.bincount(at[(at >= 0) & (at < days)], minlength=days)
