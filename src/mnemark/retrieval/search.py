"""Search one snapshot of the index: run the routes, fuse, rank, and estimate confidence."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from mnemark.errors import IntegrityError
from mnemark.facts.states import FactStates
from mnemark.index.passage import embedded_text
from mnemark.index.reader import Reader, View
from mnemark.index.rows import NO_TIME, seconds, wall_time
from mnemark.index.snapshot import Floats, Mask, Positions, Snapshot
from mnemark.index.store import Record
from mnemark.retrieval import derived, filters, past_facts
from mnemark.retrieval.cross_language import bridge
from mnemark.retrieval.fact_index import FactIndex
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.hits import HitMaker, sorted_candidates
from mnemark.retrieval.presets import DEFAULT, SUSPECT_FACTOR, Preset
from mnemark.retrieval.query import Query, reread_times, understand
from mnemark.retrieval.ranking import confidence, features, fusion, people, rank, rescore, ties
from mnemark.retrieval.routes import dense, lexical
from mnemark.retrieval.routes.dense import QueryVector, VectorRows, WeightedQuery
from mnemark.retrieval.turns import in_turn
from mnemark.text.words.normalize import normalize
from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import wants_overview
from mnemark.types import DateRange, Hit

if TYPE_CHECKING:
    from mnemark.retrieval.ranking.rerank import BackgroundReranker
    from mnemark.retrieval.routes.qmd import PendingQuery

_T = TypeVar("_T")
_CANDIDATES: Final = 32
_MIN_EVENT_SHARE: Final = 0.6
"""Minimum share of an event's idf in a passage that counts as describing the event."""
_FACT_CONFIDENCE: Final = 0.9
"""Probability that a fact with exactly the queried subject and predicate is the answer."""


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
    """Whether turns that only ask the same are returned."""
    rules: bool = False
    """Whether the owner's instructions and preferences that apply come first."""
    deadline: float | None = None
    """Monotonic time until which the dense route is waited for."""
    rerank_deadline: float | None = None
    """Monotonic time until which the reranker is waited for."""
    outside: Snapshot | None = None
    """Passages beside those searched, for how rare words are."""


class Found(NamedTuple):
    """Hits, the routes that found them, and how complete and confident they are."""

    hits: tuple[Hit, ...]
    mode: str
    degraded: tuple[str, ...]
    complete: bool
    believable: float


class _Begun(NamedTuple):
    """Cosines that are being computed, whether they are used as they are, and what computes more."""

    scores: Callable[[], dense.Dense]
    plain: bool
    more: dense.Compare | None


class DenseRoute(msgspec.Struct, frozen=True):
    """Inputs of the dense route: the pending query vector, and the vector row of each passage."""

    vector: QueryVector | WeightedQuery
    mapping: VectorRows


def search(
    reader: Reader,
    request: Request,
    route: DenseRoute | None,
    degraded: Sequence[str] = (),
    reranker: "BackgroundReranker | None" = None,
    *,
    fact_index: FactIndex | None = None,
    states: FactStates | None = None,
    asked: "PendingQuery | None" = None,
) -> Found:
    """Search one snapshot of the index.

    `fact_index` holds the visible facts. Where it is out of date, `states` says which facts are known to
    hold, and only those are returned.
    """
    query = understand(request.text, now=request.now, context=request.context, inner=request.preset.inner)
    computes = reranker is None and asked is None and not isinstance(route and route.vector, QueryVector)
    with in_turn(request.deadline) if computes else nullcontext(), reader.reading() as view:
        run = _Search(view, request, query, route, list(degraded))
        run.reranker, run.pending = reranker, asked
        if states is not None:
            run.is_past = lambda scope, line: states.is_past(scope, line, request.now)
        elif fact_index is not None:
            run.is_past = fact_index.is_past_entry
        found = run.without_unknown_facts(run.with_facts(run.with_suspected(run.run()), fact_index), states)
        return found._replace(hits=found.hits[: request.k])


class _Search:
    """A search inside one read transaction."""

    def __init__(
        self, view: View, request: Request, query: Query, route: DenseRoute | None, degraded: list[str]
    ) -> None:
        self.view = view
        self.snapshot: Snapshot = view.snapshot
        self.request = request
        self.query = query
        self.route = route
        self.degraded = degraded
        self.reranker: BackgroundReranker | None = None
        self.pending: PendingQuery | None = None
        self.is_past: past_facts.IsPast = lambda _scope, _line: False
        self.qmd_scores: Floats | None = None
        """QMD's scores by position; None without an answer."""
        self.reranked: Mapping[int, dict[str, Any]] = {}
        self.terms = query.terms
        """The query's terms; `run` adds translations."""
        self.rarity: Mapping[str, float] | None = None
        self.echoes: frozenset[int] = frozenset()
        """Positions of turns that only repeat the query, once it has run."""
        listed = request.where.kinds is not None and not request.where.kinds.isdisjoint(derived.KINDS)
        self.edges = None if listed else view.derived()
        """Derived passages and their sources; None where they are searched like any other."""

    def run(self) -> Found:
        preset = self.request.preset
        mask = self._visible_mask()
        self.snapshot.prefetch(term for term, _ in self.terms)  # at once: each step below needs some of them
        cosines_of_all = self._begin_cosines()
        sizes = self._lengths(mask)
        if preset.bridge and self.rarity is None:
            self.terms += bridge(self.terms, self.snapshot, mask)
        words = lexical.score(
            self.snapshot, self.terms, mask, sizes, preset, self.rarity, self.edges, self.request.outside
        )
        self.rarity = words.idf
        cosines, closest, meaning = self._meaning(cosines_of_all(), words, sizes)
        in_time = self._time_mask(mask)
        fused = self._add_qmd(fusion.fuse(words.scores, meaning, in_time, preset))
        plain = self._restrict(fused, mask)
        fused = self._boost_by_time(plain, words, mask)
        positions, best, rescored = self._best(fused, words, closest)
        records = self.view.fetch(positions)
        echoes = self._echoes(positions, records, words)
        self.echoes = frozenset(positions[echoes].tolist())
        if echoes.any() and not self.request.echoes:
            positions, best = positions[~echoes], best[~echoes]
            rescored, records = list(compress(rescored, ~echoes)), list(compress(records, ~echoes))
        scores, boosts = rank.adjust(
            positions,
            self._boost_phrases(self._reranked(positions, best, records), records),
            self.snapshot.rows,
            preset,
            now=seconds(self.request.now),
            order=self.query.order,
        )
        boosts = [{**parts, **boost} for parts, boost in zip(rescored, boosts, strict=True)]
        scores, boosts = self._settled(positions, scores, boosts, records, words)
        candidates = sorted_candidates(positions, scores, boosts, records)
        keys = [self.snapshot.rows["key"][candidate.pos].tobytes() for candidate in candidates]
        protected = self._protected(words.scores, meaning, fused)
        chosen = rank.select(candidates, keys, self.request.k, protected)
        by_position = dict(zip((int(p) for p in positions), records, strict=True))
        maker = HitMaker(
            self.view, words, meaning, fused, self.qmd_scores, self.reranked, self.is_past,
            explained=self.request.explain,
        )  # fmt: skip
        noted = derived.noted(self.snapshot, self._idf_asked(words), self.edges, _positions(chosen))
        hits = maker.with_notes(maker.hits(chosen, by_position), noted, by_position)
        hits = maker.with_page(hits, self._telling(chosen, words))  # facts may take the place of the page
        if preset.fusion != "absolute":  # confidence needs the absolute scale
            plain = self._restrict(fusion.fuse(words.scores, meaning, in_time, DEFAULT), mask)
        evidence = self._evidence(plain, words, cosines, in_time, by_position)
        if self.request.explain and evidence is not None:
            answer = {"answer": evidence._asdict()}
            hits = tuple(replace(hit, why={**hit.why, **answer}) for hit in hits)
        return Found(
            hits=hits,
            mode="lexical"
            + ("" if meaning is None else "+dense")
            + ("" if self.qmd_scores is None else "+qmd")
            + ("+rerank" if self.reranked else ""),
            degraded=tuple(self.degraded),
            complete=self.view.complete and not self.degraded,
            believable=confidence.believable(evidence),
        )

    def _meaning(
        self, compared: dense.Dense | None, words: lexical.Lexical, sizes: lexical.Lengths
    ) -> tuple[Floats | None, Floats | None, Floats | None]:
        """Return the cosines, the same or those of derived lines where these are closer, and the scores."""
        if compared is None:
            return None, None, None
        cosines = dense.filled(compared.scores, compared.missing, words.own)
        of_lines = derived.line_cosines(cosines, self.edges)
        if self.edges is not None:
            cosines = np.where(self.edges.apart, np.float32(0), cosines)
        scores, closest = dense.shared(cosines, self.snapshot, self.request.preset.neighbour), cosines
        if of_lines is not None:
            scores += np.float32(derived.DENSE) * of_lines
            closest = np.maximum(cosines, of_lines)
        scores *= sizes.substance
        return cosines, closest, scores

    def _best(
        self, fused: Floats, words: lexical.Lexical, cosines: Floats | None
    ) -> tuple[Positions, Floats, list[dict[str, float]]]:
        """Return the best passages after the last step, their scores, and its part in each."""
        count = max(_CANDIDATES, 4 * self.request.k)
        positions = fusion.best_positions(fused, max(count, rescore.DEPTH))
        if self.request.preset.ties:
            named = ties.with_named(self.request.text, positions, fused, words.hits)
            positions, count = (named, len(named)) if len(named) else (positions, count)
        user = people.asks_user(self.request.text)
        clues = rescore.Clues(self.snapshot, cosines, self._named(words, positions), user)
        scores, parts = rescore.rescore(positions, fused[positions], clues, self.request.preset)
        best = np.argsort(-scores, kind="stable")[:count]
        found = [{name: float(part[i]) for name, part in parts.items() if part[i]} for i in best.tolist()]
        return positions[best], scores[best], found

    def _named(self, words: lexical.Lexical, positions: Positions) -> Mask:
        """Return which candidates have a speaker whom the query names, by a short form, too."""
        found = features.named(words.hits, positions)
        if self.request.preset.named and ((short := people.short_names(self.request.text)) or found.any()):
            speakers = self.view.speakers(positions[: rescore.DEPTH])
            is_named = people.named_in(self.request.text)
            found[: rescore.DEPTH] &= np.array([is_named(speaker) for speaker in speakers], np.bool_)
            found[: rescore.DEPTH] |= np.array(people.called(short, speakers), np.bool_)
        return found

    def _echoes(self, positions: Positions, records: Sequence[Record], words: lexical.Lexical) -> Mask:
        """Return which candidates are turns that only repeat the query; none if it is about questions."""
        text = self.request.text
        if confidence.wants_questions(text):
            return np.zeros(len(positions), np.bool_)
        echoes = confidence.Echoes(text)
        asking = features.asking_the_same(positions, self.snapshot, words, self._asked()).tolist()
        found = [
            record.kind == "turn" and echoes.has(record.text, asks=asks)
            for record, asks in zip(records, asking, strict=True)
        ]
        return np.array(found, np.bool_)

    def _settled(
        self,
        positions: Positions,
        scores: Floats,
        boosts: list[dict[str, float]],
        records: Sequence[Record],
        words: lexical.Lexical,
    ) -> tuple[Floats, list[dict[str, float]]]:
        """Settle near ties; also add to each candidate's boosts what that changed."""
        if not self.request.preset.ties:
            return scores, boosts
        idf = self._idf_asked(words)
        found = ties.Candidates(
            positions, scores, records, self.snapshot.rows[positions], self.request.text, idf, words.hits,
            dated=bool(self.query.ranges), oldest=self.query.order == "first",
        )  # fmt: skip
        after = ties.settled(found)
        changes = (after - scores).tolist()
        more = [
            {**boost, "tie": gain} if gain else boost for boost, gain in zip(boosts, changes, strict=True)
        ]
        return after, more

    def with_suspected(self, found: Found) -> Found:
        """Add the best suspected passage if it outscores `SUSPECT_FACTOR` times the best hit."""
        request = self.request
        apart = request.where.suspected == "apart" and request.where.origins is None
        if not apart or filters.suspected(self.snapshot) is None:
            return found
        where = replace(request.where, suspected="only")
        preset = replace(request.preset, neighbour=0.0, group=0.0)  # they do not boost each other either
        asked = replace(request, where=where, k=1, preset=preset)
        other = _Search(self.view, asked, self.query, self.route, [])
        other.terms, other.rarity, other.is_past = self.terms, self.rarity, self.is_past
        best = found.hits[0].score if found.hits else 0.0
        meant = [hit for hit in other.run().hits if hit.score > SUSPECT_FACTOR * best]
        hits = sorted((*found.hits, *meant), key=lambda hit: -hit.score)
        return found._replace(hits=tuple(hits))

    def with_facts(self, found: Found, fact_index: FactIndex | None) -> Found:
        """Merge the matching facts into the hits by score."""
        request = self.request
        if fact_index is None or not len(fact_index):
            return found
        from mnemark.retrieval.routes import fact_times, facts

        query, zone = self.query, request.now.tzinfo or fact_index.zone
        asked = fact_times.asked_time(query.text, query.ranges, query.order, query.event, zone)
        joined = facts.join(
            fact_index, found.hits, request.text, self.terms,
            k=request.k, where=request.where, now=request.now, asked=asked, explain=request.explain,
        )  # fmt: skip
        believable = max(found.believable, round(joined.believable * _FACT_CONFIDENCE, 3))
        found = found._replace(hits=joined.hits, mode=f"{found.mode}+facts", believable=believable)
        return self._with_rules(found, fact_index) if request.rules else found

    def _with_rules(self, found: Found, fact_index: FactIndex) -> Found:
        """Put the owner's instructions and preferences first that apply to the message."""
        from mnemark.retrieval.routes import rules

        now = self.request.now
        moment = now if now.tzinfo else now.replace(tzinfo=fact_index.zone)
        applying = rules.applying(fact_index, self.request.text, moment, by_meaning=self.route is not None)
        if not applying:
            return found
        hits = rules.with_rules(fact_index, found.hits, applying, k=self.request.k)
        return found._replace(hits=tuple(hits), believable=max(found.believable, round(applying[0].fit, 3)))

    def without_unknown_facts(self, found: Found, states: FactStates | None) -> Found:
        """Remove facts that are not known to hold, where the fact index is out of date."""
        if states is None:
            return found
        kept = past_facts.known_to_hold(found.hits, states, self.request.now)
        believable = round(found.believable * kept.share, 3)
        return found._replace(hits=kept.hits, believable=believable, complete=False)

    def _boost_by_time(self, fused: Floats, words: lexical.Lexical, mask: Mask | None) -> Floats:
        """Boost passages dated near the best hit, or before or after the event that the query names."""
        preset, order = self.request.preset, self.query.order
        event = self._event_position(fused, words) if preset.near else None
        if event is None or order not in {"before", "after"}:
            return fusion.near_best(fused, self.snapshot, preset, order)
        allowed = self._restrict(np.ones(len(fused), np.float32), mask) > 0
        return fusion.beside_event(fused, self.snapshot, preset, event, allowed, after=order == "after")

    def _event_position(self, fused: Floats, words: lexical.Lexical) -> int | None:
        """Return the position of the passage that best describes the query's event, or None."""
        terms = [(words.hits[term].pos, words.idf[term]) for term in self.query.event if term in words.hits]
        if not any(len(pos) for pos, _ in terms):
            return None
        where, which = np.unique(np.concatenate([pos for pos, _ in terms]), return_inverse=True)
        share = np.bincount(which, np.concatenate([np.full(len(pos), idf) for pos, idf in terms]))
        clear = (
            (share >= _MIN_EVENT_SHARE * sum(idf for _, idf in terms))
            & (self.snapshot.rows["time"][where] != NO_TIME)
            & (fused[where] > 0)
        )
        if not clear.any():
            return None
        best = np.lexsort((fused[where], np.where(clear, share, 0)))[-1]
        return int(where[best])

    def _time_mask(self, mask: Mask | None) -> Mask | None:
        """Return the mask of passages dated inside the query's ranges; None without such passages."""
        rows = self.snapshot.rows
        for ranges in (self.query.ranges, self._reread_ranges(mask)):
            inside = filters.inside(rows, ranges)
            if inside is not None and (inside.any() if mask is None else (inside & mask).any()):
                return inside
        return None

    def _reread_ranges(self, mask: Mask | None) -> tuple[DateRange, ...]:
        times = self.snapshot.rows["time"] if mask is None else self.snapshot.rows["time"][mask]
        if not self.query.ranges or not len(times) or int(times.max()) == NO_TIME:
            return ()
        return reread_times(self.query, wall_time(int(times.max())))

    def _begin_cosines(self) -> Callable[[], dense.Dense | None]:
        """Begin to compare the query with all passages; return the function that waits for the cosines.

        It returns None, with the reason in `degraded`, where there are none.
        """
        route = self.route
        if route is None or not self.request.preset.dense or not len(self.snapshot):
            return lambda: None
        if isinstance(route.vector, QueryVector):  # of a model, which takes longer than the words
            return lambda: self._cosines(self._begin_dense(route))
        begun = self._begin_dense(route)
        return lambda: self._cosines(self._in_time(begun))

    def _seconds_left(self) -> float | None:
        deadline = self.request.deadline
        return None if deadline is None else max(deadline - time.monotonic(), 0.0)

    def _in_time(self, begun: _Begun | None) -> _Begun | None:
        """Return what was begun; None, with the reason in `degraded`, where the words took all the time."""
        if begun is None or self._seconds_left() != 0:
            return begun
        self.degraded.append(f"dense: {dense.NO_TIME}")
        return None

    def _begin_dense(self, route: DenseRoute) -> _Begun | None:
        ready = route.vector.get(self._seconds_left(), lambda word: self._rarity(word, self._visible_mask()))
        vector, store, mask = ready.vector, ready.store, self._counted_mask()
        if vector is None or store is None:
            self.degraded.append(f"dense: {ready.problem}")
            return None
        scores = self._unless_lost(lambda: dense.begin(self.snapshot, vector, store, route.mapping, mask))
        # "weighted" is another program's formula, of plain cosines.
        plain = ready.scaled or self.request.preset.fusion == "weighted"
        return None if scores is None else _Begun(scores, plain, ready.cosines)

    def _cosines(self, begun: _Begun | None) -> dense.Dense | None:
        compared = None if begun is None else self._unless_lost(begun.scores)
        if begun is None or compared is None:
            return None
        compared = dense.with_new(compared, begun.more, self.view.fetch)
        if len(compared.missing) and not self._tell_missing(compared.missing):
            return None
        return compared if begun.plain else replace(compared, scores=dense.standardised(compared.scores))

    def _tell_missing(self, missing: Positions) -> bool:
        """Say in `degraded` how much of what may be found has no vector; return whether anything has one."""
        searched = self._restrict(np.ones(len(self.snapshot), np.float32), self._counted_mask()) > 0
        count, lacking = int(np.count_nonzero(searched)), int(np.count_nonzero(searched[missing]))
        if lacking:
            share = (count - lacking) * 100 // count
            self.degraded.append(f"dense: only {share}% of the passages are embedded; run `mnemark sync`")
        return lacking < max(count, 1)

    def _unless_lost(self, step: Callable[[], _T]) -> _T | None:
        """Do a step with the vectors; None, with the reason in `degraded`, where they are lost."""
        try:
            return step()
        except IntegrityError as error:  # of the vectors: the index itself is sound
            self.degraded.append(f"dense: {error}")
        except IndexError:  # an erasure, or another thread, replaced them since their rows were looked up
            self.degraded.append("dense: the vectors were rewritten meanwhile; search again")
        return None

    def _add_qmd(self, fused: Floats) -> Floats:
        """Add QMD's scores; on failure return the scores unchanged, with the reason in `degraded`."""
        if self.pending is None:
            return fused
        places, problem = self.pending.get()
        if problem:
            self.degraded.append(f"qmd: {problem}")
            return fused
        from mnemark.retrieval.routes import qmd

        self.qmd_scores = qmd.scores(self.view, places)
        return fused + fusion.beside(self.qmd_scores, self.request.preset, qmd.WEIGHT)

    def _rarity(self, word: str, mask: Mask | None) -> float:
        """Return the idf of a word among the visible passages."""
        terms = query_terms(word)
        if not terms:
            return 1.0
        pos = self.snapshot.term(terms[0]).pos
        holding = len(pos) if mask is None else int(mask[pos].sum())
        count = len(self.snapshot) if mask is None else int(mask.sum())
        if (outside := self.request.outside) is not None:
            count, holding = count + len(outside), holding + len(outside.term(terms[0]).pos)
        return lexical.idf(count, holding)

    def _restrict(self, fused: Floats, mask: Mask | None) -> Floats:
        """Set the scores of filtered and excluded passages to 0."""
        allowed = filters.allowed(self.snapshot.rows, self.request.where)
        if allowed is not None:
            fused = np.where(allowed, fused, np.float32(0))
        if mask is not None:
            fused = np.where(mask, fused, np.float32(0))
        for path, line in self.request.exclude:
            fused[self.view.positions(path, line)] = 0
        return fused

    def _telling(self, chosen: Sequence[rank.Ranked], words: lexical.Lexical) -> int | None:
        """Return the position of a page that says more of the question than any chosen passage, or None."""
        if self.edges is None or not len(self.edges.pages):
            return None
        there = self._counted_mask()
        pages = self.edges.pages if there is None else self.edges.pages[there[self.edges.pages]]
        if (allowed := filters.allowed(self.snapshot.rows, self.request.where)) is not None:
            pages = pages[allowed[pages]]
        return derived.telling(self.snapshot, self._idf_asked(words), pages, _positions(chosen))

    def _asked(self) -> list[str]:
        """Return the question's own terms."""
        return [term for term, weight in self.query.terms if weight == 1]

    def _idf_asked(self, words: lexical.Lexical) -> dict[str, float]:
        """Return the idf of the question's own terms."""
        return {term: words.idf[term] for term in self._asked()}

    def _visible_mask(self) -> Mask | None:
        """Return the mask of passages that compete: without those whose sources do; None for all."""
        counted = self._counted_mask()
        if self.edges is None:
            return counted
        memo, key = self.snapshot.memo, ("competing", *self.request.where.base)
        if key not in memo:
            memo[key] = ~self.edges.apart if counted is None else counted & ~self.edges.apart
        return known if isinstance(known := memo[key], np.ndarray) else None

    def _counted_mask(self) -> Mask | None:
        where, memo = self.request.where, self.snapshot.memo
        key = ("visible", *where.base)
        if key not in memo:
            memo[key] = filters.visible(self.snapshot, self.view.scopes, where)
        return known if isinstance(known := memo[key], np.ndarray) else None

    def _lengths(self, mask: Mask | None) -> lexical.Lengths:
        preset = self.request.preset
        shape = preset.neighbour, preset.printed, preset.short, preset.k1, preset.b
        key = ("lengths", self.edges is None, *self.request.where.base, *shape)
        known = self.snapshot.memo.get(key)
        if not isinstance(known, lexical.Lengths):
            known = self.snapshot.memo[key] = lexical.lengths(self.snapshot, mask, preset, self.edges)
        return known

    def _reranked(self, positions: Positions, scores: Floats, records: Sequence[Record]) -> Floats:
        """Rerank the top candidates; on failure return the scores unchanged, with the reason in `degraded`.

        Scores of `rrf` and `weighted` are not reranked: they have another scale.
        """
        if self.reranker is None or self.request.preset.fusion != "absolute" or not len(scores):
            return scores
        from mnemark.retrieval.ranking import rerank

        deadline = self.request.rerank_deadline
        left = None if deadline is None else deadline - time.monotonic()
        texts = [embedded_text(record.title, record.text) for record in records[: rerank.DEPTH]]
        logits, problem = self.reranker.logits(self.request.text, texts, left)
        if logits is None:
            self.degraded.append(f"rerank: {problem}")
            return scores
        self.reranked = {int(positions[i]): rerank.explain(logits, i) for i in range(len(logits))}
        return np.concatenate([rerank.blend(scores[: len(logits)], logits), scores[len(logits) :]])

    def _boost_phrases(self, scores: Floats, records: Sequence[Record]) -> Floats:
        """Boost candidates that hold the query's quoted phrases and code spans as they are written."""
        preset, phrases, code = self.request.preset, self.query.phrases, self.query.code
        if not ((phrases and preset.phrase) or (code and preset.code)) or not len(scores):
            return scores
        texts = [normalize(f"{record.title}\n{record.text}") for record in records]
        gains = [
            preset.phrase * sum(phrase in text for phrase in phrases)
            + preset.code * sum(span in text for span in code) / max(len(code), 1)
            for text in texts
        ]
        return scores + np.float32(scores.max()) * np.array(gains, np.float32)

    def _protected(self, words: Floats, meaning: Floats | None, fused: Floats) -> list[int]:
        """Return the positions of each route's best passage, which stay in the answer."""
        if self.request.preset.fusion != "absolute":
            return []
        found = []
        for scores in (words, meaning):
            if scores is not None and len(scores):
                best = int(np.argmax(scores))
                if fused[best] <= 0:  # filtered out
                    best = int(np.argmax(np.where(fused > 0, scores, 0)))
                found.append(best)
        return [pos for pos in found if fused[pos] > 0]

    def _evidence(
        self,
        fused: Floats,
        words: lexical.Lexical,
        cosines: Floats | None,
        in_time: Mask | None,
        records: Mapping[int, Record],
    ) -> confidence.Evidence | None:
        mask = self._visible_mask()
        preset = self.request.preset if self.request.preset.fusion == "absolute" else DEFAULT
        inputs = features.Inputs(
            self.snapshot, self.request.text, self._asked(), words, cosines, mask, fused, in_time,
            preset.time, records, self.view.speakers, self.echoes, wants_overview(self.request.text),
        )  # fmt: skip
        return features.gather(inputs)


def _positions(chosen: Sequence[rank.Ranked]) -> Positions:
    return np.array([one.pos for one in chosen], np.int64)
