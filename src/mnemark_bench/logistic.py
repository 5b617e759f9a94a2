"""Logistic regression in a few lines, for fitting what `retrieval.belief` holds."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Logistic(NamedTuple):
    """A fitted model: the probability is 1 / (1 + exp(-(intercept + weights · x)))."""

    intercept: float
    weights: Array

    def predict(self, features: Array) -> Array:
        """Probabilities of rows, shape (n,)."""
        return np.asarray(1 / (1 + np.exp(-(self.intercept + features @ self.weights))))


def fit(features: Array, labels: Array, weights: Array, *, ridge: float = 1e-3, rounds: int = 50) -> Logistic:
    """Weighted maximum likelihood by Newton's method, with a small ridge on the scaled weights.

    Args:
        features: shape (n, d).
        labels: 0 or 1, shape (n,).
        weights: of the rows, shape (n,); only their proportions matter.
        ridge: keeps weights finite where the classes can be told apart without error.
        rounds: steps at most.
    """
    share = weights / weights.sum()
    mean = share @ features
    scale = np.sqrt(share @ (features - mean) ** 2)
    scale[scale == 0] = 1.0
    x = np.hstack([np.ones((len(features), 1)), (features - mean) / scale])
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 0.0
    beta = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (share * (labels - p)) - penalty * beta
        curvature = (x * (share * p * (1 - p))[:, None]).T @ x + np.diag(penalty + 1e-12)
        step = np.linalg.solve(curvature, gradient)
        beta += step
        if float(np.abs(step).max()) < 1e-9:
            break
    raw = beta[1:] / scale
    return Logistic(float(beta[0] - raw @ mean), raw)
