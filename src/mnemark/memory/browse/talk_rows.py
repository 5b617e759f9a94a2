"""List talks by when they were held, as the index knows it: no log is opened."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.files.scopes import scopes_of
from mnemark.index.reader import View
from mnemark.index.rows import DERIVED, KIND_CODE, NO_TIME, Rows, seconds, wall_time
from mnemark.index.store import sessions_with
from mnemark.memory.browse.entries import first_chunks, reading
from mnemark.memory.browse.page import Page, checked, cursor, key_of
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.retrieval.filters import in_scopes
from mnemark.text.dates.ranges import moment
from mnemark.types import Kind

_DAY: Final = 86_400

Positions = npt.NDArray[np.int64]


class TalkRow(msgspec.Struct, frozen=True, kw_only=True):
    """A talk: when it was held, on the workspace's clock, and how much was said."""

    path: str
    """The log of its session."""
    scope: str = ""
    began: str
    ended: str
    messages: int


class Spans(NamedTuple):
    """Entries of documents that stand together, in columns: their positions, times and numbers."""

    starts: Positions
    """Indices into the positions that they were made of."""
    first: Positions
    """Position of the first entry of each."""
    begin: Positions
    end: Positions
    sizes: Positions


def spans(rows: Rows, found: Positions, *, by_day: bool = False) -> Spans:
    """Return the spans of the entries at these rising positions: one a document, or a document and day."""
    times, documents = rows["time"][found], rows["document"][found]
    new = documents[1:] != documents[:-1]
    if by_day:
        days = times // _DAY
        new = new | (days[1:] != days[:-1])
    starts = np.flatnonzero(np.concatenate((np.ones(min(len(found), 1), np.bool_), new)))
    if not len(starts):
        none = np.zeros(0, np.int64)
        return Spans(none, none, none, none, none)
    return Spans(
        starts, found[starts], np.minimum.reduceat(times, starts), np.maximum.reduceat(times, starts),
        np.diff(np.append(starts, len(found))),
    )  # fmt: skip


def dated(view: View, kind: Kind, scopes: frozenset[str] | None) -> Positions:
    """Return the positions of what is of a kind and has a time, each once, without what is made of others."""
    rows = view.snapshot.rows
    mask = first_chunks(rows) & (rows["kind"] == KIND_CODE[kind]) & (rows["time"] != NO_TIME)
    mask &= (rows["flags"] & DERIVED) == 0
    allowed = in_scopes(rows, view.scopes, scopes)
    return np.flatnonzero(mask if allowed is None else mask & allowed)


def talks(
    ws: OpenWorkspace,
    *,
    text: str = "",
    scope: str | Iterable[str] | None = "*",
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    limit: int = 50,
    after: str = "",
) -> Page[TalkRow]:
    """Return a page of talks, the last held first.

    Args:
        ws: the workspace.
        text: only talks whose session's id or turns contain this, upper and lower case alike.
        scope: their scopes.
        since: only talks that went on from then on.
        until: only talks that ended before the end of that time.
        limit: number of rows.
        after: the cursor of the page.

    Raises:
        UsageError: an argument is wrong.
    """
    start = key_of(after, tuple[int, str])
    now, size = ws.now(), checked(limit)
    first, last = moment(since, "since", now), moment(until, "until", now, end=True)
    with reading(ws) as view:
        rows = view.snapshot.rows
        found = dated(view, "turn", scopes_of(scope))
        if text.strip():
            named = [ws.index.document(path) for path in sessions_with(ws.index, text.strip())]
            found = found[np.isin(rows["document"][found], [one for one in named if one is not None])]
        every = spans(rows, found)
        total = len(every.first)
        mask = np.ones(total, np.bool_)
        mask &= True if first is None else every.end >= seconds(ws.local(first))
        mask &= True if last is None else every.end < seconds(ws.local(last))
        mask &= True if start is None else every.end <= start[0]
        left = np.flatnonzero(mask)
        order = left[np.lexsort((left, every.end[left]))[::-1]]
        shown = _rows(view, every, order, start, size + 1)
    more = cursor(_second(shown[size - 1].ended), shown[size - 1].path) if len(shown) > size else ""
    return Page(rows=tuple(shown[:size]), next=more, total=total)


def _rows(
    view: View, every: Spans, order: Positions, start: tuple[int, str] | None, most: int
) -> list[TalkRow]:
    """Return the first rows in this order that come after `start`."""
    shown: list[TalkRow] = []
    for begin in range(0, len(order), most):
        part = order[begin : begin + most]
        for at, record in zip(part.tolist(), view.fetch(every.first[part]), strict=True):
            if start is None or (int(every.end[at]), record.path) < (start[0], start[1]):
                shown.append(
                    TalkRow(
                        path=record.path, scope=record.scope, began=_time(every.begin[at]),
                        ended=_time(every.end[at]), messages=int(every.sizes[at]),
                    )
                )  # fmt: skip
        if len(shown) >= most:
            break
    return shown[:most]


def _time(second: np.int64) -> str:
    return wall_time(int(second)).isoformat()


def _second(time: str) -> int:
    return seconds(datetime.fromisoformat(time))
