"""Spans of time, and words that stand for one, for all languages.

A `Word` is a stretch of text and the span it means. Words that name no year ("March", "Christmas") carry
`yearly`, from which the span of any year follows.
"""

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Final, Literal, NamedTuple

Span = tuple[datetime, datetime]
"""Half-open."""

Yearly = Callable[[int], Span]
"""The span of a given year."""

Grain = Literal["minute", "hour", "day", "week", "month", "quarter", "season", "year", "span"]

GRAINS: Final[dict[str, Grain]] = {
    "minute": "minute",
    "hour": "hour",
    "day": "day",
    "week": "week",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
}
"""Those that are units of time, by name."""

Third = Literal["early", "mid", "late"]

START: Final = datetime(1, 1, 1)  # noqa: DTZ001 - local by contract
"""Stands for "any time before" in `before X` and `until X`."""

END: Final = datetime(9999, 12, 31)  # noqa: DTZ001 - local by contract
"""Stands for "any time after"."""

HOURS: Final = {
    "night before": (0, 6),
    "morning": (5, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (18, 24),
}
"""Parts of the day, in hours after midnight."""

FEW: Final = (2, 6)
"""What "a few" may be."""


class Word(NamedTuple):
    """One time word in the text, `start <= i < end` in characters."""

    start: int
    end: int
    span: Span
    grain: Grain
    yearly: Yearly | None = None
    weak: bool = False
    """Also an ordinary word ("May", "June"): counts only as the end of a range."""
    weekly: bool = False
    """A bare weekday."""


Reading = Callable[[re.Match[str], datetime], Word | None]
"""What a match means at a time; ValueError or OverflowError for a date that does not exist."""


def midnight(now: datetime) -> datetime:
    """The start of the day."""
    return datetime.combine(now.date(), time())


def days(first: datetime, count: int = 1) -> Span:
    """`count` days from midnight of `first`."""
    first = midnight(first)
    return first, first + timedelta(days=count)


def month(year: int, number: int, count: int = 1) -> Span:
    """`count` calendar months; `number` may be outside 1-12 and then counts from that year on."""
    return _first(year, number), _first(year, number + count)


def _first(year: int, number: int) -> datetime:
    return datetime(year + (number - 1) // 12, (number - 1) % 12 + 1, 1)  # noqa: DTZ001 - local by contract


def year(number: int) -> Span:
    """A calendar year."""
    return month(number, 1, 12)


def week(now: datetime, shift: int = 0) -> Span:
    """The week from Monday to Monday, `shift` weeks from the one of `now`."""
    return days(midnight(now) + timedelta(days=7 * shift - now.weekday()), 7)


def recent(yearly: Yearly, now: datetime) -> Span:
    """The most recent one that began on or before `now`."""
    for number in (now.year, now.year - 1):
        span = yearly(number)
        if span[0] <= now:
            return span
    return yearly(now.year - 2)


def previous(yearly: Yearly, now: datetime) -> Span:
    """The most recent one that is over."""
    today = midnight(now)
    for number in (now.year + 1, now.year, now.year - 1):
        span = yearly(number)
        if span[1] <= today:
            return span
    return yearly(now.year - 2)


def following(yearly: Yearly, now: datetime) -> Span:
    """The first one that begins after `now`."""
    for number in (now.year - 1, now.year, now.year + 1):
        span = yearly(number)
        if span[0] > now:
            return span
    return yearly(now.year + 2)


def part_of(span: Span, grain: Grain, which: Third) -> Span:
    """The early, middle or late third: of a month days 1-10, 11-20 and the rest; of a year 4 months."""
    start, end = span
    index = ("early", "mid", "late").index(which)
    if grain == "month":
        cuts = (start, start + timedelta(days=10), start + timedelta(days=20), end)
        return cuts[index], cuts[index + 1]
    if grain == "year":
        return month(start.year, 1 + 4 * index, 4)
    third = (end - start) // 3
    cuts = (midnight(start), midnight(start + third), midnight(start + 2 * third), end)
    return cuts[index], cuts[index + 1]


def edge_of(span: Span, grain: Grain, which: Third) -> Span:
    """The beginning, middle or end: of a year two months (January, June or November on); else its third."""
    if grain == "year":
        return month(span[0].year, {"early": 1, "mid": 6, "late": 11}[which], 2)
    return part_of(span, grain, which)


def hours(day: Span, part: str) -> Span:
    """A part of the day that `day` begins; `part` is a key of `HOURS`, or "night": 18:00 to 6:00."""
    first, last = (18, 30) if part == "night" else HOURS[part]
    return day[0] + timedelta(hours=first), day[0] + timedelta(hours=last)


def ago(now: datetime, count: int, unit: Grain) -> Span:
    """The day, calendar week (Monday on), month, quarter or year, or the hour or minute, so far back."""
    if unit == "day":
        return days(midnight(now) - timedelta(days=count))
    if unit == "week":
        return week(now, -count)
    if unit == "month":
        return month(now.year, now.month - count)
    if unit == "quarter":
        return month(now.year, (now.month - 1) // 3 * 3 + 1 - 3 * count, 3)
    if unit == "year":
        return year(now.year - count)
    size = timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)
    start = (now - count * size).replace(second=0, microsecond=0)
    start = start.replace(minute=0) if unit == "hour" else start
    return start, start + size


def past(now: datetime, count: int, unit: Grain) -> Span:
    """The last `count` units up to the end of today; hours and minutes up to now."""
    tomorrow = midnight(now) + timedelta(days=1)
    if unit in ("minute", "hour"):
        return now - timedelta(**{unit + "s": count}), now + timedelta(minutes=1)
    if unit in ("day", "week"):
        return midnight(now) - timedelta(days=count * (7 if unit == "week" else 1)), tomorrow
    back = {"month": 1, "quarter": 3, "year": 12}[unit] * count
    first, following_month = month(now.year, now.month - back)
    start = min(first + timedelta(days=now.day - 1), following_month - timedelta(days=1))
    return start, tomorrow
