"""Estimate how likely it is that memory holds something on the question, and that its answer was found.

The first is a logistic regression on five features of an answer, fitted on questions asked to their own
memory against the same asked to memories of others. The second repeats it with reserve: whether the very
answer is there shows in no feature that was tried, so it is the share of questions asked to their own memory
that found their evidence, as it grows with the first. An answer in another language than the question shares
no words with it: there the cosine tells nearly all. `mnemark bench belief` compares both with what happens.
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple


class Evidence(NamedTuple):
    """Features of an answer."""

    score: float
    """The best passage's fused score, on the absolute scale of `fusion`, without what a time adds."""
    cosine: float | None
    """The best passage's cosine minus the mean of all; None without the dense route."""
    passages: int
    """How many were searched: the more there are, the better is the best one by chance."""
    terms: int
    """The question's terms: the more there are, the smaller the share that a passage repeats."""
    words: int
    """The best passage's words: the more there are, the more of them are the question's by chance."""
    outside: float = 0.0
    """1 where some passages are dated inside the question's time but not the best one; else 0."""
    other: float = 0.0
    """How far the best passage of the speaker whom the question names is behind the best of all, as a share
    of its score, where somebody else said that one and not about them; else 0."""
    crossed: float = 0.0
    """1 where the best passage is in another language than the question; else 0."""
    turn: float = 0.0
    """1 where the best passage is a turn of a conversation, which holds less than a note; else 0."""


class Confidence(NamedTuple):
    """Two probabilities, 0 to 1, rounded to three places."""

    on_topic: float
    """That memory holds something on what is asked."""
    believable: float
    """That the answer is among the hits, if memory holds something on what is asked."""


class _Weights(NamedTuple):
    intercept: float
    score: float
    cosine: float
    passages: float
    """Of the logarithm, as the next two."""
    terms: float
    words: float


_DENSE: Final = _Weights(0.6, 8.0, 4.8, -0.35, 0.5, -0.65)
_LEXICAL: Final = _Weights(1.0, 10.0, 0.0, -0.3, 0.7, -0.75)
"""Weights without the dense route."""
_CROSSED: Final = (-2.6, 10.0)
"""Intercept and weight of the cosine across languages."""
_FEWEST: Final = 75
"""The smallest memory that it was fitted on: below, the number of passages says nothing."""
_RESERVE: Final = (1.8, 0.5)
"""Intercept of `believable`, and its weight of the log odds of `on_topic`."""
_TURN: Final = -1.4
_OUTSIDE: Final = -0.75
_OTHER: Final = -5.0
"""Weights of what tells against the answer alone, not against the topic."""


def confidence(evidence: Evidence | None) -> Confidence:
    """Return both probabilities; 0 where nothing was found."""
    if evidence is None:
        return Confidence(0.0, 0.0)
    topic = _log_odds(evidence)
    intercept, weight = _RESERVE
    against = _TURN * evidence.turn + _OUTSIDE * evidence.outside + _OTHER * evidence.other
    return Confidence(_probability(topic), _probability(intercept + weight * topic + against))


def _log_odds(evidence: Evidence) -> float:
    """Return the log odds of `on_topic`."""
    if evidence.crossed and evidence.cosine is not None:
        return _CROSSED[0] + _CROSSED[1] * evidence.cosine
    weights = _LEXICAL if evidence.cosine is None else _DENSE
    return weights.intercept + sum(w * x for w, x in zip(weights[1:], features(evidence), strict=True))


def features(evidence: Evidence) -> tuple[float, ...]:
    """Return the features that `on_topic` is fitted on, in the order of their weights."""
    return (
        evidence.score,
        evidence.cosine or 0.0,
        math.log(max(evidence.passages, _FEWEST)),
        math.log(max(evidence.terms, 1)),
        math.log1p(evidence.words),
    )


def _probability(log_odds: float) -> float:
    return round(1 / (1 + math.exp(-log_odds)), 3)


def share(terms: Mapping[str, float], present: frozenset[str]) -> float:
    """Return the share of the question's idf that is present."""
    total = sum(terms.values())
    return sum(idf for term, idf in terms.items() if term in present) / total if total else 0.0
