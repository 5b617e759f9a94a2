"""Parse time words in English and Chinese as time spans: "last Tuesday", "since March", 上周五, 去年国庆.

`moment` takes a time as an argument of a caller: such words, or ISO text.

How ambiguous words are interpreted:

- Weeks start on Monday. `last Tuesday` is the most recent one before today, `next Tuesday` the
  first one after; 上周二 is the Tuesday of last week. A bare weekday, month, day or festival is the most
  recent one that began on or before now.
- `two weeks ago`, 两个月前: that calendar week or month. `last 3 days`, 最近三天: from three days ago to the
  end of today. A few is 2 to 6.
- Seasons are calendar months (spring: March to May). Early, middle and late (上旬, 中旬, 下旬; 初, 底) are
  days 1-10, 11-20 and the rest of a month. The beginning and end of a year (年初, 年底) are its first and
  last two months.
- `since X` ends with today; `before X` begins in the year 1; `after X` begins at the end of X.

Doubtful time words are ignored: ranges affect the ranking, so a wrong one costs more than a missed one. All
times are local, in the time zone of `now`.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Final, Literal

from mnemark.errors import UsageError, text_given
from mnemark.text.dates import chinese as zh
from mnemark.text.dates import english as en
from mnemark.text.dates.grammar import (
    END,
    START,
    WEEKDAYS,
    Grain,
    Span,
    Third,
    Word,
    Yearly,
    days,
    edge_of,
    hours,
    midnight,
    part_of,
)
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import DateRange

LONGEST: Final = 16_384
"""Maximum characters parsed: far more than a question has."""

Change = Callable[[Span], Span]

_PARTS: Final[dict[str, Third]] = {
    "early": "early", "beginning": "early", "start": "early", "mid": "mid", "middle": "mid", "late": "late",
    "end": "late",
}  # fmt: skip
_NTH: Final = ("first", "second", "third", "fourth", "last")
_PART_BEFORE: Final = lazy_pattern(
    r"\b(?:(?P<part>early|mid|late)(?:\s+in)?[\s-]+|(?:the\s+)?(?P<edge>beginning|start|middle|end)\s+of\s+|"
    r"(?:the\s+)?(?P<week>first|second|third|fourth|last)\s+week\s+(?:of|in)\s+|"
    r"(?:the\s+)?(?P<day>first|last)\s+day\s+of\s+|(?:the\s+|last\s+)?(?P<unit>day|week(?:end)?|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\s+"
    r"(?P<side>before|after)\s+|"
    r"(?:the\s+)?(?P<hours>morning|afternoon|evening|night)\s+of\s+)(?:the\s+)?$",
    re.IGNORECASE,
)
_PART_AFTER: Final = lazy_pattern(
    r"\s+(?:in\s+the\s+|at\s+)?(?P<en>morning|afternoon|evening|night)\b|"
    r"\s*的?(?P<zh>凌晨|清晨|早晨|早上|上午|中午|下午|午后|傍晚|晚上|夜里|夜晚|半夜|晚(?![点到期于会安饭餐])|早(?![就已点期在]))",
    re.IGNORECASE,
)
_ZH_PARTS: Final = {"凌": "night before", "清": "morning", "早": "morning", "上": "morning", "中": "noon"} | {
    "下": "afternoon", "午": "afternoon", "傍": "evening", "晚": "evening", "夜": "night", "半": "night"
}  # fmt: skip
_OPEN_BEFORE: Final = lazy_pattern(
    r"(?:\b(?P<en>(?:ever\s+)?since|before|prior\s+to|after|until|till|up\s+to|by)\s+(?:the\s+)?|"
    r"(?P<zh>自从|自|从|截至|截止到?|直到))$",
    re.IGNORECASE,
)
_OPEN_AFTER: Final = lazy_pattern(
    r"\s*(?:(?P<since>以来|至今|到现在|到目前|开始|起(?![来床])|到今天)|(?P<before>以前|之前|前(?![天年面端往几后两三任期半台辈者景提途线夕晚]))|"
    r"(?P<after>以后|之后|过后|后(?![天来面边端台续者果半期年悔]))|(?P<until>为止))"
)
_RANGE_LINK: Final = lazy_pattern(
    r"\s*(?:(?P<to>to|till|until|through|thru|[-–—~～至到]|直到)|(?P<and>and|和|与|跟))\s*$", re.IGNORECASE
)
_FROM: Final = lazy_pattern(r"(?:\b(?:(?P<between>between)|from)\s+(?:the\s+)?|在?从|自|在)$", re.IGNORECASE)
_BETWEEN_END: Final = lazy_pattern(r"(?:的?这段时间|之间|期间|这段时间)")


_HABIT: Final = lazy_pattern(
    r"\b(?:usually|normally|typically|generally|always|often|(?:like|love|prefer|tend) to|every)\b|"
    r"一般|通常|平时|平常|喜欢|习惯|总是|经常|往往|每",
    re.IGNORECASE,
)
_RECURRING: Final = lazy_pattern(
    r"(?:the |a |on |at )*(?:weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|"
    r"周末|(?:周|星期|礼拜)[一二三四五六日天]",
    re.IGNORECASE,
)
"""Days that mean no date in a question about habits: "what do I usually do at the weekend"."""


def spans(text: str, now: datetime) -> list[tuple[int, int, DateRange]]:
    """Return the time words of a text in order, as `(start, end, range)` with half-open character offsets.

    `now` may be naive or aware; ranges are naive, in its time zone. Parses the first `LONGEST` characters in
    linear time and never raises. `DateRange.text` is the matched text.
    """
    head = text[:LONGEST]
    here = now.replace(tzinfo=None)
    readings = [
        *(en.words(head, here) if en.QUICK.search(head) else ()),
        *(zh.words(head, here) if not head.isascii() and zh.QUICK.search(head) else ()),
    ]
    words = _with_weekdays(head, _without_overlaps(readings))
    found = _without_overlaps([_with_modifiers(head, word) for word in words])
    if _HABIT.search(head):
        found = [word for word in found if not _RECURRING.fullmatch(head, word.start, word.end)]
    return [
        (word.start, word.end, DateRange(*word.span, text=head[word.start : word.end]))
        for word in _without_overlaps([_open_range(head, word, here) for word in _join_ranges(head, found)])
        if word.span[0] < word.span[1]
    ]


def date_ranges(text: str, now: datetime) -> list[DateRange]:
    """Return the date ranges of the time words of a text, in order; see `spans`."""
    return [found for _, _, found in spans(text, now)]


def _without_overlaps(readings: list[Word]) -> list[Word]:
    """Return non-overlapping words: the leftmost, then the longest."""
    out: list[Word] = []
    for word in sorted(readings, key=lambda word: (word.start, -word.end)):
        if not out or word.start >= out[-1].end:
            out.append(word)
    return out


_BESIDE: Final = lazy_pattern(r"(?:\s*[,，(（]\s*|\s+|)(?:the\s+)?", re.IGNORECASE)


_WEEKDAY: Final = lazy_pattern(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b|"
    r"(?:周|星期|礼拜)[一二三四五六日天]",
    re.IGNORECASE,
)


def _with_weekdays(text: str, found: list[Word]) -> list[Word]:
    """Join a weekday and the date beside it, which says which day it is: "next Tuesday, 14 April"."""
    out: list[Word] = []
    for word in found:
        last = out[-1] if out else None
        if last is None or not last.grain == word.grain == "day":
            out.append(word)
            continue
        named = [_WEEKDAY.search(text, one.start, one.end) is not None for one in (last, word)]
        between = text[last.end : word.start]
        if named[0] == named[1] or not _BESIDE.fullmatch(between):
            out.append(word)
            continue
        closed = text[word.end : word.end + 1] in {")", "）"} and between.strip() in {"(", "（"}
        dated = word if named[0] else last
        out[-1] = dated._replace(start=last.start, end=word.end + closed)
    return out


def _with_modifiers(text: str, word: Word) -> Word:
    """Apply modifiers to a word: "early", "end of", "first week of" before it, "morning", 晚上 after it."""
    if (match := _PART_AFTER.match(text, word.end)) and word.grain == "day":
        part = match["en"].lower() if match["en"] else _ZH_PARTS[match["zh"][0]]
        word = word._replace(end=match.end(), span=hours(word.span, part), grain="hour", yearly=None)
    match = _PART_BEFORE.search(text, max(0, word.start - 32), word.start)
    if match is None:
        return word
    change = _day_change(match) if word.grain == "day" else _part_change(match, word.grain)
    return (_apply_change(word, match.start(), change) if change else None) or word


def _day_change(match: re.Match[str]) -> Change | None:
    if match["hours"]:
        return lambda span: hours(span, match["hours"].lower())
    if match["side"] is None:
        return None
    before, unit = match["side"].lower() == "before", match["unit"].lower()
    return lambda span: _adjacent(span, unit, before=before)


def _adjacent(span: Span, unit: str, *, before: bool) -> Span:
    if unit in ("day", "week"):
        size = 1 if unit == "day" else 7
        return days(span[0] - timedelta(days=size) if before else span[1], size)
    size, number = (2, 5) if unit == "weekend" else (1, WEEKDAYS.index(unit))
    if before:
        back = (span[0].weekday() - number - 1) % 7 + 1
        return days(span[0] - timedelta(days=back), size)
    return days(span[1] + timedelta(days=(number - span[1].weekday()) % 7), size)


def _part_change(match: re.Match[str], grain: Grain) -> Change | None:
    if grain not in ("month", "year", "season", "quarter", "week"):
        return None
    if third := match["part"] or match["edge"]:
        narrow = part_of if match["part"] else edge_of
        return lambda span: narrow(span, grain, _PARTS[third.lower()])
    if match["day"]:
        last = match["day"].lower() == "last"
        return lambda span: days(span[1] - timedelta(days=1) if last else span[0])
    if match["week"] and grain == "month":
        index = _NTH.index(match["week"].lower())
        if index == 4:
            return lambda span: (span[1] - timedelta(days=7), span[1])
        return lambda span: days(span[0] + timedelta(days=7 * index), 7)
    return None


def _apply_change(word: Word, start: int, change: Change) -> Word | None:
    try:
        span = change(word.span)
    except (ValueError, OverflowError):
        return None
    yearly = word.yearly
    changed: Yearly | None = (lambda which: change(yearly(which))) if yearly else None
    return word._replace(start=start, span=span, grain="span", weak=False, yearly=changed)


def _join_ranges(text: str, found: list[Word]) -> list[Word]:
    """Join two words that "to", 到 or "between ... and" connects; drop other weak words."""
    out: list[Word] = []
    at = 0
    while at < len(found):
        word = found[at]
        joined = _range(text, word, found[at + 1]) if at + 1 < len(found) else None
        if joined or not word.weak:
            out.append(joined or word)
        at += 2 if joined else 1
    return out


def _range(text: str, a: Word, b: Word) -> Word | None:
    if b.start - a.end > 16:
        return None
    link = _RANGE_LINK.match(text, a.end, b.start)
    if link is None:
        return None
    lead = _FROM.search(text, max(0, a.start - 16), a.start)
    amid = _BETWEEN_END.match(text, b.end)
    if link["and"] and not (lead and (lead["between"] or amid)) and not amid:
        return None
    try:
        first, last = _ordered(a, b)
    except (ValueError, OverflowError):
        return None
    if first[0] >= last[1] or last[0] < first[0]:
        return None
    return Word(lead.start() if lead else a.start, amid.end() if amid else b.end, (first[0], last[1]), "span")


def _ordered(a: Word, b: Word) -> tuple[Span, Span]:
    """Return both spans, with unstated years and weeks chosen such that `b` follows `a`."""
    first, last = a.span, b.span
    if a.yearly and not b.yearly:
        first = a.yearly(last[0].year)
        if first[0] > last[0]:
            first = a.yearly(last[0].year - 1)
    elif b.yearly:
        last = b.yearly(first[0].year)
        if last[0] < first[0]:
            last = b.yearly(first[0].year + 1)
    elif b.weekly and last[0] < first[0]:
        last = last[0] + timedelta(days=7), last[1] + timedelta(days=7)
    return first, last


_KINDS: Final = {
    "ever": "since", "since": "since", "before": "before", "prior": "before", "after": "after",
    "until": "until", "till": "until", "up": "until", "by": "until",
}  # fmt: skip


def _open_range(text: str, word: Word, now: datetime) -> Word:
    """Return an open range if "since", "before", "after", "until", 以来, 之后 or 为止 is beside a word."""
    lead = _OPEN_BEFORE.search(text, max(0, word.start - 16), word.start)
    tail = _OPEN_AFTER.match(text, word.end)
    start, end, kind = word.start, word.end, None
    if lead and lead["en"]:
        start, kind = lead.start(), _KINDS[lead["en"].lower().split()[0]]
    elif tail:
        start, end, kind = (lead.start() if lead else start), tail.end(), tail.lastgroup
    elif lead and lead["zh"] != "从":
        start, kind = lead.start(), ("since" if lead["zh"][0] == "自" else "until")
    if kind is None:
        return word
    span = _open(word.span, kind, now)
    return word._replace(start=start, end=end, span=span) if span else word


def _open(span: Span, kind: str, now: datetime) -> Span | None:
    today = midnight(now)
    tomorrow = min(today, END - timedelta(days=1)) + timedelta(days=1)
    if kind == "since":
        return (span[0], tomorrow) if span[0] < tomorrow else None
    if kind == "before":
        return START, span[0]
    if kind == "until":
        return START, span[1]
    return span[1], (tomorrow if span[1] < tomorrow else END)


_ASKS: Final = r"(?:what|where|who|whom|which|how(?!\s+(?:long|many|much|old|far))|anything|something)"
_DOES: Final = (
    r"(?:do|did|does|happen(?:s|ed)?|go|went|come|came|work(?:ed)?\s+on|use|used|live|lived|was|were|say|said|eat|ate|"
    r"buy|bought|have|had|see|saw|read|try|tried)"
)
_ZH_DOES: Final = (
    r"[，,]?(?:[我你他她它]们?)?[^。？！]{0,4}?[做去发住在用买吃说看干聊写完]\w{0,2}?了?"
    r"[^。？！]{0,4}?(?:什么|哪|谁|啥)"
)
_ZH_ASKS: Final = r"[^。？！\n]{0,30}?(?:什么|哪|谁|啥|多少|几|怎么|是否|吗)"
Order = Literal["before", "after", "latest", "first"]
_ORDER_READINGS: Final[tuple[tuple[Order, tuple[str, ...], str], ...]] = (
    ("before", ("before", "之前", "以前"),
     rf"\b{_ASKS}\b[^.!?]{{0,60}}?\b{_DOES}\b[^.!?]{{0,40}}?\bbefore\s+\w|(?:之前|以前){_ZH_DOES}"),
    ("after", ("after", "之后", "以后", "接着", "然后"),
     rf"\b{_ASKS}\b[^.!?]{{0,60}}?\b{_DOES}\b[^.!?]{{0,40}}?\bafter\s+\w|(?:之后|以后|接着|然后){_ZH_DOES}"),
    ("latest", ("latest", "newest", "recent", "current", "now", "moment", "date", "last", "最近", "上一次",
                "最后一次", "最新", "上次", "现在", "目前", "当前", "如今", "眼下"),
     (r"\b(?:latest|newest|most\s+recent(?:ly)?|currently|right\s+now|at\s+the\s+moment|nowadays|as\s+of\s+now|"
      r"up[\s-]to[\s-]date|last\s+time|(?:my|our|the|your|his|her|their)\s+current)\b|"
      rf"最近的?一次|上一次|最后一次|最新|(?:上次|现在|(?<!到)目前|当前|如今|眼下)(?!为止){_ZH_ASKS}")),
    ("first", ("first", "earliest", "第一次", "首次", "最早", "最初", "最先", "一开始", "起初", "头一次"),
     (r"\b(?:first\s+time|earliest|very\s+first|(?:when|where|how)\s++did\s++[^.!?]{1,40}?\s++first)\b|"
      r"第一次|首次|最早|最初|最先|一开始|起初|头一次")),
)  # fmt: skip
"""Order, words of which each match has one, and pattern."""
_ORDER: Final = [(hint, words, lazy_pattern(found, re.IGNORECASE)) for hint, words, found in _ORDER_READINGS]


def order_hint(text: str) -> Order | None:
    """Return whether a question asks for what was before or after something, the latest or the first."""
    text = text[:2000]
    folded = text.casefold()
    return next(
        (
            hint
            for hint, words, pattern in _ORDER
            if any(word in folded for word in words) and pattern.search(text)
        ),
        None,
    )


def moment(
    value: date | str | None, name: str, now: datetime, *, end: bool = False, last: bool = False
) -> datetime | None:
    """Return a time given as datetime, ISO format or time words ("last week", 上周五).

    Args:
        value: the argument; a date is that day.
        name: name of the argument, for the message.
        now: the time that words are relative to.
        end: return the (exclusive) end of the span of words or a date, not its start.
        last: return the last second of the span.

    Raises:
        UsageError: `value` is not a time.
    """
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, date):
        value = value.isoformat()
    text_given(value, name)
    ranges = date_ranges(value, now)
    found = _iso(value)
    if ranges and (len(value.strip()) <= 10 or not found):
        if last:
            return ranges[-1].end - timedelta(seconds=1)
        return ranges[-1].end if end else ranges[0].start
    if found is None:
        raise UsageError(
            f"{name}: {value!r} is not a time; write 2026-02-13, 2026-02-13T09:30 or words like yesterday"
        )
    return found


def _iso(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        return None
