"""List what changed, the latest first, with diffs and with what can be undone."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from mnemark.errors import NotFoundError
from mnemark.files.tombstones import strings
from mnemark.memory.browse.page import Page, checked, cursor, key_of
from mnemark.memory.journal.changes import ChangeLog, NotedChange
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo.undo import undoable
from mnemark.text.markdown.hunks import Hunk, diff
from mnemark.types import Json, Origin

_CONSOLIDATE: Final = "consolidate: "
"""What the steps of a consolidation begin with."""
_OF_TALK: Final = ("session end", "scratchpad")
"""What steps of edits that every talk makes begin with."""
_EDITS: Final = frozenset({"write", "move"})
"""Kinds of changes that edited a file."""
_LOOKED_AT: Final = 500
"""Latest groups among which the last consolidation is looked for."""
_PATHS: Final = 20
"""Maximum number of files that a row names."""


class ChangeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A change, or the changes of one run."""

    id: str
    """For `undo` and `change`: of the change, or of the group."""
    time: str
    kind: str
    """Of the first change: remember, write, move, forget, erased, undo, accept, reject, pin, …"""
    step: str = ""
    """What made the edit, such as "session end: episode"."""
    origin: Origin
    scope: str = ""
    session: str = ""
    paths: tuple[str, ...] = ()
    """The edited files."""
    count: int = 1
    """Number of changes of the group."""
    text: str = ""
    """The same as a sentence, where a face tells it."""
    undo: bool = False
    """Whether `undo` with the id takes it back."""
    undone: bool = False
    ids: tuple[str, ...] = ()
    """Of the first changes of the group: of a fact that was learned, the fact."""
    named: tuple[str, ...] = ()
    """Ids of what the first change is about: what was decided on, undone or pinned."""
    done: Mapping[str, int] = {}
    """How often each step of the group was taken; of a consolidation, how much it did."""


class ChangePart(msgspec.Struct, frozen=True, kw_only=True):
    """One change of a group, with what it did."""

    id: str
    kind: str
    path: str = ""
    to: str = ""
    """The new path of a file that was moved."""
    text: str = ""
    """What it is about as a sentence, where a face tells it."""
    diff: str = ""
    undo: bool = False
    undone: bool = False


class ChangeDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A change with its parts."""

    row: ChangeRow
    parts: tuple[ChangePart, ...]


def changes(
    ws: OpenWorkspace, log: ChangeLog, *, kinds: Collection[str] = (), limit: int = 50, after: str = ""
) -> Page[ChangeRow]:
    """Return a page of changes, the latest first; the edits of one run are one row.

    Args:
        ws: the workspace.
        log: its changes.
        kinds: only groups that begin with a change of these kinds; by default all, but for consolidations
            that changed nothing.
        limit: number of rows.
        after: the cursor of the page.
    """
    log.refresh()
    keys = log.keys()
    start = key_of(after, tuple[str])
    end = len(keys) if start is None else bisect_left(keys, (start[0], ""))
    found: list[tuple[str, list[NotedChange]]] = []
    more = ""
    checked(limit)
    for _, key in reversed(keys[:end]):
        group = log.group(key)
        if (kinds and group[0].kind not in kinds) or (not kinds and did_nothing(log, group[0])):
            continue
        if len(found) == limit:
            more = cursor(found[-1][1][0].id)
            break
        found.append((key, group))
    known = undoable(ws, own=False, among=[one.id for _, group in found for one in group])
    rows = tuple(row(ws, log, key, group, known) for key, group in found)
    return Page(rows=rows, next=more, total=None if kinds else len(keys))


def is_of_talk(step: str) -> bool:
    """Return whether every talk makes an edit of this step: what was said stands for it."""
    return step.startswith(_OF_TALK)


def did_nothing(log: ChangeLog, noted: NotedChange) -> bool:
    """Return whether a group that begins with this is a consolidation that found nothing to do."""
    if noted.kind != "consolidate":
        return False
    payload = log.payload(noted)
    return not (payload.get("edits") or payload.get("facts"))


def tidied(ws: OpenWorkspace, log: ChangeLog) -> ChangeRow | None:
    """Return the last consolidation among the latest changes; None if there was none."""
    log.refresh()
    for _, key in reversed(log.keys()[-_LOOKED_AT:]):
        group = log.group(key)
        first = group[0]
        edits = first.kind in _EDITS and _text(log.payload(first), "step").startswith(_CONSOLIDATE)
        if edits or first.kind == "consolidate":
            return row(ws, log, key, group, undoable(ws, own=False, among=[one.id for one in group]))
    return None


def change(ws: OpenWorkspace, log: ChangeLog, id: str) -> ChangeDetail:  # noqa: A002 - the word of the API
    """Return a change, or the changes of a group, with diffs.

    Raises:
        NotFoundError: there is no such change.
    """
    log.refresh()
    group = log.group(id)
    if not group:
        raise NotFoundError(f"there is no change {id!r}; `mnemark log` lists the changes")
    known = undoable(ws, own=False, among=[one.id for one in group])
    parts = tuple(_part(ws, log, one, known) for one in group)
    return ChangeDetail(row=row(ws, log, id, group, known), parts=parts)


def row(
    ws: OpenWorkspace, log: ChangeLog, key: str, group: Sequence[NotedChange], known: Mapping[str, object]
) -> ChangeRow:
    """Return a group as a row; `known` has the ids that can be undone."""
    first = group[0]
    payload = log.payload(first)
    edited = group[:_PATHS] if first.kind in _EDITS else ()
    paths = filter(None, (_text(log.payload(one), "path") for one in edited))
    undo = any(one.id in known for one in group)
    return ChangeRow(
        id=key, time=time_of(ws, first.time), kind=first.kind, step=_text(payload, "step"),
        origin=first.origin, scope=first.scope, session=_text(payload, "session"),
        paths=tuple(dict.fromkeys(paths)), count=len(group),
        undo=undo, undone=not undo and any(log.is_undone(one.id) for one in group),
        ids=tuple(one.id for one in group[:_PATHS]), named=_named(payload), done=_done(ws, log, group),
    )  # fmt: skip


def _named(payload: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the ids that a change names."""
    one = [_text(payload, name) for name in ("fact", "ref", "source", "title")]
    return tuple(filter(None, (*strings(payload.get("ids")), *one)))


def single(ws: OpenWorkspace, noted: NotedChange, payload: Mapping[str, Json]) -> ChangeRow:
    """Return a change by itself as a row, without what its group did."""
    done = payload.get("done")
    path = _text(payload, "path")
    return ChangeRow(
        id=noted.id, time=time_of(ws, noted.time), kind=noted.kind, step=_text(payload, "step"),
        origin=noted.origin, scope=noted.scope, session=_text(payload, "session"),
        paths=(path,) if path else (), ids=(noted.id,), named=_named(payload),
        done={str(step): count for step, count in done.items() if isinstance(count, int)}
        if isinstance(done, Mapping)
        else {},
    )  # fmt: skip


def _done(ws: OpenWorkspace, log: ChangeLog, group: Sequence[NotedChange]) -> dict[str, int]:
    """Return how often each step was taken; a consolidation has noted how much each of its steps did."""
    run = next((log.payload(one) for one in reversed(group) if one.kind == "consolidate"), {})
    noted = run.get("done")
    if isinstance(noted, Mapping):
        return {str(step): count for step, count in noted.items() if isinstance(count, int)}
    edited = [one.id for one in group if one.kind in _EDITS]
    return dict(Counter(one.step for one in ws.edits.entries(edited) if one.step)) if edited else {}


def time_of(ws: OpenWorkspace, time: datetime | None) -> str:
    """Return a time on the workspace's clock, in ISO."""
    return ws.local(time or datetime.fromtimestamp(0, UTC)).isoformat(timespec="seconds")


def _part(ws: OpenWorkspace, log: ChangeLog, noted: NotedChange, known: Mapping[str, object]) -> ChangePart:
    payload = log.payload(noted)
    path, shown = _text(payload, "path"), ""
    if noted.kind == "write":
        (edit,) = ws.edits.entries([noted.id]) or (None,)
        shown = _diff(ws, path, ws.edits.hunks(edit) if edit else ())
    return ChangePart(
        id=noted.id, kind=noted.kind, path=path, to=_text(payload, "to"), diff=shown,
        undo=noted.id in known, undone=log.is_undone(noted.id),
    )  # fmt: skip


def _diff(ws: OpenWorkspace, path: str, hunks: Sequence[Hunk]) -> str:
    """Return hunks as a diff, without forgotten lines and secrets."""
    rows = []
    for hunk in hunks:
        old = "\n".join((*hunk.before, *hunk.old, *hunk.after))
        new = "\n".join((*hunk.before, *hunk.new, *hunk.after))
        shown = diff(path, ws.visible.text(path, old), ws.visible.text(path, new)).split("\n")
        rows += [f"@@ {hunk.at + 1} @@", *(line for line in shown[2:] if not line.startswith("@@"))]
    return "\n".join(rows)


def _text(payload: Mapping[str, Json], name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""
