"""List sessions, the last written first, the turns of one, and the files that came with turns."""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Final

import msgspec

from mnemark.errors import NotFoundError, UsageError
from mnemark.files import layout, listing
from mnemark.files.attachments import FOLDER, fields_in
from mnemark.files.names import inside
from mnemark.files.scopes import scopes_among
from mnemark.files.sessions import SessionLog, session_id, session_info
from mnemark.index.store import sessions_with
from mnemark.memory.browse.page import Page, checked, cursor, key_of, page_by
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.sessions.history import ListedSession, logs, summarized
from mnemark.types import Problem, Turn

_LATEST: Final = 200
"""Sessions that are looked at for the agents that wrote them."""
_PAGE: Final = ".md"


class AgentSeen(msgspec.Struct, frozen=True, kw_only=True):
    """An agent, and when it last wrote a session here."""

    name: str
    """What the ids of its sessions begin with, such as "claude-code"."""
    last: str


class TurnRow(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, redacted, and where it stands."""

    ref: str
    line: int
    turn: Turn


def sessions(
    ws: OpenWorkspace,
    *,
    text: str = "",
    scope: str | Iterable[str] | None = "*",
    limit: int = 50,
    after: str = "",
) -> Page[ListedSession]:
    """Return a page of sessions, the last written one first; logs of other pages are not opened.

    Args:
        ws: the workspace.
        text: only sessions whose id or turns contain this, upper and lower case alike.
        scope: their scopes.
        limit: number of rows.
        after: the cursor of the page.

    Raises:
        UsageError: an argument is wrong.
    """
    found = [
        (file.mtime_ns, file.path.relative_to(ws.root).as_posix(), name, file)
        for name, file in logs(ws, scope)
    ]
    if text.strip():
        ws.searcher.freshen()
        named = sessions_with(ws.index, text.strip())
        found = [one for one in found if one[1] in named]
    page = page_by(found, lambda one: one[:2], tuple[int, str], after=after, limit=limit)
    shown = (summarized(ws, name, file) for _, _, name, file in page.rows)
    return Page(rows=tuple(one for one in shown if one is not None), next=page.next, total=page.total)


def agents(ws: OpenWorkspace) -> list[AgentSeen]:
    """Return the agents that recorded the latest sessions, the last seen first."""
    files = sorted(logs(ws), key=lambda pair: pair[1].mtime_ns, reverse=True)[:_LATEST]
    found: dict[str, AgentSeen] = {}
    for _, file in files:
        info = session_info(file)
        name, colon, _ = info.id.partition(":") if info is not None else ("", "", "")
        if colon and name not in found:
            last = datetime.fromtimestamp(file.mtime_ns / 1e9, ws.now().tzinfo)
            found[name] = AgentSeen(name=name, last=last.isoformat(timespec="seconds"))
    return list(found.values())


def session_turns(ws: OpenWorkspace, path: str, *, limit: int = 100, after: str = "") -> Page[TurnRow]:
    """Return a page of the turns in a log, oldest first, without the forgotten ones.

    Args:
        ws: the workspace.
        path: the log, relative to the workspace, as `sessions` lists it.
        limit: number of turns.
        after: the cursor of the page.

    Raises:
        NotFoundError: there is no such log.
        UsageError: the path is none of a log, or the cursor is wrong.
    """
    place = layout.place(path)
    if place is None or place.role != "session":
        raise UsageError(f"{layout.shown(path)} is no log of a session; `mnemark sessions` lists them")
    if not inside(ws.root, path).is_file():
        raise NotFoundError(f"the session {layout.shown(path)} does not exist; it may have been erased")
    offset, line = key_of(after, tuple[int, int]) or (0, 0)
    hidden = ws.index.hidden.current().turns
    log = SessionLog.at(ws.root, path)
    seen = (
        one for one in log.turns(offset, start_line=line + 1 if offset else None) if one.turn.id not in hidden
    )
    placed = list(islice(seen, checked(limit) + 1))
    rows, more = placed[:limit], len(placed) > limit
    return Page(
        rows=tuple(
            TurnRow(ref=f"{path}#L{one.line}", line=one.line, turn=ws.visible.turn(one.turn)) for one in rows
        ),
        next=cursor(rows[-1].end, rows[-1].line) if more else "",
    )


def name_of(ws: OpenWorkspace, path: str) -> str:
    """Return the id of the session in a log."""
    file = inside(ws.root, path)
    return session_id(file) or file.stem


class AttachmentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was received or sent, as its page tells of it; redacted."""

    id: str
    """For `describe`, with the scope."""
    path: str
    """Of the page."""
    scope: str
    day: str
    file: str = ""
    """Where the file was: a path or an address."""
    type: str = ""
    description: str = ""
    transcription: str = ""
    text: str = ""
    source: str = ""
    """Ref of the turn that it came with."""


def attachments(
    ws: OpenWorkspace, *, scope: str | Iterable[str] | None = "*", limit: int = 50, after: str = ""
) -> Page[AttachmentRow]:
    """Return a page of received and sent files, the latest day first; pages of other rows are not opened.

    Args:
        ws: the workspace.
        scope: their scopes.
        limit: number of rows.
        after: the cursor of the page.

    Raises:
        UsageError: an argument is wrong.
    """
    found = [
        (name.removesuffix(_PAGE), where)
        for where in scopes_among(ws.scopes(), scope)
        for name in listing.names(ws.root, layout.in_scope(where, FOLDER), _PAGE)
    ]
    page = page_by(found, tuple, tuple[str, str], after=after, limit=limit)
    return Page(rows=tuple(_attachment_row(ws, *one) for one in page.rows), next=page.next, total=page.total)


def _attachment_row(ws: OpenWorkspace, identifier: str, scope: str) -> AttachmentRow:
    path = layout.in_scope(scope, f"{FOLDER}/{identifier}{_PAGE}")
    place = layout.place(path)
    page = ws.visible.read(path)
    known = {} if isinstance(page, Problem) else fields_in(page.text)
    shown = {name: text for name, text in known.items() if name in AttachmentRow.__struct_fields__}
    day = place.dated if place is not None else None
    return AttachmentRow(id=identifier, path=path, scope=scope, day=day or "", **shown)
