"""Estimate the probability that the best passages answer the question.

Logistic regression on a few features of an answer. The slopes were fitted on questions whose evidence is in
the memory against the same questions with it removed, and against the same questions asked to other people's
memories, each set of questions around its own mean: what counts is what tells answers apart inside one
memory, not which memory is asked. `mnemark bench belief` prints how well it tells them apart, beside the top
BM25 score.
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Final, NamedTuple


class Evidence(NamedTuple):
    """What an answer rests on. All of it is 0 where nothing is known."""

    lead: float
    """The best fused score less the `DEPTH`th, 0 where there are fewer passages: what many passages reach
    is what chance gives."""
    together: float
    """Share of the question's idf that stands close together in one of the first passages."""
    coverage: float
    """Share of the question's idf that stands in the best passage or beside it."""
    cosine: float | None
    """The best passage's cosine above the mean of all; None where there is no sense of meaning."""
    outside: float
    """1 where the question names a time that the memory knows, and the best passage is of another; else 0."""
    terms: int
    """Terms of the question."""


DEPTH: Final = 100


class _Weights(NamedTuple):
    intercept: float
    lead: float
    together: float
    coverage: float
    cosine: float
    outside: float


WITH_MEANING: Final = _Weights(-1.8, 1.18, 0.63, 0.36, 0.25, -0.23)
BY_WORDS: Final = _Weights(-1.43, 1.05, 0.61, 0.41, 0.0, -0.17)
"""Where no embedder answered."""


def believable(evidence: Evidence | None) -> float:
    """Probability from 0 to 1, rounded to three places; 0 where nothing was found."""
    if evidence is None:
        return 0.0
    weights = BY_WORDS if evidence.cosine is None else WITH_MEANING
    value = sum(w * x for w, x in zip(weights[1:], strengths(evidence), strict=True))
    return round(1 / (1 + math.exp(-weights.intercept - value)), 3)


_FEWEST_TERMS: Final = 4
_MOST_TERMS: Final = 25
"""Few of the questions it was fitted on are shorter or longer than this."""


def strengths(evidence: Evidence) -> tuple[float, ...]:
    """Return the features but for `terms`, each times the square root of that, as they are weighed.

    Of a long question a smaller share is found in one place, and the same share of it says more.
    """
    root = math.sqrt(min(max(evidence.terms, _FEWEST_TERMS), _MOST_TERMS))
    return tuple((value or 0.0) * root for value in evidence[:-1])


def share(terms: Mapping[str, float], present: frozenset[str]) -> float:
    """Return the share of the question's idf that is present."""
    total = sum(terms.values())
    return sum(idf for term, idf in terms.items() if term in present) / total if total else 0.0


_APART: Final = 40
"""Characters between the starts of two terms that stand together."""


def together(terms: Mapping[str, float], text: str) -> float:
    """Return the share of the terms' idf that stands close together in a text.

    Terms are taken where they first stand; of each two that follow each other within `_APART` characters the
    lower idf counts. A question of one term has it together where it stands.

    Args:
        terms: idf by term, as the index writes them.
        text: normalised.
    """
    total = sum(terms.values())
    if not total:
        return 0.0
    if len(terms) == 1:
        return float(any(term in text for term in terms))
    found = sorted((place, idf) for term, idf in terms.items() if (place := text.find(term)) >= 0)
    return sum(min(a[1], b[1]) for a, b in pairwise(found) if b[0] - a[0] < _APART) / total
