"""Rank: the best passages by all that tells more than the routes, and those of them that are the answer."""

import time
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np

from mnemark.index.passage import embedded_text
from mnemark.index.rows import NO_TIME, seconds
from mnemark.index.snapshot import Floats, Mask, Positions
from mnemark.index.store import Record
from mnemark.retrieval import echoes
from mnemark.retrieval.ranking import features, fusion, people, rank, rescore, ties, twins
from mnemark.retrieval.routes.lexical import Lexical
from mnemark.retrieval.stages import Question, Reranker
from mnemark.retrieval.stages.fuse import Fused, Routes
from mnemark.text.words.normalize import normalize
from mnemark.text.words.stopwords import ASKING_FORM, content_terms

_CANDIDATES: Final = 32
_LEAST_RELEVANCE: Final = 0.02
"""Relevance, on the absolute scale of `fusion`, below which a passage is no part of a recall: on eleven sets,
3 of about 300 such passages were the answer, none outside of questions that are whole dialogues."""


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


class _Asking(NamedTuple):
    """Which candidates ask what the query does, shape (candidates,)."""

    repeats: Mask
    """Turns that only repeat it."""
    asks: Mask
    """Turns that ask for hardly more, those among them."""


def rank_passages(
    question: Question, routes: Routes, fused: Fused, reranker: Reranker | None
) -> RankedPassages:
    """Choose the passages of the answer."""
    words, snapshot = routes.words, question.snapshot
    positions, best, parts = _best(question, routes, fused)
    records = question.view.fetch(positions)
    asking = _asking(question, positions, records, words)
    repeating = frozenset(positions[asking.repeats].tolist())
    asks = asking.asks
    if not question.request.echoes:
        left = ~asking.repeats & _relevant(question, routes, fused, positions)
        positions, best, asks = positions[left], best[left], asks[left]
        parts, records = list(compress(parts, left)), list(compress(records, left))
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
    settled = _behind_statements(question, positions, settled, words, asks)
    gains = (settled - scores).tolist()
    reasons = [
        {**part, **boost, **({"tie": gain} if gain else {})}
        for part, boost, gain in zip(parts, boosts, gains, strict=True)
    ]
    oldest = question.query.order == "first"
    if not question.query.ranges:
        settled = rank.newest_of_equals(settled, snapshot.rows[positions], oldest=oldest)
    candidates = _sorted(
        positions, settled, reasons, records, snapshot.rows["time"][positions], oldest=oldest
    )
    keys = [snapshot.rows["key"][candidate.pos].tobytes() for candidate in candidates]
    chosen = rank.select(candidates, keys, question.request.k, _protected(question, routes, fused.scores))
    by_position = dict(zip(positions.tolist(), records, strict=True))
    return RankedPassages(chosen, by_position, repeating, reranked, frozenset(positions[older].tolist()))


def _best(
    question: Question, routes: Routes, fused: Fused
) -> tuple[Positions, Floats, list[dict[str, float]]]:
    """Return the best passages after the last step, their scores, and its part in each."""
    text, preset, words = question.query.text, question.request.preset, routes.words
    count = max(_CANDIDATES, 4 * question.request.k)
    positions = fusion.best_positions(fused.scores, max(count, rescore.DEPTH))
    told = _telling(question, fused.scores)
    if len(told):
        positions = np.concatenate((positions, np.setdiff1d(told, positions)))
    meaning = routes.meaning
    closest, encoder = (None, False) if meaning is None else (meaning.closest, meaning.encoder)
    named_speakers = _named(question, words, positions)
    clues = rescore.Clues(question.snapshot, closest, named_speakers, people.asks_user(text), encoder)
    scores, parts = rescore.rescore(positions, fused.scores[positions], clues, preset)
    order = np.argsort(-scores, kind="stable")
    best = order[:count]
    if len(told):
        best = order[(np.arange(len(order)) < count) | np.isin(positions[order], told)]
    reasons = [{name: float(part[i]) for name, part in parts.items() if part[i]} for i in best.tolist()]
    return positions[best], scores[best], reasons


def _telling(question: Question, fused: Floats) -> Positions:
    """Return the passages that tell who a person is, or a state of the owner, that the question asks for."""
    if not question.request.preset.ties:
        return np.zeros(0, np.int64)
    at = ties.may_tell(question.query.text, fused, question.snapshot, question.cut)
    if not len(at):
        return at
    return at[ties.telling(question.query.text, question.view.fetch(at), question.snapshot.rows[at])]


def _named(question: Question, words: Lexical, positions: Positions) -> Mask:
    """Return which candidates have a speaker whom the query names, by a short form, too."""
    text = question.query.text
    named = features.named(words.hits, positions)
    if not question.request.preset.named:
        return named
    short = people.short_names(text)
    read = np.arange(len(positions))[: rescore.DEPTH]
    read = read if short else read[named[read]]  # each is a read from the disk
    if len(read):
        speakers = question.view.speakers(positions[read])
        by_name = people.named_in(text, speakers)
        named[read] &= np.array([speaker in by_name for speaker in speakers], np.bool_)
        named[read] |= np.array(people.called(short, speakers), np.bool_)
    return named


def _asking(question: Question, positions: Positions, records: Sequence[Record], words: Lexical) -> _Asking:
    """Return which candidates ask what the query does; none if it is about questions."""
    repeats, asks = np.zeros((2, len(positions)), np.bool_)
    if not echoes.wants_questions(question.query.text):
        known = echoes.Echoes(question.request.text)
        short = features.may_only_ask(positions, question.snapshot, words, question.asked)
        for at in np.flatnonzero(short).tolist():
            beyond = known.beyond(records[at].text)
            repeats[at] = beyond == 0 or known.is_query(records[at].text)
            asks[at] = beyond is not None and beyond <= echoes.FEW
    return _Asking(repeats, asks)


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
    after, reasons, problem = reranker.reranked(question.query.text, texts, scores, left)
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
    idf = question.idf_asked(words)
    found = ties.Candidates(
        positions, scores, records, question.snapshot.rows[positions], question.query.text, idf, words.hits,
        rank.held(positions, [words.hits[term] for term in idf]), named,
        dated=bool(question.query.ranges), oldest=question.query.order == "first",
    )  # fmt: skip
    return twins.ordered(found, ties.settled(found))


def _relevant(question: Question, routes: Routes, fused: Fused, positions: Positions) -> Mask:
    """Return which candidates more than their date speaks for: words and meaning, of their neighbours, too.

    All are where the query asks for nothing but a time, or words alone were compared; the best is, and what
    the query names.
    """
    relevance = fused.plain[positions]
    if fused.in_time is not None:
        relevance = relevance - question.request.preset.time * fused.in_time[positions]
    found: Mask = relevance >= min(_LEAST_RELEVANCE, relevance.max(initial=0))
    found |= np.isin(positions, fused.named)
    named = {term for when in question.query.ranges for term in content_terms(when.text, question.cut)}
    asks = any(not (term in ASKING_FORM or term in named or people.is_date(term)) for term in question.asked)
    return found if asks and routes.meaning is not None else np.ones(len(positions), np.bool_)


def _behind_statements(
    question: Question, positions: Positions, scores: Floats, words: Lexical, asks: Mask
) -> Floats:
    """Put turns that ask behind those that tell something on the same."""
    if not asks.any():
        return scores
    terms = [term for term in question.asked if term not in ASKING_FORM]
    held = rank.held(positions, [words.hits[term] for term in terms])
    lowered = scores.copy()
    rank.put_behind(lowered, asks & held.any(axis=1), ~asks, held)
    return lowered


def _sorted(
    positions: Positions,
    scores: Floats,
    boosts: Sequence[dict[str, float]],
    records: Sequence[Record],
    times: Positions,
    *,
    oldest: bool,
) -> list[rank.Ranked]:
    """Sort candidates by score, then the newest first, then by path and line, not by index positions."""
    rounded = [round(float(score), 6) for score in scores]
    dated = times != NO_TIME
    signed = np.where(dated, times, 0) * (1 if oldest else -1)
    ages = np.where(dated, signed, np.iinfo(np.int64).max).tolist()
    order = sorted(
        range(len(positions)),
        key=lambda i: (-rounded[i], ages[i], records[i].path, records[i].start_line, positions[i]),
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
