"""Search one state of the index by stages: understand, routes, fuse, rank, mark, hits; then add facts."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, NamedTuple

from mnemark.facts.states import FactStates
from mnemark.index.reader import Reader, View
from mnemark.retrieval import filters
from mnemark.retrieval.corrected import with_corrections
from mnemark.retrieval.past_facts import IsPast, known_to_hold
from mnemark.retrieval.presets import SUSPECT_FACTOR
from mnemark.retrieval.query import understand as parse
from mnemark.retrieval.ranking.confidence import confidence
from mnemark.retrieval.routes import lexical
from mnemark.retrieval.routes.dense import QueryVector
from mnemark.retrieval.stages import (
    AskedProgram,
    Found,
    Question,
    Request,
    Reranker,
    lengths,
    of_suspected,
    understand,
)
from mnemark.retrieval.stages.fuse import Routes, fuse
from mnemark.retrieval.stages.hits import hits_of, mark
from mnemark.retrieval.stages.meaning import Comparison, DenseRoute
from mnemark.retrieval.stages.rank import rank_passages
from mnemark.retrieval.turns import in_turn
from mnemark.text.words.segment import Cut, cut_by_frequency, waits_for_dictionary

if TYPE_CHECKING:
    from mnemark.retrieval.fact_index import FactIndex

_FACT_CONFIDENCE: Final = 0.9
"""Probability that a fact with exactly the queried subject and predicate is the answer."""


class _Beside(NamedTuple):
    """What a search asks beside the words; None where there is none."""

    dense: DenseRoute | None
    qmd: AskedProgram | None
    reranker: Reranker | None


def search(
    reader: Reader,
    request: Request,
    route: DenseRoute | None,
    degraded: Sequence[str] = (),
    reranker: Reranker | None = None,
    *,
    fact_index: "FactIndex | None" = None,
    states: FactStates | None = None,
    asked: AskedProgram | None = None,
) -> Found:
    """Search one snapshot of the index.

    `fact_index` holds the visible facts. Where it is out of date, `states` says which facts are known to
    hold, and only those are returned.
    """
    computes = reranker is None and asked is None and not isinstance(route and route.vector, QueryVector)
    beside = _Beside(route, asked, reranker)
    turn = in_turn(request.deadline) if computes else nullcontext()
    with turn, reader.reading(logs=not request.hurried) as view:
        cut = _cut(request, view)
        query = parse(
            request.text, now=request.now, context=request.context, inner=request.preset.inner, cut=cut
        )
        question = understand(view, request, query, _is_past(request, fact_index, states), cut)
        found, idf = _passages(question, beside)
        found = _with_suspected(found, question, idf, beside)
        if fact_index is not None and len(fact_index):
            found = _with_facts(found, question, fact_index)
        known = fact_index is not None and fact_index.rules
        if request.rules and (known or len(filters.tastes(view.snapshot))):
            from mnemark.retrieval.stages.applying import with_applying

            found = with_applying(found, question, fact_index, route)
    if states is not None:
        found = _without_unknown_facts(found, states, request, idf)
    return found._replace(
        hits=with_corrections(found.hits[: request.k], reader.visible.corrections.current()),
        degraded=(*degraded, *found.degraded),
        complete=found.complete and not degraded,
    )


def _cut(request: Request, view: View) -> Cut | None:
    """Return what cuts Chinese by the words of the index, where the dictionary is not to be loaded for it."""
    if not request.hurried or not waits_for_dictionary("\n".join((request.text, *request.context))):
        return None
    return lambda line: cut_by_frequency(line, view.frequencies)


def _is_past(request: Request, fact_index: "FactIndex | None", states: FactStates | None) -> IsPast:
    """Return what tells which entries of core memory no longer hold."""
    if states is not None:
        return lambda scope, line: states.is_past(scope, line, request.now)
    return (lambda _scope, _line: False) if fact_index is None else fact_index.is_past_entry


def _passages(question: Question, beside: _Beside) -> tuple[Found, Mapping[str, float]]:
    """Return the passages that are found, and the idf of the question's terms."""
    comparison = Comparison(question, beside.dense)
    sizes = lengths(question)
    words = lexical.score(
        question.snapshot, question.terms, question.competing, sizes, question.request.preset,
        question.rarity, question.edges, question.request.outside, question.query.sentences,
    )  # fmt: skip
    meaning = comparison.meaning(words, sizes)
    qmd_scores, problem = (None, "") if beside.qmd is None else beside.qmd.scores(question.view)
    routes = Routes(words, meaning, qmd_scores)
    fused = fuse(question, routes)
    ranking = rank_passages(question, routes, fused, beside.reranker)
    marks = mark(question, routes, fused, ranking)
    problems = [*comparison.problems, problem, ranking.reranked.problem]
    degraded = tuple(text for text in problems if text)
    answered = {"dense": meaning, "qmd": qmd_scores, "rerank": ranking.reranked.why or None}
    found = Found(
        hits=hits_of(question, routes, fused, ranking, marks),
        mode="+".join(["lexical", *(name for name, part in answered.items() if part is not None)]),
        degraded=degraded,
        complete=question.view.complete and not degraded,
        **confidence(marks.evidence)._asdict(),
    )
    return found, words.idf


def _with_suspected(found: Found, question: Question, idf: Mapping[str, float], beside: _Beside) -> Found:
    """Add the best suspected passage if it outscores `SUSPECT_FACTOR` times the best hit."""
    where = question.request.where
    apart = where.suspected == "apart" and where.origins is None
    if not apart or filters.suspected(question.snapshot) is None:
        return found
    other, _ = _passages(of_suspected(question, idf), beside._replace(qmd=None, reranker=None))
    best = found.hits[0].score if found.hits else 0.0
    meant = [hit for hit in other.hits if hit.score > SUSPECT_FACTOR * best]
    return found._replace(hits=tuple(sorted((*found.hits, *meant), key=lambda hit: -hit.score)))


def _with_facts(found: Found, question: Question, fact_index: "FactIndex") -> Found:
    """Merge the matching facts into the hits by score."""
    from mnemark.retrieval.routes import fact_times, facts

    query, request = question.query, question.request
    zone = request.now.tzinfo or fact_index.zone
    asked = fact_times.asked_time(query.text, query.ranges, query.order, query.event, zone)
    joined = facts.join(
        fact_index, found.hits, query.text, question.terms,
        k=request.k, where=request.where, now=request.now, asked=asked, explain=request.explain,
    )  # fmt: skip
    sure = round(joined.match * _FACT_CONFIDENCE, 3)
    return found._replace(hits=joined.hits, mode=f"{found.mode}+facts").at_least(sure, sure)


def _without_unknown_facts(
    found: Found, states: FactStates, request: Request, idf: Mapping[str, float]
) -> Found:
    """Remove facts that are not known to hold, where the fact index is out of date."""
    known = known_to_hold(found.hits, states, request.now, idf if request.hurried else None)
    return found._replace(
        hits=known.hits,
        complete=False,
        on_topic=round(found.on_topic * known.share, 3),
        believable=round(found.believable * known.share, 3),
    )
