"""Define `Browse`, the lists of a workspace that pages and panels show, as methods."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from functools import cached_property
from typing import Final

import msgspec

from mnemark.facts.model import refs_in
from mnemark.files.disk_errors import tells_os_errors
from mnemark.files.scopes import scopes_among
from mnemark.memory.browse import change_rows, entries, fact_rows, session_rows, usage
from mnemark.memory.browse.page import Page, counts, numbered
from mnemark.memory.journal.changes import ChangeLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.prompt.builder import Prompt
from mnemark.memory.prompt.prompt import BUDGET, prompt
from mnemark.memory.review.explain import Quoted, quoted
from mnemark.memory.review.review import Waiting, waiting, with_diff
from mnemark.memory.sessions.history import ListedSession
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


_SOURCES = 3
"""Maximum number of sources of an entry that are quoted."""


class ReviewRow(msgspec.Struct, frozen=True, kw_only=True):
    """A thing to decide, with its sources."""

    waiting: Waiting
    sources: tuple[Quoted, ...] = ()


class ReviewPage(Page[ReviewRow], frozen=True, kw_only=True):
    """Some things to decide, with counts of all."""

    kinds: Mapping[str, int]
    origins: Mapping[str, int]


@tells_os_errors
class Browse:
    """Lists of a workspace, a page at a time. Got by `Memory.browse`; safe to use from several threads.

    Pages hold `rows` and `next`, the cursor that continues them (`after`). Texts are redacted, and nothing
    that is only looked at counts as used.
    """

    def __init__(self, ws: OpenWorkspace) -> None:
        self._ws = ws

    @cached_property
    def _log(self) -> ChangeLog:
        return ChangeLog(self._ws.journal)

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
        answer = self._ws.searcher.search(
            query, k=DEPTH, kinds=kinds, origins=origins, since=since, until=until, as_of=as_of, scope=scope,
            archived=archived, explain=True,
        )  # fmt: skip
        page = numbered(answer.hits, after, limit)
        return FoundPage(
            rows=page.rows, next=page.next, total=page.total,
            kinds=counts(hit.kind for hit in answer.hits), origins=counts(hit.origin for hit in answer.hits),
            scopes=counts(hit.scope for hit in answer.hits), mode=answer.mode, degraded=answer.degraded,
            complete=answer.complete, believable=answer.believable,
        )  # fmt: skip

    def facts(
        self,
        *,
        text: str = "",
        subject: str = "",
        type: str = "",  # noqa: A002 - the word of the file format
        origin: str = "",
        as_of: datetime | str | None = None,
        scope: str | Iterable[str] | None = "*",
        order: fact_rows.Order = "subject",
        limit: int = 50,
        after: str = "",
    ) -> fact_rows.FactPage:
        """Return a page of the facts valid now, or at `as_of`, with counts; see `browse.fact_rows.facts`."""
        return fact_rows.facts(
            self._ws, text=text, subject=subject, type=type, origin=origin, as_of=as_of, scope=scope,
            order=order, limit=limit, after=after,
        )  # fmt: skip

    def timeline(
        self,
        *,
        kinds: Collection[entries.EntryKind] = entries.SHOWN,
        origins: Collection[Origin] = (),
        scope: str | Iterable[str] | None = "*",
        until: datetime | str | None = None,
        session: str = "",
        tool: str = "",
        limit: int = 50,
        after: str = "",
    ) -> Page[entries.TimelineEntry]:
        """Return a page of what was said, noted and changed; see `browse.entries`."""
        return entries.timeline(
            self._ws, self._log, kinds=kinds, origins=origins, scope=scope, until=until, session=session,
            tool=tool, limit=limit, after=after,
        )  # fmt: skip

    def activity(self, *, days: int = 30, until: date | None = None) -> list[entries.Day]:
        """Count turns, notes and changes of each of the last days; see `browse.entries.activity`."""
        return entries.activity(self._ws, self._log, days=days, until=until)

    def sessions(
        self, *, text: str = "", scope: str | Iterable[str] | None = "*", limit: int = 50, after: str = ""
    ) -> Page[ListedSession]:
        """Return a page of sessions, the last written first; see `browse.session_rows.sessions`."""
        return session_rows.sessions(self._ws, text=text, scope=scope, limit=limit, after=after)

    def agents(self) -> list[session_rows.AgentSeen]:
        """Return the agents that recorded the latest sessions; see `browse.session_rows.agents`."""
        return session_rows.agents(self._ws)

    def turns(self, path: str, *, limit: int = 100, after: str = "") -> Page[session_rows.TurnRow]:
        """Return a page of the turns in the log at `path`; see `browse.session_rows.session_turns`."""
        return session_rows.session_turns(self._ws, path, limit=limit, after=after)

    def review(
        self,
        *,
        origin: str = "",
        scope: str | Iterable[str] | None = "*",
        limit: int = 50,
        after: str = "",
    ) -> ReviewPage:
        """Return a page of what waits for a decision, oldest first; only its sources are read of notes.

        Args:
            origin: only what comes from this origin.
            scope: its scopes.
            limit: number of rows.
            after: the cursor of the page.

        Raises:
            UsageError: an argument is wrong.
        """
        ws = self._ws
        scopes = scopes_among(ws.scopes(), scope)
        every = sorted((one for name in scopes for one in waiting(ws, scope=name)), key=lambda one: one.id)
        chosen = [one for one in every if not origin or one.fact.origin == origin]
        page = numbered(chosen, after, limit)
        return ReviewPage(
            rows=tuple(_review_row(ws, one) for one in page.rows), next=page.next, total=page.total,
            kinds=dict(Counter(one.what for one in every)),
            origins=dict(Counter(one.fact.origin for one in every)),
        )  # fmt: skip

    def changes(
        self, *, kinds: Collection[str] = (), limit: int = 50, after: str = ""
    ) -> Page[change_rows.ChangeRow]:
        """Return a page of changes, the latest first; see `browse.change_rows.changes`."""
        return change_rows.changes(self._ws, self._log, kinds=kinds, limit=limit, after=after)

    def change(self, id: str) -> change_rows.ChangeDetail:  # noqa: A002 - the word of the file format
        """Return a change, or those of a group, with diffs. Raises NotFoundError."""
        return change_rows.change(self._ws, self._log, id)

    def attachments(
        self, *, scope: str | Iterable[str] | None = "*", limit: int = 50, after: str = ""
    ) -> Page[session_rows.AttachmentRow]:
        """Return a page of received and sent files; see `browse.session_rows.attachments`."""
        return session_rows.attachments(self._ws, scope=scope, limit=limit, after=after)

    def prompt(
        self,
        query: str | None = None,
        *,
        scope: str = "",
        budget: int = BUDGET,
        deadline: float | None = None,
    ) -> Prompt:
        """Return the prompt that an agent would get, as `Memory.prompt`; nothing in it counts as used."""
        return prompt(self._ws, query, scope=scope, budget=budget, deadline=deadline, counted=False)

    def spend(self, *, days: int = 30) -> usage.Spend:
        """Return what the language model cost on each of the last days, and the budget of a day."""
        return usage.spend(self._ws, days=days)

    def disk(self) -> list[usage.DiskPart]:
        """Return files and bytes of each part of the workspace, the largest first."""
        return usage.disk(self._ws)

    def recalled(self, *, limit: int = 20) -> list[usage.Recalled]:
        """Return what was recalled last, the latest first."""
        return usage.recalled(self._ws, limit=limit)


def _review_row(ws: OpenWorkspace, one: Waiting) -> ReviewRow:
    refs = refs_in(one.fact.source)[:_SOURCES]
    return ReviewRow(waiting=with_diff(ws, one), sources=tuple(quoted(ws, ref) for ref in refs))
