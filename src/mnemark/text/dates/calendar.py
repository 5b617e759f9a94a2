"""Compute the dates of Chinese and Western festivals, 1990-2100.

Chinese months follow the moon over China, so they are a table (`data/lunar_years.tsv`), not a formula.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache
from typing import Final, NamedTuple

from mnemark.text import rows

FIRST_YEAR: Final = 1990
LAST_YEAR: Final = 2100

Days = tuple[date, date]


def lunar_day(year: int, month: int, day: int) -> date:
    """Return the Gregorian date of a day, not of a leap month, of the Chinese year that begins in `year`.

    Raises:
        ValueError: the year is outside 1990-2100, or the month or day does not exist.
    """
    code = _code(year)
    leap = code >> 5 & 15
    index = month - 1 + (0 < leap < month)
    if not 1 <= month <= 12 or not 1 <= day <= _month_length(code, index):
        raise ValueError(f"the Chinese year {year} has no day {month}/{day}")
    before = sum(_month_length(code, i) for i in range(index))
    return date(year, 1, 20) + timedelta(days=(code & 31) + before + day - 1)


def easter_sunday(year: int) -> date:
    """Return Gregorian Easter (the anonymous algorithm, as in Meeus, Astronomical Algorithms, chapter 8)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def nth_weekday(year: int, month: int, weekday: int, n: int) -> date:
    """Return the n-th (from 1; -1: the last) weekday (0: Monday) of a month."""
    from calendar import Calendar  # it loads `locale`

    days = [day for day, found in Calendar().itermonthdays2(year, month) if day and found == weekday]
    return date(year, month, days[n - (n > 0)])


@cache
def _years() -> tuple[int, ...]:
    return tuple(int(code, 16) for row in rows("lunar_years") for code in row)


def _code(year: int) -> int:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError(f"Chinese festivals are known for {FIRST_YEAR}-{LAST_YEAR}, not {year}")
    return _years()[year - FIRST_YEAR]


def _month_length(code: int, index: int) -> int:
    return 29 + (code >> (9 + index) & 1)


def _span(first: date, days: int = 1, shift: int = 0) -> Days:
    first += timedelta(days=shift)
    return first, first + timedelta(days=days)


_RULES: Final[Mapping[str, Callable[..., Days]]] = {
    "fixed": lambda year, month, day, days=1: _span(date(year, month, day), days),
    "lunar": lambda year, month, day, days=1, shift=0: _span(lunar_day(year, month, day), days, shift),
    "nth": lambda year, month, weekday, n, shift=0: _span(nth_weekday(year, month, weekday, n), shift=shift),
    "easter": lambda year, shift, days=1: _span(easter_sunday(year), days, shift),
    "laba": lambda year: _span(lunar_day(year - 1, 12, 8)),
    "qingming": lambda year: _span(date(year, 4, 4 + (_code(year) >> 22 & 1))),
    "solstice": lambda year: _span(date(year, 12, 21 + (_code(year) >> 24 & 1))),
}
"""How days are found from a Gregorian year and the numbers in a row of `data/festivals.tsv`."""


class Festival(NamedTuple):
    """A row of `data/festivals.tsv`, which says what its cells mean."""

    name: str
    days: str
    english: str = ""
    chinese: str = ""


FESTIVALS: Final[Mapping[str, Festival]] = {
    row[0]: Festival(*(cell.replace("<n>", "一二三四五六七八九") for cell in row))
    for row in rows("festivals")
}
ENGLISH: Final = "|".join(found.english for found in FESTIVALS.values() if found.english)
CHINESE: Final = "|".join(found.chinese for found in FESTIVALS.values() if found.chinese)


def festival(name: str, year: int) -> Days:
    """Return the days of a festival (a key of `FESTIVALS`) in a Gregorian year.

    Raises:
        ValueError: the year is outside the table.
    """
    rule, *numbers = FESTIVALS[name].days.split()
    return _RULES[rule](year, *map(int, numbers))


def festival_name(written: str) -> str:
    """Return the key in `FESTIVALS` of the festival whose pattern matches `written`."""
    return next(
        name
        for name, found in FESTIVALS.items()
        if re.fullmatch(f"{found.english}|{found.chinese}", written, re.IGNORECASE)
    )
