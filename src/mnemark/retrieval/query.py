"""Parse a query: terms, quotations, code spans, date ranges, event, and whether it asks for the latest."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

import msgspec

from mnemark.retrieval.focus import Span, clipped, focus, sentences
from mnemark.retrieval.presets import DEFAULT
from mnemark.retrieval.routes.lexical import QueryTerm, Sentence
from mnemark.text.dates.ranges import order_hint, spans
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize
from mnemark.text.words.segment import Cut, index_terms
from mnemark.text.words.stopwords import content_terms, is_stop, topic
from mnemark.types import DateRange

MAX_CHARACTERS: Final = 8_192
"""Characters of a turn of context that are read."""
MAX_TERMS: Final = 64
_ASKING: Final = 2.0
"""Weight of a sentence that asks, beside those of the same message that do not."""
_MOST_SENTENCES: Final = 12
"""Sentences of a message that are told apart; each takes a pass over all passages."""
CONTEXT_WEIGHT: Final = 0.2
_QUOTED: Final = lazy_pattern(
    r'"([^"\n]{2,200})"|“([^”\n]{2,200})”|「([^」\n]{2,200})」|『([^』\n]{2,200})』'
)
_CODE: Final = lazy_pattern(r"(?<!`)`([^`\n]{2,200})`(?!`)")
_MAX_CODE: Final = 16
"""Maximum number of code spans; a pasted file may have hundreds."""

_PASSING: Final = lazy_pattern(
    r"\b(?:to(?:day|night|morrow)|yesterday|this|last|next|past|ago|recent\w*|spring|summer|autumn|fall|winter|"
    r"week\w*|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|[今昨明]|[前后]天|[这上下]|去年|最近|[春夏秋冬][天季]",
    re.IGNORECASE,
)
"""Times as people mention them in passing, without a date."""
_BORN: Final = lazy_pattern(r"\b(?:born|birthdays?)\b|出生|生日|生于", re.IGNORECASE)

Order = Literal["before", "after", "latest", "first"]

Part = tuple[float, str]
"""Weight and words of a sentence."""


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed query."""

    text: str
    """What it asks, in its own words; see `focus`."""
    terms: tuple[QueryTerm, ...]
    """Distinct terms in order; stop words only where there are no other terms."""
    phrases: tuple[str, ...] = ()
    """Quoted phrases, normalised; passages that contain them are boosted."""
    code: tuple[str, ...] = ()
    """Code spans, normalised; passages that contain them are boosted."""
    ranges: tuple[DateRange, ...] = ()
    order: Order | None = None
    sentences: tuple[Sentence, ...] = ()
    """Those of a message of several, the asking ones first: words of one say more than words of many."""
    event: tuple[str, ...] = ()
    """Terms of the event X, where the query asks for what happened before or after X."""

    @property
    def asks(self) -> frozenset[str]:
        """The terms of the sentences that ask; empty where nothing tells them from others."""
        return frozenset().union(*(one.terms for one in self.sentences if one.weight > 1))


def understand(
    text: str,
    *,
    now: datetime,
    context: Sequence[str] = (),
    inner: float = DEFAULT.inner,
    cut: Cut | None = None,
) -> Query:
    """Parse a query; any string is safe.

    Args:
        text: the query, in any language.
        now: the reference time for relative dates.
        context: earlier turns, oldest first; their terms weigh `CONTEXT_WEIGHT`.
        inner: weight of words inside longer Chinese words; 0 leaves them out.
        cut: segments Chinese instead of the dictionary, without words inside longer ones.
    """
    text = clipped(text)
    parts = sentences(text)
    asks = focus(text)
    asked = [text[first:last] for first, last in parts.asked] if parts.telling else [text]
    every = [(_ASKING, one) for one in asked] + [(1.0, text[first:last]) for first, last in parts.telling]
    terms: dict[str, float] = {}
    apart: list[Sentence] = []
    for weight, one in _ends(every):
        own = _weighed(one, inner, cut)
        for term, part in own.items():
            if len(terms) < 2 * MAX_TERMS:
                terms[term] = max(part, terms.get(term, 0.0))
        apart.append(Sentence(weight, frozenset(own)))
    extra = [t for turn in context for t in content_terms(turn[-MAX_CHARACTERS:], cut) if t not in terms]
    extra = list(dict.fromkeys(extra))[-MAX_TERMS:]
    weighted = [QueryTerm(term, weight) for term, weight in sorted(terms.items(), key=lambda one: -one[1])]
    order = order_hint(asks)
    return Query(
        text=asks,
        terms=(*weighted, *(QueryTerm(term, CONTEXT_WEIGHT) for term in extra)),
        phrases=tuple(normalize(match[match.lastindex or 0]) for match in _QUOTED.finditer(text)),
        code=tuple(code_spans(text)),
        ranges=asked_times(text, now),
        order=order,
        sentences=tuple(apart) if len(apart) > 1 else (),
        event=tuple(event_terms(asks, order, cut)),
    )


def _ends(parts: Sequence[Part]) -> Sequence[Part]:
    """Return the first and the last of many sentences, which say more than those between them."""
    half = _MOST_SENTENCES // 2
    return parts if len(parts) <= _MOST_SENTENCES else [*parts[:half], *parts[-half:]]


def _weighed(text: str, inner: float, cut: Cut | None) -> dict[str, float]:
    """Return the terms of a sentence with their weights: 1, and `inner` for words inside Chinese words."""
    about = topic(text)
    terms = content_terms(about, cut)[:MAX_TERMS]
    inside = inner_words(about, terms)[:MAX_TERMS] if inner and cut is None else []
    return {**dict.fromkeys(inside, inner), **dict.fromkeys(terms, 1.0)}


def code_spans(text: str) -> list[str]:
    """Return what stands between backticks: names of files, symbols, flags and commands.

    A plain word keeps them, since only they tell the command `check` from the verb.
    """
    if "`" not in text:
        return []
    spans = list(dict.fromkeys(normalize(match[1]) for match in _CODE.finditer(text)))[:_MAX_CODE]
    return [f"`{span}`" if span.replace(" ", "").isalpha() else span for span in spans]


def asked_times(text: str, now: datetime) -> tuple[DateRange, ...]:
    """Return the times that restrict what a query asks for.

    In a message that asks something those are the times of that: "We came home late yesterday. Which
    doctor did I see?" does not ask for yesterday, but for a date that was said before a short question it
    does. The time of a birth tells who is meant.
    """
    found = spans(text, now)
    if not found:
        return ()
    asking, leading, telling = sentences(text)
    leading = leading if asking else telling

    def is_in(place: int, parts: Sequence[Span]) -> bool:
        return any(first <= place < last for first, last in parts)

    return tuple(
        when
        for start, end, when in found
        if (is_in(start, asking) or (is_in(start, leading) and not _PASSING.search(when.text)))
        and not _BORN.search(text, max(start - 24, 0), end + 24)
    )


def reread_times(query: Query, newest: datetime) -> tuple[DateRange, ...]:
    """Parse the query's dates again relative to `newest`, for months and days without a year.

    "In March" long after the last entry means the March that the memory covers. Words such as "yesterday"
    keep their meaning: only ranges that move by whole years are replaced.
    """
    again = asked_times(query.text, newest)
    if len(again) != len(query.ranges):
        return query.ranges
    return tuple(
        new if (old.start.month, old.start.day) == (new.start.month, new.start.day) else old
        for old, new in zip(query.ranges, again, strict=True)
    )


def inner_words(text: str, terms: Sequence[str]) -> list[str]:
    """Return words inside the query's longer Chinese words, such as 数据库 in 数据库系统."""
    known = set(terms)
    inner_terms = dict.fromkeys(index_terms(text).parts)
    return [part for part in inner_terms if len(part) > 1 and part not in known and not is_stop(part)]


_EVENT: Final = {
    "before": r"\bbefore\s+(?P<en>[^,.;?!\n]{3,80})|(?P<zh>[^，。；？！,?!\n]{2,30}?)(?:之前|以前)",
    "after": r"\bafter\s+(?P<en>[^,.;?!\n]{3,80})|(?P<zh>[^，。；？！,?!\n]{2,30}?)(?:之后|以后)",
}


def event_terms(text: str, order: Order | None, cut: Cut | None = None) -> list[str]:
    """Return the terms of the event in "before X" or "after X"; empty without one."""
    match = re.search(_EVENT[order], text[:2000], re.IGNORECASE) if order in _EVENT else None
    if match is None:
        return []
    return [term for term in content_terms(match["en"] or match["zh"], cut) if not is_stop(term)]
