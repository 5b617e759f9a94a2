"""Choose facts for a prompt: current values, and which of them may stand in the system's role."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property, partial
from typing import NamedTuple

from mnemark.facts.keys import subject_key
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts as facts_of
from mnemark.facts.write import core_entry as entry
from mnemark.files import listing
from mnemark.files.reading import read
from mnemark.index.state import Use
from mnemark.memory.curation.files import curated_files
from mnemark.memory.curation.generated import CORE, PROFILE, earned, rank
from mnemark.memory.curation.plan import ScopeView
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.markdown.generated import find, mark
from mnemark.text.quoting.fence import visible
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.types import Problem


class FactLine(NamedTuple):
    """A fact as a line, and its ref."""

    line: str
    ref: str


class Facts(NamedTuple):
    """Current facts by layer of a prompt."""

    rules: tuple[FactLine, ...] = ()
    profile: tuple[FactLine, ...] = ()
    """About the user."""
    core: tuple[FactLine, ...] = ()
    """About everything else."""
    skills: tuple[FactLine, ...] = ()
    other: tuple[FactLine, ...] = ()
    """Not vouched for: only quoted."""


class _ViewWithoutUses(ScopeView):
    """Does not count recalls: facts that earned their place by them are in MEMORY.md."""

    @cached_property
    def uses(self) -> Mapping[str, Use]:
        return {}


def facts_for(ws: OpenWorkspace, now: datetime, *, scope: str = "") -> Facts:
    """Return the facts that hold at `now`, the most important first.

    The system's role is only for what the owner said, what is in a file, or what has earned it as in the core
    memory; of that, nothing shaped like an attack, nothing in doubt, nothing passing. Lines that a person
    took out of a generated part of MEMORY.md or USER.md stay out here, too.
    """
    look = _ViewWithoutUses(ws, now, scope=scope)
    removed, standing = _generated(ws, scope)
    groups: dict[str, list[FactLine]] = {name: [] for name in Facts._fields}
    current = facts_of(ws.fact_store, scope=scope, as_of=now)
    for fact in sorted(current, key=partial(rank, look)):
        line = entry(fact)
        if mark(line) not in removed:
            group = _group(look, fact, vouched=mark(line) in standing)
            groups[group].append(FactLine(f"- {visible(line[2:])}", fact.ref or fact.id))
    return Facts(**{name: tuple(found) for name, found in groups.items()})


def _group(look: ScopeView, fact: Fact, *, vouched: bool) -> str:
    if not (vouched or _trusted(look, fact)):
        return "other"
    if fact.type in {"rule", "skill"}:
        return f"{fact.type}s"
    return "profile" if subject_key(fact.subject) == "user" and fact.type != "error" else "core"


def _trusted(look: ScopeView, fact: Fact) -> bool:
    if earned(look, fact):
        return True
    by_hand = fact.origin == "file" and not fact.review and fact.priority != "transient"
    return by_hand and not looks_like_instructions(f"{fact.predicate}: {fact.value}")


def _generated(ws: OpenWorkspace, scope: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return marks of generated lines of MEMORY.md and USER.md: removed by a person, and standing."""
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
