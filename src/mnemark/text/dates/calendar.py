"""Dates of festivals of the Chinese and the Western calendar, 1990-2100.

Chinese months follow the moon over China, so they are a table, not a formula. Its facts are those the Hong
Kong Observatory publishes in its Gregorian-lunar conversion tables
(https://www.hko.gov.hk/en/gts/time/conversion.htm; rules: GB/T 33661-2017); every new year, month and solar
term was computed from the ephemeris with `sxtwl` 2.0 and, but for 2100, agreed with `lunardate` 0.3.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Final

FIRST_YEAR: Final = 1990
LAST_YEAR: Final = 2100

# One year each from 1990, in hexadecimal. Bits 0-4: the new year in days after 20 January; 5-8: the month
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
"""A half-open span of days."""


def lunar_day(year: int, month: int, day: int) -> date:
    """The Gregorian date of a day of the Chinese year that begins in `year` (never one of a leap month).

    Raises:
        ValueError: outside 1990-2100, or there is no such month or day.
    """
    code = _code(year)
    leap = code >> 5 & 15
    index = month - 1 + (1 if leap and month > leap else 0)
    if not 1 <= month <= 12 or not 1 <= day <= _length(code, index):
        raise ValueError(f"the Chinese year {year} has no day {month}/{day}")
    before = sum(_length(code, i) for i in range(index))
    return date(year, 1, 20) + timedelta(days=(code & 31) + before + day - 1)


def easter_sunday(year: int) -> date:
    """Gregorian Easter (the anonymous algorithm, as in Meeus, Astronomical Algorithms, chapter 8)."""
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
    """The n-th (from 1; -1: the last) weekday (0: Monday) of a month."""
    if n > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (n - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % 7)


def festival(name: str, year: int) -> Days:
    """The days of a festival in the Gregorian year `year`. `name` is a key of `FESTIVALS`.

    Raises:
        ValueError: the festival's table does not reach that year.
    """
    return FESTIVALS[name](year)


def _code(year: int) -> int:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError(f"Chinese festivals are known for {FIRST_YEAR}-{LAST_YEAR}, not {year}")
    return _YEARS[year - FIRST_YEAR]


def _length(code: int, index: int) -> int:
    return 29 + (code >> (9 + index) & 1)


def _span(first: date, days: int = 1) -> Days:
    return first, first + timedelta(days=days)


def _fixed(month: int, day: int, days: int = 1) -> Callable[[int], Days]:
    return lambda year: _span(date(year, month, day), days)


def _lunar(month: int, day: int, days: int = 1) -> Callable[[int], Days]:
    return lambda year: _span(lunar_day(year, month, day), days)


def _nth(month: int, weekday: int, n: int, shift: int = 0, days: int = 1) -> Callable[[int], Days]:
    return lambda year: _span(nth_weekday(year, month, weekday, n) + timedelta(days=shift), days)


def _easter(shift: int, days: int = 1) -> Callable[[int], Days]:
    return lambda year: _span(easter_sunday(year) + timedelta(days=shift), days)


def _new_year(shift: int, days: int = 1) -> Callable[[int], Days]:
    return lambda year: _span(lunar_day(year, 1, 1) + timedelta(days=shift), days)


def _laba(year: int) -> Days:
    # The eighth day of the twelfth month is in January, now and then in the last days of December.
    return _span(lunar_day(year - 1, 12, 8))


FESTIVALS: Final[Mapping[str, Callable[[int], Days]]] = {
    # Chinese calendar. The Spring Festival is the eve and the seven days after it, as the public holiday is.
    "spring festival": _new_year(-1, 8),
    "new year's eve (lunar)": _new_year(-1),
    "lunar new year": _new_year(0),
    "lantern": _lunar(1, 15),
    "dragon head": _lunar(2, 2),
    "dragon boat": _lunar(5, 5),
    "qixi": _lunar(7, 7),
    "ghost": _lunar(7, 15),
    "mid-autumn": _lunar(8, 15),
    "double ninth": _lunar(9, 9),
    "laba": _laba,
    "qingming": lambda year: _span(date(year, 4, 4 + (_code(year) >> 22 & 1))),
    "winter solstice": lambda year: _span(date(year, 12, 21 + (_code(year) >> 24 & 1))),
    # Days of the Gregorian calendar, China.
    "new year": _fixed(1, 1),
    "women": _fixed(3, 8),
    "arbor": _fixed(3, 12),
    "may day": _fixed(5, 1, 5),
    "youth": _fixed(5, 4),
    "children": _fixed(6, 1),
    "army": _fixed(8, 1),
    "teachers": _fixed(9, 10),
    "national day": _fixed(10, 1, 7),
    "singles": _fixed(11, 11),
    "double twelve": _fixed(12, 12),
    # Western.
    "valentine": _fixed(2, 14),
    "white day": _fixed(3, 14),
    "st patrick": _fixed(3, 17),
    "april fools": _fixed(4, 1),
    "good friday": _easter(-2),
    "easter": _easter(-2, 4),
    "easter sunday": _easter(0),
    "easter monday": _easter(1),
    "cinco de mayo": _fixed(5, 5),
    "mother": _nth(5, 6, 2),
    "father": _nth(6, 6, 3),
    "memorial": _nth(5, 0, -1),
    "juneteenth": _fixed(6, 19),
    "independence": _fixed(7, 4),
    "labor": _nth(9, 0, 1),
    "halloween": _fixed(10, 31),
    "veterans": _fixed(11, 11),
    "thanksgiving": _nth(11, 3, 4),
    "black friday": _nth(11, 3, 4, shift=1),
    "christmas eve": _fixed(12, 24),
    "christmas day": _fixed(12, 25),
    "christmas": _fixed(12, 24, 3),
    "boxing": _fixed(12, 26),
    "new year's eve": _fixed(12, 31),
}
"""Name to the days it takes in a Gregorian year."""


_N: Final = "一二三四五六七八九"

ENGLISH: Final[dict[str, str]] = {
    r"christmas\s+eve|xmas\s+eve": "christmas eve",
    r"christmas\s+day": "christmas day",
    r"christmas|xmas": "christmas",
    r"boxing\s+day": "boxing",
    r"(?:chinese|lunar)\s+new\s+year'?s?\s+eve": "new year's eve (lunar)",
    r"(?:chinese|lunar)\s+new\s+year": "lunar new year",
    r"spring\s+festival": "spring festival",
    r"new\s+year'?s?\s+eve": "new year's eve",
    r"new\s+year'?s\s+day|new\s+year\s+day|new\s+year's": "new year",
    r"easter\s+sunday": "easter sunday",
    r"easter\s+monday": "easter monday",
    r"easter": "easter",
    r"good\s+friday": "good friday",
    r"halloween": "halloween",
    r"thanksgiving": "thanksgiving",
    r"black\s+friday": "black friday",
    r"(?:saint\s+|st\.?\s+)?valentine'?s?\s+day": "valentine",
    r"(?:saint|st\.?)\s+patrick'?s?\s+day": "st patrick",
    r"april\s+fools?'?s?(?:\s+day)?": "april fools",
    r"independence\s+day|(?:the\s+)?(?:fourth|4th)\s+of\s+july": "independence",
    r"labou?r\s+day": "labor",
    r"memorial\s+day": "memorial",
    r"veterans'?\s+day": "veterans",
    r"juneteenth": "juneteenth",
    r"mother'?s'?\s+day": "mother",
    r"father'?s'?\s+day": "father",
    r"cinco\s+de\s+mayo": "cinco de mayo",
    r"mid-?\s?autumn(?:\s+festival)?": "mid-autumn",
    r"dragon\s+boat(?:\s+festival)": "dragon boat",
    r"lantern\s+festival": "lantern",
    r"qingming(?:\s+festival)?|tomb[\s-]sweeping\s+day": "qingming",
    r"singles'?\s+day": "singles",
    r"women'?s\s+day": "women",
    r"children'?s\s+day": "children",
}
CHINESE: Final[dict[str, str]] = {
    "春节": "spring festival",
    "过年": "spring festival",
    "除夕夜?": "new year's eve (lunar)",
    "大年三十": "new year's eve (lunar)",
    "年三十": "new year's eve (lunar)",
    "元宵节?": "lantern",
    "龙抬头": "dragon head",
    "端午节?": "dragon boat",
    "七夕节?": "qixi",
    "中元节": "ghost",
    "中秋节?": "mid-autumn",
    "重阳节?": "double ninth",
    "腊八节?": "laba",
    "清明节?": "qingming",
    "冬至": "winter solstice",
    "元旦节?": "new year",
    r"三八(?:妇女)?节|妇女节": "women",
    "植树节": "arbor",
    rf"(?<![{_N}十])五一(?:劳动节|节|假期|小?长假|黄金周|(?![{_N}十年月日号个班路广]))|劳动节": "may day",
    "五四青年节|青年节": "youth",
    rf"(?<![{_N}十])六一(?:儿童节|节|(?![{_N}十年月日号个班路]))|儿童节": "children",
    "建军节": "army",
    "教师节": "teachers",
    r"国庆节?|(?<!双)十一(?:假期|长假|黄金周|期间)": "national day",
    r"双(?:十一|11)|光棍节": "singles",
    r"双(?:十二|12)": "double twelve",
    "白色情人节": "white day",
    "情人节": "valentine",
    "愚人节": "april fools",
    "复活节": "easter",
    "母亲节": "mother",
    "父亲节": "father",
    "万圣节?": "halloween",
    "感恩节": "thanksgiving",
    "黑色星期五|黑五": "black friday",
    "平安夜": "christmas eve",
    "圣诞节?": "christmas",
    "跨年夜?": "new year's eve",
}


def festival_name(written: str) -> str:
    """The key of a festival from the words that one of the patterns matched."""
    names = (ENGLISH | CHINESE).items()
    return next(name for pattern, name in names if re.fullmatch(pattern, written, re.IGNORECASE))
