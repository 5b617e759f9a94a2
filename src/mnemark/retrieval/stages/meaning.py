"""The dense route: compare the question with all passages, while the words are scored."""

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from mnemark.errors import IntegrityError
from mnemark.index.snapshot import Floats, Positions
from mnemark.retrieval import derived
from mnemark.retrieval.routes import dense, lexical
from mnemark.retrieval.routes.dense import QueryVector, VectorRows, WeightedQuery
from mnemark.retrieval.stages import Question
from mnemark.text.words.segment import query_terms

_T = TypeVar("_T")


class DenseRoute(msgspec.Struct, frozen=True):
    """Inputs of the dense route: the pending query vector, and the vector row of each passage."""

    vector: QueryVector | WeightedQuery
    mapping: VectorRows
    lacking: str = ""
    """Why passages that have no vector yet will not get one soon."""


class Meaning(NamedTuple):
    """What the dense route found, arrays of shape (n,)."""

    cosines: Floats
    """0 for derived passages that do not compete."""
    closest: Floats
    """The same, or the cosines of derived lines where these are closer."""
    scores: Floats
    """With the neighbours' share."""
    encoder: bool
    """See `dense.Ready`."""


class _Begun(NamedTuple):
    """Cosines that are being computed, whether an encoder's, and what computes more."""

    scores: Callable[[], dense.Dense]
    encoder: bool
    more: dense.Compare | None


class Comparison:
    """The comparison of a question with all passages, begun at once unless a model has to be waited for.

    `problems` tells, after `meaning`, why there is none or not all.
    """

    def __init__(self, question: Question, route: DenseRoute | None) -> None:
        self._question = question
        wanted = question.request.preset.dense and len(question.snapshot)
        self._route = route if wanted else None
        self.problems: list[str] = []
        self._waits = route is not None and isinstance(route.vector, QueryVector)
        self._begun = None if self._waits else self._begin()

    def meaning(self, words: lexical.Lexical, sizes: lexical.Lengths) -> Meaning | None:
        """Wait for the cosines; None where there are none."""
        begun = self._begin() if self._waits else self._begun
        if begun is not None and not self._waits and self._seconds_left() == 0:
            self.problems.append(f"dense: {dense.NO_TIME}")  # the words took all of it
            return None
        compared = None if begun is None else self._cosines(begun)
        if begun is None or compared is None:
            return None
        edges, snapshot = self._question.edges, self._question.snapshot
        cosines = dense.filled(compared.scores, compared.missing, words.own)
        of_lines = derived.line_cosines(cosines, edges)
        if edges is not None:
            cosines = np.where(edges.apart, np.float32(0), cosines)
        scores = dense.shared(cosines, snapshot, self._question.request.preset.neighbour)
        if of_lines is not None:
            scores += np.float32(derived.DENSE) * of_lines
        scores *= sizes.substance
        closest = cosines if of_lines is None else np.maximum(cosines, of_lines)
        return Meaning(cosines, closest, scores, begun.encoder)

    def _seconds_left(self) -> float | None:
        deadline = self._question.request.deadline
        return None if deadline is None else max(deadline - time.monotonic(), 0.0)

    def _begin(self) -> _Begun | None:
        route, question = self._route, self._question
        if route is None:
            return None
        ready = route.vector.get(self._seconds_left(), self._rarity)
        vector, store = ready.vector, ready.store
        if vector is None or store is None:
            self.problems.append(f"dense: {ready.problem}")
            return None
        scores = self._unless_lost(
            lambda: dense.begin(question.snapshot, vector, store, route.mapping, question.counted)
        )
        return None if scores is None else _Begun(scores, ready.encoder, ready.cosines)

    def _cosines(self, begun: _Begun) -> dense.Dense | None:
        compared = self._unless_lost(begun.scores)
        if compared is None:
            return None
        compared = dense.with_new(compared, begun.more, self._question.view.fetch)
        if len(compared.missing) and not self._tell_missing(compared.missing):
            return None
        if not begun.encoder or self._question.request.preset.fusion == "weighted":
            return compared  # "weighted" is another program's formula, of plain cosines
        return replace(compared, scores=dense.standardised(compared.scores))

    def _tell_missing(self, missing: Positions) -> bool:
        """Tell how much of what may be found has no vector; return whether anything has one."""
        question = self._question
        searched = question.restrict(np.ones(len(question.snapshot), np.float32), question.counted) > 0
        count, lacking = int(np.count_nonzero(searched)), int(np.count_nonzero(searched[missing]))
        if lacking:
            share = (count - lacking) * 100 // count
            why = "" if self._route is None else self._route.lacking
            self.problems.append(
                f"dense: only {share}% of the passages are embedded{why}; run `mnemark sync`"
            )
        return lacking < max(count, 1)

    def _unless_lost(self, step: Callable[[], _T]) -> _T | None:
        """Do a step with the vectors; None where they are lost."""
        try:
            return step()
        except IntegrityError as error:  # of the vectors: the index itself is sound
            self.problems.append(f"dense: {error}")
        except IndexError:  # an erasure, or another thread, replaced them since their rows were looked up
            self.problems.append("dense: the vectors were rewritten meanwhile; search again")
        return None

    def _rarity(self, word: str) -> float:
        """Return the idf of a word among the competing passages."""
        terms, snapshot, mask = query_terms(word), self._question.snapshot, self._question.competing
        if not terms:
            return 1.0
        pos = snapshot.term(terms[0]).pos
        holding = len(pos) if mask is None else int(mask[pos].sum())
        count = len(snapshot) if mask is None else int(mask.sum())
        if (outside := self._question.request.outside) is not None:
            count, holding = count + len(outside), holding + len(outside.term(terms[0]).pos)
        return lexical.idf(count, holding)
