"""Order facts in valid time: which value held when, and which superseded it. Pure.

A fact holds for `since <= t < until`. Of one subject and predicate one value holds at a time: a later `since`
(ties: the greater id) ends the earlier one. Predicates that are plural by nature hold values side by side.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final, NamedTuple

import msgspec

from mnemark.facts.model import Fact

_FIRST: Final = datetime.min.replace(tzinfo=UTC)


class FactVersion(NamedTuple):
    """A fact and when it held; `begin` None: from the first on, `end` None: still."""

    fact: Fact
    begin: datetime | None
    end: datetime | None

    def at(self, moment: datetime) -> bool:
        """Whether it held then."""
        return (self.begin is None or self.begin <= moment) and (self.end is None or moment < self.end)


def when(text: str, zone: tzinfo) -> datetime | None:
    """An ISO date or time with zone (`zone` where none is written); None where it is none.

    >>> str(when("2026-02-20", UTC))
    '2026-02-20 00:00:00+00:00'
    """
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=zone)


def timeline(facts: Iterable[Fact], zone: tzinfo) -> list[FactVersion]:
    """All facts with the time they held, oldest first within each subject and predicate.

    Where a later fact ended an earlier one, it names it in `supersedes`, and the earlier one has an `until`.
    """
    groups: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[fact.key].append(fact)
    return [held for group in groups.values() for held in _in_order(group, zone)]


def order(fact: Fact, zone: tzinfo) -> tuple[datetime, str]:
    """What facts of one key are sorted by: since when it held, then the id.

    A fact that nobody dated counts from when it was learned, and never from after its end.
    """
    since = when(fact.since, zone)
    if since is not None:
        return since, fact.id
    times = (when(fact.recorded, zone), when(fact.until, zone))
    return min((time for time in times if time is not None), default=_FIRST), ""


def _in_order(group: Sequence[Fact], zone: tzinfo) -> list[FactVersion]:
    ordered = sorted(_ended(group, zone), key=lambda fact: order(fact, zone))
    starts = [order(fact, zone) for fact in ordered]
    enders = _enders(ordered, starts, zone)
    found: list[FactVersion] = []
    ended: dict[datetime, str] = {}
    """The last of those that ended then."""
    others: set[datetime | None] = set()
    """Since when those before held, None for a date."""
    for at, fact in enumerate(ordered):
        alone = when(fact.since, zone) is None and others <= {starts[at][0]}
        begin = None if alone else starts[at][0]
        later = enders[at]
        end, until = when(fact.until, zone), fact.until
        if later < len(ordered) and (end is None or starts[later][0] < end):
            end, until = starts[later][0], ordered[later].since or ordered[later].recorded
        followed = fact.supersedes or (ended.get(begin, "") if begin else "")
        same = (fact.until, fact.supersedes) == (until, followed)
        told = fact if same else msgspec.structs.replace(fact, until=until, supersedes=followed)
        found.append(FactVersion(told, begin, end))
        others.add(order(told, zone)[0] if begin is None else None)
        if end is not None:
            ended[end] = told.id
    return found


def _enders(ordered: Sequence[Fact], starts: Sequence[tuple[datetime, str]], zone: tzinfo) -> list[int]:
    """For each the place of the first later one that ends it; the length where none does.

    Of two that nobody dated and that were learned together nothing says which is the newer: both hold.
    """
    dated = [when(fact.since, zone) is not None for fact in ordered]
    found = [len(ordered)] * len(ordered)
    for at in range(len(ordered) - 2, -1, -1):
        ends = dated[at] or dated[at + 1] or starts[at] != starts[at + 1]
        found[at] = at + 1 if ends else found[at + 1]
    return found


def _ended(group: Sequence[Fact], zone: tzinfo) -> list[Fact]:
    """With the end that a later fact names for one that nobody dated."""
    ends = {fact.supersedes: fact.since for fact in group if fact.supersedes and when(fact.since, zone)}
    found = []
    for fact in group:
        given, own = when(ends.get(fact.id, ""), zone), when(fact.until, zone)
        undated = not when(fact.since, zone) and given is not None and (own is None or given < own)
        found.append(msgspec.structs.replace(fact, until=ends[fact.id]) if undated else fact)
    return found


def confirmed(confidence: float, by: float) -> float:
    """Confidence after an independent source said the same: half of what was missing, weighted by the source.

    >>> confirmed(0.7, 0.7)
    0.805
    """
    return round(min(0.99, 1 - (1 - confidence) * (1 - by / 2)), 3)
