"""Facts in valid time: which value held when, and which took whose place. Pure functions.

A fact holds for `since <= t < until`. Of one subject and predicate one value holds at a time: a later `since`
(ties: the greater id) ends the earlier one. Predicates that are plural by nature hold values side by side.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final, NamedTuple

import msgspec

from mnemark.text.facts_keys import holds_many, predicate_key, subject_key, value_key
from mnemark.types import Origin

TRUST: Final[dict[Origin, int]] = {"owner": 4, "agent": 3, "file": 3, "import": 2, "tool": 1, "web": 1}
"""How far an origin is believed."""
TYPES: Final = ("fact", "preference", "rule", "skill", "error")
PRIORITIES: Final = ("transient", "short", "long", "permanent")

_FIRST: Final = datetime.min.replace(tzinfo=UTC)


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One value of one predicate. Times are ISO text as written; a date begins at midnight."""

    id: str
    subject: str = "user"
    predicate: str = ""
    """As written; empty for a statement."""
    value: str
    type: str = "fact"
    since: str = ""
    """From when it held, as far as known."""
    until: str = ""
    """Until when; empty while it holds."""
    recorded: str = ""
    """When mnemark learned it."""
    origin: Origin = "file"
    importance: float | None = None
    confidence: float | None = None
    priority: str = ""
    tags: tuple[str, ...] = ()
    source: str = ""
    supersedes: str = ""
    scope: str = ""
    path: str = ""
    """File it stands in, relative to the workspace; while pending, the file it will stand in."""
    line: int = 0
    """First line of its bullet; 0 where it stands in no file."""
    pending: bool = False
    """Acknowledged, and not yet in its file."""
    review: str = ""
    """Why it waits for a person ("untrusted", "conflict", "removed"); such a fact is no fact yet."""

    def __str__(self) -> str:
        about = f"{self.subject} {self.predicate}".strip()
        return f"{about}: {self.value}" if about else self.value

    @property
    def key(self) -> tuple[str, str, str]:
        """Facts of one key take each other's place; the last part tells values apart where many hold."""
        many = holds_many(self.predicate)
        return subject_key(self.subject), predicate_key(self.predicate), value_key(self.value) if many else ""

    @property
    def ref(self) -> str:
        """Where it stands: `path#L3`; empty where it stands in no file."""
        return f"{self.path}#L{self.line}" if self.line else ""


class Held(NamedTuple):
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


def timeline(facts: Iterable[Fact], zone: tzinfo) -> list[Held]:
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


def _in_order(group: Sequence[Fact], zone: tzinfo) -> list[Held]:
    ordered = sorted(_ended(group, zone), key=lambda fact: order(fact, zone))
    starts = [order(fact, zone) for fact in ordered]
    enders = _enders(ordered, starts, zone)
    found: list[Held] = []
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
        found.append(Held(told, begin, end))
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
