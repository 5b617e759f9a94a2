"""Rank fused scores: small factors, protection of each route's best, no repetition. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from mnemark.index.rows import CORE, NO_TIME, SUSPECT, Rows
from mnemark.index.snapshot import Floats, Positions
from mnemark.retrieval.presets import SUSPECT_FACTOR, Preset

_DAY: Final = 86_400.0


class Ranked(NamedTuple):
    """One passage in the answer."""

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
    access: Mapping[int, int] | None = None,
) -> tuple[Floats, list[dict[str, float]]]:
    """Apply all small factors to the candidates' scores; return what each factor added, too.

    Args:
        positions: candidates, into `rows`.
        fused: their fused scores, shape (len(positions),).
        rows: columns of all passages.
        preset: weights of recency, importance, access and order.
        now: seconds of wall time.
        order: "latest" or "first" where the question asks for it.
        access: how often a passage was recalled, by passage number.
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
    if preset.access and access:
        counts = np.array([access.get(int(number), 0) for number in chosen["passage"]], np.float32)
        added["access"] = np.float32(preset.access) * (counts / (1 + counts))
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
    """0.5 ** (age / half life), 0.5 for what is undated, 1 for long-term memory, which never ages."""
    age = np.maximum(now - rows["time"].astype(np.float64), 0) / _DAY
    value = np.power(0.5, age / half_life_days)
    value = np.where(rows["time"] == NO_TIME, 0.5, value)
    return np.where((rows["flags"] & CORE) > 0, 1.0, value).astype(np.float32)


def _relative_age(times: Positions, *, newest: bool) -> Floats:
    """Map the dated to 0 to 1 by their order in time; the undated to 0."""
    dated = times != NO_TIME
    result = np.zeros(len(times), np.float32)
    if dated.sum() > 1:
        values = times[dated]
        ranks = np.searchsorted(np.sort(values), values).astype(np.float32)
        ranks /= max(float(ranks.max()), 1.0)
        result[dated] = ranks if newest else 1 - ranks
    return result


def select(
    candidates: Sequence[Ranked], keys: Sequence[bytes], k: int, protected: Sequence[int] = ()
) -> list[Ranked]:
    """Select the k best of ordered candidates, each content once, with the best of each route.

    A protected passage that would fall off the end takes the last place; the order of the rest stays.
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
