"""What an answer rests on, read from its explanation: the features a probability could be made of."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mnemark.types import Hit, Recall

USED: Final = ("share", "coverage", "cosine")
"""Those the product uses, as in `retrieval.belief.Evidence`."""
NAMES: Final = (*USED, "best_coverage", "union_coverage", "rarest", "whole", "lead", "spread", "log_terms")


def features(found: Recall) -> dict[str, float]:
    """Features of an answer that was asked for with `explain`; all 0 where nothing was found.

    share           best share of the attainable BM25, neighbours included, at most 1
    coverage        share of the question's idf in the first passage itself
    cosine          best cosine, at least 0
    best_coverage   the highest coverage of any single passage
    union_coverage  share of the idf in the first three passages together
    rarest          whether the rarest term stands in one of the first three passages
    whole           what the first passage's document adds
    lead            the first passage's fused score less the second's, as a share of it
    spread          the first fused score less the mean of the rest
    log_terms       ln(1 + number of terms)
    """
    hits = found.hits
    if not hits:
        return dict.fromkeys(NAMES, 0.0)
    idf = {term: float(seen["idf"]) for term, seen in _terms(hits[0]).items()}
    total = sum(idf.values())
    present = [{term for term, seen in _terms(hit).items() if seen["here"]} for hit in hits]
    covered = [_share(idf, held, total) for held in present]
    front = set().union(*present[:3])
    fused = [float(hit.why["fused"]) for hit in hits]
    rest = fused[1:] or [0.0]
    routes: list[Mapping[str, Any]] = [hit.why["routes"] for hit in hits]
    return {
        "share": min(max(float(route["lexical"]["own"]) for route in routes), 1.0),
        "coverage": covered[0],
        "cosine": max(0.0, *(float(route.get("dense", {}).get("score", 0.0)) for route in routes)),
        "best_coverage": max(covered),
        "union_coverage": _share(idf, front, total),
        "rarest": float(bool(idf) and max(idf, key=lambda term: idf[term]) in front),
        "whole": float(routes[0]["lexical"]["whole"]),
        "lead": (fused[0] - rest[0]) / fused[0] if fused[0] > 0 else 0.0,
        "spread": fused[0] - sum(rest) / len(rest),
        "log_terms": math.log1p(len(idf)),
    }


def vector(values: Mapping[str, float], names: Sequence[str]) -> list[float]:
    """The named features in order."""
    return [values[name] for name in names]


def _terms(hit: Hit) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = hit.why["terms"]
    return found


def _share(idf: Mapping[str, float], held: set[str], total: float) -> float:
    return sum(weight for term, weight in idf.items() if term in held) / total if total else 0.0
