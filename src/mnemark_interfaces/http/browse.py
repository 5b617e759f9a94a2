"""Define the calls of the JSON API that list and explain, with their request bodies: what pages show."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from mnemark.memory.browse.entries import SHOWN, EntryKind
from mnemark.memory.health.doctor import doctor
from mnemark.present import changes, explained, proposals
from mnemark.types import Kind, Origin
from mnemark_interfaces.http.bodies import Body, Call, PageBody, fields_of
from mnemark_interfaces.http.pool import PooledWorkspace


class BrowseSearchBody(PageBody, kw_only=True):
    """As `Memory.browse.search`."""

    query: str
    kinds: list[Kind] | None = None
    origins: list[Origin] | None = None
    since: str | None = None
    until: str | None = None
    as_of: str | None = None
    scope: str | list[str] | None = "*"
    archived: bool = False
    limit: int = 20


class BrowseFactsBody(PageBody):
    """As `Memory.browse.facts`."""

    text: str = ""
    subject: str = ""
    type: str = ""
    origin: str = ""
    as_of: str | None = None
    scope: str | list[str] | None = "*"
    order: str = "subject"


class BrowseTimelineBody(PageBody):
    """As `Memory.browse.timeline`."""

    kinds: Sequence[EntryKind] = SHOWN
    origins: Sequence[Origin] = ()
    scope: str | list[str] | None = "*"
    until: str | None = None
    session: str = ""
    tool: str = ""


class BrowseSessionsBody(PageBody):
    """As `Memory.browse.sessions`."""

    text: str = ""
    scope: str | list[str] | None = "*"


class BrowseAttachmentsBody(PageBody):
    """As `Memory.browse.attachments`."""

    scope: str | list[str] | None = "*"


class BrowseTurnsBody(PageBody, kw_only=True):
    """As `Memory.browse.turns`."""

    path: str
    limit: int = 100


class BrowseReviewBody(PageBody):
    """As `Memory.browse.review`."""

    origin: str = ""
    scope: str | list[str] | None = "*"


class ChangesBody(PageBody):
    """As `Memory.browse.changes`."""

    kinds: Sequence[str] = ()


class ChangeBody(Body):
    """As `Memory.browse.change`, and for `reject`."""

    id: str


class AcceptBody(Body):
    """As `Memory.accept`."""

    id: str
    suspect: bool = False


class DaysBody(Body):
    """Number of days up to today."""

    days: int = 30


class FewBody(Body):
    """Maximum number of rows."""

    limit: int = 20


class WhyBody(Body):
    """As `Memory.why`."""

    ref: str
    query: str | None = None


class NothingBody(Body):
    """The workspace alone."""


def _listed(name: str, body: type[Body], summary: str, *, rows: str = "") -> Call:
    """Return the call of a method of `Memory.browse`; a bare list becomes an object with `rows`."""

    def run(at: PooledWorkspace, given: msgspec.Struct) -> Any:
        found = getattr(at.memory.browse, name)(**fields_of(given))
        return {rows: found} if rows else found

    return Call(f"browse/{name}", body, run, summary, reads=True)


def _review(at: PooledWorkspace, body: BrowseReviewBody) -> Any:
    return proposals.told_page(at.memory.browse.review(**fields_of(body)))


def _timeline(at: PooledWorkspace, body: BrowseTimelineBody) -> Any:
    page, ws = at.memory.browse.timeline(**fields_of(body)), at.memory.workspace
    return replace(page, rows=tuple(changes.of_entry(row, ws) for row in page.rows))


def _recalled(at: PooledWorkspace, body: FewBody) -> Any:
    rows, ws = at.memory.browse.recalled(limit=body.limit), at.memory.workspace
    told = [one if one.fact is None else replace(one, text=changes.sentence_of(ws, one.fact)) for one in rows]
    return {"recalled": told}


def _changes(at: PooledWorkspace, body: ChangesBody) -> Any:
    return changes.told_page(at.memory.browse.changes(**fields_of(body)), at.memory.workspace)


def _change(at: PooledWorkspace, body: ChangeBody) -> Any:
    return changes.told_detail(at.memory.browse.change(body.id), at.memory.workspace)


def _why(at: PooledWorkspace, body: WhyBody) -> Any:
    return explained.told(at.memory.workspace, at.memory.why(body.ref, body.query))


def _doctor(at: PooledWorkspace, _: NothingBody) -> Any:
    found = doctor(at.memory.workspace)
    return {"level": found.level, "findings": found.findings}


CALLS: Final[tuple[Call, ...]] = (
    _listed("search", BrowseSearchBody, "Search, a page at a time, with counts by kind, origin and scope."),
    _listed("facts", BrowseFactsBody, "List facts with earlier and proposed values, with counts."),
    Call("browse/timeline", BrowseTimelineBody, _timeline,
         "List what was said, noted and changed, the latest first.", reads=True),
    _listed("activity", DaysBody, "Count turns, notes and changes of each day.", rows="days"),
    _listed("sessions", BrowseSessionsBody, "List sessions, the last written first."),
    _listed("agents", NothingBody, "List the agents that recorded the latest sessions.", rows="agents"),
    _listed("turns", BrowseTurnsBody, "List the turns of a session's log."),
    _listed("attachments", BrowseAttachmentsBody, "List received and sent files, the latest first."),
    Call("browse/review", BrowseReviewBody, _review,
         "List what waits for a decision, with its sources.", reads=True),
    Call("browse/changes", ChangesBody, _changes,
         "List changes, the latest first, and whether they can be undone.", reads=True),
    Call("browse/change", ChangeBody, _change, "Show a change, or those of one run, with diffs.", reads=True),
    _listed("spend", DaysBody, "Show what the language model cost on each day."),
    _listed("disk", NothingBody, "Show files and bytes of each part of the workspace.", rows="parts"),
    _listed("used", DaysBody, "Show what recalls gave to models on each day.", rows="days"),
    Call("browse/recalled", FewBody, _recalled, "List what was recalled last.", reads=True),
    Call("why", WhyBody, _why,
         "Explain where a passage or fact comes from, and why a query finds it or not.", reads=True),
    Call("accept", AcceptBody, lambda at, body: {"fact": at.memory.accept(body.id, suspect=body.suspect)},
         'Accept a proposal, or a change made in a fact file ("edits": all of them); what looks like '
         "instructions only with `suspect`.", idempotent=False),
    Call("reject", ChangeBody, lambda at, body: {"fact": at.memory.reject(body.id)},
         "Reject a proposal, or revert a change made in a fact file.", idempotent=False),
    Call("attention", NothingBody, lambda at, _: {"attention": at.memory.attention()},
         "List what needs a person.", reads=True),
    Call("doctor", NothingBody, _doctor, "Check the workspace; nothing is changed.", one_machine=True),
)  # fmt: skip
