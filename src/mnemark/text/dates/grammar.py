"""Spans of time, and words that stand for one, for all languages.

A `Word` is a stretch of text and the span it means. Words that name no year ("March", "Christmas") carry
`yearly`, from which the span of any year follows.
"""

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Final, Literal, NamedTuple

_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "  # noqa: SIM905 - a sentence
        "sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"a": 1, "an": 1, "couple": 2, "couple of": 2, "a couple": 2, "a couple of": 2, "thirty": 30}
_FEW_WORDS: Final = r"(?:a\s+)?few|several|some"
ENGLISH: Final = (
    rf"(?P<number>\d{{1,4}}|(?:a\s+)?couple(?:\s+of)?|{_FEW_WORDS}|half\s+an?|an?|"
    rf"{'|'.join(word for word in _NUMBERS if len(word) > 2 and 'couple' not in word)})"
)

_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_N: Final = "一二三四五六七八九"
CHINESE: Final = rf"(?P<number>\d{{1,4}}|好?几|数|半|两三|三四|十几|[{_N}两]?百?[{_N}]?十[{_N}]?|[{_N}两])"


def spelled_number(text: str) -> int:
    """The value of characters read digit by digit: 二〇二五 is 2025."""
    return int("".join(str(_DIGITS[digit]) for digit in text))


def english_amount(text: str) -> tuple[int, int]:
    """The least and most that the words matched by `ENGLISH` may mean."""
    words = " ".join(text.lower().split())
    if re.fullmatch(_FEW_WORDS, words):
        return FEW
    number = int(words) if words.isdecimal() else _NUMBERS[words]
    return number, number


def chinese_number(text: str) -> int:
    """The value of a numeral up to 9999 in digits, or up to 999 in characters."""
    if text.isdecimal():
        return int(text)
    total = 0
    hundreds, _, rest = text.rpartition("百")
    if hundreds:
        total += _DIGITS[hundreds] * 100
    tens, ten, ones = rest.rpartition("十")
    if ten:
        total += (_DIGITS[tens] if tens else 1) * 10
    return total + (_DIGITS[ones] if ones else 0)


def chinese_amount(text: str) -> tuple[int, int]:
    """The least and most that the words matched by `CHINESE` may mean."""
    vague = {"几": FEW, "好几": FEW, "数": FEW, "两三": (2, 3), "三四": (3, 4), "十几": (11, 19)}
    return vague[text] if text in vague else (chinese_number(text), chinese_number(text))


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
