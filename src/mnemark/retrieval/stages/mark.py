"""Mark: how far the answer can be believed, and the derived lines and the page that say more."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mnemark.index.snapshot import Positions
from mnemark.retrieval import derived, filters
from mnemark.retrieval.presets import DEFAULT
from mnemark.retrieval.ranking import confidence, features, rank
from mnemark.retrieval.stages.fuse import Fused, Routes
from mnemark.retrieval.stages.question import Question
from mnemark.retrieval.stages.rank import Ranking
from mnemark.text.words.stopwords import wants_overview


class Marks(NamedTuple):
    """What the answer tells beside the chosen passages."""

    noted: Mapping[int, int]
    """Positions of derived lines that say more of the question, by those of the turns they are shown with."""
    page: int | None
    """Position of a page that says more of the question than any chosen passage."""
    evidence: confidence.Evidence | None


def mark(question: Question, routes: Routes, fused: Fused, ranking: Ranking) -> Marks:
    """Return the marks of an answer."""
    idf = question.idf_asked(routes.words)
    chosen = _positions(ranking.chosen)
    return Marks(
        derived.noted(question.snapshot, idf, question.edges, chosen),
        derived.telling(question.snapshot, idf, _pages(question), chosen),
        _evidence(question, routes, fused, ranking),
    )


def _positions(chosen: Sequence[rank.Ranked]) -> Positions:
    return np.array([entry.pos for entry in chosen], np.int64)


def _pages(question: Question) -> Positions:
    """Return the pages that may be found."""
    if question.edges is None:
        return np.zeros(0, np.int64)
    pages = question.edges.pages
    for allowed in (question.counted, filters.allowed(question.snapshot.rows, question.request.where)):
        pages = pages if allowed is None else pages[allowed[pages]]
    return pages


def _evidence(
    question: Question, routes: Routes, fused: Fused, ranking: Ranking
) -> confidence.Evidence | None:
    preset = question.request.preset if question.request.preset.fusion == "absolute" else DEFAULT
    cosines = None if routes.meaning is None else routes.meaning.cosines
    inputs = features.Inputs(
        question.snapshot, question.request.text, question.asked, routes.words, cosines, question.competing,
        fused.plain, fused.in_time, preset.time, ranking.records, question.view.speakers, ranking.echoes,
        wants_overview(question.request.text),
    )  # fmt: skip
    return features.gather(inputs)
