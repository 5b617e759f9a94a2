"""Search by BM25 alone, without numpy: for `mnemark hook` without a daemon, and recalls that run out of time.

Chinese is segmented by the words of the index, without loading the dictionary. BM25 as in `lexical`, but
without neighbours and documents' scores. `believable` has the same features and weights as in `search`, so
that one threshold serves both.
"""

import functools
import heapq
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from msgspec.structs import replace

from mnemark.facts import states
from mnemark.facts.known import FACT
from mnemark.files.journal import Journal
from mnemark.files.tombstones import TombstoneLog
from mnemark.files.truth import Folder
from mnemark.index.read_only import LINE_SHIFT, Place, Postings, QuickIndex, Row, Stored
from mnemark.retrieval import past_facts
from mnemark.retrieval.presets import DEFAULT
from mnemark.retrieval.ranking import confidence
from mnemark.retrieval.render import named, snippet
from mnemark.text.words.normalize import normalize
from mnemark.text.words.segment import cut_by_frequency
from mnemark.text.words.stopwords import content_terms, topic, wants_overview
from mnemark.types import KINDS, ORIGINS, WHOLE, Hit, Kind, Origin, Recall, ref_to

MAX_CHARACTERS: Final = 2_048
MAX_TERMS: Final = 64
_ARCHIVED: Final = 1
_SUSPECT: Final = 2
_ASKS: Final = 32
"""As `rows.ASKS`."""
_SUSPECT_FACTOR: Final = 0.6
"""Factor on the score of text that looks like instructions, as `SUSPECT_FACTOR`."""
_UNTRUSTED: Final = frozenset({ORIGINS.index("tool"), ORIGINS.index("web")})
_COMMON: Final = 2_000
"""A term in more passages than this, and in more than one of 16, counts in the norm but adds no score, unless
no other does."""
_NEWEST: Final = 256
"""Of such a term, the newest so many passages are scored."""
_SPEAKERS: Final = 8
"""Passages looked at for a speaker whom the question names."""
_OTHER: Final = 0.5
"""Factor on how far these are behind: without their neighbours' words, passages differ twice as much."""
_SMOOTHING: Final = 20
_TOP: Final = 3
_MAX_READ: Final = 4_000
_IN_TEXT: Final = 63
"""Largest count of a term that the head does not hold."""
_FREQUENCY: Final = [(packed & _IN_TEXT) + DEFAULT.head * (packed > _IN_TEXT) for packed in range(256)]
"""What a posting's count stands for in BM25: that in the text, and a share for the head."""
_FACT: Final = KINDS.index("fact")
_TURN: Final = KINDS.index("turn")


class _Scored(msgspec.Struct):
    scores: dict[int, float]
    """By the keys of places."""
    held: dict[int, int]
    """The terms of a place, as bits in the order of `idf`."""
    idf: dict[str, float]
    """Smoothed idf of each term, for the confidence."""
    heads: dict[int, int]
    """The terms in the heads of places, which tell who said it and when, in the same way."""

    def terms(self, place: Place) -> frozenset[str]:
        """Return the terms that a passage holds."""
        held = self.held.get(place.key(), 0)
        return frozenset(term for number, term in enumerate(self.idf) if held >> number & 1)


def quick_search(
    root: Path,
    text: str,
    *,
    k: int = 8,
    exclude: Sequence[tuple[str, int]] = (),
    scopes: frozenset[str] | None = frozenset({""}),
    home: Path | None = None,
    hidden: TombstoneLog | None = None,
    known: states.FactStates | None = None,
    outside: QuickIndex | None = None,
    reason: str = "dense: without the daemon, hooks search by words only; start it with `mnemark serve`",
) -> Recall:
    """Return the best passages by BM25.

    Args:
        root: the workspace.
        text: the query, in any language.
        k: hits at most.
        exclude: (path, line) of session logs, whose turns are left out from that line on.
        scopes: the scopes to search; None for all.
        home: the folder that the index lies in, where that is not the workspace.
        hidden: the tombstones, if they are read already.
        known: which facts hold, if they are read already.
        outside: an index for whose passages words are counted, too: in few ones, every word would be rare.
        reason: why it was searched by words only, for `degraded`.

    Raises:
        NotFoundError: there is no index.
    """
    # Given, they are read once; the index would read them for each fetch.
    with QuickIndex(root, home, hidden or TombstoneLog(Journal(Folder(root)))) as index:
        terms = _terms(index, text[:MAX_CHARACTERS])
        scored = _score(index, terms, outside)
        left_out = {index.number_of(path): line for path, line in exclude}
        names = {number: name for number, name in index.scopes().items() if scopes is None or name in scopes}
        order = _best(index, scored, left_out, names)
        if not confidence.wants_questions(text):
            order = _without_echoes(index, order, scored, text)
        found = _fetched(index, order, scored, k, names)
        other = _other(index, order, scored, text)
        lengths = {place: index.row(place).length for place, _ in found}
    known = known or states.kept(root, home or root, lambda raw: _redacted(root, raw))
    shown = _filtered(known, found, scored.idf)
    gone = {place for place, _ in found} - {place for place, _ in shown}
    order = [one for one in order if one[1] not in gone]
    hits = [hit for _, hit in shown[:k]]
    evidence = _evidence(order, scored, hits[:_TOP], lengths, overview=wants_overview(text), other=other)
    return Recall(
        hits=tuple(hits), mode="lexical", degraded=(reason,), complete=False,
        believable=confidence.believable(evidence),
    )  # fmt: skip


def _terms(index: QuickIndex, text: str) -> list[str]:
    return content_terms(topic(text), lambda line: cut_by_frequency(line, index.frequencies))[:MAX_TERMS]


def _fetched(
    index: QuickIndex,
    order: Sequence[tuple[float, Place]],
    scored: _Scored,
    k: int,
    scopes: Mapping[int, str],
) -> list[tuple[Place, Hit]]:
    """Fetch the `k` best passages, and one more for each fact among them that may be removed."""
    facts = sum(index.row(place).kind == _FACT for _, place in order[: 2 * k])
    places = [place for _, place in order[: k + facts]]
    stored = {one.passage: one for one in index.fetch([index.row(place).passage for place in places])}
    return [
        (place, _hit(stored[row.passage], row, scopes[row.scope], scored.scores[place.key()], scored.idf))
        for place in places
        if (row := index.row(place)).passage in stored
    ]


def _filtered(
    known: states.FactStates, found: Sequence[tuple[Place, Hit]], idf: Mapping[str, float]
) -> list[tuple[Place, Hit]]:
    """Remove facts that are not known to hold, and entries of these and of other hits in core memory."""
    now = datetime.now(UTC)
    facts = [hit for _, hit in found if FACT in hit.meta and past_facts.may_be_shown(hit, known, now)]
    ids = [str(hit.meta[FACT]) for hit in facts]

    def is_past(scope: str, line: str) -> bool:
        return known.is_past(scope, line, now)

    def is_left_out(scope: str, line: str) -> bool:
        return is_past(scope, line) or known.restates(scope, line, ids)

    kept: list[tuple[Place, Hit]] = []
    for place, hit in found:
        entries = past_facts.restated_entries(hit)
        text = past_facts.without_past_entries(hit.path, hit.text, is_left_out if entries else is_past)
        left = [entry for entry in entries if entry in text]
        # What is left of a part that restates facts stands for itself if it says something of the question.
        says = any(term in entry.casefold() for entry in left for term in idf) if entries else text.strip()
        if says and past_facts.may_be_shown(hit, known, now):
            changed = text != hit.text
            shown = snippet(text, idf, title=hit.title) if changed else hit.snippet
            kept.append((place, replace(hit, text=text, snippet=shown) if changed else hit))
    return kept


def _redacted(root: Path, raw: str) -> str:
    from mnemark.facts.visible import Visible  # only where a fact file changed since the last sync

    return Visible(root).redacted(raw)


def _score(index: QuickIndex, terms: Sequence[str], outside: QuickIndex | None) -> _Scored:
    """Score passages as a share of the attainable BM25."""
    count, mean = index.counts()
    total = count if outside is None else count + outside.count()
    scored = _Scored({}, {}, {}, {})
    lengths = _Lengths(mean)
    here, elsewhere = (one.frequencies(terms) if one else {} for one in (index, outside))
    is_common = {term for term, holding in here.items() if holding > max(_COMMON, count // 16)}
    index.prefetch([term for term in terms if term not in is_common])
    attainable = 0.0
    common: list[tuple[int, int, str, float]] = []
    for number, term in enumerate(terms):
        holding = here.get(term, 0)
        everywhere = holding + elsewhere.get(term, 0)
        scored.idf[term] = _idf(total + _SMOOTHING, everywhere)
        gain = _idf(total, everywhere) * (DEFAULT.k1 + 1)
        attainable += gain
        if term in is_common:
            common.append((holding, number, term, gain))
        else:
            _add(scored, number, gain, index.postings(term), lengths)
    if not scored.scores:  # the words of the question are those of the whole memory: the newest tells most
        for _, number, term, gain in sorted(common)[:_TOP]:
            _add(scored, number, gain, _newest(index.postings(term)), lengths)
    if attainable:
        for key in scored.scores:
            scored.scores[key] /= attainable
    return scored


class _Lengths(dict[int, tuple[float, float]]):
    """What follows from the length of a passage in words: its part of BM25, and the factor for short ones."""

    def __init__(self, mean: float) -> None:
        super().__init__()
        self._mean = max(mean, 1e-9)

    def __missing__(self, length: int) -> tuple[float, float]:
        norm = DEFAULT.k1 * (1 - DEFAULT.b + DEFAULT.b * length / self._mean)
        self[length] = found = norm, 1 - math.exp(-(length + 0.5) / DEFAULT.short)
        return found


def _add(scored: _Scored, term: int, gain: float, postings: Iterable[Postings], lengths: _Lengths) -> None:
    """Add the scores of a term, the one with that number."""
    scores, held, heads, bit = scored.scores, scored.held, scored.heads, 1 << term
    for part, numbers, counts, words in postings:
        first = Place(part, 0).key()
        for number, packed in zip(numbers, counts, strict=True):
            norm, substance = lengths[words[number]]
            frequency = _FREQUENCY[packed]
            key = first | number
            scores[key] = scores.get(key, 0.0) + gain * frequency / (frequency + norm) * substance
            held[key] = held.get(key, 0) | bit
            if packed > _IN_TEXT:
                heads[key] = heads.get(key, 0) | bit


def _newest(postings: Iterable[Postings]) -> Iterator[Postings]:
    """Yield the newest `_NEWEST` of a term."""
    left = _NEWEST
    for found in postings:
        yield found._replace(numbers=found.numbers[:left], counts=found.counts[:left])
        left -= len(found.numbers)
        if left <= 0:
            return


def _idf(count: int, holding: int) -> float:
    return math.log1p((count - min(holding, count) + 0.5) / (holding + 0.5))


def _best(
    index: QuickIndex, scored: _Scored, left_out: Mapping[int | None, int], scopes: Mapping[int, str]
) -> list[tuple[float, Place]]:
    """Return the best `confidence.DEPTH` passages that may be shown, best first."""
    best = heapq.nlargest(3 * confidence.DEPTH, ((score, key) for key, score in scored.scores.items()))
    found = []
    unsuspected = 0
    for score, key in best:
        if unsuspected == confidence.DEPTH:  # no passage that follows is better than the last of them
            break
        place = Place.of(key)
        row = index.row(place)
        if row.scope not in scopes or row.flags & _ARCHIVED:
            continue
        if row.flags & _SUSPECT and row.origin in _UNTRUSTED:  # as `Filter.suspected` "none"
            continue
        first = left_out.get(row.document)
        if first is not None and row.ordinal >> LINE_SHIFT >= first:
            continue
        suspect = bool(row.flags & _SUSPECT)
        unsuspected += not suspect
        found.append((score * (_SUSPECT_FACTOR if suspect else 1.0), place))
    return sorted(found, key=lambda one: -one[0])[: confidence.DEPTH]


def _without_echoes(
    index: QuickIndex, order: Sequence[tuple[float, Place]], scored: _Scored, text: str
) -> list[tuple[float, Place]]:
    """Drop the turns that only repeat the question."""
    echoes = confidence.Echoes(text)
    held = {place: scored.held[place.key()] for _, place in order}
    longest = 2 * len(scored.idf) + 2  # words of the question itself, as some recur
    most = functools.reduce(operator.or_, held.values(), 0)
    likely: dict[int, tuple[Place, bool]] = {}
    for place, terms in held.items():
        row = index.row(place)
        asks = bool(row.flags & _ASKS) and terms.bit_count() >= confidence.ECHO * row.length
        same = terms == most and row.length <= longest  # it holds all terms that were scored
        if row.kind == _TURN and (asks or same):
            likely[row.passage] = place, asks
    gone: set[Place] = set()
    for stored in index.fetch(list(likely)) if likely else ():
        place, asks = likely[stored.passage]
        if echoes.has(stored.text, asks=asks):
            gone.add(place)
    return [one for one in order if one[1] not in gone]


def _evidence(
    order: Sequence[tuple[float, Place]],
    scored: _Scored,
    hits: Sequence[Hit],
    lengths: Mapping[Place, int],
    *,
    overview: bool,
    other: float,
) -> confidence.Evidence | None:
    if not order or not hits:
        return None
    best, place = order[0]
    floor = order[-1][0] if len(order) == confidence.DEPTH else 0.0
    texts = [
        (normalize(f"{hit.title}\n{hit.text[:_MAX_READ]}"), scored.terms(found))
        for (_, found), hit in zip(order, hits, strict=False)
    ]
    idf = {term: scored.idf[term] for term in confidence.weighed(list(scored.idf), overview=overview)}
    answering = order[: confidence.OVERVIEW_DEPTH] if overview else order[:1]
    held = frozenset[str]().union(*(scored.terms(one) for _, one in answering))
    return confidence.Evidence(
        lead=best - floor,
        together=max(confidence.together(idf, text, present) for text, present in texts),
        coverage=confidence.share(idf, held),
        cosine=None,
        outside=0.0,
        missing=confidence.missing(idf, held),
        terms=len(idf),
        words=lengths.get(place, 0),
        overview=float(overview),
        other=other,
    )


def _other(index: QuickIndex, order: Sequence[tuple[float, Place]], scored: _Scored, text: str) -> float:
    """Return how far the best passage of a speaker whom the question names is behind the best of all."""
    if not scored.heads or not order:
        return 0.0
    from mnemark.retrieval.ranking.people import is_about, is_date, named_in  # few questions name a speaker

    names = sum(1 << number for number, term in enumerate(scored.idf) if not is_date(term))
    heads = [one for one in order if scored.heads.get(one[1].key(), 0) & names][:_SPEAKERS]
    score, place = order[0]
    passages = [index.row(place).passage for _, place in (order[0], *heads)]
    stored = {one.passage: one for one in index.fetch(passages)}
    best = stored.get(index.row(place).passage)
    found = ((score, stored.get(index.row(place).passage)) for score, place in heads)
    is_named = named_in(text)
    theirs = next(((behind, one.role) for behind, one in found if one and is_named(one.role)), None)
    if best is None or theirs is None or not best.role or is_named(best.role):
        return 0.0
    return 0.0 if is_about(theirs[1], best.text[:_MAX_READ]) else _OTHER * (1 - theirs[0] / score)


def _hit(stored: Stored, row: Row, scope: str, score: float, idf: Mapping[str, float]) -> Hit:
    meta: dict[str, Any] = {**named(stored.kind, stored.path), **msgspec.json.decode(stored.meta, type=dict)}
    meta |= {"role": stored.role} if stored.role else {}
    meta |= {"suspect": True} if row.flags & _SUSPECT else {}
    columns = meta.pop("columns", WHOLE)
    return Hit(
        ref=ref_to(stored.path, stored.start_line, stored.end_line, columns),
        path=stored.path, start_line=stored.start_line,
        end_line=stored.end_line, kind=cast("Kind", stored.kind), title=stored.title, date=stored.date,
        origin=cast("Origin", stored.origin), scope=scope, score=round(score, 4), text=stored.text,
        snippet=snippet(stored.text, idf, title=stored.title), meta=meta,
    )  # fmt: skip
