"""Leave out of answers what tells a superseded fact as current.

A value that does not hold any more is never shown as one that does, however little time there was to read
the facts. A bullet of a fact file is shown where its fact is known to hold, or says that it is past. The
entries of core memory (MEMORY.md, USER.md, the traits) restate facts: those of facts that do not hold are
left out.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.facts.known import FACT
from mnemark.facts.states import FactStates
from mnemark.files import layout
from mnemark.types import Hit

CORE_ROLES: Final = frozenset({"longterm", "identity", "persona"})
"""Roles of files that have generated parts which restate facts."""

IsPast = Callable[[str, str], bool]
"""Of a scope and a line: whether it is the entry of a fact that does not hold."""


class Kept(NamedTuple):
    """The hits that may be shown, and how much of the best score is left."""

    hits: tuple[Hit, ...]
    share: float


def without_past_entries(path: str, text: str, is_past: IsPast) -> str:
    """Remove entries of core memory that are past; other passages stay as they are."""
    if "- " not in text:
        return text
    place = layout.place(path)
    if place is None or place.role not in CORE_ROLES:
        return text
    lines = text.splitlines(keepends=True)
    left = [line for line in lines if not (line.startswith("- ") and is_past(place.scope, line))]
    return text if len(left) == len(lines) else "".join(left)


def known_to_hold(hits: Sequence[Hit], states: FactStates, now: datetime) -> Kept:
    """Keep facts that are known to hold, or described as past, and all other hits."""
    left = tuple(hit for hit in hits if may_be_shown(hit, states, now))
    if len(left) == len(hits) or hits[0].score <= 0:
        return Kept(left, 1.0)
    return Kept(left, min(left[0].score / hits[0].score, 1.0) if left else 0.0)


def may_be_shown(hit: Hit, states: FactStates, now: datetime) -> bool:
    """Whether a hit is no fact, one that is told as past, or one that is known to hold."""
    identifier = hit.meta.get(FACT)
    if not isinstance(identifier, str) or hit.meta.get("current") is False:
        return True
    return states.holds(hit.scope, identifier, now) is True
