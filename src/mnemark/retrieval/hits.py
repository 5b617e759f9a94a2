"""Make hits of the chosen passages: their text, their source, and the reasons of their place."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from mnemark.index.passage import COLUMNS
from mnemark.index.reader import View
from mnemark.index.rows import SUSPECT
from mnemark.index.snapshot import Floats, Positions
from mnemark.index.store import Record
from mnemark.retrieval import past_facts
from mnemark.retrieval.ranking import features, rank
from mnemark.retrieval.render import NOTED, named, snippet
from mnemark.retrieval.routes import lexical
from mnemark.types import Hit


class HitMaker:
    """Makes the hits of one search.

    Args:
        view: of the index.
        words: scores of the lexical route.
        meaning: scores of the dense route.
        fused: scores of both.
        qmd_scores: of QMD, by position.
        reranked: reasons of the reranker, by position.
        is_past: tells which entries of core memory no longer hold.
        explained: whether hits get their reasons.
    """

    def __init__(  # noqa: PLR0917 - what a hit is explained by
        self,
        view: View,
        words: lexical.Lexical,
        meaning: Floats | None,
        fused: Floats,
        qmd_scores: Floats | None,
        reranked: Mapping[int, dict[str, Any]],
        is_past: past_facts.IsPast,
        *,
        explained: bool,
    ) -> None:
        self._view = view
        self._words = words
        self._meaning = meaning
        self._fused = fused
        self._qmd_scores = qmd_scores
        self._reranked = reranked
        self._is_past = is_past
        self._explained = explained

    def hits(self, chosen: Sequence[rank.Ranked], records: Mapping[int, Record]) -> tuple[Hit, ...]:
        """Return the hits of the chosen passages, without those that say nothing."""
        made = (self._hit(entry, records[entry.pos]) for entry in chosen)
        return tuple(hit for hit in made if hit.text.strip())

    def with_notes(
        self, hits: tuple[Hit, ...], noted: Mapping[int, int], records: Mapping[int, Record]
    ) -> tuple[Hit, ...]:
        """Add to turns the derived lines that say more of the question.

        `noted` has their positions by those of the turns, whose passages are in `records`.
        """
        if not noted:
            return hits
        by_place = {
            (records[pos].path, records[pos].start_line): line
            for pos, line in zip(noted, self._view.fetch(list(noted.values())), strict=True)
            if line.start_line == line.end_line
        }
        return tuple(
            hit
            if (line := by_place.get((hit.path, hit.start_line))) is None
            else replace(hit, meta={**hit.meta, NOTED: {"text": line.text, "ref": line.ref}})
            for hit in hits
        )

    def with_page(self, hits: tuple[Hit, ...], page: int | None) -> tuple[Hit, ...]:
        """Put the passage at this position first."""
        if page is None:
            return hits
        best = max((hit.score for hit in hits), default=0.0)
        return (self._hit(rank.Ranked(page, best, {}), self._view.fetch([page])[0]), *hits)

    def _hit(self, entry: rank.Ranked, record: Record) -> Hit:
        why: dict[str, Any] = {}
        if self._explained:
            why = explain(entry, self._words, self._meaning, self._fused)
            if self._qmd_scores is not None:
                why["routes"]["qmd"] = in_route(self._qmd_scores, entry.pos)
            if entry.pos in self._reranked:
                why["routes"]["rerank"] = self._reranked[entry.pos]
        meta = {**named(record.kind, record.path), **record.meta}
        meta.pop(COLUMNS, None)
        if record.role:
            meta.setdefault("role", record.role)
        if self._view.snapshot.rows["flags"][entry.pos] & SUSPECT:
            meta["suspect"] = True
        text = past_facts.without_past_entries(record.path, record.text, self._is_past)
        return Hit(
            ref=record.ref,
            path=record.path,
            start_line=record.start_line,
            end_line=record.end_line,
            kind=record.kind,
            title=record.title,
            date=record.date,
            origin=record.origin,
            scope=record.scope,
            score=round(entry.score, 4),
            text=text,
            snippet=snippet(text, self._words.idf, title=record.title),
            meta=meta,
            why=why,
        )


def sorted_candidates(
    positions: Positions, scores: Floats, boosts: Sequence[dict[str, float]], records: Sequence[Record]
) -> list[rank.Ranked]:
    """Sort candidates by score, then path and line, so that the order does not depend on index positions."""
    rounded = [round(float(score), 6) for score in scores]
    order = sorted(
        range(len(positions)),
        key=lambda i: (-rounded[i], records[i].path, records[i].start_line, positions[i]),
    )
    return [rank.Ranked(int(positions[i]), rounded[i], boosts[i]) for i in order]


def explain(
    entry: rank.Ranked, words: lexical.Lexical, meaning: Floats | None, fused: Floats
) -> dict[str, Any]:
    """Explain a passage's score: rank and score in each route, idf of each term, each boost."""
    pos = entry.pos
    routes: dict[str, Any] = {"lexical": in_route(words.scores, pos)}
    routes["lexical"]["own"] = round(float(words.own[pos]), 4)
    routes["lexical"]["whole"] = round(float(words.scores[pos] - words.own[pos]), 4)
    if meaning is not None:
        routes["dense"] = in_route(meaning, pos)
    terms = {
        term: {"idf": round(words.idf[term], 2), "here": features.holds(hits.pos, pos)}
        for term, hits in words.hits.items()
    }
    boosts = {name: round(value, 4) for name, value in entry.boosts.items()}
    return {"routes": routes, "fused": round(float(fused[pos]), 4), "boosts": boosts, "terms": terms}


def in_route(scores: Floats, pos: int) -> dict[str, Any]:
    """Return a passage's score and rank in one route."""
    value = float(scores[pos])
    return {
        "score": round(value, 4),
        "rank": int(np.count_nonzero(scores > value)) + 1 if value > 0 else None,
    }
