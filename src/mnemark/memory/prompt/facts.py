"""Choose facts for a prompt: current values, and which of them may stand in the system's role."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime, tzinfo
from types import MappingProxyType
from typing import NamedTuple

from mnemark.facts.keys import subject_key
from mnemark.facts.labels import is_chinese
from mnemark.facts.model import Fact
from mnemark.facts.remember import facts as facts_of
from mnemark.facts.visible import PlainWorkspace
from mnemark.facts.write import core_entries, core_entry, undoubted_entries
from mnemark.files import listing
from mnemark.files.projects import is_project
from mnemark.files.reading import read
from mnemark.index.state import Use
from mnemark.memory.curation.files import curated_files
from mnemark.memory.curation.generated import CORE, PROFILE, earned, is_past_plan, rank
from mnemark.memory.prompt.parts import FactLine, PromptFacts
from mnemark.text.markdown.generated import find, mark
from mnemark.text.quoting.fence import visible
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.types import Problem


class _WithoutUses(NamedTuple):
    """A ranking without recall counts: facts promoted by these are in MEMORY.md."""

    zone: tzinfo
    uses: Mapping[str, Use] = MappingProxyType({})


class _Ranked(NamedTuple):
    rank: tuple[object, ...]
    language: str
    """Of the value: "zh" or "en"; empty for numbers and the like, which tell nothing."""
    layer: str
    is_trusted: bool


def facts_for(ws: PlainWorkspace, now: datetime, *, scope: str = "", most: int | None = None) -> PromptFacts:
    """Return the facts that hold at `now`, the most important first.

    The system's role is only for what the owner said, what is in a file, or what has earned it as in the core
    memory; of that, nothing shaped like an attack, nothing in doubt, nothing passing. Lines that a person
    took out of a generated part of MEMORY.md or USER.md stay out here, too.

    Args:
        ws: the workspace.
        now: the time, with zone.
        scope: scope to include beside the root's.
        most: facts of each layer at most; all by default.
    """
    removed, standing = _generated(ws, scope)
    store = ws.fact_store
    current = [one for one in facts_of(store, scope=scope, as_of=now) if not is_past_plan(one, now)]
    if is_project(scope):  # there its own value of a fact counts
        own = {fact.key for fact in current if fact.scope}
        current = [fact for fact in current if fact.scope or fact.key not in own]
    ranked = [(store.derive(_ranked, fact), fact) for fact in current]
    ranked.sort(key=lambda pair: pair[0].rank)
    layers: defaultdict[str, list[Fact]] = defaultdict(list)
    for one, fact in ranked:
        # Most memories have no line removed: the marks of their facts, which take long, tell nothing then.
        marks = store.derive(_marks, fact) if removed or (standing and not one.is_trusted) else frozenset()
        if not marks & removed:
            layers[one.layer if one.is_trusted or marks & standing else "other"].append(fact)
    languages = Counter(one.language for one, _ in ranked)
    line = _chinese if 3 * languages["zh"] > languages["zh"] + languages["en"] else _english
    return PromptFacts(
        **{name: tuple(store.derive(line, fact) for fact in found[:most]) for name, found in layers.items()},
        subjects=Counter(fact.subject for fact in current),
    )


def _ranked(fact: Fact, zone: tzinfo) -> _Ranked:
    look = _WithoutUses(zone)
    if fact.type in {"rule", "skill"}:
        layer = f"{fact.type}s"
    else:
        layer = "profile" if subject_key(fact.subject) == "user" and fact.type != "error" else "core"
    by_hand = fact.origin == "file" and not fact.review and fact.priority != "transient"
    language = ("zh" if is_chinese(fact.value) else "en") if any(map(str.isalpha, fact.value)) else ""
    is_trusted = (
        not looks_like_instructions(f"{fact.predicate}: {fact.value}")
        if by_hand
        else bool(earned(look, fact))
    )
    return _Ranked(rank(look, fact), language, layer, is_trusted)


def _marks(fact: Fact, _zone: tzinfo) -> frozenset[str]:
    return frozenset(map(mark, (*core_entries(fact), *undoubted_entries(fact))))


def _english(fact: Fact, _zone: tzinfo) -> FactLine:
    return _line(fact, chinese=False)


def _chinese(fact: Fact, _zone: tzinfo) -> FactLine:
    return _line(fact, chinese=True)


def _line(fact: Fact, *, chinese: bool) -> FactLine:
    line, other = (f"- {visible(core_entry(fact, chinese=shown)[2:])}" for shown in (chinese, not chinese))
    return FactLine(line, fact.ref or fact.id, other)


def _generated(ws: PlainWorkspace, scope: str) -> tuple[frozenset[str], frozenset[str]]:
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
