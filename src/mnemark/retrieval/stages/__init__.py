"""The stages of a search, each a function that returns its part; the first understands the question.

It goes from a request to one state of the index, its terms, and the passages that compete.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import numpy as np
from msgspec.structs import replace

from mnemark.index.derived import Edges
from mnemark.index.reader import View
from mnemark.index.snapshot import Floats, Mask, Snapshot
from mnemark.retrieval import derived, filters
from mnemark.retrieval.cross_language import bridge
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.past_facts import IsPast
from mnemark.retrieval.presets import DEFAULT, Preset
from mnemark.retrieval.query import Query
from mnemark.retrieval.routes import lexical
from mnemark.retrieval.routes.lexical import QueryTerm
from mnemark.text.words.segment import Cut
from mnemark.types import Hit


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A query with its filter, ranking and deadlines."""

    text: str
    k: int = 8
    where: Filter = Filter()
    preset: Preset = DEFAULT
    now: datetime
    context: tuple[str, ...] = ()
    exclude: tuple[tuple[str, int], ...] = ()
    """(path, first line): turns from that line on are in the model's context already."""
    explain: bool = False
    echoes: bool = True
    """Whether turns that only ask the same are returned, and what hardly more than its date speaks for."""
    rules: bool = False
    """Whether the owner's instructions and preferences that apply come first."""
    deadline: float | None = None
    """Monotonic time until which the dense route is waited for."""
    rerank_deadline: float | None = None
    """Monotonic time until which the reranker is waited for."""
    outside: Snapshot | None = None
    """Passages beside those searched, for how rare words are."""
    hurried: bool = False
    """Whether nothing may be loaded for it: no dictionary, and no turns that are not synced."""


RERANKED: Final = 20
"""Number of the best candidates that a reranker reorders."""


class Reranker(Protocol):
    """Interface of a reranker; `mnemark_adapters.reranker` has one. Thread-safe."""

    def reranked(
        self, question: str, passages: Sequence[str], scores: Floats, timeout: float | None
    ) -> tuple[Floats, list[dict[str, Any]], str]:
        """Return the scores, shape (n,), with its part in the first `RERANKED`, reasons, and the problem."""

    def logits(
        self, question: str, passages: Sequence[str], timeout: float | None = None
    ) -> tuple[Floats | None, str]:
        """Return the log odds that each passage answers, or the reason why there are none in time."""

    def load(self) -> None:
        """Load the model; a failure is told by the next search."""

    def name(self) -> str:
        """Return the model's name; raise MnemarkError where something that it needs is missing."""


class AskedProgram(Protocol):
    """Interface of another program's search that was asked; `mnemark_adapters.qmd` has one."""

    def scores(self, view: View) -> tuple[Floats | None, str]:
        """Return its scores by passage, shape (n,); or None and the reason."""


class OtherProgram(Protocol):
    """Interface of another program that searches the workspace, too."""

    def ask(self, text: str, deadline: float | None) -> AskedProgram:
        """Ask it in the background, for an answer by a monotonic deadline."""


class Found(NamedTuple):
    """Hits, the routes that found them, and how complete and confident they are."""

    hits: tuple[Hit, ...]
    mode: str
    degraded: tuple[str, ...]
    complete: bool
    on_topic: float
    believable: float

    def at_least(self, on_topic: float, believable: float) -> "Found":
        """Return the same with no less confidence than this."""
        return self._replace(
            on_topic=max(self.on_topic, on_topic), believable=max(self.believable, believable)
        )


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A request inside of one read transaction: what every stage is given."""

    view: View
    snapshot: Snapshot
    """The passages of the view."""
    request: Request
    query: Query
    terms: tuple[QueryTerm, ...]
    """The query's terms, and translations of those that occur nowhere."""
    edges: Edges | None
    """Derived passages and their sources; None where they are searched like any other."""
    counted: Mask | None
    """The passages that statistics are computed over; None for all."""
    competing: Mask | None
    """Those of them that compete: without those whose sources do; None for all."""
    is_past: IsPast
    """Tells which entries of core memory no longer hold."""
    rarity: Mapping[str, float] | None = None
    """The terms' idf from another search, to score on its scale."""
    cut: Cut | None = None
    """Segments Chinese instead of the dictionary."""

    @property
    def asked(self) -> list[str]:
        """The terms of what the query asks, without context and translations."""
        asks = self.query.asks
        return [term for term, weight in self.query.terms if weight == 1 and (not asks or term in asks)]

    def idf_asked(self, words: lexical.Lexical) -> dict[str, float]:
        """Return the idf of the question's own terms."""
        return {term: words.idf[term] for term in self.asked}

    def restrict(self, scores: Floats, mask: Mask | None) -> Floats:
        """Set the scores of filtered and excluded passages to 0."""
        allowed = filters.allowed(self.snapshot.rows, self.request.where)
        for part in (allowed, mask):
            scores = scores if part is None else np.where(part, scores, np.float32(0))
        for path, line in self.request.exclude:
            scores[self.view.positions(path, line)] = 0
        return scores


def understand(
    view: View, request: Request, query: Query, is_past: IsPast, cut: Cut | None = None
) -> Question:
    """Return the question; the index is asked for the hits of its terms, all at once."""
    listed = request.where.kinds is not None and not request.where.kinds.isdisjoint(derived.KINDS)
    edges = None if listed else view.derived()
    counted, competing = _masks(view, request.where, edges)
    question = Question(
        view=view, snapshot=view.snapshot, request=request, query=query, terms=query.terms, edges=edges,
        counted=counted, competing=competing, is_past=is_past, cut=cut,
    )  # fmt: skip
    view.snapshot.prefetch(term for term, _ in query.terms)  # each step below needs some of them
    if not request.preset.bridge:
        return question
    return replace(question, terms=query.terms + bridge(query.terms, view.snapshot, competing))


def of_suspected(question: Question, idf: Mapping[str, float]) -> Question:
    """Return the question to the suspected passages only, for one hit, on the scale of the other search."""
    request = question.request
    where = replace(request.where, suspected="only")
    preset = replace(request.preset, neighbour=0.0, group=0.0)  # they do not boost each other either
    counted, competing = _masks(question.view, where, question.edges)
    request = replace(request, where=where, k=1, preset=preset)
    return replace(question, request=request, counted=counted, competing=competing, rarity=idf)


def _masks(view: View, where: Filter, edges: Edges | None) -> tuple[Mask | None, Mask | None]:
    """Return the masks `counted` and `competing`; cached."""
    memo = view.snapshot.memo
    key = "visible", *where.base
    if key not in memo:
        memo[key] = filters.visible(view.snapshot, view.scopes, where)
    counted = mask if isinstance(mask := memo[key], np.ndarray) else None
    if edges is None:
        return counted, counted
    key = "competing", *where.base
    if key not in memo:
        memo[key] = ~edges.apart if counted is None else counted & ~edges.apart
    return counted, mask if isinstance(mask := memo[key], np.ndarray) else None


def lengths(question: Question) -> lexical.Lengths:
    """Return the length normalisation over the competing passages; cached."""
    preset, edges, memo = question.request.preset, question.edges, question.snapshot.memo
    shape = preset.neighbour, preset.printed, preset.short, preset.k1, preset.b
    key = "lengths", edges is None, *question.request.where.base, *shape
    known = memo.get(key)
    if not isinstance(known, lexical.Lengths):
        known = memo[key] = lexical.lengths(question.snapshot, question.competing, preset, edges)
    return known
