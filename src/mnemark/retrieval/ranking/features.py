"""Compute the confidence features from the arrays of a search."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from mnemark.index.rows import ASKS, KIND_CODE
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot, TermHits
from mnemark.index.store import Record
from mnemark.retrieval.ranking import confidence
from mnemark.retrieval.ranking.fusion import best_positions
from mnemark.retrieval.ranking.people import is_about, is_date, named_in
from mnemark.retrieval.routes import lexical
from mnemark.text.words.normalize import HAN, normalize

_TOP: Final = 3
"""Number of top passages searched for terms close together."""
_MAX_CHARACTERS: Final = 4_000
"""Maximum number of characters of each searched."""
_SAMPLE: Final = 400
"""Number of characters that show a text's language."""
_SMOOTHING: Final = 20
"""Number of passages added to smooth idf and the mean of cosines in a small memory."""

_MOST_ASKING: Final = 6
"""Words beside the question's that a turn may have that repeats it, those of asking among them."""
_MOST_UNMARKED: Final = 3
"""The same for a turn that does not end in a question mark."""


class Inputs(msgspec.Struct, frozen=True):
    """Inputs of the confidence of a search; arrays of shape (n,)."""

    snapshot: Snapshot
    question: str
    asked: Sequence[str]
    """The question's own terms, without context and translations."""
    words: lexical.Lexical
    cosines: Floats | None
    """Cosines without neighbours, 0 outside `mask`."""
    mask: Mask | None
    fused: Floats
    in_time: Mask | None
    time: float
    """What `fused` has more for a passage in that time."""
    records: Mapping[int, Record]
    """Candidates by position."""
    speakers: Callable[[Positions], Sequence[str]]
    """Returns who said the passages at these positions."""
    echoes: frozenset[int] = frozenset()
    """Positions of turns that only repeat the question: no evidence."""
    overview: bool = False
    """Whether many passages answer the question together."""


def gather(inputs: Inputs) -> confidence.Evidence | None:
    """Compute the features; None where nothing was found but echoes of the question."""
    order = best_positions(inputs.fused, confidence.DEPTH)
    full = len(order) == confidence.DEPTH
    if inputs.echoes:
        order = order[[pos not in inputs.echoes for pos in order.tolist()]]
    if not len(order):
        return None
    best = int(order[0])
    # Smoothed by `_SMOOTHING` passages: in a memory of three turns every word is rare.
    count = _SMOOTHING + (len(inputs.snapshot) if inputs.mask is None else int(np.count_nonzero(inputs.mask)))
    asked = confidence.weighed(inputs.asked, overview=inputs.overview)
    idf = {term: lexical.idf(count, len(inputs.words.hits[term].pos)) for term in asked}
    cosine = None
    if inputs.cosines is not None:
        cosine = float(inputs.cosines[best]) - float(inputs.cosines.sum(dtype=np.float64)) / count
    floor = float(inputs.fused[order[-1]]) if full else 0.0
    inside = inputs.in_time is not None and bool(inputs.in_time[best])
    top = [pos for pos in order[:_TOP].tolist() if pos in inputs.records]
    crossed = best in inputs.records and _crossed(inputs.asked, inputs.records[best].text)
    if crossed and inputs.snapshot.rows["flags"][best] & ASKS:
        crossed, cosine = False, 0.0  # what is near in meaning alone, and asks itself, answers nothing
    answering = order[: confidence.OVERVIEW_DEPTH].tolist() if inputs.overview else [best]
    around = frozenset[str]().union(*(_terms_around(inputs, pos) for pos in answering))
    return confidence.Evidence(
        lead=max(float(inputs.fused[best]) - inside * inputs.time - floor, 0.0),
        together=max((_together(inputs, idf, pos) for pos in top), default=0.0),
        coverage=confidence.share(idf, around),
        cosine=cosine,
        outside=float(inputs.in_time is not None and not inside),
        missing=confidence.missing(idf, around),
        terms=len(idf),
        words=int(inputs.snapshot.rows["length"][best]),
        overview=float(inputs.overview),
        other=_other(inputs, order),
        crossed=float(crossed),
    )


def _other(inputs: Inputs, order: Positions) -> float:
    """Return how far the best passage of a speaker whom the question names is behind the best of all."""
    heads = named(inputs.words.hits, order)
    if not heads.any():
        return 0.0
    best, places = int(order[0]), order[heads].tolist()
    speaker, *speakers = inputs.speakers(np.array([best, *places]))
    named_speakers = named_in(inputs.question, (speaker, *speakers))
    theirs = next((one for one in zip(places, speakers, strict=True) if one[1] in named_speakers), None)
    if theirs is None or not speaker or speaker in named_speakers:
        return 0.0
    if best in inputs.records and is_about(theirs[1], inputs.records[best].text[:_MAX_CHARACTERS]):
        return 0.0
    return 1 - float(inputs.fused[theirs[0]]) / float(inputs.fused[best])


def named(hits: Mapping[str, TermHits], positions: Positions) -> Mask:
    """Return which of the passages have a speaker (or an attachment) that a term names.

    The head of a turn consists of speaker, attachments and date: a term in it that is no date names one. It
    may be a role, or a part of another name: see `people.named_in`.

    Args:
        hits: of the query's terms.
        positions: of passages, in any order.
    """
    found = np.zeros(len(positions), np.bool_)
    for term, hit in hits.items():
        if not is_date(term):
            found |= hit.in_head(positions) > 0
    return found


def may_only_ask(
    positions: Positions, snapshot: Snapshot, words: lexical.Lexical, asked: Sequence[str]
) -> Mask:
    """Return which passages are turns short enough to ask only what the question does; see `Echoes`."""
    rows = snapshot.rows[positions]
    held = sum((words.hits[term].in_text(positions) for term in asked), np.zeros(len(rows), np.float32))
    most = np.where(rows["flags"] & ASKS, _MOST_ASKING, _MOST_UNMARKED)
    found: Mask = (rows["kind"] == KIND_CODE["turn"]) & (rows["length"] <= held + most)
    return found


def _together(inputs: Inputs, idf: Mapping[str, float], pos: int) -> float:
    record = inputs.records[pos]
    text = normalize(f"{record.title}\n{record.text[:_MAX_CHARACTERS]}")
    present = frozenset(term for term in inputs.asked if holds(inputs.words.hits[term].pos, pos))
    return confidence.together(idf, text, present)


def _crossed(asked: Sequence[str], text: str) -> bool:
    """Return whether a text is in another language than the terms: one of both in Chinese, the other not."""
    sample = text[:_SAMPLE]
    chinese = 0 if sample.isascii() else len(HAN.findall(sample))
    asked_in_chinese = {not term.isascii() and HAN.match(term) is not None for term in asked}
    if chinese * 3 > len(sample):
        return asked_in_chinese == {False}
    return not chinese and asked_in_chinese == {True}


def _terms_around(inputs: Inputs, pos: int) -> frozenset[str]:
    """Return the question's terms that occur in the passage or its neighbours in the document."""
    group = inputs.snapshot.group
    near = range(max(pos - 1, 0), min(pos + 2, len(group)))
    places = [place for place in near if group[place] == group[pos]]
    return frozenset(
        term for term in inputs.asked if any(holds(inputs.words.hits[term].pos, place) for place in places)
    )


def holds(positions: Positions, pos: int) -> bool:
    """Return whether a position is among sorted ones."""
    index = int(np.searchsorted(positions, pos))
    return index < len(positions) and int(positions[index]) == pos
