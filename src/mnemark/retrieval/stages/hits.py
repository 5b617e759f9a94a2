"""Mark and render: what the answer tells beside the chosen passages, and their hits with text and reasons."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from mnemark.index.passage import COLUMNS
from mnemark.index.rows import SUSPECT
from mnemark.index.snapshot import Floats, Positions
from mnemark.index.store import Record
from mnemark.retrieval import derived, filters, past_facts
from mnemark.retrieval.presets import DEFAULT
from mnemark.retrieval.ranking import confidence, features, rank
from mnemark.retrieval.render import EARLIER, NOTED, named, recorded, snippet
from mnemark.retrieval.stages import Question
from mnemark.retrieval.stages.fuse import Fused, Routes
from mnemark.retrieval.stages.rank import RankedPassages
from mnemark.types import Hit


class Marks(NamedTuple):
    """What the answer tells beside the chosen passages."""

    noted: Mapping[int, int]
    """Positions of derived lines that say more of the question, by those of the turns they are shown with."""
    page: int | None
    """Position of a page that says more of the question than any chosen passage."""
    evidence: confidence.Evidence | None


def mark(question: Question, routes: Routes, fused: Fused, ranking: RankedPassages) -> Marks:
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
    question: Question, routes: Routes, fused: Fused, ranking: RankedPassages
) -> confidence.Evidence | None:
    preset = question.request.preset if question.request.preset.fusion == "absolute" else DEFAULT
    cosines = None if routes.meaning is None else routes.meaning.cosines
    inputs = features.Inputs(
        question.snapshot, question.query.text, question.asked, routes.words, cosines, question.competing,
        fused.plain, fused.in_time, preset.time, ranking.records, question.view.speakers, ranking.echoes,
    )  # fmt: skip
    return features.gather(inputs)


def hits_of(
    question: Question, routes: Routes, fused: Fused, ranking: RankedPassages, marks: Marks
) -> tuple[Hit, ...]:
    """Return the hits of the chosen passages, without those that say nothing; a page comes first."""

    def hit_of(entry: rank.Ranked, record: Record) -> Hit:
        why = _why(entry, routes, fused, ranking) if question.request.explain else {}
        hit = _hit(question, routes, entry, record, why)
        return replace(hit, meta={**hit.meta, EARLIER: True}) if entry.pos in ranking.older else hit

    view = question.view
    made = [hit_of(entry, ranking.records[entry.pos]) for entry in ranking.chosen]
    hits = _with_notes([hit for hit in made if hit.text.strip()], question, ranking, marks)
    if marks.page is not None:
        best = max((hit.score for hit in hits), default=0.0)
        hits = [hit_of(rank.Ranked(marks.page, best, {}), view.fetch([marks.page])[0]), *hits]
    if question.request.explain and marks.evidence is not None:
        answer = {"answer": marks.evidence._asdict()}
        hits = [replace(hit, why={**hit.why, **answer}) for hit in hits]
    return tuple(hits)


def _with_notes(hits: list[Hit], question: Question, ranking: RankedPassages, marks: Marks) -> list[Hit]:
    """Add to turns the derived lines that say more of the question."""
    if not marks.noted:
        return hits
    lines = question.view.fetch(list(marks.noted.values()))
    by_place = {
        (ranking.records[pos].path, ranking.records[pos].start_line): line
        for pos, line in zip(marks.noted, lines, strict=True)
        if line.start_line == line.end_line
    }
    return [
        hit
        if (line := by_place.get((hit.path, hit.start_line))) is None
        else replace(hit, meta={**hit.meta, NOTED: {"text": line.text, "ref": line.ref}})
        for hit in hits
    ]


def _hit(question: Question, routes: Routes, entry: rank.Ranked, record: Record, why: dict[str, Any]) -> Hit:
    text = past_facts.without_past_entries(record.path, record.text, question.is_past)
    words = snippet(text, routes.words.idf, title=record.title, question=question.query.text)
    is_suspect = question.snapshot.rows["flags"][entry.pos] & SUSPECT
    hit = hit_of_record(question, record, entry.score, words, {"suspect": True} if is_suspect else {})
    return replace(hit, why=why)


def hit_of_record(
    question: Question, record: Record, score: float, words: str, marks: Mapping[str, Any]
) -> Hit:
    """Return the hit of a passage, with marks in its `meta`; `words` stand for it where there is no room."""
    meta = {**named(record.kind, record.path), **recorded(record.meta), **marks}
    meta.pop(COLUMNS, None)
    if record.role:
        meta.setdefault("role", record.role)
    text = past_facts.without_past_entries(record.path, record.text, question.is_past)
    return Hit(
        ref=record.ref, path=record.path, start_line=record.start_line, end_line=record.end_line,
        kind=record.kind, title=record.title, date=record.date, origin=record.origin, scope=record.scope,
        score=round(score, 4), text=text, snippet=words, meta=meta, why={},
    )  # fmt: skip


def _why(entry: rank.Ranked, routes: Routes, fused: Fused, ranking: RankedPassages) -> dict[str, Any]:
    """Explain a passage's score: rank and score in each route, idf of each term, each boost."""
    pos, words = entry.pos, routes.words
    by_route: dict[str, Any] = {"lexical": _in_route(words.scores, pos)}
    by_route["lexical"]["own"] = round(float(words.own[pos]), 4)
    by_route["lexical"]["whole"] = round(float(words.scores[pos] - words.own[pos]), 4)
    for name, scores in (("dense", routes.dense), ("qmd", routes.qmd)):
        if scores is not None:
            by_route[name] = _in_route(scores, pos)
    if pos in ranking.reranked.why:
        by_route["rerank"] = ranking.reranked.why[pos]
    terms = {
        term: {"idf": round(words.idf[term], 2), "here": features.holds(hits.pos, pos)}
        for term, hits in words.hits.items()
    }
    boosts = {name: round(value, 4) for name, value in entry.boosts.items()}
    return {"routes": by_route, "fused": round(float(fused.scores[pos]), 4), "boosts": boosts, "terms": terms}


def _in_route(scores: Floats, pos: int) -> dict[str, Any]:
    """Return a passage's score and rank in one route."""
    value = float(scores[pos])
    return {
        "score": round(value, 4),
        "rank": int(np.count_nonzero(scores > value)) + 1 if value > 0 else None,
    }
