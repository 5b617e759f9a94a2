"""Encode, decode and merge posting lists: which passages contain a term, and how often.

A segment covers up to 65,536 passages, numbered from 0 in it. Its posting list of one term is a blob of n
little-endian `uint16` passage numbers in rising order, then n bytes: the low six bits count the term in the
text (63 at most), the high two in the head (title, file name, speaker, date; 3 at most). Three bytes a
posting, read by numpy without a copy.

Segments are immutable except for their `dead` bits; a changed document is marked dead here and added to a
new segment. Small segments are merged (`merge`).
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

MAX_SIZE: Final = 65_536
TEXT_MAX: Final = 63
HEAD_MAX: Final = 3
HEAD_SHIFT: Final = 6
_FAN: Final = 8
"""Segments of similar size that are merged into one."""
_LARGE: Final = 32_768
"""Passages of a segment that is only rewritten where many are dead."""

Ids = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.uint8]


class Posting(msgspec.Struct, frozen=True):
    """The posting list of one term: passage numbers and packed counts, both of shape (n,)."""

    ids: Ids
    counts: Counts


Postings = Mapping[str, Mapping[int, Posting]]
"""Posting lists by term, then by the number of their segment; terms that no segment holds are left out."""


def dead_bits(data: bytes, size: int) -> npt.NDArray[np.bool_]:
    """Unpack the dead bits of a segment to a mask of shape (size,)."""
    return np.unpackbits(np.frombuffer(data, np.uint8), count=size).astype(np.bool_)


def encode(ids: Ids, counts: bytes | bytearray | Counts) -> bytes:
    """Encode a posting list as a blob."""
    return ids.astype("<u2").tobytes() + bytes(counts)


def decode(data: bytes) -> Posting:
    """Decode a posting list from a blob, without a copy."""
    size = len(data) // 3
    return Posting(np.frombuffer(data, "<u2", size), np.frombuffer(data, np.uint8, size, 2 * size))


def merged_posting(parts: Sequence[tuple[int, bytes]], renumber: dict[int, npt.NDArray[np.int32]]) -> bytes:
    """Merge one term's posting lists of several segments, given in rising order of their new numbers.

    `renumber[segment]` maps old passage numbers to new ones, -1 for dead passages.
    """
    ids, counts = [], []
    for segment, data in parts:
        posting = decode(data)
        new = renumber[segment][posting.ids]
        alive = new >= 0
        ids.append(new[alive].astype(np.uint16))
        counts.append(posting.counts[alive])
    return encode(np.concatenate(ids), np.concatenate(counts).tobytes())


def due_for_merge(sizes: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return the ids of the segments to merge into one now; empty if none are due.

    `sizes` lists (id, size, dead). Eight segments of similar size (within a factor of eight) are merged, so
    that each passage is rewritten about log8(n) times; a segment that is a quarter dead is rewritten alone.
    """
    for segment, size, dead in sizes:
        if dead * 4 >= size:
            return [segment]
    tiers: dict[int, list[tuple[int, int]]] = {}
    for segment, size, dead in sizes:
        if size < _LARGE:
            tiers.setdefault((size.bit_length() - 1) // 3, []).append((segment, size - dead))
    for _, members in sorted(tiers.items()):
        totals = accumulate(alive for _, alive in members)
        chosen = [segment for (segment, _), total in zip(members, totals, strict=True) if total <= MAX_SIZE]
        if len(members) >= _FAN and len(chosen) > 1:
            return chosen
    return []
