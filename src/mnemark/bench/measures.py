"""Retrieval measures. All take ranked ids (best first) and the set of right ones."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

Measures = dict[str, float]


def measure(ranked: Sequence[str], gold: AbstractSet[str], prefix: str) -> Measures:
    """any, all and fractional recall at 5 and 10, reciprocal rank and nDCG at 10.

    nDCG has binary gains and the ideal order over the whole corpus (Järvelin and Kekäläinen 2002).
    """
    found: Measures = {}
    for k in (5, 10):
        right = len(gold.intersection(ranked[:k]))
        found[f"{prefix}_any@{k}"] = float(right > 0)
        found[f"{prefix}_all@{k}"] = float(right == len(gold))
        found[f"{prefix}_fractional@{k}"] = right / len(gold)
    ranks = [rank for rank, identifier in enumerate(ranked[:100], 1) if identifier in gold]
    found[f"{prefix}_mrr"] = 1 / ranks[0] if ranks else 0.0
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), 10) + 1))
    found[f"{prefix}_ndcg@10"] = gain / ideal
    return found


def mean(rows: Sequence[Mapping[str, float]]) -> Measures:
    """The mean of each measure."""
    if not rows:
        return {}
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def percentiles(seconds: Sequence[float]) -> Measures:
    """p50, p95 and p99 in milliseconds."""
    if not seconds:
        return {}
    p50, p95, p99 = np.percentile(np.array(seconds) * 1000, (50, 95, 99))
    return {"p50_ms": float(p50), "p95_ms": float(p95), "p99_ms": float(p99)}


def interval(differences: Sequence[float], *, draws: int = 2000, seed: int = 7) -> tuple[float, float]:
    """The 95 % interval of the mean of paired differences, by bootstrap (Efron 1979)."""
    values = np.array(differences)
    random = np.random.default_rng(seed)
    means = values[random.integers(0, len(values), (draws, len(values)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)
