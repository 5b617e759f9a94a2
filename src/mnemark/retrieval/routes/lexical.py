"""Lexical route: BM25 over passages, their neighbours and their documents.

A passage's term frequency is its own plus `neighbour` times that of the passage before and after (in the same
note or session) and its square for those two steps away, plus `head` where title, speaker or date hold the
term. The document as a whole is scored by the same formula, and `group` times its score is added to its
passages; the output of tools counts for itself alone (`printed`), and very short passages count less
(`short`). Both parts are divided by their attainable maximum, sum(idf) * (k1 + 1) over the query's terms,
unknown ones included: a score of 0.5 means half of the possible evidence, in every index and for every query,
so that weak lexical evidence gives way to the other routes.

BM25: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, with Lucene's idf,
ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from mnemark.index.derived import Edges
from mnemark.index.rows import KIND_CODE
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot, TermHits
from mnemark.retrieval.derived import joined, joined_lengths
from mnemark.retrieval.presets import Preset

_COMMON: Final = 2_000
"""A term in more passages than this, and in more than one of 16, is not spread to neighbours: it carries
little information at the highest cost."""


class QueryTerm(NamedTuple):
    """A term of the query with its weight: 1 for the query itself, less for its context."""

    term: str
    weight: float = 1.0


class Sentence(NamedTuple):
    """A sentence of a query of several."""

    weight: float
    """Its weight beside the others."""
    terms: frozenset[str]


class Lexical(msgspec.Struct, frozen=True):
    """Scores of all passages, float32 of shape (n,), with idf and postings of the terms."""

    scores: Floats
    """Share of the attainable score, own and neighbours', plus `group` times the document's."""
    own: Floats
    """Scores without the document's part."""
    idf: dict[str, float]
    """Inverse document frequency of each term, those unknown to the index included."""
    hits: dict[str, TermHits]


class Lengths(msgspec.Struct, frozen=True):
    """Length normalisation of passages and documents, over the visible passages."""

    norm: Floats
    """BM25's K of each passage, from its length and the neighbours' share, shape (n,)."""
    document_norm: Floats
    """BM25's K of each document, shape (groups,)."""
    total: int
    document_total: int
    substance: Floats
    """Factor for short passages, 1 for long ones, shape (n,)."""
    words: Floats | None = None
    """Weight of each passage in its document and its neighbours; None where all are 1."""


def lengths(snapshot: Snapshot, mask: Mask | None, preset: Preset, edges: Edges | None = None) -> Lengths:
    """Compute the length normalisation over the passages in `mask` (None for all).

    `edges`: sources, whose length includes what was derived from them, but for being short.
    """
    own = snapshot.rows["length"].astype(np.float32)
    substance = 1 - np.exp(-(own + 0.5) / preset.short) if preset.short else np.ones(len(own))
    own = joined_lengths(own, edges)
    if mask is not None:
        own = np.where(mask, own, np.float32(0))
    words = _weights(snapshot, preset)
    documents = np.bincount(snapshot.group, own if words is None else own * words, snapshot.groups)
    wide = own.copy()
    if preset.neighbour:
        given = own if words is None else own * words
        for step in (1, 2):
            together = snapshot.together(step)
            wide[step:] += np.float32(preset.neighbour**step) * given[:-step] * together
            wide[:-step] += np.float32(preset.neighbour**step) * given[step:] * together
    count = int(mask.sum()) if mask is not None else len(own)
    document_count = snapshot.groups
    if mask is not None:
        document_count = int(np.count_nonzero(np.bincount(snapshot.group[mask])))
    total = float(wide.sum(dtype=np.float64)) if mask is None else float(wide[mask].sum(dtype=np.float64))
    document_mean = float(documents.sum()) / max(document_count, 1)
    return Lengths(
        _norm(wide, total / max(count, 1), preset),
        _norm(documents.astype(np.float32), document_mean, preset),
        count,
        document_count,
        substance.astype(np.float32),
        words,
    )


def _weights(snapshot: Snapshot, preset: Preset) -> Floats | None:
    """Return the weight of each passage in its document and its neighbours, or None where all are 1.

    What a session was about stands in what was said; `git log` or a file that was read names everything, and
    who says "Now I commit it" before it has said nothing of that.
    Where nothing was said, as in a journal of observations, they count in full.
    """
    observed = snapshot.rows["kind"] == KIND_CODE["observation"]
    if not preset.printed or not observed.any():
        return None
    said = np.zeros(snapshot.groups, np.bool_)
    said[snapshot.group[~observed]] = True
    observed &= said[snapshot.group]
    return np.where(observed, np.float32(1 - preset.printed), np.float32(1))


def score(  # noqa: PLR0917 - what BM25 needs
    snapshot: Snapshot,
    terms: Sequence[QueryTerm],
    mask: Mask | None,
    size: Lengths,
    preset: Preset,
    rarity: Mapping[str, float] | None = None,
    edges: Edges | None = None,
    outside: Snapshot | None = None,
    sentences: Sequence[Sentence] = (),
) -> Lexical:
    """Score every passage for the terms; passages outside `mask` score 0.

    Of several sentences each is scored for itself, and the scores are added as squares: a passage with four
    words of one sentence has more to do with the query than one with a word of each of four.

    `rarity`: the terms' inverse document frequencies from another search, to score on its scale.
    `edges`: sources, which hold what was derived from them.
    `outside`: further passages for which words are counted: in few ones, every word would be a rare one.
    `sentences`: those of the query, where it has several; terms of none count as the first one's.
    """
    every_hits = snapshot.prefetch(term for term, _ in terms)
    elsewhere, beside = ({}, 0) if outside is None else (outside.prefetch(every_hits), len(outside))
    found: dict[str, TermHits] = {}
    weights: dict[str, float] = {}
    gains: dict[str, tuple[float, int]] = {}
    for term, weight in terms:
        every = every_hits[term]
        found[term] = joined(_masked(every, mask), every, edges, mask)
        holding = len(elsewhere[term].pos) if elsewhere else 0
        own_idf = idf(size.total + beside, len(found[term].pos) + holding)
        weights[term] = own_idf if rarity is None else rarity[term]
        gains[term] = weight, holding
    sums = _Sums(snapshot, size, preset)
    for share, part in _parts(found, sentences):
        for term in part:
            hits, (weight, holding) = found[term], gains[term]
            frequency: Floats = hits.text + np.float32(preset.head) * (hits.head > 0).astype(np.float32)
            sums.add(hits.pos, frequency, share * weight * weights[term] * (preset.k1 + 1))
            if preset.group:
                sums.add_to_documents(hits.pos, frequency, share * weight, (beside, holding))
        if sentences:
            sums.square()
    return sums.lexical(mask, weights, found)


def _parts(terms: Iterable[str], sentences: Sequence[Sentence]) -> list[tuple[float, list[str]]]:
    """Return weight and terms of each sentence, or all terms as one."""
    if not sentences:
        return [(1.0, list(terms))]
    known = frozenset[str]().union(*(one.terms for one in sentences))
    of_none = [term for term in terms if term not in known]
    parts = [(one.weight, [term for term in terms if term in one.terms]) for one in sentences]
    return [(parts[0][0], parts[0][1] + of_none), *parts[1:]]


class _Squares(NamedTuple):
    """Sums of the squares of what each sentence adds, and the most that they could be."""

    own: Floats
    documents: Floats
    attainable: float
    attainable_of_documents: float


class _Sums:
    """What the terms so far add to passages and documents, and the most that they could."""

    def __init__(self, snapshot: Snapshot, size: Lengths, preset: Preset) -> None:
        self._snapshot, self._size, self._preset = snapshot, size, preset
        self._own = np.zeros(len(snapshot), np.float32)
        self._documents = np.zeros(snapshot.groups, np.float32)
        self._scratch = np.zeros(len(snapshot), np.float32)
        self._attainable = self._attainable_of_documents = 0.0
        self._squares: _Squares | None = None

    def square(self) -> None:
        """End a sentence: add the squares of its sums to those of the sentences before."""
        own, documents = self._own, self._documents
        before = self._squares or _Squares(np.zeros_like(own), np.zeros_like(documents), 0.0, 0.0)
        np.add(before.own, own * own, out=before.own)
        np.add(before.documents, documents * documents, out=before.documents)
        self._squares = before._replace(
            attainable=before.attainable + self._attainable**2,
            attainable_of_documents=before.attainable_of_documents + self._attainable_of_documents**2,
        )
        own[:], documents[:] = 0, 0
        self._attainable = self._attainable_of_documents = 0.0

    def add(self, pos: Positions, frequency: Floats, gain: float) -> None:
        """Add a term that is worth `gain` at most: to the passages that hold it, and to their neighbours."""
        self._attainable += gain
        if not len(pos):
            return
        size, scratch = self._size, self._scratch
        wide = self._preset.neighbour if len(pos) < max(_COMMON, size.total // 16) else 0.0
        given = frequency if size.words is None else frequency * size.words[pos]
        touched = _spread(self._snapshot, pos, frequency, given, scratch, wide)
        values = scratch[touched]
        # A position is in `touched` up to five times with the same value; += on an index array adds it once.
        self._own[touched] += np.float32(gain) * values / (values + size.norm[touched])
        scratch[touched] = 0

    def add_to_documents(
        self, pos: Positions, frequency: Floats, weight: float, outside: tuple[int, int]
    ) -> None:
        """Add a term to each document that contains it.

        `outside`: how many texts there are beside these, and how many of them hold the term.
        """
        size, snapshot, most = self._size, self._snapshot, self._preset.k1 + 1
        total, holding = size.document_total + outside[0], outside[1]
        if not len(pos):
            self._attainable_of_documents += weight * idf(total, holding) * most
            return
        if size.words is not None:
            frequency = frequency * size.words[pos]
        owner = snapshot.group[pos]
        starts = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
        sums = np.add.reduceat(frequency, starts)
        which = owner[starts]
        gain = weight * idf(total, holding + len(which)) * most
        self._documents[which] += np.float32(gain) * sums / (sums + size.document_norm[which])
        self._attainable_of_documents += gain

    def lexical(self, mask: Mask | None, weights: dict[str, float], hits: dict[str, TermHits]) -> Lexical:
        """Return the scores as shares of what is attainable."""
        if (squares := self._squares) is not None:
            self._own, self._documents = np.sqrt(squares.own), np.sqrt(squares.documents)
            self._attainable = math.sqrt(squares.attainable)
            self._attainable_of_documents = math.sqrt(squares.attainable_of_documents)
        own, size = self._own, self._size
        if self._attainable:
            own /= np.float32(self._attainable)
        if self._preset.group and self._attainable_of_documents:
            self._documents *= np.float32(self._preset.group / self._attainable_of_documents)
            # Indexing them by the passages' groups would take three times as long.
            scores = np.repeat(self._documents, self._snapshot.group_sizes)
            scores += own
            if mask is not None:
                scores *= mask
            scores *= size.substance
            own *= size.substance
        else:
            own *= size.substance
            scores = own.copy()
        return Lexical(scores, own, weights, hits)


def _norm(lengths: Floats, mean: float, preset: Preset) -> Floats:
    """Return BM25's K of each length: k1 * (1 - b + b * length / mean)."""
    slope = preset.k1 * preset.b / max(mean, 1e-9)
    return (np.float32(preset.k1 * (1 - preset.b)) + np.float32(slope) * lengths).astype(np.float32)


def _masked(hits: TermHits, mask: Mask | None) -> TermHits:
    if mask is None or not len(hits.pos):
        return hits
    keep = mask[hits.pos]
    return TermHits(hits.pos[keep], hits.text[keep], hits.head[keep])


def _spread(  # noqa: PLR0917 - an inner loop's arrays
    snapshot: Snapshot, pos: Positions, frequency: Floats, given: Floats, scratch: Floats, neighbour: float
) -> Positions:
    """Write frequencies and the neighbours' share of `given` into `scratch`; return the positions written."""
    scratch[pos] = frequency
    if not neighbour:
        return pos
    touched = [pos]
    for step in (1, 2):
        shared = np.float32(neighbour**step) * given
        together = snapshot.together(step)
        before = pos >= step
        before[before] = together[pos[before] - step]
        touched.append(pos[before] - step)
        scratch[touched[-1]] += shared[before]
        after = pos < len(together)
        after[after] = together[pos[after]]
        touched.append(pos[after] + step)
        scratch[touched[-1]] += shared[after]
    return np.concatenate(touched)


def idf(count: int, holding: int) -> float:
    """Return the inverse document frequency, ln(1 + (N - df + 0.5) / (df + 0.5)), never negative."""
    return math.log1p((count - holding + 0.5) / (holding + 0.5))
