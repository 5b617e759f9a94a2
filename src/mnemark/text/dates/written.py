"""Write the dates of time words beside them: "next Wednesday" becomes "next Wednesday (2026-11-25)".

What is written down is read on another day. The words are kept; a word whose meaning is doubtful, or that
names its date already, gets none.
"""

# ruff: noqa: E501 - a pattern reads best with its alternatives on one line

import re
from datetime import date, datetime, timedelta
from functools import cache
from typing import Final

from mnemark.text.dates.ranges import spans
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN

_LONGEST: Final = timedelta(days=31)
_WEEKDAY_EN: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_RELATIVE: Final = lazy_pattern(
    rf"(?:by )?(?:(?:the )?day (?:after tomorrow|before yesterday)|tomorrow|today|tonight|yesterday|last night|"
    rf"(?:next|this|last|coming|this coming|this past) (?:{_WEEKDAY_EN}|week(?:end)?|month)|"
    r"in (?:an?|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) (?:days?|weeks?)|"
    r"(?:an?|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) days? (?:ago|from now))|"
    r"大?前天|昨[天日晚晨]?|今[天日晚早晨]|明[天日晚早晨]|大?后天|"
    r"(?:上上?|这|本|下下?)一?个?(?:周|星期|礼拜|月)[一二三四五六日天末]?|[\d一二两三四五六七八九十]{1,3}天[前后]",
    re.IGNORECASE,
)
_WEEKDAY: Final = lazy_pattern(
    rf"(?:on |by )?{_WEEKDAY_EN}|(?:周|星期|礼拜)[一二三四五六日天]", re.IGNORECASE
)
_PART_OF_DAY: Final = lazy_pattern(
    r"(?<!\s)(?:\s++(?:in the |at )?(?:morning|afternoon|evening|night)|\s*+的?(?:凌晨|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|夜里))$",
    re.IGNORECASE,
)
_DATED: Final = lazy_pattern(
    r" ?(?:\(|（)(?P<first>\d{4}(?:-\d\d){0,2})(?:–(?P<last>\d{4}-\d\d-\d\d))?(?:\)|）)"  # in UTF-8, too
)


def dated(text: str, said: datetime, *, ahead: bool = False) -> str:
    """Return a text with the dates of its relative time words in brackets after them.

    Args:
        text: a sentence or a few.
        said: when it was said, in the time zone of the dates.
        ahead: the text is about the future: a bare weekday is the next one; else it gets no date.

    >>> dated("下周三交稿", datetime(2026, 11, 21))
    '下周三（2026-11-25）交稿'
    >>> dated("I hand it in next Wednesday.", datetime(2026, 11, 21))
    'I hand it in next Wednesday (2026-11-25).'
    """
    out, at = [], 0
    for start, end, found in spans(text, said):
        words = _PART_OF_DAY.sub("", text[start:end])
        weekday = _WEEKDAY.fullmatch(words) is not None
        stop = end + len("'s") * (text[end : end + 2] in {"'s", "’s"})
        if not (_RELATIVE.fullmatch(words) or (weekday and ahead)) or _DATED.match(text, stop):
            continue
        # "By Friday" is open at its begin.
        day = found.end - timedelta(days=1) if found.start.year == 1 else found.start
        if weekday and day.date() < said.date():
            day += timedelta(days=7)
        shown = _shown(day, found.end) if not weekday else day.date().isoformat()
        chinese = HAN.search(words) is not None
        out += [text[at:stop], f"（{shown}）" if chinese else f" ({shown})"]
        at = stop
    return "".join([*out, text[at:]])


def undated(text: str) -> str:
    """Return a text without the dates that `dated` wrote."""
    return _DATED.sub("", text)


def undated_bytes(data: bytes) -> bytes:
    """Return UTF-8 text as `undated` does; `data` itself where it has no such date: it may be a large file."""
    return _dated_bytes().sub(b"", data)


@cache
def _dated_bytes() -> re.Pattern[bytes]:
    return re.compile(_DATED.pattern.encode())


def last_day(text: str) -> date | None:
    """Return the last day of the latest date that `dated` wrote into a text; None where there is none."""
    days = [_last(match) for match in _DATED.finditer(text)]
    return max((day for day in days if day is not None), default=None)


def _shown(start: datetime, end: datetime) -> str:
    first, last = start.date(), (end - timedelta(microseconds=1)).date()
    if end - start <= timedelta(days=1) or end - start > _LONGEST:
        return first.isoformat()
    if first.day == 1 and (last + timedelta(days=1)).day == 1:
        return f"{first:%Y-%m}"
    return f"{first.isoformat()}–{last.isoformat()}"


def _last(match: re.Match[str]) -> date | None:
    first, last = match["first"], match["last"] or match["first"]
    try:
        if len(last) > len("2026-11"):
            return date.fromisoformat(last)
        year, month = int(first[:4]), int(first[5:])
        return date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    except ValueError:
        return None
