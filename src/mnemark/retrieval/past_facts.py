"""Remove superseded facts from hits unless they are labelled as past.

A value that no longer holds is never shown as current, even where there was no time to read the facts. A
bullet of a fact file is shown if its fact is known to hold, or labelled as past. Entries of core memory
(MEMORY.md, USER.md, the traits) restate facts: those of facts that no longer hold are removed.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from mnemark.facts.known import FACT
from mnemark.facts.states import FactStates
from mnemark.files import layout
from mnemark.files.names import SOURCES
from mnemark.retrieval.render import snippet
from mnemark.types import Hit

CORE_ROLES: Final = frozenset({"longterm", "identity", "persona"})
"""Roles of files with generated parts that restate facts."""

IsPast = Callable[[str, str], bool]
"""Takes a scope and a line; returns whether the line restates a fact that no longer holds."""


class KnownHits(msgspec.Struct, frozen=True):
    """The hits that may be shown, and the ratio of the best score among them to the best before."""

    hits: tuple[Hit, ...]
    share: float


def without_past_entries(path: str, text: str, is_past: IsPast) -> str:
    """Remove entries of past facts from a passage of core memory; return other passages unchanged."""
    if "- " not in text:
        return text
    place = layout.place(path)
    if place is None or place.role not in CORE_ROLES:
        return text
    lines = text.splitlines(keepends=True)
    left = [line for line in lines if not (line.startswith("- ") and is_past(place.scope, line))]
    return text if len(left) == len(lines) else "".join(left)


def restated_entries(hit: Hit) -> list[str]:
    """Return the entries in a hit of a generated part of core memory; none for other hits."""
    place = layout.place(hit.path) if SOURCES in hit.meta else None
    if place is None or place.role not in CORE_ROLES:
        return []
    return [line for line in hit.text.splitlines() if line.startswith("- ")]


def known_to_hold(
    hits: Sequence[Hit], states: FactStates, now: datetime, idf: Mapping[str, float] | None
) -> KnownHits:
    """Keep the hits that `may_be_shown`, and of a part that restates facts what no fact among them says.

    `idf`: of the question's terms, where no route of facts has merged such parts. What is left of one stands
    for itself if it holds a term.
    """
    left = tuple(hit for hit in hits if may_be_shown(hit, states, now))
    if idf is not None:
        facts = [str(hit.meta[FACT]) for hit in left if FACT in hit.meta]
        left = tuple(hit for hit in (_without_entries(hit, states, facts, idf) for hit in left) if hit)
    if len(left) == len(hits) or hits[0].score <= 0:
        return KnownHits(left, 1.0)
    return KnownHits(left, min(left[0].score / hits[0].score, 1.0) if left else 0.0)


def _without_entries(
    hit: Hit, states: FactStates, facts: Sequence[str], idf: Mapping[str, float]
) -> Hit | None:
    """Return a hit without its entries of these facts; None where what is left says nothing."""
    entries = restated_entries(hit)
    if not entries:
        return hit
    text = without_past_entries(hit.path, hit.text, lambda scope, line: states.restates(scope, line, facts))
    if not any(term in entry.casefold() for entry in entries if entry in text for term in idf):
        return None
    if text == hit.text:
        return hit
    return msgspec.structs.replace(hit, text=text, snippet=snippet(text, idf, title=hit.title))


def may_be_shown(hit: Hit, states: FactStates, now: datetime) -> bool:
    """Return whether a hit is not a fact, is labelled as past, or is known to hold."""
    identifier = hit.meta.get(FACT)
    if not isinstance(identifier, str) or hit.meta.get("current") is False:
        return True
    return states.holds(hit.scope, identifier, now) is True
