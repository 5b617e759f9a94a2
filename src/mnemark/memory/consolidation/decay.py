"""Archive facts whose strength has decayed, and restore those that are recalled again.

`strength = importance * (1 - rate) ** days`, with the days since a fact was learned or last recalled. Below
0.1 with less than two recalls a fact is archived; a transient one after 24 hours. What the owner said, or a
person wrote, only decays if its priority is short or transient: an allergy must not be archived because
nobody asked for a year.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from mnemark.facts.model import Fact
from mnemark.facts.timeline import when
from mnemark.memory.consolidation.archive import archive, archived, restore
from mnemark.memory.curation.plan import Edit, Proposal, ScopeView

STEP: Final = "decay"
FLOOR: Final = 0.1
"""Strength below which a fact is archived."""
USES: Final = 2
"""Recalls that keep a fact whatever its strength."""
TRANSIENT: Final = timedelta(hours=24)
IMPORTANCE: Final = 0.5
"""Default of a fact."""
RATES: Final[Mapping[str, float]] = {"short": 0.1, "long": 0.01, "permanent": 0.0}
"""Loss a day by priority: half-lives of 7 and 69 days."""
_LASTING: Final = frozenset({"owner", "file"})


def propose(view: ScopeView) -> Proposal:
    """Propose to archive decayed facts, and to restore those that were recalled since."""
    fading: dict[str, Mapping[str, str]] = {}
    for fact in view.current():
        reason = _decay_reason(view, fact)
        if reason and fact.id not in view.undone.facts:
            fading[fact.id] = {"archived": view.now.date().isoformat(), "reason": reason}
    edits, gone = archive(view, fading)
    returned, back = _restore_used(view)
    return Proposal(STEP, (*edits, *returned), gone=frozenset(gone), back=tuple(back))


def strength(fact: Fact, days: float) -> float:
    """Return the strength of a fact after so many days; a clock set back counts as 0 days."""
    importance = IMPORTANCE if fact.importance is None else fact.importance
    return float(importance * (1 - rate(fact)) ** max(days, 0.0))


def rate(fact: Fact) -> float:
    """Return the loss of strength a day."""
    lasting = fact.origin in _LASTING or fact.type == "rule"
    if lasting and fact.priority != "short":
        return 0.0
    return RATES.get(fact.priority, RATES["long"])


def _decay_reason(view: ScopeView, fact: Fact) -> str:
    use = view.uses.get(fact.id)
    learned = when(fact.recorded, view.zone) or when(fact.since, view.zone)
    if learned is None or fact.pending:
        return ""
    last = max(learned, use.last) if use else learned
    age = view.now - last
    if fact.priority == "transient":
        return "short-lived, older than a day" if age > TRANSIENT else ""
    left = strength(fact, age / timedelta(days=1))
    if left >= FLOOR or (use and use.times >= USES):
        return ""
    return f"not used for {age.days} days (strength {left:.2f})"


def _restore_used(view: ScopeView) -> tuple[list[Edit], list[Fact]]:
    edits: list[Edit] = []
    back: list[Fact] = []
    for path, facts in archived(view).items():
        ids = {fact.id for fact, meta in facts if _is_used(view, fact.id, meta)}
        if ids:
            edits += restore(view, path, ids)
            back += [fact for fact, _ in facts if fact.id in ids]
    return edits, back


def _is_used(view: ScopeView, identifier: str, meta: Mapping[str, str]) -> bool:
    """Return whether a fact was recalled since it faded; merged ones stay archived."""
    use = view.uses.get(identifier)
    gone: datetime | None = when(meta.get("archived", ""), view.zone)
    if use is None or gone is None or meta.get("merged"):
        return False
    return use.last >= gone + timedelta(days=1)  # the day it went counts as before
