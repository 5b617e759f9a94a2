"""Fuse the routes' scores into one. Pure functions over arrays of shape (n,)."""

from typing import Final

import numpy as np

from mnemark.index.rows import NO_TIME
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot
from mnemark.retrieval.presets import Preset

_DAY: Final = 86_400.0
_BLOCK: Final = 256
_REACH: Final = 5
"""Beyond so many `near_days` a gain is below a hundredth of its best."""


def fuse(lexical: Floats, dense: Floats | None, in_time: Mask | None, preset: Preset) -> Floats:
    """Fuse the routes into one score for each passage.

    Args:
        lexical: share of the attainable BM25, 0 where nothing matches.
        dense: cosines, or None where that route did not answer.
        in_time: passages inside a time the question names.
        preset: how to fuse.
    """
    if preset.fusion == "rrf":
        fused = _rrf(lexical, dense, preset.rrf)
    elif preset.fusion == "weighted":
        fused = _weighted(lexical, dense, preset.dense)
    else:
        fused = lexical.copy()
        if dense is not None and preset.dense:
            part = np.maximum(dense, np.float32(0))
            part *= np.float32(preset.dense)
            fused += part
    if in_time is not None and preset.time:
        fused += np.float32(preset.time) * in_time
    return fused


def beside(scores: Floats, preset: Preset, weight: float) -> Floats:
    """Bring another program's scores, 0 to 1, to the scale of the preset's fusion."""
    if preset.fusion != "rrf":
        return np.float32(weight) * scores
    return _rrf(scores, None, preset.rrf)


def beside_event(
    fused: Floats, snapshot: Snapshot, preset: Preset, event: int, allowed: Mask, *, after: bool
) -> Floats:
    """Add to what happened on one side of an event, most to what was next to it, whatever its words are.

    Args:
        fused: scores, shape (n,).
        snapshot: the passages.
        preset: `near` and `near_days`.
        event: position of the passage that tells of the event; it has a time.
        allowed: what may be in the answer.
        after: whether what happened after the event is asked for, or before.
    """
    times = snapshot.rows["time"]
    reach = int(_REACH * preset.near_days * _DAY)
    moment = int(times[event])
    begin, end = (moment + 1, moment + reach) if after else (moment - reach, moment - 1)
    inside = np.flatnonzero((times >= begin) & (times <= end) & (times != NO_TIME) & allowed)
    inside = inside[snapshot.group[inside] != snapshot.group[event]]
    gain = np.exp(-np.abs(times[inside] - moment) / _DAY / preset.near_days)
    moved = fused.copy()
    moved[inside] += (preset.near * float(fused[event]) * gain).astype(np.float32)
    return moved


def near_best(fused: Floats, snapshot: Snapshot, preset: Preset, order: str | None) -> Floats:
    """Add a little to what happened around the best hit's time: an event leaves more than one trace.

    Args:
        fused: scores, shape (n,); only what was found at all gains.
        snapshot: the passages.
        preset: `near` and `near_days`.
        order: "before" or "after" where the question asks for that side of the best hit only.
    """
    if not preset.near or not len(fused):
        return fused
    best = int(np.argmax(fused))
    times = snapshot.rows["time"]
    if fused[best] <= 0 or times[best] == NO_TIME:
        return fused
    reach = int(_REACH * preset.near_days * _DAY)
    around = snapshot.between(int(times[best]) - reach, int(times[best]) + reach)
    around = around[fused[around] > 0]
    days = (times[around] - times[best]) / _DAY
    gain = np.exp(-np.abs(days) / preset.near_days) * (snapshot.group[around] != snapshot.group[best])
    if order in {"before", "after"}:
        gain *= days > 0 if order == "after" else days < 0
    moved = fused.copy()
    moved[around] += (preset.near * float(fused[best]) ** 2 * gain).astype(np.float32)
    return moved


def _rrf(lexical: Floats, dense: Floats | None, constant: int, depth: int = 200) -> Floats:
    """Sum of 1 / (constant + rank) over the routes' first `depth` passages."""
    fused = np.zeros(len(lexical), np.float32)
    for scores in (lexical, dense):
        if scores is None:
            continue
        best = best_positions(scores, depth)
        fused[best] += (1.0 / (constant + np.arange(1, len(best) + 1))).astype(np.float32)
    return fused


def _weighted(lexical: Floats, dense: Floats | None, share: float) -> Floats:
    """Weigh dense and lexical scores, the latter as r / (1 + r) of the plain BM25's rank value."""
    saturated = lexical / (1 + lexical)
    if dense is None:
        return saturated
    return np.float32(share) * np.maximum(dense, 0) + np.float32(1 - share) * saturated


def best_positions(scores: Floats, k: int) -> Positions:
    """Return the positions of the k best positive scores, best first, ties in document order."""
    candidates = np.flatnonzero(scores >= _threshold(scores, k))
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order][:k]


def _threshold(scores: Floats, k: int) -> float:
    """Return a positive value that at least the k best scores reach, if so many are positive.

    The k-th best of the blocks' maxima: k scores at least are as high, and few others are. One pass that
    only takes maxima costs a tenth of a partition of all scores.
    """
    least = float(np.nextafter(np.float32(0), np.float32(1)))
    blocks = len(scores) // _BLOCK
    if blocks <= k:
        return least
    maxima = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
    return max(float(np.partition(maxima, blocks - k)[blocks - k]), least)
