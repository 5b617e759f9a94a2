"""Define `Browse`, the lists of a workspace that pages and panels show, as methods."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cached_property, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

import msgspec

from mnemark.facts.model import refs_in
from mnemark.files.disk_errors import tells_os_errors
from mnemark.files.scopes import scopes_among
from mnemark.memory.browse import (
    ahead,
    change_rows,
    diary,
    entries,
    fact_rows,
    session_rows,
    talk_rows,
    usage,
)
from mnemark.memory.browse.page import Page, counts, numbered
from mnemark.memory.journal.changes import ChangeLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.prompt.builder import Prompt
from mnemark.memory.prompt.prompt import BUDGET, prompt
from mnemark.memory.review.explain import QuotedSource, quoted
from mnemark.memory.review.review import ReviewItem, by_source, waiting, with_diff
from mnemark.memory.transfer.brought import Brought, ImportLog
from mnemark.types import Hit, Kind, Origin

P = ParamSpec("P")
T = TypeVar("T")
DEPTH: Final = 200
"""Number of hits that are counted and can be paged through."""
_SOURCES: Final = 3
"""Maximum number of sources of an entry that are quoted."""


class FoundPage(Page[Hit], frozen=True, kw_only=True):
    """Some hits, with counts of the first `DEPTH`."""

    kinds: Mapping[str, int]
    origins: Mapping[str, int]
    scopes: Mapping[str, int]
    mode: str
    degraded: tuple[str, ...]
    complete: bool
    on_topic: float
    believable: float


class ReviewRow(msgspec.Struct, frozen=True, kw_only=True):
    """A thing to decide, with its sources."""

    waiting: ReviewItem
    sources: tuple[QuotedSource, ...] = ()


class ReviewPage(Page[ReviewRow], frozen=True, kw_only=True):
    """Some things to decide, with counts of all."""

    kinds: Mapping[str, int]
    origins: Mapping[str, int]


def _of_workspace(make: Callable[Concatenate[OpenWorkspace, P], T]) -> Callable[Concatenate["Browse", P], T]:
    """Return the method that hands the workspace to a function, and has its arguments and description."""

    @wraps(make)
    def method(browse: "Browse", /, *args: P.args, **options: P.kwargs) -> T:
        return make(browse.ws, *args, **options)

    return method


def _of_changes(
    make: Callable[Concatenate[OpenWorkspace, ChangeLog, P], T],
) -> Callable[Concatenate["Browse", P], T]:
    """Return the same for a function that takes the changes, too."""

    @wraps(make)
    def method(browse: "Browse", /, *args: P.args, **options: P.kwargs) -> T:
        return make(browse.ws, browse.log, *args, **options)

    return method


@tells_os_errors
class Browse:
    """Lists of a workspace, a page at a time. Got by `Memory.browse`; safe to use from several threads.

    Pages hold `rows` and `next`, the cursor that continues them (`after`). Texts are redacted, and nothing
    that is only looked at counts as used.
    """

    facts = _of_workspace(fact_rows.facts)
    timeline = _of_changes(entries.timeline)
    activity = _of_changes(entries.activity)
    sessions = _of_workspace(session_rows.sessions)
    agents = _of_workspace(session_rows.agents)
    turns = _of_workspace(session_rows.session_turns)
    changes = _of_changes(change_rows.changes)
    change = _of_changes(change_rows.change)
    tidied = _of_changes(change_rows.tidied)
    attachments = _of_workspace(session_rows.attachments)
    spend = _of_workspace(usage.spend)
    disk = _of_workspace(usage.disk)
    recalled = _of_workspace(usage.recalled)
    used = _of_workspace(usage.used)
    talks = _of_workspace(talk_rows.talks)
    coming = _of_workspace(ahead.coming)
    open_points = _of_workspace(ahead.open_points)
    diary = _of_changes(diary.diary)

    def __init__(self, ws: OpenWorkspace) -> None:
        self.ws = ws

    @cached_property
    def _imports(self) -> ImportLog:
        return ImportLog(self.ws.journal)

    def brought(self) -> list[Brought]:
        """Return what was imported, by format, the last one first."""
        return self._imports.brought()

    @cached_property
    def log(self) -> ChangeLog:
        """What was changed."""
        return ChangeLog(self.ws.journal)

    def search(
        self,
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
        """Return a page of the hits for a query, explained, with counts; arguments as for `Memory.search`.

        Raises:
            UsageError: an argument is wrong.
        """
        answer = self.ws.searcher.search(
            query, k=DEPTH, kinds=kinds, origins=origins, since=since, until=until, as_of=as_of, scope=scope,
            archived=archived, explain=True,
        )  # fmt: skip
        page = numbered(answer.hits, after, limit)
        return FoundPage(
            rows=page.rows, next=page.next, total=page.total,
            kinds=counts(hit.kind for hit in answer.hits), origins=counts(hit.origin for hit in answer.hits),
            scopes=counts(hit.scope for hit in answer.hits), mode=answer.mode, degraded=answer.degraded,
            complete=answer.complete, on_topic=answer.on_topic, believable=answer.believable,
        )  # fmt: skip

    def review(
        self,
        *,
        origin: str = "",
        scope: str | Iterable[str] | None = "*",
        limit: int = 50,
        after: str = "",
    ) -> ReviewPage:
        """Return a page of what waits for a decision, what came first with all of its source first.

        Args:
            origin: only what comes from this origin.
            scope: its scopes.
            limit: number of rows.
            after: the cursor of the page.

        Raises:
            UsageError: an argument is wrong.
        """
        ws = self.ws
        scopes = scopes_among(ws.scopes(), scope)
        every = sorted((one for name in scopes for one in waiting(ws, scope=name)), key=lambda one: one.id)
        chosen = by_source(one for one in every if not origin or one.fact.origin == origin)
        page = numbered(chosen, after, limit)
        return ReviewPage(
            rows=tuple(_review_row(ws, one) for one in page.rows), next=page.next, total=page.total,
            kinds=dict(Counter(one.what for one in every)),
            origins=dict(Counter(one.fact.origin for one in every)),
        )  # fmt: skip

    def prompt(
        self,
        query: str | None = None,
        *,
        scope: str = "",
        budget: int = BUDGET,
        deadline: float | None = None,
    ) -> Prompt:
        """Return the prompt that an agent would get, as `Memory.prompt`; nothing in it counts as used."""
        return prompt(self.ws, query, scope=scope, budget=budget, deadline=deadline, counted=False)


def _review_row(ws: OpenWorkspace, one: ReviewItem) -> ReviewRow:
    refs = refs_in(one.fact.source)[:_SOURCES]
    return ReviewRow(waiting=with_diff(ws, one), sources=tuple(quoted(ws, ref) for ref in refs))
