"""Estimate the probability that the best passages answer the question.

Logistic regression on a few features of an answer, over questions whose evidence is in the memory against the
same questions with it removed, with one word exchanged for another of its kind, and asked to other people's
memories. The weights are round ones that tell answers apart within a memory; those of both lengths make the
estimates of different memories and questions comparable. An answer in another language than the question
shares no words with it: it has weights of its own. `mnemark bench belief` compares the estimate with the top
BM25 score and with what happens.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import OVERVIEW_FORM


class Evidence(NamedTuple):
    """Features of an answer, each 0 where nothing is known."""

    lead: float
    """The best fused score minus the `DEPTH`th (0 with fewer passages): a score that many passages reach is
    chance."""
    together: float
    """Maximum share of the question's idf that occurs close together in one of the top passages."""
    coverage: float
    """Share of the question's idf that occurs in the best passage or its neighbours; for an overview, in
    those of the best `OVERVIEW_DEPTH`."""
    cosine: float | None
    """The best passage's cosine minus the mean of all; None without the dense route."""
    outside: float
    """1 where some passages are dated inside the question's time but not the best one; else 0."""
    missing: float = 0.0
    """idf of the rarest term that the same passages lack, as a share of the highest idf."""
    terms: int = 1
    """The question's terms: the more there are, the smaller the share that the answer repeats."""
    words: int = 0
    """The best passage's words: the more there are, the more of them are the question's by chance."""
    overview: float = 0.0
    """1 where the question asks for an overview: several passages have its words sooner than one; else 0."""
    other: float = 0.0
    """How far the best passage of the speaker whom the question names is behind the best of all, as a share
    of its score, where somebody else said that one and not about them; else 0."""
    crossed: float = 0.0
    """1 where the best passage is in another language than the question; else 0."""


DEPTH: Final = 100


class _Weights(NamedTuple):
    intercept: float
    lead: float
    together: float
    coverage: float
    cosine: float
    outside: float
    missing: float = 0.0
    terms: float = 0.0
    """Of the logarithm."""
    words: float = 0.0
    """Of the logarithm."""
    overview: float = 0.0
    other: float = 0.0


DENSE: Final = _Weights(-0.8, 1.2, 1.0, 1.8, 1.4, -1.3, -0.8, 0.6, -0.4, -0.2, -5.0)
LEXICAL: Final = _Weights(-0.6, 1.2, 1.2, 2.1, 0.0, -1.3, -0.8, 0.6, -0.4, -0.2, -5.0)
"""Weights without the dense route."""
CROSSED: Final = _Weights(-2.2, 1.4, 0.8, 0.8, 7.2, -0.5)
"""Weights across languages, where the cosine is nearly all there is: slope and intercept of the questions of
one language asked to a memory in the other, their own and somebody else's."""


def believable(evidence: Evidence | None) -> float:
    """Return the probability, 0 to 1, rounded to three places; 0 where nothing was found."""
    if evidence is None:
        return 0.0
    weights = LEXICAL if evidence.cosine is None else CROSSED if evidence.crossed else DENSE
    value = sum(w * x for w, x in zip(weights[1:], strengths(evidence), strict=True))
    return round(1 / (1 + math.exp(-weights.intercept - value)), 3)


def strengths(evidence: Evidence) -> tuple[float, ...]:
    """Return the features that have weights, in their order."""
    return (
        evidence.lead,
        evidence.together,
        evidence.coverage,
        evidence.cosine or 0.0,
        evidence.outside,
        evidence.missing,
        math.log(max(evidence.terms, 1)),
        math.log1p(evidence.words),
        evidence.overview,
        evidence.other,
    )


OVERVIEW_DEPTH: Final = 5
"""Number of the best passages that answer a question for an overview together."""


def weighed(terms: Sequence[str], *, overview: bool) -> Sequence[str]:
    """Return the question's terms that its answer repeats: for an overview without those of its form."""
    if not overview:
        return terms
    return [term for term in terms if term not in _form()] or terms


@cache
def _form() -> frozenset[str]:
    return frozenset(term for word in OVERVIEW_FORM for term in query_terms(word, lambda one: [one]))


def share(terms: Mapping[str, float], present: frozenset[str]) -> float:
    """Return the share of the question's idf that is present."""
    total = sum(terms.values())
    return sum(idf for term, idf in terms.items() if term in present) / total if total else 0.0


def missing(terms: Mapping[str, float], present: frozenset[str]) -> float:
    """Return the highest idf of a term that is not present, as a share of the highest of all."""
    rarest = max(terms.values(), default=0.0)
    absent = max((idf for term, idf in terms.items() if term not in present), default=0.0)
    return absent / rarest if rarest > 0 else 0.0


_MAX_DISTANCE: Final = 40
"""Maximum distance in characters between the starts of two terms that are close together."""


def together(terms: Mapping[str, float], text: str, present: frozenset[str]) -> float:
    """Return the share of the terms' idf that occurs close together in a text.

    Of each two first occurrences that follow each other within `_MAX_DISTANCE` characters the lower idf
    counts. For a single term the share is 1 where it occurs.

    Args:
        terms: idf by term, as the index writes them.
        text: normalised.
        present: the terms that the text has as words; "hi" stands in "children", too.
    """
    total = sum(terms.values())
    if not total:
        return 0.0
    found = sorted(
        (place, idf) for term, idf in terms.items() if term in present and (place := text.find(term)) >= 0
    )
    if len(terms) == 1:
        return float(bool(found))
    return sum(min(a[1], b[1]) for a, b in pairwise(found) if b[0] - a[0] < _MAX_DISTANCE) / total
