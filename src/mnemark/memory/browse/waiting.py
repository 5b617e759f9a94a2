"""List what waits for a person's decision, with the words it comes from."""

from collections.abc import Iterable, Mapping

import msgspec

from mnemark.facts.model import refs_in
from mnemark.files.scopes import scopes_among
from mnemark.memory.browse.page import Page, numbered
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.review.explain import QuotedSource, quoted
from mnemark.memory.review.review import ReviewItem, waiting, with_diff

_SOURCES = 3
"""Maximum number of sources of an entry that are quoted."""


class ReviewRow(msgspec.Struct, frozen=True, kw_only=True):
    """A thing to decide, with its sources."""

    waiting: ReviewItem
    sources: tuple[QuotedSource, ...] = ()


class ReviewPage(Page[ReviewRow], frozen=True, kw_only=True):
    """Some things to decide, with counts of all."""

    kinds: Mapping[str, int]
    origins: Mapping[str, int]


def review(
    ws: OpenWorkspace,
    *,
    origin: str = "",
    scope: str | Iterable[str] | None = "*",
    limit: int = 50,
    after: str = "",
) -> ReviewPage:
    """Return a page of what waits for review, oldest first; of notes and logs only its sources are read.

    Args:
        ws: the workspace.
        origin: only what comes from this origin.
        scope: its scopes.
        limit: number of rows.
        after: the cursor of the page.

    Raises:
        UsageError: an argument is wrong.
    """
    scopes = scopes_among(ws.scopes(), scope)
    found = sorted((one for name in scopes for one in waiting(ws, scope=name)), key=lambda one: one.id)
    kinds: dict[str, int] = {}
    origins: dict[str, int] = {}
    for one in found:
        kinds[one.what] = kinds.get(one.what, 0) + 1
        origins[one.fact.origin] = origins.get(one.fact.origin, 0) + 1
    page = numbered([one for one in found if not origin or one.fact.origin == origin], after, limit)
    return ReviewPage(
        rows=tuple(_row(ws, one) for one in page.rows), next=page.next, total=page.total, kinds=kinds,
        origins=origins,
    )  # fmt: skip


def _row(ws: OpenWorkspace, one: ReviewItem) -> ReviewRow:
    refs = refs_in(one.fact.source)[:_SOURCES]
    return ReviewRow(waiting=with_diff(ws, one), sources=tuple(quoted(ws, ref) for ref in refs))
