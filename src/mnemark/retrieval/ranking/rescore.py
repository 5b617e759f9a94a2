"""Rescore the best passages by a few fixed weights: who said it, and how it compares with the others. Pure.

BM25 and cosines see each passage by its words. This last step adds what the search knows besides: a question
that names a person is mostly answered by that person; in a chat with an assistant, by the user's own
messages; the output of tools repeats words without being about them. And it compares the best passages with
each other: by cosine and by length.

Every term is a share of the best turn's score, and is read from numbers relative to the other candidates, so
that neither the size of a memory nor the scale of a score matters. The weights (`Preset`) are small, have one
sign for all kinds of memory, and were chosen on several of them at once; questions that name the wrong person
were among them, so a name is a soft boost. Notes and other documents are left alone.
"""

from typing import Final

import msgspec
import numpy as np

from mnemark.index.rows import ASKS, KIND_CODE, LINE_SHIFT, USER
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot
from mnemark.retrieval.presets import Preset

DEPTH: Final = 150
"""Number of candidates that are rescored."""
_TURN: Final = KIND_CODE["turn"]
_OBSERVATION: Final = KIND_CODE["observation"]
_SIGMAS: Final = 4.0
"""Standard deviations of the candidates' cosines that count as 1."""


class Clues(msgspec.Struct, frozen=True):
    """What a search knows of its candidates."""

    snapshot: Snapshot
    cosines: Floats | None
    """Cosines of all passages."""
    named: Mask
    """Which candidates have a speaker whom the query names."""
    user: bool
    """Whether the user's messages are asked for rather than the assistant's."""
    encoder: bool = False
    """Whether the cosines are of a model that reads texts as wholes, not of word vectors."""


def rescore(
    positions: Positions, fused: Floats, clues: Clues, preset: Preset
) -> tuple[Floats, dict[str, Floats]]:
    """Return new scores of the candidates and each term's part in them.

    The best turn keeps its score, so that turns neither gain on documents nor lose.

    Args:
        positions: candidates, best first; only the first `DEPTH` are rescored.
        fused: their fused scores, shape (len(positions),).
        clues: what the search knows of them.
        preset: the weights.
    """
    kinds = clues.snapshot.rows["kind"][positions]
    logged = (kinds == _TURN) | (kinds == _OBSERVATION)
    top = float(fused[logged].max(initial=0))
    if top <= 0:
        return fused, {}
    shares = fused[:DEPTH] / np.float32(top)
    terms = _parts(positions[:DEPTH], shares, clues, preset)
    parts = {name: part for name, part in terms.items() if part.any()}
    if not parts:
        return fused, {}
    total = fused / np.float32(top)
    total[:DEPTH] = np.maximum(shares + np.sum(list(parts.values()), axis=0), 0)
    scale = np.where(logged, top / max(float(total[logged].max()), 1e-9), top).astype(np.float32)
    rest = np.zeros(len(fused) - len(shares), np.float32)
    return total * scale, {name: np.concatenate((part, rest)) * scale for name, part in parts.items()}


def _parts(positions: Positions, shares: Floats, clues: Clues, preset: Preset) -> dict[str, Floats]:
    """Return each term as a share of the best score, shape (len(positions),)."""
    rows = clues.snapshot.rows[positions]
    turns, observed = rows["kind"] == _TURN, rows["kind"] == _OBSERVATION
    logged = turns | observed
    asks = (rows["flags"] & ASKS) > 0
    said = turns & clues.named[:DEPTH]
    user = turns & ((rows["flags"] & USER) > 0) & clues.user & ~_cut(clues.snapshot, positions)
    parts = {
        "named": preset.named * shares * (said & ~asks),
        "asks": -preset.asks * shares * (turns & asks & bool(said.any())),
        "user": preset.user * shares * user,
        "observed": -preset.observed * shares * observed,
        "long": -preset.long * shares * _relative_length(rows["length"]) * logged,
    }
    if clues.cosines is not None:
        weight = preset.encoder if clues.encoder else preset.meaning
        parts["meaning"] = weight * _standardised(clues.cosines[positions]) / _SIGMAS * logged
    return {name: part.astype(np.float32) for name, part in parts.items()}


def _cut(snapshot: Snapshot, positions: Positions) -> Mask:
    """Return which passages are parts of a longer message: a log or a page that the user pasted, mostly."""
    rows, cut = snapshot.rows, np.zeros(len(positions), np.bool_)
    for step in (-1, 1):
        beside = np.clip(positions + step, 0, len(rows) - 1)
        line = rows["ordinal"][beside] >> LINE_SHIFT == rows["ordinal"][positions] >> LINE_SHIFT
        cut |= line & (beside != positions) & (snapshot.group[beside] == snapshot.group[positions])
    return cut


def _relative_length(lengths: Floats) -> Floats:
    """Return the logarithm of each length over the median, from -1 to 1."""
    sizes = lengths.astype(np.float32) + 1
    ordered = np.sort(sizes)  # `np.median` takes five times as long
    median = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    relative: Floats = np.clip(np.log(sizes / median), -1, 1)
    return relative


def _standardised(values: Floats) -> Floats:
    """Return z-scores; zeros for fewer than three values."""
    if len(values) < 3:
        return np.zeros_like(values)
    scores: Floats = (values - values.mean()) / (values.std() + np.float32(1e-6))
    return scores
