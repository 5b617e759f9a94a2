"""Rows to four bits a number, and the data file."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnemark.embed.sections import pack_words, write_sections

CLIPS = np.linspace(0.45, 1.0, 12)
"""Tried as the share of a row's largest number that the codes reach to."""


def quantise(rows: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Codes (n, d / 2) and steps (n,): number = (code - 8) * step, codes 1 to 15.

    For each row the step with the smallest squared error of `CLIPS`; then scaled by least squares.
    """
    top = np.abs(rows).max(axis=1)
    best = np.full(len(rows), np.inf, np.float32)
    codes = np.zeros(rows.shape, np.int8)
    steps = np.zeros(len(rows), np.float32)
    for clip in CLIPS:
        step = np.maximum(top * np.float32(clip) / 7, 1e-12)[:, None]
        found = np.clip(np.rint(rows / step), -7, 7)
        fit = (found * rows).sum(axis=1) / np.maximum((found * found).sum(axis=1), 1)
        error = ((rows - found * fit[:, None]) ** 2).sum(axis=1)
        better = error < best
        best[better] = error[better]
        codes[better] = found[better]
        steps[better] = fit[better]
    shifted = (codes + 8).astype(np.uint8)
    packed = shifted[:, ::2] | np.left_shift(shifted[:, 1::2], 4)
    return packed.astype(np.uint8), steps


def write_table(
    path: Path,
    words: Sequence[str],
    stop: Sequence[str],
    rows: NDArray[np.float32],
    piece_weight: float,
) -> None:
    """Write the word table: `rows` (n, d) carry the words' weights as their lengths."""
    codes, steps = quantise(rows)
    # Half precision has its best range around 1; one factor for all rows changes no unit vector.
    scales = (steps / steps.max()).astype(np.float16)
    arrays = {"words": pack_words(words), "stop": pack_words(stop), "codes": codes, "scales": scales}
    digest = hashlib.blake2b(digest_size=4)
    for array in arrays.values():
        digest.update(array.tobytes())
    about = {
        "dimension": rows.shape[1],
        "rows": len(words),
        "piece_weight": piece_weight,
        "fingerprint": digest.hexdigest(),
        "licence": "CC-BY-SA-4.0; see LICENSE-embedder.txt",
    }
    write_sections(path, about, arrays)
