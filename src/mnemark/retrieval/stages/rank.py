"""Rank: the best passages by all that tells more than the routes, and those of them that are the answer."""

import time
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np

from mnemark.index.passage import embedded_text
from mnemark.index.rows import seconds
from mnemark.index.snapshot import Floats, Mask, Positions
from mnemark.index.store import Record
from mnemark.retrieval.ranking import confidence, features, fusion, people, rank, rescore, ties, twins
from mnemark.retrieval.routes.lexical import Lexical
from mnemark.retrieval.stages import Question, Reranker
from mnemark.retrieval.stages.fuse import Fused, Routes
from mnemark.text.words.normalize import normalize

_CANDIDATES: Final = 32


class Reranked(NamedTuple):
    """The scores after the reranker, its reasons by position, and why it gave none."""

    scores: Floats
    why: Mapping[int, dict[str, Any]] = {}
    problem: str = ""


class RankedPassages(NamedTuple):
    """The chosen passages, best first, and what they were chosen from."""

    chosen: list[rank.Ranked]
    records: Mapping[int, Record]
    """The candidates by position."""
    echoes: frozenset[int]
    """Positions of turns that only repeat the question."""
    reranked: Reranked
    older: frozenset[int]
    """Positions of passages beside a newer one on the same matter."""


def rank_passages(
    question: Question, routes: Routes, fused: Fused, reranker: Reranker | None
) -> RankedPassages:
    """Choose the passages of the answer."""
    words, snapshot = routes.words, question.snapshot
    positions, best, parts = _best(question, routes, fused)
    records = question.view.fetch(positions)
    is_echo = _echoes(question, positions, records, words)
    echoes = frozenset(positions[is_echo].tolist())
    if echoes and not question.request.echoes:
        positions, best = positions[~is_echo], best[~is_echo]
        parts, records = list(compress(parts, ~is_echo)), list(compress(records, ~is_echo))
    reranked = _reranked(question, positions, best, records, reranker)
    scores, boosts = rank.adjust(
        positions,
        _boost_phrases(question, reranked.scores, records),
        snapshot.rows,
        question.request.preset,
        now=seconds(question.request.now),
        order=question.query.order,
    )
    settled, older = _settled(question, positions, scores, records, words, np.isin(positions, fused.named))
    gains = (settled - scores).tolist()
    reasons = [
        {**part, **boost, **({"tie": gain} if gain else {})}
        for part, boost, gain in zip(parts, boosts, gains, strict=True)
    ]
    candidates = _sorted(positions, settled, reasons, records)
    keys = [snapshot.rows["key"][candidate.pos].tobytes() for candidate in candidates]
    chosen = rank.select(candidates, keys, question.request.k, _protected(question, routes, fused.scores))
    by_position = dict(zip(positions.tolist(), records, strict=True))
    return RankedPassages(chosen, by_position, echoes, reranked, frozenset(positions[older].tolist()))


def _best(
    question: Question, routes: Routes, fused: Fused
) -> tuple[Positions, Floats, list[dict[str, float]]]:
    """Return the best passages after the last step, their scores, and its part in each."""
    text, preset, words = question.request.text, question.request.preset, routes.words
    count = max(_CANDIDATES, 4 * question.request.k)
    positions = fusion.best_positions(fused.scores, max(count, rescore.DEPTH))
    if preset.ties:
        named = ties.with_named(text, positions, fused.scores, words.hits, question.cut)
        positions, count = (named, len(named)) if len(named) else (positions, count)
    meaning = routes.meaning
    closest, encoder = (None, False) if meaning is None else (meaning.closest, meaning.encoder)
    named_speakers = _named(question, words, positions)
    clues = rescore.Clues(question.snapshot, closest, named_speakers, people.asks_user(text), encoder)
    scores, parts = rescore.rescore(positions, fused.scores[positions], clues, preset)
    best = np.argsort(-scores, kind="stable")[:count]
    reasons = [{name: float(part[i]) for name, part in parts.items() if part[i]} for i in best.tolist()]
    return positions[best], scores[best], reasons


def _named(question: Question, words: Lexical, positions: Positions) -> Mask:
    """Return which candidates have a speaker whom the query names, by a short form, too."""
    text = question.request.text
    named = features.named(words.hits, positions)
    if question.request.preset.named and ((short := people.short_names(text)) or named.any()):
        speakers = question.view.speakers(positions[: rescore.DEPTH])
        by_name = people.named_in(text, speakers)
        named[: rescore.DEPTH] &= np.array([speaker in by_name for speaker in speakers], np.bool_)
        named[: rescore.DEPTH] |= np.array(people.called(short, speakers), np.bool_)
    return named


def _echoes(question: Question, positions: Positions, records: Sequence[Record], words: Lexical) -> Mask:
    """Return which candidates are turns that only repeat the query; none if it is about questions."""
    text = question.request.text
    if confidence.wants_questions(text):
        return np.zeros(len(positions), np.bool_)
    echoes = confidence.Echoes(text)
    asking = features.asking_the_same(positions, question.snapshot, words, question.asked).tolist()
    turns = [record.text if record.kind == "turn" else None for record in records]
    return np.array(echoes.among(turns, asking), np.bool_)


def _reranked(
    question: Question,
    positions: Positions,
    scores: Floats,
    records: Sequence[Record],
    reranker: Reranker | None,
) -> Reranked:
    """Rerank the top candidates. Scores of `rrf` and `weighted` are not: they have another scale."""
    if reranker is None or question.request.preset.fusion != "absolute" or not len(scores):
        return Reranked(scores)
    deadline = question.request.rerank_deadline
    left = None if deadline is None else deadline - time.monotonic()
    texts = [embedded_text(record.title, record.text) for record in records]
    after, reasons, problem = reranker.reranked(question.request.text, texts, scores, left)
    why = dict(zip(positions[: len(reasons)].tolist(), reasons, strict=True))
    return Reranked(after, why, problem)


def _boost_phrases(question: Question, scores: Floats, records: Sequence[Record]) -> Floats:
    """Boost candidates that hold the query's quoted phrases and code spans as they are written."""
    preset, phrases, code = question.request.preset, question.query.phrases, question.query.code
    if not ((phrases and preset.phrase) or (code and preset.code)) or not len(scores):
        return scores
    texts = [normalize(f"{record.title}\n{record.text}") for record in records]
    gains = [
        preset.phrase * sum(phrase in text for phrase in phrases)
        + preset.code * sum(span in text for span in code) / max(len(code), 1)
        for text in texts
    ]
    return scores + np.float32(scores.max()) * np.array(gains, np.float32)


def _settled(  # noqa: PLR0917 - what the candidates are
    question: Question, positions: Positions, scores: Floats, records: Sequence[Record], words: Lexical,
    named: Mask,
) -> tuple[Floats, Mask]:  # fmt: skip
    """Settle near ties; return which candidates are older than another on the same matter, too."""
    if not question.request.preset.ties:
        return scores, np.zeros(len(scores), np.bool_)
    found = ties.Candidates(
        positions, scores, records, question.snapshot.rows[positions], question.request.text,
        question.idf_asked(words), words.hits, named,
        dated=bool(question.query.ranges), oldest=question.query.order == "first",
    )  # fmt: skip
    return twins.ordered(found, ties.settled(found))


def _sorted(
    positions: Positions, scores: Floats, boosts: Sequence[dict[str, float]], records: Sequence[Record]
) -> list[rank.Ranked]:
    """Sort candidates by score, then path and line, so that the order does not depend on index positions."""
    rounded = [round(float(score), 6) for score in scores]
    order = sorted(
        range(len(positions)),
        key=lambda i: (-rounded[i], records[i].path, records[i].start_line, positions[i]),
    )
    return [rank.Ranked(int(positions[i]), rounded[i], boosts[i]) for i in order]


def _protected(question: Question, routes: Routes, fused: Floats) -> list[int]:
    """Return the positions of each route's best passage, which stay in the answer."""
    if question.request.preset.fusion != "absolute":
        return []
    protected = []
    for scores in (routes.words.scores, routes.dense):
        if scores is not None and len(scores):
            best = int(np.argmax(scores))
            if fused[best] <= 0:  # filtered out
                best = int(np.argmax(np.where(fused > 0, scores, 0)))
            protected.append(best)
    return [pos for pos in protected if fused[pos] > 0]
