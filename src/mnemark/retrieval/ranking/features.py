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
from mnemark.text.words.normalize import HAN

_DEPTH: Final = 100
"""Best passages among which those of a named speaker are looked for."""
_MAX_CHARACTERS: Final = 4_000
"""Maximum number of characters of the best passage that are read."""
_SAMPLE: Final = 400
"""Number of characters that show a text's language."""
_SMOOTHING: Final = 20
"""Number of passages added to smooth the mean of cosines in a small memory."""

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


def gather(inputs: Inputs) -> confidence.Evidence | None:
    """Compute the features; None where nothing was found but echoes of the question."""
    order = best_positions(inputs.fused, _DEPTH)
    if inputs.echoes:
        order = order[[pos not in inputs.echoes for pos in order.tolist()]]
    if not len(order):
        return None
    best = int(order[0])
    count = len(inputs.snapshot) if inputs.mask is None else int(np.count_nonzero(inputs.mask))
    cosine = None
    if inputs.cosines is not None:
        mean = float(inputs.cosines.sum(dtype=np.float64)) / (count + _SMOOTHING)
        cosine = float(inputs.cosines[best]) - mean
    inside = inputs.in_time is not None and bool(inputs.in_time[best])
    crossed = best in inputs.records and _crossed(inputs.asked, inputs.records[best].text)
    if crossed and inputs.snapshot.rows["flags"][best] & ASKS:
        crossed, cosine = False, 0.0  # what is near in meaning alone, and asks itself, answers nothing
    return confidence.Evidence(
        score=float(inputs.fused[best]) - inside * inputs.time,
        cosine=cosine,
        passages=count,
        terms=len(inputs.asked),
        words=int(inputs.snapshot.rows["length"][best]),
        outside=float(inputs.in_time is not None and not inside),
        other=_other(inputs, order),
        crossed=float(crossed),
        turn=float(inputs.snapshot.rows["kind"][best] == KIND_CODE["turn"]),
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


def _crossed(asked: Sequence[str], text: str) -> bool:
    """Return whether a text is in another language than the terms: one of both in Chinese, the other not."""
    sample = text[:_SAMPLE]
    chinese = 0 if sample.isascii() else len(HAN.findall(sample))
    asked_in_chinese = {not term.isascii() and HAN.match(term) is not None for term in asked}
    if chinese * 3 > len(sample):
        return asked_in_chinese == {False}
    return not chinese and asked_in_chinese == {True}


def holds(positions: Positions, pos: int) -> bool:
    """Return whether a position is among sorted ones."""
    index = int(np.searchsorted(positions, pos))
    return index < len(positions) and int(positions[index]) == pos
