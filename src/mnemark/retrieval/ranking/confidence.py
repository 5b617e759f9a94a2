"""Estimate the probability that the best passages answer the question.

Logistic regression on a few features of an answer. The slopes were fitted on questions whose evidence is in
the memory against the same questions with it removed, with one word exchanged for another of its kind, and
asked to other people's memories, each set of questions centred on its own mean, so that the features tell
answers apart within one memory, not memories from each other. An answer in another language than the question
shares no words with it: it has weights of its own. `mnemark bench belief` compares the estimate with the top
BM25 score.
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Final, NamedTuple


class Evidence(NamedTuple):
    """Features of an answer, each 0 where nothing is known."""

    lead: float
    """The best fused score minus the `DEPTH`th (0 with fewer passages): a score that many passages reach is
    chance."""
    together: float
    """Maximum share of the question's idf that occurs close together in one of the top passages."""
    coverage: float
    """Share of the question's idf that occurs in the best passage or its neighbours."""
    cosine: float | None
    """The best passage's cosine minus the mean of all; None without the dense route."""
    outside: float
    """1 where some passages are dated inside the question's time but not the best one; else 0."""
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


DENSE: Final = _Weights(-1.0, 1.1, 0.8, 0.8, 0.6, -0.5)
LEXICAL: Final = _Weights(-0.9, 0.9, 0.9, 0.9, 0.0, -0.5)
"""Weights without the dense route."""
CROSSED: Final = _Weights(-2.3, 1.4, 0.8, 0.8, 7.2, -0.5)
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
    """Return the features that have weights."""
    return tuple(value or 0.0 for value in evidence[:-1])


def share(terms: Mapping[str, float], present: frozenset[str]) -> float:
    """Return the share of the question's idf that is present."""
    total = sum(terms.values())
    return sum(idf for term, idf in terms.items() if term in present) / total if total else 0.0


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
