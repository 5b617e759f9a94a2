"""List facts with what they replaced, what is proposed against them, and when they fade."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from math import ceil, log
from operator import attrgetter
from typing import Final, Literal

import msgspec

from mnemark.errors import UsageError
from mnemark.facts.model import Fact
from mnemark.facts.store import FactStore
from mnemark.facts.timeline import FactVersion, when
from mnemark.files.ids import is_id, time_of
from mnemark.files.scopes import scopes_among
from mnemark.index.state import Use
from mnemark.memory.browse.page import Page, counts, page_by
from mnemark.memory.consolidation.archive import FLOOR, IMPORTANCE, TRANSIENT, USES, rate
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.dates.ranges import moment

Order = Literal["subject", "recent"]
_MOST_SUBJECTS: Final = 50
"""Maximum number of subjects that are counted, those with the most facts."""
_Key = tuple[str, str, str, str]
Part = Callable[[Fact], int]
"""Tells in which part of a list a fact stands."""


class FactRow(msgspec.Struct, frozen=True, kw_only=True):
    """A fact."""

    fact: Fact
    earlier: tuple[Fact, ...] = ()
    """What it replaced, the latest first."""
    proposed: tuple[Fact, ...] = ()
    """Other values that wait for review."""
    uses: int = 0
    """How often it was recalled."""
    talks: int = 0
    """In how many talks it was used."""
    fades: str = ""
    """The day from which it is archived unless it is used; empty if it stays."""
    confirmed: str = ""
    """When it was last said, learned or confirmed; empty if unknown."""


class FactPage(Page[FactRow], frozen=True, kw_only=True):
    """Some facts, with counts of all that match."""

    types: Mapping[str, int]
    origins: Mapping[str, int]
    subjects: Mapping[str, int]
    """The subjects with the most facts."""
    parts: Mapping[int, int] = {}
    """Number of facts in each part, where parts were asked for."""
    first: str = ""
    """The first day of which something is known."""


class _Group(msgspec.Struct, frozen=True):
    shown: Fact
    versions: Sequence[FactVersion]
    part: int | None = None


def facts(
    ws: OpenWorkspace,
    *,
    text: str = "",
    subject: str = "",
    type: str = "",  # noqa: A002 - the word of the file format
    origin: str = "",
    as_of: datetime | str | None = None,
    scope: str | Iterable[str] | None = "*",
    order: Order = "subject",
    part: Part | None = None,
    only: int | None = None,
    limit: int = 50,
    after: str = "",
) -> FactPage:
    """Return a page of the facts that are valid now, or at `as_of`.

    Args:
        ws: the workspace.
        text: only facts that contain this, upper and lower case alike.
        subject: only facts about this one, as it is written.
        type: only facts of this type.
        origin: only facts of this origin.
        as_of: the time at which they are valid; now by default.
        scope: their scopes.
        order: by subject and predicate, or those learned last first.
        part: the facts of a part stand together, the part with the smallest number first.
        only: only the facts of this part.
        limit: number of rows.
        after: the cursor of the page.

    Raises:
        UsageError: an argument is wrong.
    """
    if order not in {"subject", "recent"}:
        raise UsageError(f"order must be subject or recent, not {order!r}")
    at = moment(as_of, "as_of", ws.now(), last=True) or datetime.now(UTC)
    at = at.replace(tzinfo=at.tzinfo or ws.fact_store.zone)
    words = text.casefold().strip()
    groups = _valid(ws.fact_store, scopes_among(ws.scopes(), scope), at, part)
    if words or subject:
        groups = [one for one in groups if _has(one.shown, words) and subject in {"", one.shown.subject}]
    chosen = groups
    if type or origin or only is not None:
        chosen = [
            one for one in groups
            if type in {"", one.shown.type} and origin in {"", one.shown.origin} and only in {None, one.part}
        ]  # fmt: skip
    page = page_by(chosen, partial(_key, order), _Key, after=after, limit=limit, falls=order == "recent")
    return _counted(page, _rows(ws, page.rows, at), groups)


def _counted(page: Page[_Group], rows: tuple[FactRow, ...], groups: Sequence[_Group]) -> FactPage:
    """Return these rows of a page, with counts of all groups."""
    begins = (version.begin for one in groups for version in one.versions)
    first = min(filter(None, begins), default=None)
    shown = [one.shown for one in groups]
    return FactPage(
        parts=dict(Counter(one.part for one in groups if one.part is not None)),
        first=first.date().isoformat() if first else "",
        rows=rows, next=page.next, total=page.total,
        types=counts(map(attrgetter("type"), shown)), origins=counts(map(attrgetter("origin"), shown)),
        subjects=dict(Counter(map(attrgetter("subject"), shown)).most_common(_MOST_SUBJECTS)),
    )  # fmt: skip


def _valid(store: FactStore, scopes: Iterable[str], at: datetime, part: Part | None) -> list[_Group]:
    with store.lock:
        store.log.refresh()
        return [
            _Group(one.fact, versions, None if part is None else part(one.fact))
            for scope in scopes
            for groups in store.groups(scope)
            for versions in groups.by_key.values()
            for one in versions
            if one.at(at)
        ]


def _has(fact: Fact, words: str) -> bool:
    return not words or words in f"{fact.subject} {fact.predicate} {fact.value}".casefold()


def _key(order: Order, group: _Group) -> _Key:
    fact = group.shown
    if order == "recent":
        return fact.recorded or fact.since, fact.id, "", ""
    about = fact.subject.casefold()
    if group.part is not None:
        about = f"{group.part:04d} {'' if about == 'user' else about}"  # the owner's own first
    return about, fact.predicate.casefold(), fact.value, fact.id


def _rows(ws: OpenWorkspace, found: Sequence[_Group], at: datetime) -> tuple[FactRow, ...]:
    used = ws.state.counts(one.shown.id for one in found)
    talks = ws.state.talks_of(one.shown.id for one in found)
    proposed = _proposed(ws.fact_store)
    confirmed = _confirmed(ws.fact_store, {one.shown.id for one in found})
    return tuple(
        FactRow(
            fact=one.shown,
            earlier=tuple(
                version.fact
                for version in reversed(one.versions)
                if version.fact.id != one.shown.id and (version.begin is None or version.begin <= at)
                and not version.at(at)
            ),
            proposed=tuple(proposed.get((one.shown.scope, *one.shown.key), ())),
            uses=use.times if (use := used.get(one.shown.id)) else 0,
            talks=talks.get(one.shown.id, 0),
            fades=fades_on(one.shown, used.get(one.shown.id), ws),
            confirmed=max(confirmed.get(one.shown.id, ""), one.shown.recorded or one.shown.since),
        )
        for one in found
    )  # fmt: skip


def _proposed(store: FactStore) -> Mapping[tuple[str, ...], list[Fact]]:
    found: defaultdict[tuple[str, ...], list[Fact]] = defaultdict(list)
    with store.lock:
        for fact in store.log.open_proposals():
            if fact.review == "otherwise":  # the fact itself says so
                continue
            found[fact.scope, *fact.key].append(fact)
    return found


def _confirmed(store: FactStore, among: Container[str]) -> dict[str, str]:
    """Return when facts were last confirmed, by their ids."""
    with store.lock:
        said = [one for one in store.log.tables.confirmations.values() if one.fact in among]
    ordered = sorted(one.id for one in said if "until" not in one.fields and is_id(one.id))
    of = {one.id: one.fact for one in said}
    return {of[line]: time_of(line).astimezone(store.zone).isoformat(timespec="seconds") for line in ordered}


def fades_on(fact: Fact, use: Use | None, ws: OpenWorkspace) -> str:
    """Return the day on which a fact is archived if it is not used until then; empty if it stays."""
    zone = ws.fact_store.zone
    learned = when(fact.recorded, zone) or when(fact.since, zone)
    if learned is None or fact.pending:
        return ""
    last = max(learned, use.last) if use else learned
    if fact.priority == "transient":
        return (last + TRANSIENT).date().isoformat()
    loss = rate(fact)
    importance = IMPORTANCE if fact.importance is None else fact.importance
    if not 0 < loss < 1 or (use and use.times >= USES):
        return ""
    days = ceil(log(FLOOR / importance) / log(1 - loss)) if importance > FLOOR else 0
    return (last + timedelta(days=days)).date().isoformat()
