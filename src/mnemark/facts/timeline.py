"""Order facts by valid time: which value was valid when, and which superseded it.

A fact is valid for `since <= t < until`. A subject and predicate have one valid value at a time: a later
`since` (ties: the greater id) ends the earlier one. Natural plurals have several values at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from mnemark.facts.model import Fact

_FIRST: Final = datetime.min.replace(tzinfo=UTC)


class FactVersion(NamedTuple):
    """A fact and its validity; `begin` None: since always; `end` None: still valid."""

    fact: Fact
    begin: datetime | None
    end: datetime | None

    def at(self, moment: datetime) -> bool:
        """Whether it was valid at `moment`."""
        return (self.begin is None or self.begin <= moment) and (self.end is None or moment < self.end)


def when(text: str, zone: tzinfo) -> datetime | None:
    """Parse an ISO date or time, in `zone` if it has none; return None if it is invalid.

    >>> str(when("2026-02-20", UTC))
    '2026-02-20 00:00:00+00:00'
    """
    moment = _moment(text) if text else None
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=zone)


@lru_cache(maxsize=16_384)
def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def timeline(facts: Iterable[Fact], zone: tzinfo) -> list[FactVersion]:
    """Return all facts with their validity, oldest first within each subject and predicate.

    A fact that ends an earlier one names it in `supersedes`, and the earlier one gets an `until`.
    """
    groups: defaultdict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[fact.key].append(fact)
    return [version for group in groups.values() for version in in_order(group, zone)]


def order(fact: Fact, zone: tzinfo) -> tuple[datetime, str]:
    """Return the sort key of a fact among those of its key: begin of validity and id.

    An undated fact begins when it was recorded, but not after its end.
    """
    since = when(fact.since, zone)
    if since is not None:
        return since, fact.id
    times = (when(fact.recorded, zone), when(fact.until, zone))
    return min((time for time in times if time is not None), default=_FIRST), ""


def in_order(group: Sequence[Fact], zone: tzinfo) -> list[FactVersion]:
    """Return the facts of one key as `timeline` does."""
    if len(group) == 1:
        (fact,) = group
        return [FactVersion(fact, when(fact.since, zone), when(fact.until, zone))]
    ordered = sorted(_with_ends(group, zone), key=lambda fact: order(fact, zone))
    starts = [order(fact, zone) for fact in ordered]
    enders = _enders(ordered, starts, zone)
    versions: list[FactVersion] = []
    ended: dict[datetime, str] = {}  # the last fact that ended then
    others: set[datetime | None] = set()  # begins of undated facts before, None for a dated one
    for at, fact in enumerate(ordered):
        alone = when(fact.since, zone) is None and others <= {starts[at][0]}
        begin = None if alone else starts[at][0]
        later = enders[at]
        end, until = when(fact.until, zone), fact.until
        if later < len(ordered) and (end is None or starts[later][0] < end):
            end, until = starts[later][0], ordered[later].since or ordered[later].recorded
        followed = fact.supersedes or (ended.get(begin, "") if begin else "")
        same = (fact.until, fact.supersedes) == (until, followed)
        dated_fact = fact if same else msgspec.structs.replace(fact, until=until, supersedes=followed)
        versions.append(FactVersion(dated_fact, begin, end))
        others.add(order(dated_fact, zone)[0] if begin is None else None)
        if end is not None:
            ended[end] = dated_fact.id
    return versions


def _enders(ordered: Sequence[Fact], starts: Sequence[tuple[datetime, str]], zone: tzinfo) -> list[int]:
    """Return for each fact the index of the first later one that ends it; the length if none does.

    Of undated facts that were recorded together none is newer: all are valid.
    """
    dated = [when(fact.since, zone) is not None for fact in ordered]
    enders = [len(ordered)] * len(ordered)
    for at in range(len(ordered) - 2, -1, -1):
        ends = dated[at] or dated[at + 1] or starts[at] != starts[at + 1]
        enders[at] = at + 1 if ends else enders[at + 1]
    return enders


def _with_ends(group: Sequence[Fact], zone: tzinfo) -> list[Fact]:
    """Return the facts, with the ends of undated ones that later facts name in `supersedes`."""
    ends = {fact.supersedes: fact.since for fact in group if fact.supersedes and when(fact.since, zone)}
    facts = []
    for fact in group:
        given, own = when(ends.get(fact.id, ""), zone), when(fact.until, zone)
        undated = not when(fact.since, zone) and given is not None and (own is None or given < own)
        facts.append(msgspec.structs.replace(fact, until=ends[fact.id]) if undated else fact)
    return facts


def confirmed(confidence: float, by: float) -> float:
    """Return a confidence raised by an independent source of confidence `by`: by `by / 2` of the rest to 1.

    >>> confirmed(0.7, 0.7)
    0.805
    """
    return round(min(0.99, 1 - (1 - confidence) * (1 - by / 2)), 3)
