"""Index facts by id, key and predicate, and render a fact as text and `meta` of a hit."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, tzinfo
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

import msgspec

from mnemark.facts.groups import FactGroups, Key
from mnemark.facts.keys import plain_words, predicate_names, subject_names
from mnemark.facts.known import FACT, entry_words
from mnemark.facts.model import Fact, refs_in
from mnemark.facts.timeline import FactVersion, when
from mnemark.facts.write import core_entries
from mnemark.text.dates import local
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import is_stop
from mnemark.types import Hit

_NEW_SECONDS: Final = 120.0
_NEW: Final = 200
_LONGEST_VALUE: Final = 40
"""Characters of a value that a question may name."""

OWN: Final = frozenset({"user", "agent", "project"})
"""Keys of subjects that are no names."""
State = Literal["current", "past", "future"]


@lru_cache(maxsize=16_384)
def without_stop_words(text: str) -> tuple[str, ...]:
    """Return the distinct terms of a text without stop words."""
    return tuple(term for term in dict.fromkeys(query_terms(text)) if not is_stop(term))


def predicate_terms(key: str) -> frozenset[str]:
    """Return the terms of a predicate's key without stop words."""
    return frozenset(without_stop_words(key))


class _Words:
    """Keys of predicates by the words that a question may have, for some of the facts; each read once."""

    def __init__(self, by_predicate: Mapping[str, Sequence[FactVersion]]) -> None:
        self._by_predicate = by_predicate

    @cached_property
    def of_predicates(self) -> Mapping[str, Sequence[str]]:
        """Keys by the terms of the predicates themselves."""
        found: dict[str, list[str]] = defaultdict(list)
        for key in filter(None, self._by_predicate):
            for term in predicate_terms(key):
                found[term].append(key)
        return dict(found)

    @cached_property
    def of_values(self) -> Mapping[str, AbstractSet[str]]:
        """Keys by their values, as `plain_words` has them."""
        found: dict[str, set[str]] = defaultdict(set)
        for key, versions in self._by_predicate.items():
            for one in versions if key else ():
                if len(one.fact.value) <= _LONGEST_VALUE:
                    found[plain_words(one.fact.value)].add(key)
        return dict(found)


def _words_of(part: FactGroups) -> _Words:
    """Return the words of these facts, which most parts keep when a fact is added."""
    known = part.memo.get("words")
    if not isinstance(known, _Words):
        known = part.memo["words"] = _Words(part.by_predicate)
    return known


class FactIndex:
    """Immutable index of all visible facts at the time `made`."""

    def __init__(self, parts: Iterable[FactGroups], zone: tzinfo, *, made: datetime | None = None) -> None:
        self.zone = zone
        self.made = made or datetime.now(UTC)
        self.parts = tuple(parts)
        self.by_id: dict[str, FactVersion] = {}
        self._by_key: dict[str, dict[Key, Sequence[FactVersion]]] = defaultdict(dict)
        """Versions of each fact, oldest first, by scope and key."""
        for part in self.parts:
            self.by_id.update(part.by_id)
            self._by_key[part.scope].update(part.by_key)

    def __len__(self) -> int:
        return len(self.by_id)

    @cached_property
    def facts(self) -> tuple[FactVersion, ...]:
        """All versions."""
        return tuple(one for part in self.parts for one in part.versions)

    def of_predicate(self, key: str) -> Sequence[FactVersion]:
        """Return the versions with this key of a predicate."""
        return [one for part in self.parts for one in part.by_predicate.get(key, ())]

    def predicates_with(self, terms: Iterable[str]) -> Mapping[str, frozenset[str]]:
        """Return the predicates without a canonical name that have one of these terms, with all of theirs."""
        known, wanted = set(predicate_names().values()), frozenset(terms)
        words = [_words_of(part).of_predicates for part in self.parts]
        found = {key: None for there in words for term in wanted & there.keys() for key in there[term]}
        return {key: predicate_terms(key) for key in found if key not in known}

    def predicates_of_values(self, values: AbstractSet[str]) -> Iterator[tuple[str, str]]:
        """Yield the key of each predicate that has one of these values, with the value.

        Args:
            values: as `plain_words` has them.
        """
        for part in self.parts:
            there = _words_of(part).of_values
            for value in sorted(values & there.keys()):
                yield from ((key, value) for key in there[value])

    @cached_property
    def other_subjects(self) -> frozenset[str]:
        """Keys of the subjects without a canonical name ("user" has one)."""
        return frozenset().union(*(part.subjects for part in self.parts)) - set(subject_names().values())

    @cached_property
    def rules(self) -> tuple[FactVersion, ...]:
        """Standing instructions and preferences of the owner."""
        return tuple(one for one in self.facts if is_order(one.fact))

    @cached_property
    def new(self) -> tuple[FactVersion, ...]:
        """Facts that the passage index may lack: in no file yet, or recorded within `_NEW_SECONDS`."""
        latest = [one for part in self.parts for one in part.recent(self.made, _NEW_SECONDS)]
        return tuple(latest[-_NEW:])

    @cached_property
    def _past_entries(self) -> frozenset[tuple[str, str]]:
        """Entries of core memory (scope and line) whose facts no longer held at `made`."""
        past = [one.fact for one in self.facts if not one.at(self.made)]
        values = {fact.value for fact in past}  # facts of other values have other entries
        current = (one.fact for one in self.facts if one.fact.value in values and one.at(self.made))
        return _entries(past) - _entries(current)

    def is_past_entry(self, scope: str, line: str) -> bool:
        """Whether a line of core memory restates a fact that no longer holds."""
        return (scope, entry_words(line)) in self._past_entries

    def of_entries(self, scope: str, lines: Iterable[str]) -> dict[str, FactVersion]:
        """Return the facts that lines of core memory restate, by the lines; other lines are absent."""
        wanted = {entry_words(line): line for line in lines}
        text = "\n".join(wanted)
        facts = (
            one
            for part in self.parts
            if part.scope == scope
            for one in part.versions
            if one.fact.value.replace("<!--", "<! --") in text
        )
        found: dict[str, FactVersion] = {}
        for one in sorted(facts, key=lambda one: one.at(self.made)):  # one that holds takes the place
            found |= {wanted[words]: one for _, words in _entries([one.fact]) if words in wanted}
        return found

    def versions(self, fact: Fact) -> Sequence[FactVersion]:
        """Return all versions of a fact, oldest first."""
        return self._by_key.get(fact.scope, {}).get(fact.key, ())

    def current(self, fact: Fact, moment: datetime) -> FactVersion | None:
        """Return the version of a fact that held at a moment."""
        return next((one for one in reversed(self.versions(fact)) if one.at(moment)), None)

    def before(self, version: FactVersion) -> FactVersion | None:
        """Return the version that this one superseded, or None."""
        fact = version.fact
        ended = [one for one in self.versions(fact) if one.fact.id != fact.id and one.end is not None]
        named = next((one for one in ended if one.fact.id == fact.supersedes), None)
        return named or next((one for one in reversed(ended) if one.end == version.begin), None)

    def after(self, version: FactVersion) -> FactVersion | None:
        """Return the version that superseded this one, or None."""
        later = (one for one in self.versions(version.fact) if one.begin is not None)
        return next((one for one in later if one.begin == version.end), None)


def _entries(facts: Iterable[Fact]) -> frozenset[tuple[str, str]]:
    return frozenset((fact.scope, entry_words(entry)) for fact in facts for entry in core_entries(fact))


def is_order(fact: Fact) -> bool:
    """Return whether a fact is an instruction or preference of the owner's, as far as it can be trusted.

    What the owner said is; a line of a file only if it is not shaped like an attack.
    """
    if fact.type not in {"rule", "preference"} or fact.review or fact.origin not in {"owner", "file"}:
        return False
    return fact.origin == "owner" or not looks_like_instructions(f"{fact.predicate}: {fact.value}")


def meta_of(fact_index: FactIndex, version: FactVersion, state: State) -> dict[str, Any]:
    """Return the `meta` of a fact's hit."""
    fact, before = version.fact, fact_index.before(version)
    found: dict[str, Any] = {
        FACT: fact.id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "value": fact.value,
        "type": fact.type,
        "since": fact.since or None,
        "until": fact.until or None,
        "current": state == "current",
        "replaces": None,
    }
    if before is not None:
        found["replaces"] = {"value": before.fact.value, "until": before.fact.until or None}
    if fact.otherwise is not None:
        found["otherwise"] = msgspec.to_builtins(fact.otherwise)
    if fact.pending:
        found["pending"] = True
    if fact.source:
        found["sources"] = list(refs_in(fact.source))
    return found


def hit_of(fact: Fact, text: str, *, score: float, meta: Mapping[str, Any], why: Mapping[str, Any]) -> Hit:
    """Return the hit of a fact that is shown as `text`."""
    return Hit(
        ref=fact.ref or fact.id, path=fact.path, start_line=fact.line, end_line=fact.line, kind="fact",
        title=fact.subject, date=fact.since or None, origin=fact.origin, scope=fact.scope, score=score,
        text=text, snippet=text, meta=meta, why=why,
    )  # fmt: skip


def describe(fact_index: FactIndex, version: FactVersion, state: State) -> str:
    """Render a fact with its validity and the value before or after it.

    `user python version: 3.12 (since 2026-02-20; before: 3.10 until 2026-02-20)`
    """
    fact = version.fact
    zone = fact_index.zone
    since, until = _day(fact.since, zone), _day(fact.until, zone)
    notes = []
    if state == "past":
        notes.append(f"past: {since} until {until}" if since else f"past: until {until}")
        after = fact_index.after(version)
        notes += [f"then: {after.fact.value}"] if after is not None else []
    else:
        notes += [f"{'from' if state == 'future' else 'since'} {since}"] if since else []
        notes += [f"until {until}"] if until else []
        before = fact_index.before(version)
        if before is not None:
            ended = _day(before.fact.until, zone)
            notes.append(f"before: {before.fact.value}" + (f" until {ended}" if ended else ""))
        notes += [str(fact.otherwise)] if fact.otherwise is not None else []
    return f"{fact} ({'; '.join(notes)})" if notes else str(fact)


def _day(time: str, zone: tzinfo) -> str:
    """Return the day of a time on the clock of the workspace; the first characters of what is no time."""
    found = when(time, zone)
    return local(found, zone).date().isoformat() if found is not None else time[:10]
