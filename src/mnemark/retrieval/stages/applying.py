"""Put first what the owner wants of an answer: rules that apply, and what they said of tastes that fit.

Tastes are looked for where something is asked to be done or advised, in the turns that state one.
"""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec.structs import replace

from mnemark.errors import IntegrityError
from mnemark.index.snapshot import Floats, Positions
from mnemark.index.store import Record
from mnemark.retrieval import filters
from mnemark.retrieval.fact_index import FactIndex
from mnemark.retrieval.ranking import people
from mnemark.retrieval.routes import rules
from mnemark.retrieval.routes.dense import WeightedQuery
from mnemark.retrieval.routes.taste_fit import ALIKE, MIN_FIT, TasteFit
from mnemark.retrieval.stages import Found, Question
from mnemark.retrieval.stages.hits import hit_of_record
from mnemark.retrieval.stages.meaning import DenseRoute
from mnemark.text.tastes import Taste, tastes
from mnemark.types import Hit

_READ: Final = 24
"""Turns that are read, those with the closest vectors."""
_BEFORE: Final = 0.9
"""Weight of the turns before a choice, against its own words."""
_STEPS: Final = (1, 2)
"""Turns before a choice: what was offered, and what was asked for."""
_SHORT: Final = 300
"""Characters of a turn that is shown whole."""
_BEGINNING: Final = 200
"""Characters that are read of a turn before a choice."""


def with_applying(
    found: Found, question: Question, fact_index: FactIndex | None, route: DenseRoute | None
) -> Found:
    """Put the owner's rules that apply first, and turns with tastes that fit, `rules.MOST` in all."""
    request, fit = question.request, TasteFit(question.request.text)
    applying: Sequence[rules.Applying] = ()
    if fact_index is not None and fact_index.rules:
        now = request.now.replace(tzinfo=request.now.tzinfo or fact_index.zone)
        applying = rules.applying(fact_index, request.text, now, fit, by_meaning=route is not None)
    turns = _fitting(question, route, fit) if route is not None and fit.request else []
    if not applying and not turns:
        return found
    hits = rules.with_rules(fact_index, found.hits, applying, turns, k=request.k)
    fits = max((round(one.fit, 3) for one in applying), default=0.0)
    return found._replace(hits=tuple(hits)).at_least(fits, fits)


def _fitting(question: Question, route: DenseRoute, fit: TasteFit) -> list[Hit]:
    """Return the turns with tastes that fit, the best first; their scores say how well."""
    at = _closest(question, route, fit, _stating(question))
    at = at[_are_askers(question, at)]
    records = question.view.fetch(at)
    stated = [_stated(record.text) for record in records]
    chosen = [i for i, told in enumerate(stated) if any(taste.chosen for taste in told)]
    before = dict(zip(chosen, _before(question, at[chosen], fit), strict=True))
    best: list[tuple[float, Record, str]] = []
    for i, (record, told) in enumerate(zip(records, stated, strict=True)):
        own = fit.of([taste.words for taste in told], ALIKE).tolist()
        fits = [max(one, before[i] if taste.chosen else 0) for one, taste in zip(own, told, strict=True)]
        if (value := max(fits, default=0)) >= MIN_FIT:
            best.append((value, record, told[fits.index(value)].words))
    best.sort(key=lambda one: (-one[0], one[1].ref))
    return [_hit(question, *one) for one in best[: rules.MOST]]


def _hit(question: Question, fit: float, record: Record, words: str) -> Hit:
    """Return the hit of a turn; of a long one, the clause that states the taste stands for all."""
    hit = hit_of_record(question, record, fit, words, {"applies": True})
    return hit if len(hit.text) <= _SHORT else replace(hit, text=words)


@lru_cache(maxsize=2_048)
def _stated(text: str) -> tuple[Taste, ...]:
    return tuple(tastes(text))


def _are_askers(question: Question, at: Positions) -> list[bool]:
    """Return which turns are the user's, or of somebody whom the request names."""
    speakers = question.view.speakers(at)
    named = people.named_in(question.request.text, speakers)
    return [not people.is_name(speaker) or speaker in named for speaker in speakers]


def _closest(question: Question, route: DenseRoute, fit: TasteFit, at: Positions) -> Positions:
    """Return the turns with a taste that are closest to the request, they or the turns before them."""
    if len(at) <= _READ:
        return at
    try:
        scores = _cosines(question, route, fit, at)
    except (IntegrityError, IndexError):  # the vectors were lost or rewritten since they were compared
        scores = np.zeros(len(at), np.float32)
    return at[np.lexsort((at, scores))[-_READ:]]


def _stating(question: Question) -> Positions:
    """Return the turns with a taste that may be found."""
    at = filters.tastes(question.snapshot)
    if not len(at):
        return at
    return at[question.restrict(np.ones(len(question.snapshot), np.float32), question.competing)[at] > 0]


def _cosines(question: Question, route: DenseRoute, fit: TasteFit, at: Positions) -> Floats:
    """Return the best cosine of each turn, or of one before it; 1 for those without a vector yet."""
    deadline = question.request.deadline
    left = None if deadline is None else max(deadline - time.monotonic(), 0.001)
    ready = route.vector.get(left, lambda _word: 1.0)
    scores = np.zeros(len(at), np.float32)
    if ready.vector is None or ready.store is None:
        return scores
    vectors = fit.asked() if isinstance(route.vector, WeightedQuery) else [ready.vector]
    rows, _ = route.mapping.rows(question.snapshot, ready.store)
    for step in (0, *_STEPS):
        there, places = _turns_before(question, at, step)
        for vector in vectors:
            scores[there] = np.maximum(scores[there], ready.store.scores(vector, rows[places]))
    scores[rows[at] < 0] = 1
    return scores


def _turns_before(question: Question, at: Positions, step: int) -> tuple[Positions, Positions]:
    """Return which turns have another so many before them in their session, and the positions of those."""
    there = np.flatnonzero(at >= step)
    group = question.snapshot.group
    there = there[group[at[there] - step] == group[at[there]]]
    return there, at[there] - step


def _before(question: Question, at: Positions, fit: TasteFit) -> list[float]:
    """Return how well what choices were made among fits."""
    best = np.zeros(len(at), np.float32)
    for step in _STEPS:
        there, places = _turns_before(question, at, step)
        for i, record in zip(there.tolist(), question.view.fetch(places), strict=True):
            best[i] = max(best[i], fit.of([record.text[:_BEGINNING]])[0])
    return [_BEFORE * float(value) for value in best]
