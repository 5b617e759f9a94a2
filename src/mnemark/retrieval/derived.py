"""Rank turns by what was derived from them, and find derived passages by what they say. Pure.

A derived line is a part of the turns that it names, as if it stood in them: its terms and its length are
theirs, so that it counts for their neighbours and sessions, too, and its cosine raises theirs. It takes no
place of its own. A derived passage that names a whole session (an episode) is found where it says more of the
question than any passage does.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from mnemark.index.derived import Edges, positions_from
from mnemark.index.rows import KIND_CODE
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot, TermHits
from mnemark.types import Kind

KINDS: Final[frozenset[Kind]] = frozenset({"episode", "note", "fact"})
"""Kinds of derived passages; a search for one of them by name finds them like any other."""
DENSE: Final = 0.8
"""Weight of a derived line's cosine in its sources."""


def joined(hits: TermHits, every: TermHits, edges: Edges | None, mask: Mask | None) -> TermHits:
    """Return a term's hits, the turns holding what their derived lines hold.

    Args:
        hits: of the term in the passages that are searched.
        every: of the term in all passages.
        edges: sources of derived passages.
        mask: of the passages that are searched; None for all.
    """
    if edges is None or not len(edges.lines) or not len(every.pos):
        return hits
    first = np.searchsorted(edges.lines, every.pos)
    count = np.searchsorted(edges.lines, every.pos, side="right") - first
    sources = edges.sources[positions_from(first, count)]
    counts = np.repeat(every.text, count)
    if mask is not None:
        seen = mask[sources]
        sources, counts = sources[seen], counts[seen]
    if not len(sources):
        return hits
    turns, which = np.unique(sources, return_inverse=True)
    more = np.bincount(which, counts).astype(np.float32)
    place = np.searchsorted(hits.pos, turns)
    new = ~hits.among(turns)
    text = hits.text.astype(np.float32)  # a copy
    text[place[~new]] += more[~new]
    at = place[new]
    return TermHits(
        np.insert(hits.pos, at, turns[new]), np.insert(text, at, more[new]), np.insert(hits.head, at, 0)
    )


def joined_lengths(lengths: Floats, edges: Edges | None) -> Floats:
    """Return the passages' lengths, those of turns with their derived lines."""
    if edges is None or not len(edges.lines):
        return lengths
    return lengths + np.bincount(edges.sources, lengths[edges.lines], len(lengths)).astype(np.float32)


def line_cosines(cosines: Floats, edges: Edges | None) -> Floats | None:
    """Return for each passage the best cosine of its derived lines, or 0; None where no line is derived."""
    if edges is None or not len(edges.lines):
        return None
    best = np.zeros_like(cosines)
    np.maximum.at(best, edges.sources, cosines[edges.lines])
    return best


MIN_GAIN: Final = 0.2
"""Share of the question's idf that a derived line must say beyond its source to be shown beside it."""
MIN_SHARE: Final = 0.8
"""Share of the question's idf that a derived passage must say to be found itself."""


def share(snapshot: Snapshot, positions: Positions, idf: Mapping[str, float]) -> Floats:
    """Return the share of the terms' idf that each of these passages holds."""
    found = np.zeros(len(positions), np.float64)
    for term, weight in idf.items():
        found += weight * snapshot.term(term).among(positions)
    total = sum(idf.values())
    return (found / total if total else found).astype(np.float32)


def noted(
    snapshot: Snapshot, idf: Mapping[str, float], edges: Edges | None, chosen: Positions
) -> dict[int, int]:
    """Return, for passages of which a derived line says more of a question than they do, the best such line.

    Facts are no such lines: they have values and times of their own.
    """
    if edges is None or not len(edges.lines):
        return {}
    here = np.flatnonzero(np.isin(edges.sources, chosen))
    kinds = snapshot.rows["kind"]
    here = here[
        (kinds[edges.lines[here]] != KIND_CODE["fact"]) & (kinds[edges.sources[here]] == KIND_CODE["turn"])
    ]
    lines, sources = edges.lines[here], edges.sources[here]
    gains = share(snapshot, lines, idf) - share(snapshot, sources, idf)
    best: dict[int, tuple[float, int]] = {}
    for gain, line, source in zip(gains.tolist(), lines.tolist(), sources.tolist(), strict=True):
        if gain >= MIN_GAIN:
            best[source] = max(best.get(source, (0.0, -1)), (gain, line))
    return {source: line for source, (_, line) in best.items()}


def telling(snapshot: Snapshot, idf: Mapping[str, float], pages: Positions, chosen: Positions) -> int | None:
    """Return the one of `pages` that says most of a question, if it says more than any of `chosen`.

    Episodes and facts come before parts of notes, which restate many of them in one passage.
    """
    if not len(pages):
        return None
    shares = share(snapshot, pages, idf)
    said = float(share(snapshot, chosen, idf).max(initial=0.0))
    enough = (shares >= MIN_SHARE) & (shares > said)
    if not enough.any():
        return None
    first = snapshot.rows["kind"][pages] != KIND_CODE["note"]
    return int(pages[np.lexsort((-shares, ~first, ~enough))[0]])
