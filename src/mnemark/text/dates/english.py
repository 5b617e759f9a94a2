"""Parse English time words. See `ranges` for the rules."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from mnemark.text.dates.calendar import ENGLISH, festival_name
from mnemark.text.dates.grammar import ENGLISH as NUMBER
from mnemark.text.dates.grammar import (
    GRAINS,
    WEEKDAYS,
    Grain,
    Reading,
    Span,
    Word,
    Yearly,
    ago,
    days,
    english_amount,
    following,
    hours,
    midnight,
    month,
    past,
    previous,
    read_words,
    recent,
    recent_weekend,
    some_time_ago,
    week,
    weekend,
    year,
    yearly_festival,
)
from mnemark.text.lazy_pattern import lazy_pattern

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PLAIN_MONTHS: Final = {"january", "february", "july", "september", "october", "november", "december"}
"""Months that are neither first names nor other words."""
_MONTH: Final = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
_UNIT: Final = r"(?P<unit>minute|hour|day|week|month|quarter|year)s?"
_YEAR: Final = r"(?:19|20)\d\d"
_OF_YEAR: Final = (
    rf"(?:,?\s+(?:of\s+|in\s+)?(?P<year>{_YEAR})(?![\d\-/:])|,?\s+(?:of\s+)?(?P<of>last|this|next)\s+year)?"
)
_REL: Final = r"(?:(?P<rel>last|this|next|this\s+past|this\s+coming)\s+(?P<years>year'?s\s+)?)?"
_SHIFT: Final = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


_STRONG: Final = lazy_pattern(
    r"\b(?:in|since|during|until|till|by|before|after|throughout|through|early|mid|late)[\s-]+$",
    re.IGNORECASE,
)
_WEAK: Final = lazy_pattern(r"(?:\b(?:to|and|from|between|of|until|through)\s+|[-–—~]\s*)$", re.IGNORECASE)
_LINK_AFTER: Final = lazy_pattern(r"\s*(?:to|and|until|till|through|[-–—~])\s", re.IGNORECASE)
_SEASON_BEFORE: Final = lazy_pattern(
    r"\b(?:in|during|since|by|until|over|before|after|throughout|early|mid|late|end\s+of)[\s-]+(?:the\s+)?$",
    re.IGNORECASE,
)
_YEAR_BEFORE: Final = lazy_pattern(
    r"\b(?:in|during|since|until|till|before|after|by|throughout|from|between|year|early|mid|late|"
    r"(?:beginning|start|middle|end|half)\s+of|back\s+in)[\s-]+$",
    re.IGNORECASE,
)


def _day_word(match: re.Match[str], now: datetime) -> Word | None:
    word = " ".join(match[0].lower().split())
    today = midnight(now)
    if word in ("tonight", "last night"):
        return Word(*match.span(), hours(days(today - timedelta(days=word == "last night")), "night"), "hour")
    if word.startswith("this "):
        return Word(*match.span(), hours(days(today), word[5:]), "hour")
    shift = 0
    if "yesterday" in word:
        shift = -2 if "before" in word else -1
    elif "tomorrow" in word:
        shift = 2 if "after" in word else 1
    return Word(*match.span(), days(today + timedelta(days=shift)), "day")


def _relative(match: re.Match[str], now: datetime) -> Word | None:
    rel = match["which"].lower().split()[-1]
    if match["unit"].lower() == "weekend":
        return Word(*match.span(), weekend(now, _SHIFT[rel]), "span")
    unit = GRAINS[match["unit"].lower()]
    if match["twice"]:
        return Word(*match.span(), ago(now, 2, unit), unit)
    if rel == "past":
        return Word(*match.span(), past(now, 1, unit), "span")
    return Word(*match.span(), ago(now, -_SHIFT[rel], unit), unit)


def _ago(match: re.Match[str], now: datetime) -> Word | None:
    unit = GRAINS[match["unit"].lower()]
    if match["number"].lower().startswith("half"):
        return Word(*match.span(), ago(now, 6, "month"), "month") if unit == "year" else None
    least, most = english_amount(match["number"])
    sign = 1 if match["side"].lower() in ("ago", "back") else -1
    return some_time_ago(match, now, (sign * least, sign * most), unit)


def _past(match: re.Match[str], now: datetime) -> Word | None:
    unit = GRAINS[match["unit"].lower()]
    if match["number"].lower().startswith("half"):
        return Word(*match.span(), past(now, 6, "month"), "span") if unit == "year" else None
    _, most = english_amount(match["number"])
    if match["rel"].lower() == "next":
        start = midnight(now) + timedelta(days=1)
        if unit in ("day", "week"):
            return Word(*match.span(), days(start, most * (7 if unit == "week" else 1)), "span")
        return Word(*match.span(), (start, ago(now, -most, unit)[1]), "span")
    return Word(*match.span(), past(now, most, unit), "span")


def _iso(match: re.Match[str], now: datetime) -> Word | None:
    number, first = int(match["y"]), int(match["m"])
    if match["d"] is None:
        return Word(*match.span(), month(number, first), "month")
    return Word(*match.span(), days(now.replace(year=number, month=first, day=int(match["d"]))), "day")


def _slashes(match: re.Match[str], now: datetime) -> Word | None:
    first, second = int(match["m"]), int(match["d"])
    if first > 12 or match["sep"] == ".":
        first, second = second, first
    return Word(*match.span(), days(now.replace(year=int(match["y"]), month=first, day=second)), "day")


def _date(match: re.Match[str], now: datetime) -> Word | None:
    name, day = match["month"].lower(), int(match["day"])
    number = _MONTHS.index(name[:3]) + 1
    ordinal, last = match["ordinal"], match.groupdict().get("last")
    if name in ("may", "march") and match["month"].islower() and match.start("month") < match.start("day"):
        before = match.string[max(0, match.start() - 12) : match.start()]
        led = re.search(r"\b(?:on|since|until|by|from|before|after)\s+$", before)
        if not (ordinal or match["year"] or led):
            return None
    size = int(last) - day + 1 if last else 1
    if size < 1:
        return None

    def yearly(which: int) -> Span:
        # 29 February of a common year means 1 March, so that `recent` does not fail.
        start, end = month(which, number)
        if day + size - 1 > (end - start).days and not (number == 2 and day == 29):
            raise ValueError(f"no day {day} in month {number}")
        return days(start + timedelta(days=day - 1), size)

    return _yearly(match, now, yearly, "day" if size == 1 else "span")


def _month(match: re.Match[str], now: datetime) -> Word | None:
    written = match["month"]
    name = written.lower()
    number = _MONTHS.index(name[:3]) + 1
    before = match.string[max(0, match.start() - 12) : match.start()]
    weak = False
    if name == "may" and written.islower() and match["rel"] == "this" and not match["year"]:
        return None
    if not (match["year"] or match["of"] or match["rel"]):
        plain = name in _PLAIN_MONTHS
        strong = _STRONG.search(before) is not None
        if written.islower() and not plain and not re.search(r"\b(?:in|since|during|until)\s+$", before):
            return None
        weak = not (plain or strong or (name == "march" and re.search(r"\bfrom\s+$", before)))
        if weak and not (_WEAK.search(before) or _LINK_AFTER.match(match.string, match.end())):
            return None
    return _yearly(match, now, lambda which: month(which, number), "month", weak=weak)


def _season(match: re.Match[str], now: datetime) -> Word | None:
    first = _SEASONS[match["season"].lower()]
    before = match.string[max(0, match.start() - 16) : match.start()]
    if not (match["rel"] or match["year"] or match["of"] or _SEASON_BEFORE.search(before)):
        return None
    return _yearly(match, now, lambda which: month(which, first, 3), "season")


def _quarter(match: re.Match[str], now: datetime) -> Word | None:
    if match["nth"] and not (match["the"] or match["rel"] or match["year"] or match["of"]):
        return None
    number = int(match["q"] or 0) or ("first", "second", "third", "fourth").index(match["nth"].lower()) + 1
    return _yearly(match, now, lambda which: month(which, number * 3 - 2, 3), "quarter")


def _half(match: re.Match[str], now: datetime) -> Word | None:
    first = 1 if match["h"] == "1" or (match["nth"] or "").lower() == "first" else 7
    return _yearly(match, now, lambda which: month(which, first, 6), "span")


def _festival(match: re.Match[str], now: datetime) -> Word | None:
    name = festival_name(match["festival"])
    return _yearly(match, now, yearly_festival(name), "day" if name != "spring festival" else "span")


def _weekday(match: re.Match[str], now: datetime) -> Word | None:
    name = match["weekday"].lower().rstrip(".")
    number = next(i for i, full in enumerate(WEEKDAYS) if full.startswith(name[:3]))
    rel = " ".join((match["rel"] or "").lower().split())
    if name not in WEEKDAYS and (not rel or match["weekday"].islower()):
        return None
    start = match.start() if rel != "on" else match.start("weekday")
    today = midnight(now)
    if match["week"]:
        shift = _SHIFT[match["week"].lower()]
        found = week(now, shift)[0] + timedelta(days=number)
    elif rel in ("last", "past", "previous", "this past"):
        found = today - timedelta(days=(today.weekday() - number - 1) % 7 + 1)
    elif rel in ("next", "coming", "this coming"):
        found = today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)
    elif rel == "this":
        found = week(now)[0] + timedelta(days=number)
    else:
        found = today - timedelta(days=(today.weekday() - number) % 7)
    return Word(start, match.end(), days(found), "day", weekly=not rel.strip("on") and not match["week"])


def _only_year(match: re.Match[str], _now: datetime) -> Word | None:
    before = match.string[max(0, match.start() - 16) : match.start()]
    if match["until"]:
        return Word(*match.span(), (year(int(match["year"]))[0], year(int(match["until"]))[1]), "span")
    if _YEAR_BEFORE.search(before):
        return Word(*match.span(), year(int(match["year"])), "year")
    if _WEAK.search(before):
        return Word(*match.span(), year(int(match["year"])), "year", weak=True)
    return None


def _yearly(match: re.Match[str], now: datetime, make: Yearly, grain: Grain, *, weak: bool = False) -> Word:
    """Return the word of a yearly time, in the year written, relative to now, or the most recent."""
    groups = match.groupdict()
    rel = " ".join((groups.get("rel") or "").lower().split())
    if groups["year"]:
        span = make(int(groups["year"]))
    elif groups["of"]:
        span = make(now.year + _SHIFT[groups["of"].lower()])
    elif groups.get("years"):
        span = make(now.year + _SHIFT[rel.split()[-1]])
    elif rel in ("last", "this past"):
        span = previous(make, now)
    elif rel in ("next", "this coming"):
        span = following(make, now)
    elif rel == "this":
        span = make(now.year)
    else:
        return Word(*match.span(), recent(make, now), grain, yearly=make, weak=weak)
    return Word(*match.span(), span, grain)


_DAY: Final = r"(?P<day>3[01]|[12]\d|0?[1-9])(?P<ordinal>st|nd|rd|th)?"
_READINGS: Final[tuple[tuple[str, Reading], ...]] = (
    ((r"\b(?:(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow|yesterday|tonight|"
     r"today|tomorrow|last\s+night|this\s+(?:morning|afternoon|evening))\b"), _day_word),
    (r"\b(?:the\s+)?(?:(?P<twice>(?P<unit>week|month|year|quarter)\s+(?P<which>before)\s+last))\b",
     _relative),
    ((r"\b(?P<which>(?:the\s+|this\s+)?past|last|previous|this|current|next|this\s+coming|coming)\s+"
     r"(?P<unit>weekend|week|month|quarter|year)\b(?P<twice>)"), _relative),
    (r"\b(?:the\s+|over\s+the\s+)weekend\b",
     lambda match, now: Word(*match.span(), recent_weekend(now), "span")),
    (rf"\b{NUMBER}\s+{_UNIT}\s+(?P<side>ago|back|from\s+now)\b", _ago),
    (rf"\b(?:the\s+)?(?P<rel>last|past|previous|next)\s+{NUMBER}\s+{_UNIT}\b", _past),
    ((rf"(?<![\d.\-/])(?P<y>{_YEAR})(?P<sep>[-/.])(?P<m>1[0-2]|0?[1-9])"
     r"(?:(?P=sep)(?P<d>3[01]|[12]\d|0?[1-9]))?(?![\d\-/]|\.\d)"), _iso),
    ((rf"(?<![\d.\-/])(?P<m>3[01]|[12]\d|0?[1-9])(?P<sep>[-/.])(?P<d>3[01]|[12]\d|0?[1-9])(?P=sep)"
     rf"(?P<y>{_YEAR})(?![\d\-/]|\.\d)"), _slashes),
    (rf"(?<![\w.\-/:]){_DAY}\s+(?:of\s+)?{_MONTH}(?![\w]){_OF_YEAR}", _date),
    ((rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:\s*(?:-|–|to|through)\s*(?P<last>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?)?"
     rf"(?![\w:%/]|[.,]\d){_OF_YEAR}"), _date),
    (rf"\b{_REL}{_MONTH}(?!\w|\s+\d{{1,2}}(?:st|nd|rd|th)\b){_OF_YEAR}", _month),
    ((rf"\b{_REL}(?P<season>spring|summer|autumn|fall|winter)\b"
     rf"(?!\s+(?:boot|festival|break|framework|mvc|roll)\b){_OF_YEAR}"), _season),
    (rf"\b{_REL}(?P<the>the\s+)?(?:Q(?P<q>[1-4])|(?P<nth>first|second|third|fourth)\s+quarter)\b{_OF_YEAR}",
     _quarter),
    ((rf"\b(?:H(?P<h>[12])\b(?=\s+{_YEAR})|(?:the\s+)?(?P<nth>first|second)\s+half\b"
     rf"(?=\s+of\s+(?:{_YEAR}|(?:last|this|next)\s+year))){_OF_YEAR}"), _half),
    (rf"\b{_REL}(?P<festival>{ENGLISH})(?!\w){_OF_YEAR}", _festival),
    ((rf"(?<!every\s)(?<!each\s)\b(?:(?P<rel>this\s+past|this\s+coming|last|past|previous|this|next|coming|on)\s+)?"
     rf"(?P<weekday>{'|'.join(WEEKDAYS)}|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b\.?)(?!\w)"
     r"(?:\s+(?:of\s+)?(?P<week>last|this|next)\s+week\b)?"), _weekday),
    ((rf"(?<![\w.\-/#$€£])(?P<year>{_YEAR})(?:\s*[-–—]\s*(?P<until>{_YEAR}))?(?![\w\-/:%]|[.,]\d|\s*(?:年|words|"
     r"steps|lines|characters|tokens|people|users|files|items|dollars|euros|yuan|meters|metres|miles|km|"
     r"calories|points|times|rows|records|requests|copies|hours|minutes|days|pages)\b)"), _only_year),
)  # fmt: skip
_RULES: Final = [(lazy_pattern(pattern, re.IGNORECASE), read) for pattern, read in _READINGS]
QUICK: Final = lazy_pattern(
    r"\b(?:before\slast|yester|today|tonight|tomorrow|(?:this|last|next|past|previous|coming|current)\s|weekend|week|month|"
    r"ago\b|back\b|from\snow|jan|feb|mar|apr|may\b|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall\b|winter|"
    r"q[1-4]\b|h[12]\s|first\s|second\s|third\s|fourth|(?:mon|tues|wednes|thurs|fri|satur|sun)day|on\s[mtwfs]|"
    r"christmas|xmas|boxing|chinese|lunar|new\s|easter|good\sf|hallow|thanks|black\s|saint|st\b|valent|indep|"
    r"labou?r|memor|veter|mother|father|cinco|mid|dragon|lantern|qing|tomb|singles|women|children|(?:19|20)\d\d)"
    r"|\d[\-/.](?:19|20)\d\d|(?:19|20)\d\d[\-/.]\d",
    re.IGNORECASE,
)
"""Fast prefilter: matches in every text with an English time word."""


def words(text: str, now: datetime) -> Iterator[Word]:
    """Yield all interpretations of English time words, including overlapping ones. `now` is naive."""
    return read_words(_RULES, text, now)
