"""Is there an answer here? A probability from how much of the question the best passages cover.

Logistic regression on a few features of an answer, fitted on questions whose evidence is in the memory
against the same questions with their evidence removed. `mnemark bench belief` prints how well it tells the
two apart, beside the top BM25 score.
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple


class Evidence(NamedTuple):
    """What an answer rests on."""

    score: float
    """The best fused score."""
    coverage: float
    """Share of the question's idf that stands in the best passage itself."""
    margin5: float
    """By how much of itself the best score is above the fifth."""
    margin10: float
    cosine: float
    """Best cosine; 0 where there is no sense of meaning."""
    terms: float
    """Terms of the question: of a long one less is found in one place."""


INTERCEPT: Final = -4.88
WEIGHTS: Final = Evidence(2.59, 1.48, 1.28, 2.64, 0.25, 0.13)
_MOST_TERMS: Final = 25
"""Beyond the questions it was fitted on, more terms say no more."""


def believable(evidence: Evidence | None) -> float:
    """Probability from 0 to 1, rounded to three places; 0 where nothing was found."""
    if evidence is None:
        return 0.0
    features = evidence._replace(terms=min(evidence.terms, _MOST_TERMS))
    value = INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, features, strict=True))
    return round(1 / (1 + math.exp(-value)), 3)


def coverage(terms: Mapping[str, float], present: frozenset[str]) -> float:
    """Share of the idf of the question's terms that is present."""
    total = sum(terms.values())
    return sum(idf for term, idf in terms.items() if term in present) / total if total else 0.0
