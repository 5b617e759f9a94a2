"""Facts route: match the subject and predicate of a query with current facts, and merge them into the hits.

A query that matches no fact keeps its hits. Among the hits a current value precedes the values it superseded,
and each is labelled.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from mnemark.facts.keys import subject_key, subject_names
from mnemark.facts.known import FACT
from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion, when
from mnemark.files import layout
from mnemark.index.rows import NO_TIME, seconds
from mnemark.index.units import fact_text
from mnemark.retrieval.fact_index import FactIndex, State, describe, meta_of, without_stop_words
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.presets import SUSPECT_FACTOR
from mnemark.retrieval.routes.fact_questions import FactQuestion, parse_question, speaks_of
from mnemark.retrieval.routes.fact_times import NO_TIME_ASKED, AskedTime, versions_asked
from mnemark.retrieval.routes.lexical import QueryTerm
from mnemark.text.dates.clock import local
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.words.segment import index_terms, query_terms
from mnemark.types import Hit

WEIGHT: Final = 0.8
"""Factor of `score ** _BEND`, added to the score of a matching fact: above any passage for a full match, and
much less where the query is about more than the fact."""
_EXPONENT: Final = 1.5
PAST_FACTOR: Final = 0.5
"""Factor on the score of a value that no longer holds: ranked lower, never hidden."""
_MIN_SCORE: Final = 0.5
"""Minimum score of a match."""
_SUBJECT: Final = {"named": 1.0, "open": 0.75, "other": 0.15}
_MIN_PREDICATE_SHARE: Final = 0.5
"""Minimum share of the terms of a predicate without a canonical name that the query must contain."""
_NEW_SHARE: Final = 0.5
"""Score of a fact that is not indexed yet, times the share of the query's terms it contains."""
_OWN: Final = frozenset({"user", "agent", "project"})
_OTHER_PERSON: Final = "somebody else"
_NAME: Final = lazy_pattern(r"\b([A-Z][a-z]+)['’]s\b|\b(?:do|does|did|is|are|was|were|has)\s+([A-Z][a-z]+)\b")
_VALUE_WORDS: Final = 4
_VALUE_CHARACTERS: Final = 8
_MAX_VALUES: Final = 8
_MAX_RUNS: Final = 400
"""Maximum number of runs of words or characters of a question looked up as values."""
_WORD: Final = lazy_pattern(r"[^\s\u3400-\u9fff]+")
_HAN_RUN: Final = lazy_pattern(r"[\u3400-\u9fff]{2,}")
_MAX_MATCHES: Final = 50
"""Maximum number of matches."""


class Match(NamedTuple):
    """A fact with the score of its match, 0 to 1, and the words of the query that matched."""

    version: FactVersion
    score: float
    by: str


def matches(
    fact_index: FactIndex,
    question: str,
    terms: Sequence[QueryTerm],
    moment: datetime,
    asked: AskedTime = NO_TIME_ASKED,
) -> list[Match]:
    """Return the facts that match the query, best first: of the time it asks for, else those of `moment`."""
    wanted = parse_question(question)
    content = without_stop_words(question)
    if not len(fact_index):
        return []
    subjects = wanted.subjects | {name for name in fact_index.other_subjects if speaks_of(wanted, name)}
    if _names_person(question, wanted):
        subjects |= {_OTHER_PERSON}
    found: list[Match] = []
    named = [*_predicates(fact_index, wanted, terms)]
    named += _by_value(fact_index, wanted, {key for key, _, _ in named}) if asked.still else []
    for key, share, words in named:
        about = " ".join((words, *asked.words))
        for one, factor in _of_time(fact_index, key, content, asked, moment):
            score = share * _subject_score(one.fact, subjects)
            score *= _coverage(fact_index, one.fact, about, content, subjects)
            if score >= _MIN_SCORE:
                found.append(Match(one, score * factor, words))
    found.sort(key=lambda match: (-match.score, match.version.fact.id))
    return found[:_MAX_MATCHES]


def _of_time(
    fact_index: FactIndex, predicate: str, content: Sequence[str], asked: AskedTime, moment: datetime
) -> Iterable[tuple[FactVersion, float]]:
    """Yield the versions of a predicate that the question asks for, with factors on their scores.

    Where nothing holds any more, a value that the question names is the answer: "do I still like coffee".
    """
    versions = fact_index.by_predicate[predicate]
    if asked:
        groups = {(one.fact.scope, one.fact.key): one.fact for one in versions}
        for fact in groups.values():
            yield from versions_asked(fact_index.versions(fact), asked, moment)
        return
    for one in versions:
        is_over = one.end is not None and not one.at(moment) and _names(content, one.fact)
        if one.at(moment) or (is_over and fact_index.current(one.fact, moment) is None):
            yield one, 1.0


def _names(content: Sequence[str], fact: Fact) -> bool:
    """Return whether a query's terms contain a fact's whole value."""
    value = fact.value.casefold()
    return any(term in value for term in content) and set(without_stop_words(fact.value)) <= {*content}


def _predicates(
    fact_index: FactIndex, wanted: FactQuestion, terms: Sequence[QueryTerm]
) -> Iterable[tuple[str, float, str]]:
    """Yield the keys of matching predicates, with the score and the words of the match."""
    for key, words in wanted.predicates.items():
        if key in fact_index.by_predicate:
            yield key, 1.0, words
    said = {term: min(weight / 0.6, 1.0) for term, weight in terms if weight >= 0.25}
    for key, own in fact_index.other_predicates.items():
        if key in wanted.predicates:
            continue
        there = [said[term] for term in own if term in said]
        share = sum(there) / len(own)
        if there and share >= _MIN_PREDICATE_SHARE:
            yield key, share * share, " ".join((key, *(term for term in said if term in own)))


def _by_value(
    fact_index: FactIndex, wanted: FactQuestion, known: Collection[str]
) -> Iterable[tuple[str, float, str]]:
    """Yield the predicates of the values that a question names: "do I still use Vim"."""
    words = _WORD.findall(wanted.words)
    runs = [" ".join(words[at:to]) for at in range(len(words)) for to in range(at + 1, at + 1 + _VALUE_WORDS)]
    for run in _HAN_RUN.findall(wanted.words):
        runs += [run[at:to] for at in range(len(run)) for to in range(at + 2, at + 1 + _VALUE_CHARACTERS)]
    for value in dict.fromkeys(runs[:_MAX_RUNS]):
        for key in fact_index.by_value.get(value, ()):
            if key not in known:
                yield key, 1.0, value


def _names_person(question: str, wanted: FactQuestion) -> bool:
    """Return whether a query names a person: "where does Ann live", "Ann's birthday"."""
    named = " ".join(wanted.predicates.values())
    return any((name[1] or name[2]).casefold() not in named for name in _NAME.finditer(question))


def _subject_score(fact: Fact, subjects: frozenset[str]) -> float:
    if subject_key(fact.subject) in subjects:
        return _SUBJECT["named"]
    return _SUBJECT["other" if subjects else "open"]


def _coverage(
    fact_index: FactIndex, fact: Fact, words: str, content: Sequence[str], subjects: frozenset[str]
) -> float:
    """Estimate the share of the query that is about this fact, scaled to 0.4 to 1."""
    names = _names_of(subject_key(fact.subject))
    if not content:
        return 1.0
    values = (
        one.fact.value for one in fact_index.versions(fact)[-_MAX_VALUES:]
    )  # "do I still live in Porto" is about it
    about = " ".join((words, fact.predicate, fact.value, *values, fact.subject, *names, *subjects))
    found = index_terms(about)
    known = {*found.words, *found.parts, *query_terms(about)}
    rest = [term for term in content if term not in known and term not in _FILLER]
    return 0.4 + 0.6 * (1 - len(rest) / len(content)) ** 2


@lru_cache(maxsize=1024)
def _names_of(subject: str) -> tuple[str, ...]:
    return tuple(name for name, key in subject_names().items() if key == subject)


_FILLER: Final = frozenset(
    (  # noqa: SIM905 - a list of this length reads as words
        "use current currently now still again exactly actually please tell know remember remind moment "
        "today latest right 现在 目前 当前 如今 还 使用 用 请 告诉 知道 记得 "
        "什么 哪个 哪里 多少 请问 最新 现 一下 叫 谁 几"
    ).split()
)
"""Words of a query that do not narrow it."""


class Joined(NamedTuple):
    """Hits with the facts merged in, and the best match's score: the confidence that a fact is the answer."""

    hits: tuple[Hit, ...]
    believable: float


def join(
    fact_index: FactIndex,
    hits: Sequence[Hit],
    question: str,
    terms: Sequence[QueryTerm],
    *,
    k: int,
    where: Filter,
    now: datetime,
    asked: AskedTime = NO_TIME_ASKED,
    explain: bool = False,
) -> Joined:
    """Merge facts into the hits: labelled, current before past, each fact once.

    Args:
        fact_index: the visible facts.
        hits: of the other routes, best first.
        question: text of the query.
        terms: of the query, with translations.
        k: hits at most.
        where: the filter of the search.
        now: the time of the query; `where.as_of` overrides it.
        asked: the time that the query asks for.
        explain: add the route to each `why`.
    """
    if not len(fact_index):
        return Joined(tuple(hits[:k]), 0.0)
    moment = where.as_of or now
    moment = moment if moment.tzinfo else moment.replace(tzinfo=fact_index.zone)
    found = matches(fact_index, question, terms, moment, asked) if _wanted(where) else []
    joining = _Joining(fact_index, moment, where, asked, explain=explain)
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
    def __init__(
        self, fact_index: FactIndex, moment: datetime, where: Filter, asked: AskedTime, *, explain: bool
    ) -> None:
        self.fact_index = fact_index
        self.moment = moment
        self.where = where
        self.asked = asked
        self.explain = explain
        self.others: list[Hit] = []
        self.hits: dict[str, Hit] = {}
        """Passages of facts, by fact id."""
        self.scores: dict[str, float] = {}
        self.why: dict[str, dict[str, Any]] = defaultdict(dict)

    def take(self, hit: Hit) -> None:
        """Add a hit of another route, unless it is a deleted fact, or one that began after `as_of`."""
        identifier = hit.meta.get(FACT)
        held = self.fact_index.by_id.get(identifier) if isinstance(identifier, str) else None
        if held is None or hit.scope != held.fact.scope:
            shown = self._misplaced(hit, identifier) if isinstance(identifier, str) else hit
            self.others += [] if shown is None else [shown]
        elif self._state(held) != "future" or self.where.as_of is None:
            self.hits[held.fact.id] = hit
            self.scores[held.fact.id] = max(hit.score, self.scores.get(held.fact.id, 0.0))

    def _misplaced(self, hit: Hit, identifier: str) -> Hit | None:
        """Return the hit of a fact bullet that is archived, or valid under its id in its scope; else None.

        Other bullets were deleted from their fact files after the last sync.
        """
        place = layout.place(hit.path)
        if place is not None and place.archived:
            return self._archived(hit)
        key = identifier, hit.scope
        found = (one for one in self.fact_index.facts if (one.fact.id, one.fact.scope) == key)
        return hit if any(one.at(self.moment) for one in found) else None

    def _archived(self, hit: Hit) -> Hit:
        """Label an archived fact with its current value."""
        predicate, _, value = hit.text.partition(": ")
        fact = Fact(id="", subject=hit.title, predicate=predicate, value=value, scope=hit.scope)
        current = self.fact_index.current(fact, self.moment)
        if current is None or current.fact.value == value:
            return hit
        text = f"{hit.text} (archived; now: {current.fact.value})"
        return replace(hit, text=text, snippet=text, meta={**hit.meta, "current": False})

    def add(self, match: Match, rank: int) -> None:
        """Add a match, or raise the score of its hit."""
        fact = match.version.fact
        if not self._allowed(fact):
            return
        gain = WEIGHT * match.score**_EXPONENT
        gain *= SUSPECT_FACTOR if looks_like_instructions(fact.value) else 1.0
        self.scores[fact.id] = self.scores.get(fact.id, 0.0) + gain
        route = {"score": round(match.score, 4), "rank": rank, "by": match.by}
        self.why[fact.id] = {"facts": route}

    def add_new(self, content: Sequence[str], terms: set[str]) -> None:
        """Add recent facts that may not be indexed yet, by their terms."""
        for held in self.fact_index.new if _wanted(self.where) else ():
            fact = held.fact
            if fact.id in self.hits or self._state(held) != "current" or not self._allowed(fact):
                continue
            # "user" occurs in every fact about the owner, and in many queries about something else.
            subject = "" if subject_key(fact.subject) in _OWN else fact.subject
            found = index_terms(f"{subject} {fact_text(fact)}")
            own = {*found.words, *found.parts} & {*content, *terms}
            if own and content:
                share = min(len(own) / len(content), 1.0)
                self.scores[fact.id] = max(self.scores.get(fact.id, 0.0), _NEW_SHARE * share)
                self.why[fact.id].setdefault("facts", {"score": round(share, 4), "rank": None, "by": "new"})

    def _allowed(self, fact: Fact) -> bool:
        where, zone = self.where, self.fact_index.zone
        since = when(fact.since, zone)
        begun = seconds(local(since, zone)) if since is not None else NO_TIME
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
        """Return all hits by score, the value of a fact that is asked for before its others."""
        held = {identifier: self.fact_index.by_id[identifier] for identifier in self.scores}
        first: set[str] = set()
        for identifier, one in list(held.items()):
            wanted = self._asked_for(one.fact)
            if wanted is None or not self._allowed(wanted.fact):
                continue
            # A past value brings in the current one, and any the one that held when it is asked for.
            first.add(wanted.fact.id)
            self.scores[wanted.fact.id] = max(self.scores.get(wanted.fact.id, 0.0), self.scores[identifier])
            held[wanted.fact.id] = wanted
        found = [(hit.score, 1, hit) for hit in self.others]
        for identifier, one in held.items():
            state = self._state(one)
            leads = identifier in first or (state == "current" and not self.asked)
            hit = self._hit(one, state, round(self.scores[identifier] * (1.0 if leads else PAST_FACTOR), 4))
            found.append((hit.score, 0 if leads else 2, hit))
        found.sort(key=lambda entry: (-entry[0], entry[1], entry[2].path, entry[2].start_line, entry[2].ref))
        return [hit for _, _, hit in found]

    def _asked_for(self, fact: Fact) -> FactVersion | None:
        """Return the version of a fact that the query asks for."""
        if not self.asked:
            return self.fact_index.current(fact, self.moment)
        found = versions_asked(self.fact_index.versions(fact), self.asked, self.moment)
        return found[0][0] if found else None

    def _hit(self, version: FactVersion, state: State, score: float) -> Hit:
        fact = version.fact
        meta = meta_of(self.fact_index, version, state)
        text = describe(self.fact_index, version, state)
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
