"""Fuse the routes' scores into one per passage. Pure functions over arrays of shape (n,)."""

from typing import Final

import numpy as np

from mnemark.index.rows import KIND_CODE, NO_TIME
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot
from mnemark.retrieval.presets import Preset

_DAY: Final = 86_400.0
_BLOCK: Final = 256
"""Maximum number of scores in a block of `_threshold`."""
_QMD_WEIGHT: Final = 0.15
"""Weight of QMD's score relative to the share of the attainable BM25: about one more matching word of seven.
Enough to add passages that no other route found, and to break near ties."""
_AT_ONCE: Final = 60
"""Seconds within which what several documents hold was written down together: in bulk, by a program."""
_REACH: Final = 5
"""Number of `near_days` beyond which a gain is below a hundredth of its maximum."""


def fuse(lexical: Floats, dense: Floats | None, in_time: Mask | None, preset: Preset) -> Floats:
    """Fuse the routes into one score for each passage.

    Args:
        lexical: share of the attainable BM25, 0 where nothing matches.
        dense: cosines, or None where that route did not answer.
        in_time: mask of passages dated inside a time that the query names.
        preset: the formula and its weights.
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


def beside(scores: Floats, preset: Preset) -> Floats:
    """Convert QMD's scores, 0 to 1, to the scale of the preset's fusion."""
    if preset.fusion != "rrf":
        return np.float32(_QMD_WEIGHT) * scores
    return _rrf(scores, None, preset.rrf)


def beside_event(
    fused: Floats, snapshot: Snapshot, preset: Preset, event: int, allowed: Mask, *, after: bool
) -> Floats:
    """Boost passages dated before or after an event, the nearest most, whatever their own score.

    Args:
        fused: scores, shape (n,).
        snapshot: the passages.
        preset: `near` and `near_days`.
        event: position of the dated passage that describes the event.
        allowed: mask of the passages that may be in the answer.
        after: boost passages after the event, else those before it.
    """
    times = snapshot.rows["time"]
    reach = int(_REACH * preset.near_days * _DAY)
    moment = int(times[event])
    begin, end = (moment + 1, moment + reach) if after else (moment - reach, moment - 1)
    inside = np.flatnonzero((times >= begin) & (times <= end) & (times != NO_TIME) & allowed)
    inside = inside[snapshot.group[inside] != snapshot.group[event]]
    gain = np.exp(-np.abs(times[inside] - moment) / _DAY / preset.near_days)
    boosted = fused.copy()
    boosted[inside] += (preset.near * float(fused[event]) * gain).astype(np.float32)
    return boosted


def near_best(fused: Floats, snapshot: Snapshot, preset: Preset, order: str | None) -> Floats:
    """Boost passages of other documents dated near the best hit: an event leaves more than one trace.

    Sessions of work with tools are not boosted, and neither is what was recorded at the same moment: that has
    no date of its own, and tells of no event.

    Args:
        fused: scores, shape (n,); only positive ones are boosted.
        snapshot: the passages.
        preset: `near` and `near_days`.
        order: "before" or "after" to boost only that side of the best hit.
    """
    if not preset.near or not len(fused):
        return fused
    best = int(np.argmax(fused))
    times = snapshot.rows["time"]
    if fused[best] <= 0 or times[best] == NO_TIME:
        return fused
    reach = int(_REACH * preset.near_days * _DAY)
    around = snapshot.between(int(times[best]) - reach, int(times[best]) + reach)
    around = around[(fused[around] > 0) & ~_worked(snapshot)[snapshot.group[around]]]
    days = (times[around] - times[best]) / _DAY
    gain = np.exp(-np.abs(days) / preset.near_days) * (snapshot.group[around] != snapshot.group[best])
    if times[best] % _DAY:  # else it has a day and no time of day
        gain *= np.abs(times[around] - times[best]) >= _AT_ONCE
    if order in {"before", "after"}:
        gain *= days > 0 if order == "after" else days < 0
    boosted = fused.copy()
    boosted[around] += (preset.near * float(fused[best]) ** 2 * gain).astype(np.float32)
    return boosted


def _worked(snapshot: Snapshot) -> Mask:
    """Return which documents hold the output of tools, shape (groups,).

    Sessions of work follow each other on the same days whatever they are about.
    """
    known = snapshot.memo.get("worked")
    if not isinstance(known, np.ndarray):
        known = snapshot.memo["worked"] = np.zeros(snapshot.groups, np.bool_)
        known[snapshot.group[snapshot.rows["kind"] == KIND_CODE["observation"]]] = True
    return known


def _rrf(lexical: Floats, dense: Floats | None, constant: int, depth: int = 200) -> Floats:
    """Return the sum of 1 / (constant + rank) over each route's best `depth` passages."""
    fused = np.zeros(len(lexical), np.float32)
    for scores in (lexical, dense):
        if scores is None:
            continue
        best = best_positions(scores, depth)
        fused[best] += (1.0 / (constant + np.arange(1, len(best) + 1))).astype(np.float32)
    return fused


def _weighted(lexical: Floats, dense: Floats | None, share: float) -> Floats:
    """Return the weighted sum of dense and lexical scores, the latter saturated as r / (1 + r)."""
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
    """Return a positive lower bound of the k best scores, if so many are positive.

    It is the k-th largest block maximum: at least k scores reach it, and few others do. Taking maxima costs a
    tenth of a partition of all scores.
    """
    least = float(np.nextafter(np.float32(0), np.float32(1)))
    size = min(_BLOCK, len(scores) // (2 * k))
    if size < 2:
        return least
    blocks = len(scores) // size
    maxima = scores[: blocks * size].reshape(blocks, size).max(axis=1)
    return max(float(np.partition(maxima, blocks - k)[blocks - k]), least)
