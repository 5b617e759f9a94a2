"""Archive facts whose strength has decayed, and restore those that are recalled again; nothing is deleted.

`strength = importance * (1 - rate) ** days`, with the days since a fact was learned or last recalled. Below
0.1 with less than two recalls a fact moves to `memory/archive/facts/`; a transient one after 24 hours. What
the owner said, or a person wrote, only decays if its priority is short or transient: an allergy must not be
archived because nobody asked for a year.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from mnemark.facts.files import facts_in
from mnemark.facts.labels import is_chinese
from mnemark.facts.model import Fact
from mnemark.facts.parse import ParsedFact, parse
from mnemark.facts.timeline import when
from mnemark.facts.write import bullet_of
from mnemark.files.layout import FACTS
from mnemark.memory.curation.plan import Proposal, ProposedEdit, ScopeView

ARCHIVE: Final = "memory/archive/facts"
_ADDED: Final = ("archived", "reason", "merged")
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


def archive(view: ScopeView, facts: Mapping[str, Mapping[str, str]]) -> tuple[list[ProposedEdit], set[str]]:
    """Return edits that move facts to the archive, and the ids of those that can be moved.

    Args:
        view: the scope.
        facts: additional fields of the comment in the archive, by id of the fact.
    """
    edits: list[ProposedEdit] = []
    moved: set[str] = set()
    for path in view.state.files.paths(view.scope):
        here = {fact.id: fact for fact in view.state.files.facts(path) if fact.id in facts}
        ids = [one for one in here if _without(view.text(path), path, {one}) is not None]
        if not ids:
            continue
        to = path.replace(f"{FACTS}/", f"{ARCHIVE}/", 1)
        bullets = _bullets(view.text(path), path, {one: facts[one] for one in ids})
        why = tuple(f"{here[one]}: {facts[one].get('reason', '')}".rstrip(": ") for one in ids)
        edits.append(ProposedEdit(to, _adding(to, bullets, f"# Archived: {_title(path)}\n\n"), why))
        edits.append(ProposedEdit(path, _removing(path, set(ids)), why))
        moved |= set(ids)
    return edits, moved


def restore(view: ScopeView, path: str, ids: set[str]) -> list[ProposedEdit]:
    """Return edits that bring facts back from the archive file at `path`."""
    to = path.replace(f"{ARCHIVE}/", f"{FACTS}/", 1)
    bullets = _bullets(view.text(path), path, {one: dict.fromkeys(_ADDED, "") for one in ids})
    facts = [fact for fact in facts_in(view.text(path), path, "") if fact.id in ids]
    why = tuple(f"{fact}: used again" for fact in facts)
    return [
        ProposedEdit(to, _adding(to, bullets, f"# {_title(path)}\n\n"), why),
        ProposedEdit(path, _removing(path, ids), why),
    ]


def archived(view: ScopeView) -> dict[str, list[tuple[Fact, Mapping[str, str]]]]:
    """Return the facts in the archive by file, each with the fields of its comment."""
    found: dict[str, list[tuple[Fact, Mapping[str, str]]]] = {}
    for name in view.names(ARCHIVE):
        path = f"{view.path(ARCHIVE)}/{name}"
        parsed = parse(view.text(path))
        facts = facts_in(view.text(path), path, "")
        found[path] = [(fact, one.meta) for fact, one in zip(facts, parsed, strict=True)]
    return found


def _title(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md").replace("-", " ").capitalize()


def _numbered(text: str, path: str) -> list[tuple[str, ParsedFact]]:
    ids = (fact.id for fact in facts_in(text, path, ""))
    return list(zip(ids, parse(text), strict=True))


def _bullets(text: str, path: str, extra: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {
        one: _bullet(parsed, {"id": one, **extra[one]})
        for one, parsed in _numbered(text, path)
        if one in extra
    }


def _bullet(parsed: ParsedFact, fields: Mapping[str, str]) -> str:
    shown = not is_chinese(parsed.predicate) if "key" in parsed.meta else None
    fields = {**parsed.meta, **fields}
    return bullet_of(parsed.predicate, parsed.value, fields, struck=parsed.struck, chinese=shown)


def _adding(path: str, bullets: Mapping[str, str], head: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        there = {identifier for identifier, _ in _numbered(text, path)}
        new = [line for identifier, line in bullets.items() if identifier not in there]
        if not new:
            return text
        start = text or head
        gap = "" if start.endswith("\n") else "\n"
        return start + gap + "".join(f"{line}\n" for line in new)

    return change


def _removing(path: str, ids: set[str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        left = _without(text, path, ids)
        return text if left is None else left

    return change


def _without(text: str, path: str, ids: set[str]) -> str | None:
    """Return the text without those bullets; None where another bullet would change its meaning."""
    bullets = _numbered(text, path)
    kept = [(p.predicate, p.value, p.struck) for identifier, p in bullets if identifier not in ids]
    left: list[str] = []
    start = 0
    for identifier, parsed in bullets:
        if identifier in ids:
            left.append(text[start : parsed.bullet.start])
            start = parsed.bullet.end
    text = "".join((*left, text[start:]))
    return text if [(p.predicate, p.value, p.struck) for p in parse(text)] == kept else None


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


def _restore_used(view: ScopeView) -> tuple[list[ProposedEdit], list[Fact]]:
    edits: list[ProposedEdit] = []
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
