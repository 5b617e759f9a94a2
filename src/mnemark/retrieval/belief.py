"""Is there an answer here? A probability from how much of the question the best passages cover.

Logistic regression on three features of an answer, fitted on questions whose evidence is in the memory
against the same questions with their evidence removed. `mnemark bench belief` prints how well it tells the
two apart, beside the top BM25 score.
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple


class Evidence(NamedTuple):
    """What an answer rests on."""

    share: float
    """Best share of the attainable BM25 of a single passage (its neighbours included)."""
    coverage: float
    """Share of the question's idf that stands in the best passage itself."""
    cosine: float
    """Best cosine; 0 where there is no sense of meaning."""


INTERCEPT: Final = -2.2
WEIGHTS: Final = Evidence(share=3.0, coverage=2.0, cosine=1.5)


def believable(evidence: Evidence) -> float:
    """Probability from 0 to 1, rounded to two places; 0 where nothing was found."""
    if not (evidence.share or evidence.cosine):
        return 0.0
    value = INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, evidence, strict=True))
    return round(1 / (1 + math.exp(-value)), 2)


def coverage(terms: Mapping[str, float], present: frozenset[str]) -> float:
    """Share of the idf of the question's terms that is present."""
    total = sum(terms.values())
    return sum(idf for term, idf in terms.items() if term in present) / total if total else 0.0
