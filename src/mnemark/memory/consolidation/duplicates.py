"""Merge duplicate facts with all their sources; report similar ones."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final

from mnemark.facts.decide import CONFIDENCE
from mnemark.facts.files import facts_in
from mnemark.facts.keys import predicate_key, subject_key
from mnemark.facts.model import TRUST, Fact, refs_in
from mnemark.facts.parse import parse
from mnemark.facts.timeline import confirmed, order
from mnemark.facts.write import change_comment
from mnemark.memory.consolidation.archive import archive
from mnemark.memory.consolidation.same_fact import judge
from mnemark.memory.curation.plan import Edit, Proposal, ScopeView
from mnemark.text.words.similarity import key_of, similar

STEP: Final = "deduplicate"
_MOST_NOTES: Final = 20


def propose(view: ScopeView) -> Proposal:
    """Propose to merge duplicate facts into the most trusted, then the oldest one.

    Similar facts are compared by the model if there is one, else reported.
    """
    apart = view.undone.facts
    facts = [fact for fact in view.current() if not fact.pending and fact.line and fact.id not in apart]
    groups = [(subject_key(fact.subject), predicate_key(fact.predicate)) for fact in facts]
    found = similar([f"{fact.predicate} {fact.value}" for fact in facts], groups)
    same = [[facts[at] for at in places] for places in found.same]
    merging = [sorted(group, key=lambda one: (-TRUST[one.origin], order(one, view.zone))) for group in same]
    judged = judge(view, facts, found.alike)
    merging += [sorted(group, key=lambda one: _detail_key(view, one)) for group in judged.same]
    edits, gone = _merged(view, merging)
    notes = [f"alike: {facts[pair.one]} · {facts[pair.other]}" for pair in judged.left]
    told = (*judged.notes, *notes[:_MOST_NOTES])
    return Proposal(STEP, tuple(edits), told, frozenset(gone), whole=True)


def _merged(view: ScopeView, groups: list[list[Fact]]) -> tuple[list[Edit], set[str]]:
    """Return edits that leave the first fact of each group with all sources, and archive the others."""
    merged: dict[str, Mapping[str, str]] = {}
    into: dict[str, list[Fact]] = defaultdict(list)
    kept: dict[str, Fact] = {}
    for first, *others in groups:
        if first.id in merged:  # it was merged in another group; the rest is for the next run
            continue
        kept[first.id] = first
        for other in others:
            if other.id in merged or other.id in kept:
                continue
            today = view.now.date().isoformat()
            merged[other.id] = {"archived": today, "merged": first.id, "reason": "says the same"}
            into[first.id].append(other)
    edits, gone = archive(view, merged)
    said = {one: [fact for fact in others if fact.id in gone] for one, others in into.items()}
    return [*_confirmations(kept, said), *edits], gone


def _detail_key(view: ScopeView, fact: Fact) -> tuple[object, ...]:
    """Return the sort key of facts in other words: the most trusted, then the most detailed first."""
    return -TRUST[fact.origin], -len(key_of(fact.value)), order(fact, view.zone)


def _confirmations(kept: Mapping[str, Fact], merged: Mapping[str, list[Fact]]) -> list[Edit]:
    """Return edits that give the remaining facts all sources, and more confidence for them."""
    by_path: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    for identifier, others in merged.items():
        if others:
            by_path[kept[identifier].path][identifier] = _fields(kept[identifier], others)
    return [
        Edit(path, _commenting(path, fields), tuple(f"{kept[one]}: names all its sources" for one in fields))
        for path, fields in sorted(by_path.items())
    ]


def _fields(fact: Fact, others: list[Fact]) -> dict[str, str]:
    sources = [ref for one in (fact, *others) for ref in refs_in(one.source)]
    sure = CONFIDENCE[fact.origin] if fact.confidence is None else fact.confidence
    files = {_file(part) for part in fact.source.split(",")}
    for other in others:
        if other.source and not {_file(part) for part in other.source.split(",")} <= files:
            by = CONFIDENCE[other.origin] if other.confidence is None else other.confidence
            sure = max(sure, confirmed(sure, by))
            files |= {_file(part) for part in other.source.split(",")}
    importance = max((one.importance for one in (fact, *others) if one.importance is not None), default=None)
    tags = dict.fromkeys(tag for one in (fact, *others) for tag in one.tags)
    return {
        "source": ", ".join(dict.fromkeys(sources)),
        "confidence": f"{sure:g}",
        "importance": "" if importance is None else f"{importance:g}",
        "tags": ", ".join(tags),
    }


def _file(source: str) -> str:
    return source.strip().partition("#")[0]


def _commenting(path: str, fields: Mapping[str, Mapping[str, str]]) -> Callable[[str], str]:
    def change(text: str) -> str:
        for identifier, wanted in fields.items():
            ids = [fact.id for fact in facts_in(text, path, "")]
            if identifier in ids:
                parsed = parse(text)[ids.index(identifier)]
                own = {} if parsed.id else {"id": identifier}
                new = {name: value for name, value in wanted.items() if value}
                text = change_comment(text, parsed, own | new)
        return text

    return change
