"""List what happened by day: talks with their first words, notes that were written, and what was changed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from mnemark.errors import UsageError
from mnemark.files.scopes import scopes_of
from mnemark.index.reader import View
from mnemark.index.rows import NO_TIME, SUSPECT, seconds, wall_time
from mnemark.index.store import Record
from mnemark.memory.browse import change_rows
from mnemark.memory.browse.entries import Asked, EntryRow, changed, reading
from mnemark.memory.browse.page import MOST, Page, checked, cursor, key_of
from mnemark.memory.browse.talk_rows import dated, spans
from mnemark.memory.journal.changes import ChangeLog, NotedChange
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo.undo import undoable
from mnemark.text.dates.ranges import moment
from mnemark.types import Origin

Part = Literal["talk", "note", "change"]
PARTS: Final[tuple[Part, ...]] = ("talk", "note", "change")
_LINES: Final = 4
"""Turns of a talk that an entry has."""


class DiaryLine(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a talk."""

    ref: str
    who: str
    origin: Origin
    text: str
    suspect: bool = False


class DiaryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A talk on a day, a note of a day, or a change."""

    part: Part
    time: str
    """ISO, on the workspace's clock; of a talk, when it ended."""
    began: str = ""
    path: str = ""
    """The log of the talk, or the note."""
    scope: str = ""
    count: int = 1
    """Turns of the talk on that day."""
    lines: tuple[DiaryLine, ...] = ()
    """The first turns; of a note, how it begins."""
    change: change_rows.ChangeRow | None = None
    """Of a change that was looked at: what it did."""


class DiaryPage(Page[DiaryEntry], frozen=True, kw_only=True):
    """Some entries, and the first day of all."""

    first: str = ""


class _Entry(NamedTuple):
    """An entry that has a text: what it sorts by, and the positions of its turns."""

    second: int
    place: int
    part: Part
    begin: int
    size: int
    positions: Sequence[int]


def diary(
    ws: OpenWorkspace,
    log: ChangeLog,
    *,
    parts: Collection[Part] = PARTS,
    scope: str | Iterable[str] | None = "*",
    until: datetime | str | None = None,
    limit: int = 50,
    after: str = "",
    told: int = MOST,
) -> DiaryPage:
    """Return a page of what happened, the latest first.

    Args:
        ws: the workspace.
        log: its changes.
        parts: what to show of "talk", "note" and "change".
        scope: their scopes.
        until: only what was before the end of that time, to begin with an earlier day.
        limit: number of rows.
        after: the cursor of the page.
        told: how many changes of a day without a talk or note between them are looked at; of the others the
            entry has the time alone.

    Raises:
        UsageError: an argument is wrong.
    """
    if wrong := set(parts) - set(PARTS):
        raise UsageError(f"unknown part {min(wrong)!r}; parts: {', '.join(PARTS)}")
    end = moment(until, "until", ws.now(), end=True)
    asked = Asked(
        origins=frozenset(), scopes=scopes_of(scope),
        last=None if end is None else seconds(ws.local(end)) - 1, begin=key_of(after, tuple[int, int, str]),
        most=checked(limit) + 1, passages=None,
    )  # fmt: skip
    with reading(ws) as view:
        texts = [one for part in parts if part != "change" for one in _texts(view, part, asked)]
        texts = sorted(texts, reverse=True)[: asked.most + _ties(texts, asked)]
        entries = _of_texts(view, texts, asked)
        first = _first(view)
    least = entries[asked.most - 1][0][0] if len(entries) >= asked.most else None
    rows = changed(ws, log, asked, least=least, shown=_worth_telling(log)) if "change" in parts else []
    found: list[tuple[tuple[int, int, str], DiaryEntry | EntryRow]]
    found = [*entries, *((row.key, row) for row in rows)]
    found.sort(key=lambda pair: pair[0], reverse=True)
    more = cursor(*found[limit - 1][0]) if len(found) > limit else ""
    listed = _with_changes(ws, log, [entry for _, entry in found[:limit]], told)
    return DiaryPage(rows=tuple(listed), next=more, first=first)


def _worth_telling(log: ChangeLog) -> Callable[[NotedChange], bool]:
    def shown(noted: NotedChange) -> bool:
        if noted.kind == "write":
            return not change_rows.is_of_talk(str(log.payload(noted).get("step")))
        return not change_rows.did_nothing(log, noted)

    return shown


def _texts(view: View, part: Part, asked: Asked) -> list[_Entry]:
    """Return the latest entries of a part up to the page's end, and all of the same second."""
    rows = view.snapshot.rows
    found = dated(view, "turn" if part == "talk" else "note", asked.scopes)
    every = spans(rows, found, by_day=True)
    mask = np.ones(len(every.end), np.bool_)
    for last in (asked.last, asked.begin and asked.begin[0]):
        mask &= True if last is None else every.end <= last
    left = np.flatnonzero(mask)
    ends = every.end[left]
    begin = None if asked.begin is None else asked.begin[0]
    most = asked.most + int(np.count_nonzero(ends == begin))  # the cursor's own, and others of its second
    if len(left) > most:
        left = left[ends >= np.partition(ends, len(ends) - most)[len(ends) - most]]
    lines = _LINES if part == "talk" else 1
    return [
        _Entry(
            int(every.end[at]), int(every.first[at]), part, int(every.begin[at]), int(every.sizes[at]),
            found[every.starts[at] : every.starts[at] + min(int(every.sizes[at]), lines)].tolist(),
        )
        for at in left.tolist()
    ]  # fmt: skip


def _ties(texts: Sequence[_Entry], asked: Asked) -> int:
    """Return how many entries of the cursor's second there may be before the page."""
    return 0 if asked.begin is None else sum(one.second == asked.begin[0] for one in texts)


def _of_texts(
    view: View, texts: Sequence[_Entry], asked: Asked
) -> list[tuple[tuple[int, int, str], DiaryEntry]]:
    positions = [at for one in texts for at in one.positions]
    records = dict(zip(positions, view.fetch(positions), strict=True))
    flags = view.snapshot.rows["flags"]
    found = []
    for one in texts:
        shown = [(records[at], bool(flags[at] & SUSPECT)) for at in one.positions]
        head = shown[0][0]
        key = (one.second, 0, f"{head.path}#{head.start_line:09d}")
        if asked.begin is not None and key >= tuple(asked.begin):
            continue
        lines = tuple(_line(record, suspect=suspect) for record, suspect in shown)
        found.append((key, DiaryEntry(
            part=one.part, time=_wall(one.second), began=_wall(one.begin),
            path=head.path, scope=head.scope, count=one.size, lines=lines,
        )))  # fmt: skip
    return found


def _line(record: Record, *, suspect: bool) -> DiaryLine:
    return DiaryLine(ref=record.ref, who=record.role, origin=record.origin, text=record.text, suspect=suspect)


def _with_changes(
    ws: OpenWorkspace, log: ChangeLog, found: Iterable[DiaryEntry | EntryRow], told: int
) -> Iterator[DiaryEntry]:
    """Yield the entries, with what the first changes of each run did."""
    runs = [list(run) for _, run in groupby(found, key=_run)]
    looked_at = [row for run in runs for row in run[:told] if isinstance(row, EntryRow)]
    ids = [one.id for row in looked_at for one in log.group(row.group)]
    known = undoable(ws, own=False, among=ids) if ids else {}
    for run in runs:
        for number, one in enumerate(run):
            if isinstance(one, DiaryEntry):
                yield one
            elif number < told:
                made = change_rows.row(ws, log, one.group, log.group(one.group), known)
                yield DiaryEntry(part="change", time=made.time, scope=made.scope, change=made)
            else:
                yield DiaryEntry(part="change", time=_wall(one.key[0]))


def _run(one: DiaryEntry | EntryRow) -> tuple[bool, str]:
    """Return what changes of a day that follow each other have in common."""
    if isinstance(one, DiaryEntry):
        return False, ""
    return True, _wall(one.key[0])[:10]


def _wall(second: int) -> str:
    return wall_time(second).isoformat()


def _first(view: View) -> str:
    times = view.snapshot.rows["time"]
    dated = times[times != NO_TIME]
    return wall_time(int(dated.min())).date().isoformat() if len(dated) else ""
