"""Define time words and calendar arithmetic, shared by the English and Chinese parsers.

A `Word` is a match in the text and its time span. Words without a year ("March", "Christmas") have
`yearly`, which returns the span of any year.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Final, Literal, NamedTuple

from mnemark.text.dates.calendar import festival

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
    """Return the number written digit by digit: 二〇二五 is 2025."""
    return int("".join(str(_DIGITS[digit]) for digit in text))


def english_amount(text: str) -> tuple[int, int]:
    """Return the minimum and maximum number that a match of `ENGLISH` may mean."""
    words = " ".join(text.lower().split())
    if re.fullmatch(_FEW_WORDS, words):
        return FEW
    number = int(words) if words.isdecimal() else _NUMBERS[words]
    return number, number


def chinese_number(text: str) -> int:
    """Return the value of a numeral in digits, or up to 999 in Chinese characters."""
    if text.isdecimal():
        return int(text)
    hundreds, _, rest = text.rpartition("百")
    tens, ten, ones = rest.rpartition("十")
    total = _DIGITS[hundreds] * 100 if hundreds else 0
    total += (_DIGITS[tens] if tens else 1) * 10 if ten else 0
    return total + (_DIGITS[ones] if ones else 0)


def chinese_amount(text: str) -> tuple[int, int]:
    """Return the minimum and maximum number that a match of `CHINESE` may mean."""
    vague = {"几": FEW, "好几": FEW, "数": FEW, "两三": (2, 3), "三四": (3, 4), "十几": (11, 19)}
    return vague.get(text) or (chinese_number(text), chinese_number(text))


Span = tuple[datetime, datetime]
"""Start and end of a time span, half-open."""

Yearly = Callable[[int], Span]
"""Function from a year to the span in it."""

Grain = Literal["minute", "hour", "day", "week", "month", "quarter", "season", "year", "span"]

_UNITS: Final[tuple[Grain, ...]] = ("minute", "hour", "day", "week", "month", "quarter", "year")
GRAINS: Final[dict[str, Grain]] = {unit: unit for unit in _UNITS}
"""Time units by name."""

Third = Literal["early", "mid", "late"]

START: Final = datetime(1, 1, 1)  # noqa: DTZ001 - local by contract
END: Final = datetime(9999, 12, 31)  # noqa: DTZ001 - local by contract
"""Bounds of open ranges such as `before X` and `after X`."""

_HOURS: Final = {
    "night before": (0, 6), "morning": (5, 12), "noon": (11, 14), "afternoon": (12, 18), "evening": (18, 24),
    "night": (18, 30),
}  # fmt: skip
"""Parts of the day, in hours after midnight."""
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FEW: Final = (2, 6)
"""Minimum and maximum of "a few"."""


class Word(NamedTuple):
    """A time word: its half-open position in the text, in characters, and its time span."""

    start: int
    end: int
    span: Span
    grain: Grain
    yearly: Yearly | None = None
    weak: bool = False  # also an ordinary word ("May", "June"): counts only as the end of a range
    weekly: bool = False  # a weekday without a week


Reading = Callable[[re.Match[str], datetime], Word | None]
"""Function from a match and `now` to a `Word` or None; raises ValueError or OverflowError for no date."""


def read_words(rules: Iterable[tuple[re.Pattern[str], Reading]], text: str, now: datetime) -> Iterator[Word]:
    """Yield the words of all matches of the rules, including overlapping ones. `now` is naive."""
    for pattern, read in rules:
        for match in pattern.finditer(text):
            try:
                found = read(match, now)
            except (ValueError, OverflowError):
                continue  # an invalid date (31 February, the year 10000), or one outside the festival table
            if found is not None:
                yield found


def midnight(day: date) -> datetime:
    """Return the first moment of the day."""
    return datetime.combine(day, time())


def days(first: date, count: int = 1) -> Span:
    """Return the span of `count` days from midnight of `first`."""
    start = midnight(first)
    return start, start + timedelta(days=count)


def month(year: int, number: int, count: int = 1) -> Span:
    """Return the span of `count` calendar months; a `number` outside 1-12 is in another year."""
    return _month_start(year, number), _month_start(year, number + count)


def _month_start(year: int, number: int) -> datetime:
    return datetime(year + (number - 1) // 12, (number - 1) % 12 + 1, 1)  # noqa: DTZ001 - local by contract


def year(number: int) -> Span:
    """Return the span of a calendar year."""
    return month(number, 1, 12)


def yearly_festival(name: str) -> Yearly:
    """Return the function from a year to the days of a festival (a key of `calendar.FESTIVALS`)."""

    def yearly(which: int) -> Span:
        first, end = festival(name, which)
        return midnight(first), midnight(end)

    return yearly


def week(now: datetime, shift: int = 0) -> Span:
    """Return the week from Monday to Monday, `shift` weeks from the one of `now`."""
    return days(midnight(now) + timedelta(days=7 * shift - now.weekday()), 7)


def weekend(now: datetime, shift: int = 0) -> Span:
    """Return Saturday and Sunday, `shift` weeks from the week of `now`."""
    return days(week(now, shift)[0] + timedelta(days=5), 2)


def recent_weekend(now: datetime) -> Span:
    """Return the most recent weekend that began on or before `now`."""
    this = weekend(now)
    return this if this[0] <= now else weekend(now, -1)


def recent(yearly: Yearly, now: datetime) -> Span:
    """Return the most recent span that began on or before `now`."""
    return _first_year(yearly, range(now.year, now.year - 3, -1), lambda span: span[0] <= now)


def previous(yearly: Yearly, now: datetime) -> Span:
    """Return the most recent span that ended before today."""
    return _first_year(yearly, range(now.year + 1, now.year - 3, -1), lambda span: span[1] <= midnight(now))


def following(yearly: Yearly, now: datetime) -> Span:
    """Return the first span that begins after `now`."""
    return _first_year(yearly, range(now.year - 1, now.year + 3), lambda span: span[0] > now)


def _first_year(yearly: Yearly, years: range, fits: Callable[[Span], bool]) -> Span:
    """Return the span of the first year that fits; else that of the last year."""
    return next((span for number in years[:-1] if fits(span := yearly(number))), None) or yearly(years[-1])


def part_of(span: Span, grain: Grain, which: Third) -> Span:
    """Return a third of a span: of a month days 1-10, 11-20 or the rest; of a year four months."""
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
    """Return the start, middle or end of a span: of a year two months, from January, June or November."""
    if grain == "year":
        return month(span[0].year, {"early": 1, "mid": 6, "late": 11}[which], 2)
    return part_of(span, grain, which)


def hours(day: Span, part: str) -> Span:
    """Return a part (a key of `_HOURS`) of the first day of `day`; the night ends on the next day."""
    first, last = _HOURS[part]
    return day[0] + timedelta(hours=first), day[0] + timedelta(hours=last)


def ago(now: datetime, count: int, unit: Grain) -> Span:
    """Return the calendar unit (weeks start on Monday) that is `count` units before the one of `now`."""
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


def some_time_ago(match: re.Match[str], now: datetime, counts: tuple[int, int], unit: Grain) -> Word:
    """Return the word of a match such as "2 to 6 weeks ago"; negative counts are in the future."""
    first, last = sorted(ago(now, count, unit) for count in counts)
    return Word(*match.span(), (first[0], last[1]), unit if first == last else "span")


def past(now: datetime, count: int, unit: Grain) -> Span:
    """Return the last `count` units up to the end of today; hours and minutes up to now."""
    tomorrow = midnight(now) + timedelta(days=1)
    if unit in ("minute", "hour"):
        return now - timedelta(**{unit + "s": count}), now + timedelta(minutes=1)
    if unit in ("day", "week"):
        return midnight(now) - timedelta(days=count * (7 if unit == "week" else 1)), tomorrow
    back = {"month": 1, "quarter": 3, "year": 12}[unit] * count
    first, following_month = month(now.year, now.month - back)
    start = min(first + timedelta(days=now.day - 1), following_month - timedelta(days=1))
    return start, tomorrow
