"""List received and sent files by their pages, the latest first."""

from collections.abc import Iterable

import msgspec

from mnemark.files import layout, listing
from mnemark.files.attachments import FOLDER, fields_in
from mnemark.files.scopes import scopes_among
from mnemark.memory.browse.page import Page, latest
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Problem

_ENDING = ".md"


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
        (name.removesuffix(_ENDING), where)
        for where in scopes_among(ws.scopes(), scope)
        for name in listing.names(ws.root, layout.in_scope(where, FOLDER), _ENDING)
    ]
    page = latest(found, tuple, tuple[str, str], after=after, limit=limit)
    return Page(rows=tuple(_row(ws, *one) for one in page.rows), next=page.next, total=page.total)


def _row(ws: OpenWorkspace, identifier: str, scope: str) -> AttachmentRow:
    path = layout.in_scope(scope, f"{FOLDER}/{identifier}{_ENDING}")
    place = layout.place(path)
    page = ws.visible.read(path)
    known = {} if isinstance(page, Problem) else fields_in(page.text)
    shown = {name: text for name, text in known.items() if name in AttachmentRow.__struct_fields__}
    day = place.dated if place is not None else None
    return AttachmentRow(id=identifier, path=path, scope=scope, day=day or "", **shown)
