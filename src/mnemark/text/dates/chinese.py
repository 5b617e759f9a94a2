"""Parse Chinese time words. See `ranges` for the rules."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from mnemark.text.dates.calendar import CHINESE, festival_name, lunar_day
from mnemark.text.dates.grammar import CHINESE as NUMBER
from mnemark.text.dates.grammar import (
    FEW,
    Grain,
    Reading,
    Span,
    Third,
    Word,
    Yearly,
    ago,
    chinese_amount,
    chinese_number,
    days,
    edge_of,
    hours,
    midnight,
    month,
    part_of,
    past,
    read_words,
    recent,
    recent_weekend,
    some_time_ago,
    spelled_number,
    week,
    weekend,
    year,
    yearly_festival,
)
from mnemark.text.lazy_pattern import lazy_pattern

_N: Final = "一二三四五六七八九"
_MONTH: Final = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
_UNIT: Final = (
    r"(?P<unit>个?(?:小时|钟头)|分钟|天|日|个?(?:周|星期|礼拜)(?![一二三四五六日末])|个月|个?季度|年)"
)
_YEARS: Final = {
    "大前年": -3, "前年": -2, "去年": -1, "上一年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2,
}  # fmt: skip
_OF_YEAR: Final = (
    rf"(?:(?P<of>(?<![\d{_N}十百千])(?:大前年|前年)|去年|上一年|今年|本年|明年|后年)的?|"
    rf"(?<![\d.])(?P<year>(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{{3}})\s*年的?\s*|(?<!\d)(?P<short>\d\d)年(?=\d{{1,2}}月))"
)
_DAYS: Final = {"大前天": -3, "前天": -2, "昨": -1, "今": 0, "明": 1, "大后天": 3, "后天": 2}
_SHIFT: Final = {"上上": -2, "上一": -1, "上": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下一": 1, "下下": 2}
_PARTS: Final = {"早": "morning", "晨": "morning", "晚": "night", "夜": "night"}
_SEASONS: Final = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_PART: Final = (
    r"(?:(?P<part>上旬|中旬|下旬|初(?![一二三四五六七八九十中高])|底|末|中(?![国文秋午学考心间外美日]))|份)?"
)
_THIRD: Final[dict[str, Third]] = {
    "上旬": "early", "初": "early", "中旬": "mid", "中": "mid", "下旬": "late", "底": "late", "末": "late",
}  # fmt: skip
_GRAINS: Final[dict[str, Grain]] = {
    "小时": "hour", "钟头": "hour", "分钟": "minute", "天": "day", "日": "day", "周": "week", "星期": "week",
    "礼拜": "week", "季度": "quarter", "月": "month", "年": "year",
}  # fmt: skip


def _unit(text: str) -> Grain:
    return next(grain for mark, grain in _GRAINS.items() if mark in text)


def _which_year(match: re.Match[str], now: datetime) -> int | None:
    groups = match.groupdict()
    if groups.get("of"):
        return now.year + _YEARS[match["of"]]
    if written := groups.get("year"):
        number = int(written) if written.isdecimal() else spelled_number(written)
        if not 1900 <= number < 2100:
            raise ValueError(f"{written} is no year")
        return number
    if groups.get("short"):
        return 2000 + int(match["short"]) if int(match["short"]) < 70 else 1900 + int(match["short"])
    return None


def _yearly(match: re.Match[str], now: datetime, make: Yearly, grain: Grain) -> Word:
    which = _which_year(match, now)
    if which is None:
        return Word(*match.span(), recent(make, now), grain, yearly=make)
    return Word(*match.span(), make(which), grain)


def _day_word(match: re.Match[str], now: datetime) -> Word:
    day = days(midnight(now) + timedelta(days=_DAYS[match["day"]]))
    part = match["part"]
    return Word(*match.span(), hours(day, _PARTS[part]) if part else day, "hour" if part else "day")


def _week(match: re.Match[str], now: datetime) -> Word | None:
    which, day = match["which"], match["day"]
    if which is None:
        if day is None or day == "末":
            return Word(*match.span(), recent_weekend(now), "span") if day else None
        today = midnight(now)
        span = days(today - timedelta(days=(today.weekday() - _weekday(day)) % 7))
        return Word(*match.span(), span, "day", weekly=True)
    span = week(now, _SHIFT[which])
    if day is None:
        return Word(*match.span(), span, "week")
    if day == "末":
        return Word(*match.span(), weekend(now, _SHIFT[which]), "span")
    return Word(*match.span(), days(span[0] + timedelta(days=_weekday(day))), "day")


def _weekday(day: str) -> int:
    return 6 if day in "日天7" else ("一二三四五六".find(day) if day in "一二三四五六" else int(day) - 1)


def _month_word(match: re.Match[str], now: datetime) -> Word:
    span = month(now.year, now.month + _SHIFT[match["which"]])
    if match["d"]:
        number = chinese_number(match["d"])
        if number > (span[1] - span[0]).days:
            raise ValueError(f"no day {number}")
        return Word(*match.span(), days(span[0] + timedelta(days=number - 1)), "day")
    return _month_part(match, span)


def _month_part(match: re.Match[str], span: Span) -> Word:
    part = match["part"]
    return Word(
        *match.span(), part_of(span, "month", _THIRD[part]) if part else span, "span" if part else "month"
    )


def _month(match: re.Match[str], now: datetime) -> Word:
    number, part = chinese_number(match["m"]), match["part"]
    last = chinese_number(match["m2"]) if match["m2"] else number
    count = (last - number) % 12 + 1

    def yearly(which: int) -> Span:
        span = month(which, number, count)
        return part_of(span, "month", _THIRD[part]) if part else span

    return _yearly(match, now, yearly, "span" if part or count > 1 else "month")


def _date(match: re.Match[str], now: datetime) -> Word:
    number, first = chinese_number(match["m"]), chinese_number(match["d"])
    last = chinese_number(match["d2"]) if match["d2"] else first

    def yearly(which: int) -> Span:
        span = month(which, number)
        if last > (span[1] - span[0]).days + (number == 2 and last == 29) or last < first:
            raise ValueError(f"no day {last} in month {number}")
        return days(span[0] + timedelta(days=first - 1), last - first + 1)

    return _yearly(match, now, yearly, "day" if last == first else "span")


def _season(match: re.Match[str], now: datetime) -> Word:
    first = _SEASONS[match["season"]]
    return _yearly(match, now, lambda which: month(which, first, 3), "season")


def _quarter(match: re.Match[str], now: datetime) -> Word:
    number = chinese_number(match["q"])
    return _yearly(match, now, lambda which: month(which, number * 3 - 2, 3), "quarter")


def _half(match: re.Match[str], now: datetime) -> Word:
    first = 7 if match["half"] in "下后" else 1
    return _yearly(match, now, lambda which: month(which, first, 6), "span")


def _year_part(match: re.Match[str], now: datetime) -> Word:
    part = _THIRD[match["edge"]]
    return _yearly(match, now, lambda which: edge_of(year(which), "year", part), "span")


def _only_year(match: re.Match[str], now: datetime) -> Word | None:
    which = _which_year(match, now)
    return None if which is None else Word(*match.span(), year(which), "year")


def _lunar(match: re.Match[str], now: datetime) -> Word:
    written = match["m"]
    number = {"正": 1, "冬": 11, "腊": 12}.get(written) or chinese_number(written)
    day = match["d"].lstrip("初")
    day_number = 20 + chinese_number(day[1:]) if day[0] == "廿" else chinese_number(day)
    return _yearly(match, now, lambda which: days(lunar_day(which, number, day_number)), "day")


def _ago(match: re.Match[str], now: datetime) -> Word | None:
    unit, number = _unit(match["unit"]), match["number"]
    sign = -1 if match["side"][-1] == "后" else 1
    if number == "半":
        return some_time_ago(match, now, (sign * 6, sign * 6), "month") if unit == "year" else None
    least, most = chinese_amount(number)
    if unit == "year" and least >= 1000:
        return None  # a year, not a number of years
    return some_time_ago(match, now, (sign * least, sign * most), unit)


def _past(match: re.Match[str], now: datetime) -> Word | None:
    unit, number = _unit(match["unit"]), match["number"]
    if number == "半":
        return Word(*match.span(), past(now, 6, "month"), "span") if unit == "year" else None
    if match["lead"] in ("这", "前") and unit in ("year", "month") and number == "一":
        return None
    return Word(*match.span(), past(now, chinese_amount(number)[1], unit), "span")


def _days_ago(match: re.Match[str], now: datetime) -> Word:
    today = midnight(now)
    end = today + timedelta(days=match["lead"] != "前")
    return Word(*match.span(), (today - timedelta(days=FEW[1]), end), "span")


_TO: Final = r"\s*(?:到|至|[-–—~～])\s*"
_WEEK: Final = r"(?:周(?!期|围|边|年|到|全|密|岁|转|长|刊|报)|星期|礼拜)"
_WEEKDAY: Final = r"(?:[一二三四五六1-6](?![\d月个])|日(?![程常报记历志子本期])|天(?![气])|末(?![代]))"
_FREE: Final = rf"(?<![每\d{_N}十两几半个整双单])"
_READINGS: Final[tuple[tuple[str, Reading], ...]] = (
    (r"(?P<day>昨|今|明)(?:[天日儿]|(?P<part>早(?!已|就)|晨|晚|夜))", _day_word),
    (r"(?P<day>大前天|前天|大后天|(?<!以)(?<!之)后天)(?P<part>)", _day_word),
    (rf"(?<![以马至])(?P<which>上上|上一|上|这|本|下下|下一|下)个?{_WEEK}(?P<day>{_WEEKDAY})?", _week),
    (rf"(?P<which>){_FREE}{_WEEK}(?P<day>{_WEEKDAY})".replace("(?P<which>)", "(?P<which>(?!))?"), _week),
    ((rf"(?<![以马晚早])(?P<which>上上|上一|上|这|本|当|下下|下一|下)个?月(?![{_N}光亮饼球色经子票薪费租度嫂台季])"
     rf"(?:的?(?P<d>{_DAY})[日号]|的?{_PART})"), _month_word),
    (rf"{_FREE}(?<![这本上下当])月(?P<part>初|底|末)",
     lambda match, now: _month_part(match, month(now.year, now.month))),
    (rf"{_OF_YEAR}?(?<![\d.个{_N}十])(?P<m>{_MONTH})月(?P<d>{_DAY})(?:[日号])?{_TO}(?P<d2>{_DAY})[日号]",
     _date),
    (rf"{_OF_YEAR}?(?<![\d.个{_N}十])(?P<m>{_MONTH}) ?月 ?(?P<d>{_DAY}) ?[日号](?![线楼院])(?P<d2>(?!))?",
     _date),
    (rf"{_OF_YEAR}?(?<![\d.个{_N}十])(?P<m>{_MONTH})月?{_TO}(?P<m2>{_MONTH})月(?![{_N}\d]){_PART}",
     _month),
    ((rf"{_OF_YEAR}?(?<![\d.个第{_N}十])(?P<m>{_MONTH})(?P<m2>(?!))? ?"
      rf"月(?! ?[{_N}\d]* ?[日号]|饼|球|亮|光|票|嫂|子){_PART}"),
     _month),
    (rf"(?:{_OF_YEAR})(?P<season>[春夏秋冬])[天季]?", _season),
    (r"(?<![四青])(?P<season>[春夏秋冬])(?:天|季(?!节))", _season),
    (rf"{_OF_YEAR}?(?:第(?P<q>[一二三四1-4])个?季度)", _quarter),
    (rf"{_OF_YEAR}?(?P<q>(?<![上一])[一二三四])季度", _quarter),
    (rf"{_OF_YEAR}[Qq](?P<q>[1-4])(?!\d)", _quarter),
    (r"(?P<which>上上|上一|上|这|本|下下|下一|下)个?季度",
     lambda match, now: Word(*match.span(), ago(now, -_SHIFT[match["which"]], "quarter"), "quarter")),
    (rf"{_OF_YEAR}?(?P<half>[上下前后])半年", _half),
    (rf"(?:{_OF_YEAR}年?|(?<![去今明前后本每\d{_N}])年)(?P<edge>初(?![一二三四五六七八九十中高级步次恋])|底|末|中(?![国文秋午学考心间旬级]))",
     _year_part),
    (rf"{_OF_YEAR}(?!代|级|度|份|制|纪|龄|轻|货|糕|夜饭)", _only_year),
    (rf"(?<!\d)(?P<y1>(?:19|20)\d\d)\s*+年?{_TO}(?P<y2>(?:19|20)\d\d)\s*年",
     lambda match, _: Word(*match.span(), (year(int(match["y1"]))[0], year(int(match["y2"]))[1]), "span")),
    (rf"{_OF_YEAR}?(?P<festival>{CHINESE})",
     lambda match, now: _yearly(match, now, yearly_festival(festival_name(match["festival"])), "day")),
    (rf"{_OF_YEAR}?(?:农历|阴历)(?P<m>[正冬腊{_N}]|十[一二]?)月(?P<d>初[{_N}十]|廿[{_N}]|二?十[{_N}]?|三十)",
     _lunar),
    (rf"{_OF_YEAR}?(?P<m>[正腊])月(?P<d>初[{_N}十]|廿[{_N}]|二?十[{_N}]?|三十)", _lunar),
    (rf"{_OF_YEAR}?(?:大年|正月)初(?P<d>[{_N}])",
     lambda match, now: _yearly(
         match, now, lambda which: days(lunar_day(which, 1, chinese_number(match["d"]))), "day")),
    (rf"(?<![\d.第]){NUMBER}\s?{_UNIT}多?(?P<side>(?:以|之)?前(?![{_N}半])|(?:以|之)后)", _ago),
    (rf"(?P<lead>最近这?|过去的?这?|近|这(?!一[周天])|前)\s*{NUMBER}\s*{_UNIT}(?!前|后|以|之)", _past),
    (r"(?P<lead>前|这|近)(?:几天|些天|段时间)(?!后)", _days_ago),
)  # fmt: skip
_RULES: Final = [(lazy_pattern(pattern), read) for pattern, read in _READINGS]
QUICK: Final = lazy_pattern(
    rf"[年月周节]|[昨今明前后几些\d{_N}十两半数]\s?天|[昨今明][日儿早晨晚夜]|[\d{_N}十几]\s?日|[春夏秋冬][天季至]|星期|礼拜|"
    r"季度|小时|钟头|分钟|段时间|除夕|元宵|端午|七夕|中秋|重阳|清明|腊八|元旦|五一|六一|国庆|十一|双1|双十|圣诞|"
    r"万圣|平安夜|黑五|黑色星|龙抬头"
)
"""Fast prefilter: matches in every text with a Chinese time word."""


def words(text: str, now: datetime) -> Iterator[Word]:
    """Yield all interpretations of Chinese time words, including overlapping ones. `now` is naive."""
    return read_words(_RULES, text, now)
