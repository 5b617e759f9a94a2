"""Facts route: a question as subject and predicate, answered from current facts.

It adds to the hits of the other routes and never takes from them: where no fact is asked for, an answer is
what it was. In the answer a value that holds stands before those it replaced, and says so.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from mnemark.facts.keys import subject_key, subject_names
from mnemark.facts.known import FACT
from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion
from mnemark.files import layout
from mnemark.index.rows import seconds, seconds_of
from mnemark.index.units import fact_text
from mnemark.retrieval.fact_index import FactIndex, State, describe, meta_of, without_stop_words
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.presets import SUSPECT_FACTOR
from mnemark.retrieval.routes.fact_questions import FactQuestion, parse_question, speaks_of
from mnemark.retrieval.routes.lexical import QueryTerm
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.words.segment import index_terms, query_terms
from mnemark.types import Hit

WEIGHT: Final = 0.8
"""Times the match to the power of `_BEND`, added for a fact whose subject and predicate are asked for: more
than any passage gets for words that all fit, and much less where the question is about more than that."""
_BEND: Final = 1.5
PAST_FACTOR: Final = 0.5
"""A value that does not hold any more is ranked lower, never hidden."""
_LEAST: Final = 0.5
"""Below this a match says too little to bring in a fact that no other route found."""
_SUBJECT: Final = {"named": 1.0, "open": 0.75, "other": 0.15}
_PART: Final = 0.5
"""Of a predicate that no table knows, so many of its words have to be in the question."""
_NEW_SHARE: Final = 0.5
"""What a fact that is not in the index yet gets for the share of the question's words it holds."""
_OWN: Final = frozenset({"user", "agent", "project"})
_SOMEONE: Final = "somebody else"
_NAME: Final = lazy_pattern(r"\b([A-Z][a-z]+)['’]s\b|\b(?:do|does|did|is|are|was|were|has)\s+([A-Z][a-z]+)\b")
_MOST: Final = 50
"""Facts that one question brings in."""


class Match(NamedTuple):
    """How far a fact is what a question asks for, 0 to 1, and by which words."""

    version: FactVersion
    score: float
    by: str


def matches(book: FactIndex, question: str, terms: Sequence[QueryTerm], moment: datetime) -> list[Match]:
    """Return the facts that hold at `moment` and that a question asks for, the best first."""
    wanted = parse_question(question)
    content = without_stop_words(question)
    if not len(book):
        return []
    subjects = wanted.subjects | {name for name in book.other_subjects if speaks_of(wanted, name)}
    if _someone(question, wanted):
        subjects |= {_SOMEONE}
    found: list[Match] = []
    for key, share, words in _predicates(book, wanted, terms):
        for one in book.by_predicate[key]:
            if one.at(moment):
                score = share * _about(one.fact, subjects) * _covered(one.fact, words, content, subjects)
                found.append(Match(one, score, words))
    found = [match for match in found if match.score >= _LEAST]
    found.sort(key=lambda match: (-match.score, match.version.fact.id))
    return found[:_MOST]


def _predicates(
    book: FactIndex, wanted: FactQuestion, terms: Sequence[QueryTerm]
) -> Iterable[tuple[str, float, str]]:
    """Yield keys of predicates that a question asks for, how sure that is, and its words for them."""
    for key, words in wanted.predicates.items():
        if key in book.by_predicate:
            yield key, 1.0, words
    said = {term: min(weight / 0.6, 1.0) for term, weight in terms if weight >= 0.25}
    for key, own in book.other_predicates.items():
        if key in wanted.predicates:
            continue
        there = [said[term] for term in own if term in said]
        share = sum(there) / len(own)
        if there and share >= _PART:
            yield key, share * share, " ".join((key, *(term for term in said if term in own)))


def _someone(question: str, wanted: FactQuestion) -> bool:
    """Whether a question names a person: "where does Ann live", "Ann's birthday"."""
    named = " ".join(wanted.predicates.values())
    return any((name[1] or name[2]).casefold() not in named for name in _NAME.finditer(question))


def _about(fact: Fact, subjects: frozenset[str]) -> float:
    if subject_key(fact.subject) in subjects:
        return _SUBJECT["named"]
    return _SUBJECT["other" if subjects else "open"]


def _covered(fact: Fact, words: str, content: Sequence[str], subjects: frozenset[str]) -> float:
    """Estimate how much of the question is about this fact: from 1, all of it, to 0.4."""
    names = _names_of(subject_key(fact.subject))
    if not content:
        return 1.0
    about = " ".join((words, fact.predicate, fact.value, fact.subject, *names, *subjects))
    found = index_terms(about)
    known = {*found.words, *found.parts, *query_terms(about)}
    rest = [term for term in content if term not in known and term not in _ASIDE]
    return 0.4 + 0.6 * (1 - len(rest) / len(content)) ** 2


@lru_cache(maxsize=1024)
def _names_of(subject: str) -> tuple[str, ...]:
    return tuple(name for name, key in subject_names().items() if key == subject)


_ASIDE: Final = frozenset(
    (  # noqa: SIM905 - a list of this length reads as words
        "use current currently now still again exactly actually please tell know remember remind moment "
        "today latest right 现在 目前 当前 如今 还 使用 用 请 告诉 知道 记得 "
        "什么 哪个 哪里 多少 请问 最新 现 一下 叫 谁 几"
    ).split()
)
"""Words that do not narrow what is asked."""


class Joined(NamedTuple):
    """Hits with the facts in their places, and how likely it is that a fact is the answer."""

    hits: tuple[Hit, ...]
    believable: float


def join(
    book: FactIndex,
    hits: Sequence[Hit],
    question: str,
    terms: Sequence[QueryTerm],
    *,
    k: int,
    where: Filter,
    now: datetime,
    explain: bool = False,
) -> Joined:
    """Join hits and facts: labelled, current before past, each fact once.

    Args:
        book: the facts that the searcher may see.
        hits: of the other routes, best first.
        question: as asked.
        terms: of the question, translated ones included.
        k: hits at most.
        where: what narrows the search.
        now: when it is asked; with `where.as_of`, that day counts.
        explain: add the route to each `why`.
    """
    if not len(book):
        return Joined(tuple(hits[:k]), 0.0)
    moment = where.as_of or now
    moment = moment if moment.tzinfo else moment.replace(tzinfo=book.zone)
    found = matches(book, question, terms, moment) if _wanted(where) else []
    joining = _Joining(book, moment, where, explain=explain)
    for hit in hits:
        joining.take(hit)
    for rank, match in enumerate(found, 1):
        joining.add(match, rank)
    joining.add_new(without_stop_words(question), {term for term, _ in terms})
    best = next((match.score for match in found if match.version.fact.id in joining.scores), 0.0)
    return Joined(tuple(joining.ordered()[:k]), best)


def _wanted(where: Filter) -> bool:
    return where.kinds is None or "fact" in where.kinds


class _Joining:
    def __init__(self, book: FactIndex, moment: datetime, where: Filter, *, explain: bool) -> None:
        self.book = book
        self.moment = moment
        self.where = where
        self.explain = explain
        self.others: list[Hit] = []
        self.hits: dict[str, Hit] = {}
        """Passages of the facts found, by id."""
        self.scores: dict[str, float] = {}
        self.why: dict[str, dict[str, Any]] = defaultdict(dict)

    def take(self, hit: Hit) -> None:
        """Add a hit of another route, unless it began later than asked for, or is no fact any more."""
        identifier = hit.meta.get(FACT)
        held = self.book.by_id.get(identifier) if isinstance(identifier, str) else None
        if held is None or hit.scope != held.fact.scope:
            shown = self._elsewhere(hit, identifier) if isinstance(identifier, str) else hit
            self.others += [] if shown is None else [shown]
        elif self._state(held) != "future" or self.where.as_of is None:
            self.hits[held.fact.id] = hit
            self.scores[held.fact.id] = max(hit.score, self.scores.get(held.fact.id, 0.0))

    def _elsewhere(self, hit: Hit, identifier: str) -> Hit | None:
        """Check a bullet that stands in no fact file: of the archive, or one whose id another scope has.

        Others are no facts any more: the index holds them until it has looked at their files again.
        """
        place = layout.place(hit.path)
        if place is not None and place.archived:
            return self._archived(hit)
        found = (one for one in self.book.facts if (one.fact.id, one.fact.scope) == (identifier, hit.scope))
        return hit if any(one.at(self.moment) for one in found) else None

    def _archived(self, hit: Hit) -> Hit:
        """Label a fact of the archive with the value that holds by now."""
        predicate, _, value = hit.text.partition(": ")
        fact = Fact(id="", subject=hit.title, predicate=predicate, value=value, scope=hit.scope)
        current = self.book.current(fact, self.moment)
        if current is None or current.fact.value == value:
            return hit
        text = f"{hit.text} (archived; now: {current.fact.value})"
        return replace(hit, text=text, snippet=text, meta={**hit.meta, "current": False})

    def add(self, match: Match, rank: int) -> None:
        """Add a fact that the question asks for by subject and predicate."""
        fact = match.version.fact
        if not self._allowed(fact):
            return
        gain = WEIGHT * match.score**_BEND * (SUSPECT_FACTOR if looks_like_instructions(fact.value) else 1.0)
        self.scores[fact.id] = self.scores.get(fact.id, 0.0) + gain
        route = {"score": round(match.score, 4), "rank": rank, "by": match.by}
        self.why[fact.id] = {"facts": route}

    def add_new(self, content: Sequence[str], terms: set[str]) -> None:
        """Add facts that were remembered a moment ago and may be in no index yet, by their words."""
        for held in self.book.new if _wanted(self.where) else ():
            fact = held.fact
            if fact.id in self.hits or self._state(held) != "current" or not self._allowed(fact):
                continue
            # "user" is in every fact about the owner, and in many a question about something else.
            subject = "" if subject_key(fact.subject) in _OWN else fact.subject
            found = index_terms(f"{subject} {fact_text(fact)}")
            own = {*found.words, *found.parts} & {*content, *terms}
            if own and content:
                share = min(len(own) / len(content), 1.0)
                self.scores[fact.id] = max(self.scores.get(fact.id, 0.0), _NEW_SHARE * share)
                self.why[fact.id].setdefault("facts", {"score": round(share, 4), "rank": None, "by": "new"})

    def _allowed(self, fact: Fact) -> bool:
        where, begun = self.where, seconds_of(fact.since)
        if where.origins is not None and fact.origin not in where.origins:
            return False
        if where.since is not None and begun < seconds(where.since):
            return False
        return where.until is None or (bool(fact.since) and begun < seconds(where.until))

    def _state(self, version: FactVersion) -> State:
        if version.at(self.moment):
            return "current"
        return "future" if version.begin is not None and version.begin > self.moment else "past"

    def ordered(self) -> list[Hit]:
        """Return all hits by score; a value that holds before those that do not."""
        held = {identifier: self.book.by_id[identifier] for identifier in self.scores}
        for identifier, one in list(held.items()):
            current = self.book.current(one.fact, self.moment)
            if current is None or current.fact.id == identifier or not self._allowed(current.fact):
                continue
            # Whoever finds the old value has to see the one that holds.
            self.scores[current.fact.id] = max(self.scores.get(current.fact.id, 0.0), self.scores[identifier])
            held[current.fact.id] = current
        found = [(hit.score, 1, hit) for hit in self.others]
        for identifier, one in held.items():
            state = self._state(one)
            factor = 1.0 if state == "current" else PAST_FACTOR
            hit = self._hit(one, state, round(self.scores[identifier] * factor, 4))
            found.append((hit.score, 0 if state == "current" else 2, hit))
        found.sort(key=lambda entry: (-entry[0], entry[1], entry[2].path, entry[2].start_line, entry[2].ref))
        return [hit for _, _, hit in found]

    def _hit(self, version: FactVersion, state: State, score: float) -> Hit:
        fact = version.fact
        meta = meta_of(self.book, version, state)
        text = describe(self.book, version, state)
        passage = self.hits.get(fact.id)
        if (passage is None and looks_like_instructions(fact.value)) or (
            passage is not None and passage.meta.get("suspect")
        ):
            meta["suspect"] = True
        why = self._why(fact, passage, score)
        if passage is not None:
            meta = {**passage.meta, **meta}
            return replace(
                passage, score=score, text=text, snippet=text, meta=meta, why=why, origin=fact.origin
            )
        return Hit(
            ref=fact.ref or fact.id,
            path=fact.path,
            start_line=fact.line,
            end_line=fact.line,
            kind="fact",
            title=fact.subject,
            date=fact.since or None,
            origin=fact.origin,
            scope=fact.scope,
            score=score,
            text=text,
            snippet=text,
            meta=meta,
            why=why,
        )

    def _why(self, fact: Fact, passage: Hit | None, score: float) -> dict[str, Any]:
        if not self.explain:
            return {}
        base: dict[str, Any] = dict(passage.why) if passage is not None else {"fused": 0.0, "terms": {}}
        routes = {**base.get("routes", {}), **self.why.get(fact.id, {})}
        boosts = dict(base.get("boosts", {}))
        if passage is not None and score != passage.score:
            boosts["facts"] = round(score - passage.score, 4)
        return {**base, "routes": routes, "boosts": boosts}
