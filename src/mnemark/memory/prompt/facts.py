"""Choose facts for a prompt: current values, and only those that may speak in the system's role."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from mnemark.facts.keys import subject_key
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts as facts_of
from mnemark.facts.timeline import order
from mnemark.facts.write import core_entry as entry
from mnemark.files import listing
from mnemark.files.reading import read
from mnemark.index.state import Use
from mnemark.memory.curation.files import curated_files
from mnemark.memory.curation.generated import CORE, PROFILE
from mnemark.memory.curation.plan import ScopeView
from mnemark.memory.curation.promotion import earned
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.markdown.generated import find, mark
from mnemark.text.quoting.fence import visible
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.types import Problem

_WEIGHT: Final = {"rule": 0.8, "preference": 0.6}
_USUAL: Final = 0.5


class Spoken(NamedTuple):
    """A fact as a line, and where it stands."""

    line: str
    ref: str


class Facts(NamedTuple):
    """Current facts by where they belong in a prompt."""

    rules: tuple[Spoken, ...] = ()
    profile: tuple[Spoken, ...] = ()
    """About the user."""
    core: tuple[Spoken, ...] = ()
    """About everything else."""
    skills: tuple[Spoken, ...] = ()
    other: tuple[Spoken, ...] = ()
    """What nobody vouches for yet: only quoted."""


class _Look(ScopeView):
    """Does not count how often facts were recalled: what earned its place by that stands in MEMORY.md."""

    @cached_property
    def uses(self) -> Mapping[str, Use]:
        """None are counted."""
        return {}


def facts_for(ws: OpenWorkspace, now: datetime, *, scope: str = "") -> Facts:
    """The facts that hold at `now`, the most important first.

    In the system's role only speaks what the owner said, what stands in a file, or what has earned it as in
    the core memory; of that, nothing shaped like an attack, nothing in doubt, nothing passing. Lines that a
    person took out of a generated part of MEMORY.md or USER.md stay out here, too.
    """
    look = _Look(ws, now, scope=scope)
    removed, standing = _generated(ws, scope)
    groups: dict[str, list[Spoken]] = {name: [] for name in Facts._fields}
    current = list(facts_of(ws.fact_store, scope=scope, as_of=now))
    for fact in sorted(current, key=lambda fact: _rank(fact, look)):
        line = entry(fact)
        if mark(line) not in removed:
            groups[_group(look, fact, vouched=mark(line) in standing)].append(
                Spoken(f"- {visible(line[2:])}", fact.ref or fact.id)
            )
    return Facts(**{name: tuple(found) for name, found in groups.items()})


def _group(look: ScopeView, fact: Fact, *, vouched: bool) -> str:
    if not (vouched or _trusted(look, fact)):
        return "other"
    if fact.type in {"rule", "skill"}:
        return {"rule": "rules", "skill": "skills"}[fact.type]
    return "profile" if subject_key(fact.subject) == "user" and fact.type != "error" else "core"


def _trusted(look: ScopeView, fact: Fact) -> bool:
    if earned(look, fact):
        return True
    by_hand = fact.origin == "file" and not fact.review and fact.priority != "transient"
    return by_hand and not looks_like_instructions(f"{fact.predicate}: {fact.value}")


def _rank(fact: Fact, look: ScopeView) -> tuple[object, ...]:
    importance = _WEIGHT.get(fact.type, _USUAL) if fact.importance is None else fact.importance
    start = order(fact, look.zone)[0].timestamp() if fact.since or fact.recorded else 0.0
    return fact.priority != "permanent", -importance, -start, fact.id


def _generated(ws: OpenWorkspace, scope: str) -> tuple[frozenset[str], frozenset[str]]:
    """Marks of generated lines of MEMORY.md and USER.md: those a person took out, and those that stand."""
    removed: set[str] = set()
    standing: set[str] = set()
    for folder in ("", f"{scope}/") if scope else ("",):
        pairs = [(path, CORE) for path in curated_files(ws.root, folder)]
        names = listing.names(ws.root, folder.rstrip("/"), ".md")
        pairs += [(folder + name, PROFILE) for name in names if name.casefold() == "user.md"]
        for path, name in pairs:
            document = read(ws.root, path)
            part = None if isinstance(document, Problem) else find(document.text, name)
            if part is not None:
                removed |= part.removed
                standing |= {mark(line) for line in part.lines}
    return frozenset(removed), frozenset(standing)


def lines_of(spoken: Sequence[Spoken]) -> tuple[str, ...]:
    """The lines alone."""
    return tuple(one.line for one in spoken)


def refs_of(spoken: Sequence[Spoken]) -> tuple[str, ...]:
    """The refs alone."""
    return tuple(one.ref for one in spoken)
