"""Match a question with facts: by subject and predicate, by the time it asks for, and by values it names."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

import msgspec

from mnemark.facts.keys import subject_key, subject_names
from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion
from mnemark.retrieval.fact_index import FactIndex, without_stop_words
from mnemark.retrieval.routes.fact_questions import FactQuestion, parse_question, speaks_of
from mnemark.retrieval.routes.fact_times import NO_TIME_ASKED, AskedTime, versions_asked
from mnemark.retrieval.routes.lexical import QueryTerm
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN
from mnemark.text.words.segment import index_terms, other_terms, query_terms

_MIN_SCORE: Final = 0.5
"""Minimum score of a match."""
_SUBJECT: Final = {"named": 1.0, "open": 0.75, "other": 0.15}
_MIN_PREDICATE_SHARE: Final = 0.5
"""Minimum share of the terms of a predicate without a canonical name that the query must contain."""
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


class Match(msgspec.Struct, frozen=True):
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
    versions = fact_index.of_predicate(predicate)
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
        if fact_index.of_predicate(key):
            yield key, 1.0, words
    said = {term: min(weight / 0.6, 1.0) for term, weight in terms if weight >= 0.25}
    for key, own in fact_index.predicates_with(said).items():
        if key in wanted.predicates:
            continue
        share = sum(said[term] for term in own if term in said) / len(own)
        if share >= _MIN_PREDICATE_SHARE:
            yield key, share * share, " ".join((key, *(term for term in said if term in own)))


def _by_value(
    fact_index: FactIndex, wanted: FactQuestion, known: Collection[str]
) -> Iterable[tuple[str, float, str]]:
    """Yield the predicates of the values that a question names: "do I still use Vim"."""
    words = _WORD.findall(wanted.words)
    runs = [" ".join(words[at:to]) for at in range(len(words)) for to in range(at + 1, at + 1 + _VALUE_WORDS)]
    for run in _HAN_RUN.findall(wanted.words):
        runs += [run[at:to] for at in range(len(run)) for to in range(at + 2, at + 1 + _VALUE_CHARACTERS)]
    for key, value in dict.fromkeys(fact_index.predicates_of_values({*runs[:_MAX_RUNS]})):
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
    if not content:
        return 1.0
    subject = subject_key(fact.subject)
    terms_of = (
        _terms_of if any(not term.isascii() and HAN.match(term) for term in content) else _other_terms_of
    )
    about = terms_of(" ".join((words, fact.predicate, fact.subject, *_names_of(subject), *sorted(subjects))))
    # "do I still live in Porto" is about where one lives now, too.
    others = fact_index.versions(fact)[-_MAX_VALUES:]
    values = [terms_of(one.value) for one in (fact, *(other.fact for other in others))]
    rest = [
        term
        for term in content
        if term not in about and term not in _FILLER and not any(term in value for value in values)
    ]
    return 0.4 + 0.6 * (1 - len(rest) / len(content)) ** 2


@lru_cache(maxsize=16_384)
def _terms_of(text: str) -> frozenset[str]:
    found = index_terms(text)
    return frozenset((*found.words, *found.parts, *query_terms(text)))


_other_terms_of: Final = lru_cache(maxsize=16_384)(other_terms)
"""Chinese terms of a fact are none of a question without Chinese."""


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
