"""Explain why a passage was found: each route's rank and score, terms, factors. Pure."""

from typing import Any

import numpy as np

from mnemark.index.snapshot import Floats
from mnemark.retrieval.ranking import features, rank
from mnemark.retrieval.routes import lexical


def explain(
    entry: rank.Ranked, words: lexical.Lexical, meaning: Floats | None, fused: Floats
) -> dict[str, Any]:
    """Where a passage's score comes from: each route's rank and score, each term's part, each boost."""
    pos = entry.pos
    routes: dict[str, Any] = {"lexical": in_route(words.scores, pos)}
    routes["lexical"]["own"] = round(float(words.own[pos]), 4)
    routes["lexical"]["whole"] = round(float(words.scores[pos] - words.own[pos]), 4)
    if meaning is not None:
        routes["dense"] = in_route(meaning, pos)
    terms = {
        term: {"idf": round(words.idf[term], 2), "here": features.holds(hits.pos, pos)}
        for term, hits in words.hits.items()
    }
    boosts = {name: round(value, 4) for name, value in entry.boosts.items()}
    return {"routes": routes, "fused": round(float(fused[pos]), 4), "boosts": boosts, "terms": terms}


def in_route(scores: Floats, pos: int) -> dict[str, Any]:
    """A passage's score and rank in one route."""
    value = float(scores[pos])
    return {
        "score": round(value, 4),
        "rank": int(np.count_nonzero(scores > value)) + 1 if value > 0 else None,
    }
