"""Search, a page at a time, with counts of what was found."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from mnemark.memory.browse.page import Page, numbered
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Hit, Kind, Origin

DEPTH: Final = 200
"""Number of hits that are counted and can be paged through."""


class FoundPage(Page[Hit], frozen=True, kw_only=True):
    """Some hits, with counts of the first `DEPTH`."""

    kinds: Mapping[str, int]
    origins: Mapping[str, int]
    scopes: Mapping[str, int]
    mode: str
    degraded: tuple[str, ...]
    complete: bool
    believable: float


def search(
    ws: OpenWorkspace,
    query: str,
    *,
    kinds: Iterable[Kind] | None = None,
    origins: Iterable[Origin] | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    as_of: datetime | str | None = None,
    scope: str | Iterable[str] | None = "*",
    archived: bool = False,
    limit: int = 20,
    after: str = "",
) -> FoundPage:
    """Return a page of the hits for a query, explained; arguments as for `Memory.search`.

    Raises:
        UsageError: an argument is wrong.
    """
    answer = ws.searcher.search(
        query, k=DEPTH, kinds=kinds, origins=origins, since=since, until=until, as_of=as_of, scope=scope,
        archived=archived, explain=True,
    )  # fmt: skip
    page = numbered(answer.hits, after, limit)
    return FoundPage(
        rows=page.rows, next=page.next, total=page.total,
        kinds=dict(Counter(hit.kind for hit in answer.hits).most_common()),
        origins=dict(Counter(hit.origin for hit in answer.hits).most_common()),
        scopes=dict(Counter(hit.scope for hit in answer.hits).most_common()),
        mode=answer.mode, degraded=answer.degraded, complete=answer.complete, believable=answer.believable,
    )  # fmt: skip
