"""Ranking figures, the absolute fusion and the paired bootstrap."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sets import Scope  # isort: skip

DEPTH = 10
RESAMPLES = 2000


class Figures(NamedTuple):
    """Fractional recall of each question (0 to 1)."""

    turn5: NDArray[np.float64]
    turn10: NDArray[np.float64]
    session5: NDArray[np.float64]


def fuse(share: NDArray[np.float32], cosine: NDArray[np.float32], weight: float) -> NDArray[np.float32]:
    """The absolute fusion: `(1-w) * 2 * share of the attainable BM25 + w * max(0, cosine)`."""
    fused = np.float32(2 * (1 - weight)) * share + np.float32(weight) * np.maximum(cosine, 0)
    return fused.astype(np.float32)


def recalls(scope: Scope, question: int, scores: NDArray[np.float32]) -> tuple[float, float, float]:
    """Turn recall at 5 and 10 and session recall at 5 of one question. Texts of score 0 are not found."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0]
    gold, sessions = scope.gold[question], scope.gold_sessions[question]
    top = order[:DEPTH].tolist()
    ranked: dict[str, None] = {}
    for row in order.tolist():
        ranked.setdefault(scope.sessions[row])
        if len(ranked) == 5:
            break
    return (
        len(gold.intersection(top[:5])) / len(gold),
        len(gold.intersection(top)) / len(gold),
        len(sessions.intersection(ranked)) / len(sessions),
    )


def figures(scopes: Sequence[Scope], scores: Sequence[Sequence[NDArray[np.float32]]]) -> Figures:
    """Recalls of every question; `scores[scope][question]` are the scores of that scope's texts."""
    rows = [
        recalls(scope, question, found)
        for scope, questions in zip(scopes, scores, strict=True)
        for question, found in enumerate(questions)
    ]
    turn5, turn10, session5 = np.array(rows).T
    return Figures(turn5, turn10, session5)


def interval(before: NDArray[np.float64], after: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean difference in points with its 95 % interval, by paired bootstrap over questions."""
    difference = (after - before) * 100
    draws = np.random.default_rng(1).integers(0, len(difference), (RESAMPLES, len(difference)))
    low, high = np.quantile(difference[draws].mean(axis=1), [0.025, 0.975])
    return float(difference.mean()), float(low), float(high)
