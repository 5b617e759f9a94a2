"""Fuse: the scores of all routes as one number for each passage, by the times that the question names."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from mnemark.index.rows import NO_TIME, wall_time
from mnemark.index.snapshot import Floats, Mask
from mnemark.retrieval import filters
from mnemark.retrieval.presets import DEFAULT
from mnemark.retrieval.query import reread_times
from mnemark.retrieval.ranking import fusion, identity
from mnemark.retrieval.routes.lexical import Lexical
from mnemark.retrieval.stages import Question
from mnemark.retrieval.stages.meaning import Meaning
from mnemark.types import DateRange

_MIN_EVENT_SHARE: Final = 0.6
"""Minimum share of an event's idf in a passage that counts as describing the event."""

_MOST_NAMED: Final = 3
"""Notes of one name that are raised: where many are called Meeting, none of them is meant."""
_STEP: Final = 0.01
"""Share of the best score by which a note that the query names is above the next one."""


class Routes(NamedTuple):
    """What the routes found."""

    words: Lexical
    meaning: Meaning | None
    qmd: Floats | None
    """QMD's scores by position; None without an answer."""

    @property
    def dense(self) -> Floats | None:
        """The scores of the dense route; None without it."""
        return None if self.meaning is None else self.meaning.scores


class Fused(NamedTuple):
    """One score for each passage, shape (n,), 0 where it may not be found."""

    scores: Floats
    plain: Floats
    """Without the boost for times, on the absolute scale that confidence needs."""
    in_time: Mask | None
    """The passages dated inside the question's ranges; None without such passages."""
    named: Sequence[int] = ()
    """Positions of passages of notes that the question names."""


def fuse(question: Question, routes: Routes) -> Fused:
    """Fuse the scores of the routes."""
    preset, mask = question.request.preset, question.competing
    in_time = _time_mask(question)
    scores = fusion.fuse(routes.words.scores, routes.dense, in_time, preset)
    if routes.qmd is not None:
        scores += fusion.beside(routes.qmd, preset)
    plain = question.restrict(scores, mask)
    boosted = _boost_by_time(question, plain, routes.words)
    if preset.fusion != "absolute":
        plain = question.restrict(fusion.fuse(routes.words.scores, routes.dense, in_time, DEFAULT), mask)
    named = _named_first(question, boosted, routes.words)
    return Fused(boosted, plain, in_time, named)


def _named_first(question: Question, fused: Floats, words: Lexical) -> list[int]:
    """Raise the best passage of each note that the query names above all others; return their positions."""
    snapshot, text = question.snapshot, question.query.text
    if not question.request.preset.identity:
        return []
    groups = identity.named(text, question.asked, words.hits, snapshot, question.view.names, question.cut)
    top, named = float(fused.max(initial=0)), []
    for place, group in enumerate(reversed(groups[:_MOST_NAMED]), 1):
        first, end = np.searchsorted(snapshot.group, (group, group + 1))
        best = int(first + np.argmax(fused[first:end]))
        if fused[best] > 0:
            fused[best] = top * (1 + _STEP * place)
            named.append(best)
    return named


def _time_mask(question: Question) -> Mask | None:
    rows, mask = question.snapshot.rows, question.competing
    for ranges in (question.query.ranges, _reread_ranges(question)):
        inside = filters.inside(rows, ranges)
        if inside is not None and (inside.any() if mask is None else (inside & mask).any()):
            return inside
    return None


def _reread_ranges(question: Question) -> tuple[DateRange, ...]:
    rows, mask = question.snapshot.rows, question.competing
    times = rows["time"] if mask is None else rows["time"][mask]
    if not question.query.ranges or not len(times) or int(times.max()) == NO_TIME:
        return ()
    return reread_times(question.query, wall_time(int(times.max())))


def _boost_by_time(question: Question, fused: Floats, words: Lexical) -> Floats:
    """Boost passages dated near the best hit, or before or after the event that the query names."""
    preset, order, snapshot = question.request.preset, question.query.order, question.snapshot
    event = _event_position(question, fused, words) if preset.near else None
    if event is None or order not in {"before", "after"}:
        return fusion.near_best(fused, snapshot, preset, order)
    allowed = question.restrict(np.ones(len(fused), np.float32), question.competing) > 0
    return fusion.beside_event(fused, snapshot, preset, event, allowed, after=order == "after")


def _event_position(question: Question, fused: Floats, words: Lexical) -> int | None:
    """Return the position of the passage that best describes the query's event, or None."""
    terms = [(words.hits[term].pos, words.idf[term]) for term in question.query.event if term in words.hits]
    if not any(len(pos) for pos, _ in terms):
        return None
    where, which = np.unique(np.concatenate([pos for pos, _ in terms]), return_inverse=True)
    share = np.bincount(which, np.concatenate([np.full(len(pos), idf) for pos, idf in terms]))
    clear = (
        (share >= _MIN_EVENT_SHARE * sum(idf for _, idf in terms))
        & (question.snapshot.rows["time"][where] != NO_TIME)
        & (fused[where] > 0)
    )
    if not clear.any():
        return None
    best = np.lexsort((fused[where], np.where(clear, share, 0)))[-1]
    return int(where[best])
