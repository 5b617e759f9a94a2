"""Rank candidates: apply small factors, keep each route's best, drop duplicates. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from mnemark.index.rows import CORE, NO_TIME, SUSPECT, Rows
from mnemark.index.snapshot import Floats, Mask, Positions, TermHits
from mnemark.retrieval.presets import SUSPECT_FACTOR, Preset

_DAY: Final = 86_400.0
STEP: Final = 1e-5
"""Least difference of two scores that are not equal."""


class Ranked(msgspec.Struct, frozen=True):
    """A ranked candidate."""

    pos: int
    score: float
    boosts: dict[str, float]


def adjust(
    positions: Positions,
    fused: Floats,
    rows: Rows,
    preset: Preset,
    *,
    now: int,
    order: str | None = None,
) -> tuple[Floats, list[dict[str, float]]]:
    """Apply recency, importance, order and suspicion to the scores; also return each one's part.

    Args:
        positions: candidates, into `rows`.
        fused: their fused scores, shape (len(positions),).
        rows: columns of all passages.
        preset: weights of recency, importance and order.
        now: seconds of wall time.
        order: "latest" or "first" where the query asks for it.
    """
    chosen = rows[positions]
    scores = np.float32(preset.relevance) * fused.astype(np.float32)
    added: dict[str, Floats] = {}
    if preset.recency:
        added["recency"] = np.float32(preset.recency) * recency(chosen, now, preset.half_life_days)
    if preset.importance:
        added["importance"] = (
            np.float32(preset.importance) * chosen["importance"].astype(np.float32) / np.float32(255)
        )
    if preset.order and order in {"latest", "first"} and len(positions):
        gain = np.float32(preset.order * float(scores.max()))
        added[order] = gain * _relative_age(chosen["time"], newest=order == "latest")
    for values in added.values():
        scores += values
    suspect = (chosen["flags"] & SUSPECT) > 0
    if suspect.any():
        lowered = np.where(suspect, scores * np.float32(SUSPECT_FACTOR), scores)
        added["suspect"] = lowered - scores
        scores = lowered
    boosts = [
        {name: float(values[index]) for name, values in added.items() if values[index]}
        for index in range(len(positions))
    ]
    return scores, boosts


def recency(rows: Rows, now: int, half_life_days: float) -> Floats:
    """Return 0.5 ** (age / half life), 0.5 for undated passages, 1 for core memory, which never ages."""
    age = np.maximum(now - rows["time"].astype(np.float64), 0) / _DAY
    value = np.power(0.5, age / half_life_days)
    value = np.where(rows["time"] == NO_TIME, 0.5, value)
    return np.where((rows["flags"] & CORE) > 0, 1.0, value).astype(np.float32)


def _relative_age(times: Positions, *, newest: bool) -> Floats:
    """Return each passage's rank in time scaled to 0 to 1; 0 for undated ones."""
    dated = times != NO_TIME
    result = np.zeros(len(times), np.float32)
    if dated.sum() > 1:
        values = times[dated]
        ranks = np.searchsorted(np.sort(values), values).astype(np.float32)
        ranks /= max(float(ranks.max()), 1.0)
        result[dated] = ranks if newest else 1 - ranks
    return result


def held(positions: Positions, hits: Sequence[TermHits]) -> Mask:
    """Return which candidate holds which of the terms, shape (candidates, terms)."""
    found = np.zeros((len(positions), len(hits)), np.bool_)
    for column, one in enumerate(hits):
        found[:, column] = one.among(positions)
    return found


def put_behind(scores: Floats, lower: Mask, above: Mask, held: Mask) -> None:
    """Put some candidates below the best of others that hold the same terms and more; `scores` is changed.

    Args:
        scores: of the candidates.
        lower: which of them are put below.
        above: which of them stand above; none of them is lowered.
        held: which term each of them holds, shape (candidates, terms).
    """
    best = np.flatnonzero(above)
    for i in np.flatnonzero(lower).tolist():
        telling = best[(held[best] >= held[i]).all(axis=1)]
        if len(telling):
            scores[i] = min(scores[i], scores[telling].max() - STEP)


def newest_of_equals(scores: Floats, rows: Rows, *, oldest: bool) -> Floats:
    """Give the best score of candidates with one text to the newest, or the oldest, which stands for all."""
    keys = rows["key"].tobytes()
    equals: dict[bytes, list[int]] = defaultdict(list)
    for i in range(len(rows)):
        equals[keys[16 * i : 16 * i + 16]].append(i)
    if len(equals) == len(rows):
        return scores
    given, times = scores.copy(), rows["time"].tolist()
    for group in equals.values():
        order = sorted(group, key=lambda i: times[i], reverse=not oldest)
        for i, score in zip(order, sorted(scores[group].tolist(), reverse=True), strict=True):
            given[i] = score
    return given


def select(
    candidates: Sequence[Ranked], keys: Sequence[bytes], k: int, protected: Sequence[int] = ()
) -> list[Ranked]:
    """Select the k best of sorted candidates without duplicates, with the best of each route.

    A protected passage below the k best replaces the last unprotected one.
    """
    seen: set[bytes] = set()
    ranked: list[Ranked] = []
    for candidate, key in zip(candidates, keys, strict=True):
        if key not in seen:
            seen.add(key)
            ranked.append(candidate)
    chosen = ranked[:k]
    missing = [entry for entry in ranked[k:] if entry.pos in protected]
    if missing and k > len(missing):
        kept = [entry for entry in chosen if entry.pos not in protected]
        drop = {entry.pos for entry in kept[-len(missing) :]}
        chosen = [entry for entry in chosen if entry.pos not in drop] + missing
        chosen.sort(key=lambda entry: -entry.score)
    return chosen
