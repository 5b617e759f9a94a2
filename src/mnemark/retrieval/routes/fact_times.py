"""Tell which version of a fact a question asks for: that of the time it names, the former, or the current."""

import re
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

import msgspec

from mnemark.facts.keys import holds_many
from mnemark.facts.timeline import FactVersion
from mnemark.retrieval.fact_index import without_stop_words
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import DateRange

OTHER_FACTOR: Final = 0.7
"""Factor on the score of another version that held in the time asked for."""
NEAR_FACTOR: Final = 0.6
"""Factor on the score of the nearest version, where none held in the time asked for."""
_FORMER: Final = lazy_pattern(
    r"\bdid\b[^,.;?!]{1,40}\buse to\b|"
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )\bused to\b(?! (?:be )?\w+ing\b)|"
    r"\b(?:formerly|previous(?:ly)?|former)\b|\bin the past\b|"
    r"\bbefore(?=\s*(?:[?.!,]|$)|\s+(?:that|this|then|now)\b)|"
    r"(?:^|[我你您他她们，,\s])(?:以前|之前|从前|曾经|过去|原来|原先)(?!的?(?:今天|几天))|[上前]一[个份家任]",
    re.IGNORECASE,
)
"""Asks for what held before, of no time in particular."""
_STILL: Final = lazy_pattern(
    r"\bstill\b|\bany ?more\b|\bany longer\b|还(?![有没要想])|仍|依然|依旧", re.IGNORECASE
)
_DATED_BY_VALUE: Final = frozenset({"birthday", "deadline", "release date"})
"""Predicates whose value is a time: a time in the question is not that of which it holds."""


class AskedTime(msgspec.Struct, frozen=True):
    """What a question says of the time of which a fact should hold."""

    spans: tuple[tuple[datetime, datetime], ...] = ()
    """Half-open, with zone."""
    former: bool = False
    still: bool = False
    """Asks whether a value still holds; the current one answers that."""
    order: str = ""
    """ "before" or "after" what `event` names, else empty."""
    event: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    """The time words."""

    def __bool__(self) -> bool:
        return bool(self.spans or self.former or self.event)


NO_TIME_ASKED: Final = AskedTime()


def asked_time(
    question: str, ranges: Sequence[DateRange], order: str | None, event: Collection[str], zone: tzinfo
) -> AskedTime:
    """Return what a question says of time, from what `query.understand` parsed of it."""
    former = _FORMER.search(question[:2_000]) if not ranges else None
    return AskedTime(
        tuple((_aware(one.start, zone), _aware(one.end, zone)) for one in ranges),
        former is not None,
        _STILL.search(question[:2_000]) is not None,
        order if order in {"before", "after"} else "",
        frozenset(event) if order in {"before", "after"} else frozenset(),
        (*(one.text for one in ranges), *([former[0]] if former else [])),
    )


def _aware(time: datetime, zone: tzinfo) -> datetime:
    return time.replace(tzinfo=zone)


def versions_asked(
    versions: Sequence[FactVersion], asked: AskedTime, moment: datetime
) -> list[tuple[FactVersion, float]]:
    """Return the versions of one subject and predicate that a question asks for, best first, with factors.

    `versions` are in order, oldest first. Without a time in the question these are the ones of `moment`.
    """
    current = [one for one in versions if one.at(moment)]
    if not asked or not versions or versions[0].fact.key[1] in _DATED_BY_VALUE:
        return [(one, 1.0) for one in reversed(current)]
    if asked.spans:
        return _in_spans(versions, asked.spans, moment)
    known = _beside_event(versions, asked) if asked.event else None
    if known is None and asked.former:
        known = next((one for one in reversed(versions) if _over(one, moment)), None)
    first = [(known, 1.0)] if known is not None else []
    factor = OTHER_FACTOR if first or asked.former else 1.0
    return [*first, *((one, factor) for one in reversed(current) if one is not known)]


def _in_spans(
    versions: Sequence[FactVersion], spans: Sequence[tuple[datetime, datetime]], moment: datetime
) -> list[tuple[FactVersion, float]]:
    """Return the versions that held in the spans: the longest first, the last of "before 2020"."""
    there = [(one, held) for one in versions if (held := max(_together(one, span) for span in spans))]
    if not there:
        nearest = min(versions, key=lambda one: min(_apart(one, span) for span in spans))
        return [(nearest, NEAR_FACTOR)]
    if holds_many(versions[0].fact.predicate):  # what began then is meant before what held anyway
        begun = [
            any(one.begin is not None and first <= one.begin < last for first, last in spans)
            for one, _ in there
        ]
        return [(one, 1.0 if new else OTHER_FACTOR) for (one, _), new in zip(there, begun, strict=True)]
    if any(first <= moment < last or first.year == 1 for first, last in spans):
        there.reverse()  # up to now, or up to a time: the last
    else:
        there.sort(key=lambda pair: -pair[1])
    return [(one, OTHER_FACTOR if rank else 1.0) for rank, (one, _) in enumerate(there)]


def _together(version: FactVersion, span: tuple[datetime, datetime]) -> timedelta:
    first, last = span
    begin = first if version.begin is None else max(first, version.begin)
    end = last if version.end is None else min(last, version.end)
    return max(end - begin, timedelta(0))


def _apart(version: FactVersion, span: tuple[datetime, datetime]) -> timedelta:
    first, last = span
    if version.begin is not None and version.begin >= last:
        return version.begin - last
    return first - version.end if version.end is not None and version.end <= first else timedelta(0)


def _over(version: FactVersion, moment: datetime) -> bool:
    return version.end is not None and version.end <= moment


def _beside_event(versions: Sequence[FactVersion], asked: AskedTime) -> FactVersion | None:
    """Return the version before or after the one whose value the question names: "before Porto"."""
    for at, one in enumerate(versions):
        value = without_stop_words(one.fact.value)
        if value and asked.event.issuperset(value):
            beside = at - 1 if asked.order == "before" else at + 1
            return versions[beside] if 0 <= beside < len(versions) else None
    return None
