"""Compute the dates of Chinese and Western festivals, 1990-2100.

Chinese months follow the moon over China, so they are a table, not a formula. Its data are those of the Hong
Kong Observatory's Gregorian-lunar conversion tables
(https://www.hko.gov.hk/en/gts/time/conversion.htm; rules: GB/T 33661-2017); every new year, month and solar
term was computed from the ephemeris with `sxtwl` 2.0 and, but for 2100, agreed with `lunardate` 0.3.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Final

import msgspec

FIRST_YEAR: Final = 1990
LAST_YEAR: Final = 2100

# One code per year from 1990, in hexadecimal. Bits 0-4: the new year in days after 20 January; 5-8: the month
# after which the leap month comes (0: none); 9-21: whether the 1st, 2nd ... month (the leap month counted
# in its place) has 30 days; 22: Qingming in April, less 4; 24: the winter solstice in December, less 21.
_YEARS: Final = tuple(
    int(code, 16)
    for code in """
    17d24a7 15d241a 01a4c0f 154ac63 154ae15 169ad0b 006b41e 14daa12 16d92a8 14e921b
    00d2610 16a5684 14a5617 154b60c 02ab442 14ad414 176aae9 157481d 0169212 13526a6
    1552a19 14a5a0e 0155a83 1156a15 16b552b 14ba41e 01b4a13 13a94c8 15a941b 1592a10
    02a5c85 00aac17 1556a0c 16b6442 00da415 01d4ac9 14e4a1c 14c9611 0192ea6 0195618
    14ab40e 155ac63 016d216 02ea56b 156a41e 1564a13 03496c8 014961a 149560f 14ab6a4
    00b5a17 016d40c 136a442 15b2415 03a4aea 01a4a1c 114aa11 1695aa6 0096c19 00b6a0d
    11b5463 15d9216 03d250c 01d241e 11a4c13 154acc8 014ae1a 00aac0f 00daa84 14eaa17
    00e920d 01d2661 00d2614 16a56e9 00a561c 014b610 02ab4a6 14ad419 016ca0e 02e9483
    0169416 1752b0b 0152a1e 00a5a12 0155ac7 1156a1a 00b5410 0174a84 01b4a17 11a940d
    0392a62 0192c14 0329ce9 10aac1c 0156a11 02b64a6 00da419 11d4a0e 01c9484 00d1615
    0192f0a 009561d 00ab612 015acc7 016d41a 00ea410 02e4a85 0168a17 015160c 0293641
    1495614
    """.split()  # noqa: SIM905 - a table
)

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


def _code(year: int) -> int:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError(f"Chinese festivals are known for {FIRST_YEAR}-{LAST_YEAR}, not {year}")
    return _YEARS[year - FIRST_YEAR]


def _month_length(code: int, index: int) -> int:
    return 29 + (code >> (9 + index) & 1)


def _span(first: date, days: int = 1) -> Days:
    return first, first + timedelta(days=days)


def _fixed(month: int, day: int, days: int = 1) -> Callable[[int], Days]:
    return lambda year: _span(date(year, month, day), days)


def _lunar(month: int, day: int, days: int = 1, shift: int = 0) -> Callable[[int], Days]:
    return lambda year: _span(lunar_day(year, month, day) + timedelta(days=shift), days)


def _nth(month: int, weekday: int, n: int, shift: int = 0) -> Callable[[int], Days]:
    return lambda year: _span(nth_weekday(year, month, weekday, n) + timedelta(days=shift))


def _easter(shift: int, days: int = 1) -> Callable[[int], Days]:
    return lambda year: _span(easter_sunday(year) + timedelta(days=shift), days)


class Festival(msgspec.Struct, frozen=True):
    """A festival: the function from a Gregorian year to its days, and patterns of its names."""

    days: Callable[[int], Days]
    english: str = ""
    chinese: str = ""


_N: Final = "一二三四五六七八九"
_LABOUR_DAY_ZH: Final = (
    rf"(?<![{_N}十])五一(?:劳动节|节|假期|小?长假|黄金周|(?![{_N}十年月日号个班路广]))|劳动节"
)
_CHILDREN_ZH: Final = rf"(?<![{_N}十])六一(?:儿童节|节|(?![{_N}十年月日号个班路]))|儿童节"
# Of two names with a common prefix, the longer one comes first.
FESTIVALS: Final[Mapping[str, Festival]] = {
    # Chinese calendar. The Spring Festival is the eve and the seven days after it, as the public holiday is.
    "spring festival": Festival(_lunar(1, 1, 8, shift=-1), r"spring\s+festival", "春节|过年"),
    "new year's eve (lunar)": Festival(
        _lunar(1, 1, shift=-1), r"(?:chinese|lunar)\s+new\s+year'?s?\s+eve", "除夕夜?|大年三十|年三十"
    ),
    "lunar new year": Festival(_lunar(1, 1), r"(?:chinese|lunar)\s+new\s+year"),
    "lantern": Festival(_lunar(1, 15), r"lantern\s+festival", "元宵节?"),
    "dragon head": Festival(_lunar(2, 2), "", "龙抬头"),
    "dragon boat": Festival(_lunar(5, 5), r"dragon\s+boat(?:\s+festival)", "端午节?"),
    "qixi": Festival(_lunar(7, 7), "", "七夕节?"),
    "ghost": Festival(_lunar(7, 15), "", "中元节"),
    "mid-autumn": Festival(_lunar(8, 15), r"mid-?\s?autumn(?:\s+festival)?", "中秋节?"),
    "double ninth": Festival(_lunar(9, 9), "", "重阳节?"),
    # The eighth day of the twelfth month is in January, sometimes in the last days of December.
    "laba": Festival(lambda year: _span(lunar_day(year - 1, 12, 8)), "", "腊八节?"),
    "qingming": Festival(
        lambda year: _span(date(year, 4, 4 + (_code(year) >> 22 & 1))),
        r"qingming(?:\s+festival)?|tomb[\s-]sweeping\s+day", "清明节?",
    ),
    "winter solstice": Festival(lambda year: _span(date(year, 12, 21 + (_code(year) >> 24 & 1))), "", "冬至"),
    # Days of the Gregorian calendar, China.
    "new year's eve": Festival(_fixed(12, 31), r"new\s+year'?s?\s+eve", "跨年夜?"),
    "new year": Festival(_fixed(1, 1), r"new\s+year'?s\s+day|new\s+year\s+day|new\s+year's", "元旦节?"),
    "women": Festival(_fixed(3, 8), r"women'?s\s+day", "三八(?:妇女)?节|妇女节"),
    "arbor": Festival(_fixed(3, 12), "", "植树节"),
    "may day": Festival(_fixed(5, 1, 5), "", _LABOUR_DAY_ZH),
    "youth": Festival(_fixed(5, 4), "", "五四青年节|青年节"),
    "children": Festival(_fixed(6, 1), r"children'?s\s+day", _CHILDREN_ZH),
    "army": Festival(_fixed(8, 1), "", "建军节"),
    "teachers": Festival(_fixed(9, 10), "", "教师节"),
    "national day": Festival(_fixed(10, 1, 7), "", "国庆节?|(?<!双)十一(?:假期|长假|黄金周|期间)"),
    "singles": Festival(_fixed(11, 11), r"singles'?\s+day", "双(?:十一|11)|光棍节"),
    "double twelve": Festival(_fixed(12, 12), "", "双(?:十二|12)"),
    # Western.
    "valentine": Festival(_fixed(2, 14), r"(?:saint\s+|st\.?\s+)?valentine'?s?\s+day", "情人节"),
    "white day": Festival(_fixed(3, 14), "", "白色情人节"),
    "st patrick": Festival(_fixed(3, 17), r"(?:saint|st\.?)\s+patrick'?s?\s+day"),
    "april fools": Festival(_fixed(4, 1), r"april\s+fools?'?s?(?:\s+day)?", "愚人节"),
    "good friday": Festival(_easter(-2), r"good\s+friday"),
    "easter sunday": Festival(_easter(0), r"easter\s+sunday"),
    "easter monday": Festival(_easter(1), r"easter\s+monday"),
    "easter": Festival(_easter(-2, 4), "easter", "复活节"),
    "cinco de mayo": Festival(_fixed(5, 5), r"cinco\s+de\s+mayo"),
    "mother": Festival(_nth(5, 6, 2), r"mother'?s'?\s+day", "母亲节"),
    "father": Festival(_nth(6, 6, 3), r"father'?s'?\s+day", "父亲节"),
    "memorial": Festival(_nth(5, 0, -1), r"memorial\s+day"),
    "juneteenth": Festival(_fixed(6, 19), "juneteenth"),
    "independence": Festival(_fixed(7, 4), r"independence\s+day|(?:the\s+)?(?:fourth|4th)\s+of\s+july"),
    "labor": Festival(_nth(9, 0, 1), r"labou?r\s+day"),
    "halloween": Festival(_fixed(10, 31), "halloween", "万圣节?"),
    "veterans": Festival(_fixed(11, 11), r"veterans'?\s+day"),
    "thanksgiving": Festival(_nth(11, 3, 4), "thanksgiving", "感恩节"),
    "black friday": Festival(_nth(11, 3, 4, shift=1), r"black\s+friday", "黑色星期五|黑五"),
    "christmas eve": Festival(_fixed(12, 24), r"christmas\s+eve|xmas\s+eve", "平安夜"),
    "christmas day": Festival(_fixed(12, 25), r"christmas\s+day"),
    "christmas": Festival(_fixed(12, 24, 3), "christmas|xmas", "圣诞节?"),
    "boxing": Festival(_fixed(12, 26), r"boxing\s+day"),
}  # fmt: skip
ENGLISH: Final = "|".join(found.english for found in FESTIVALS.values() if found.english)
CHINESE: Final = "|".join(found.chinese for found in FESTIVALS.values() if found.chinese)


def festival(name: str, year: int) -> Days:
    """Return the days of a festival (a key of `FESTIVALS`) in a Gregorian year.

    Raises:
        ValueError: the year is outside the table.
    """
    return FESTIVALS[name].days(year)


def festival_name(written: str) -> str:
    """Return the key in `FESTIVALS` of the festival whose pattern matches `written`."""
    return next(
        name
        for name, found in FESTIVALS.items()
        if re.fullmatch(f"{found.english}|{found.chinese}", written, re.IGNORECASE)
    )
