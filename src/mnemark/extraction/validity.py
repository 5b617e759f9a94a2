"""Extract appointments and deadlines with their date, errors with their fix, and abandoned tools."""

import re
from datetime import datetime, timedelta
from typing import Final

from mnemark.extraction.abbreviations import TITLE
from mnemark.extraction.candidate import BLOT, Found, bare
from mnemark.extraction.english_words import is_job
from mnemark.extraction.practice_words import role_of
from mnemark.extraction.sentences import Sentence
from mnemark.text.dates.ranges import spans
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import DateRange

_EVENT_EN: Final = (
    r"(?:appointment|meeting|interview|call|exam|flight|class|lesson|reservation|surgery|wedding|check-?up|stand-?up|"
    r"presentation|demo|workshop|conference|train|trip|concert|party|birthday party|review|webinar|hearing|visit)"
)
_HAVE_EVENT: Final = lazy_pattern(
    rf"(?i)^(?:(?:and|also|btw|by the way|reminder)[,:]? )*(?:I|we)(?:'ve got| have got| have| 've)(?: an?| my| the| our)? "
    rf"(?P<v>(?:[\w-]+ ){{0,3}}{_EVENT_EN}(?: (?:with|to|at) (?:the |my )?{TITLE}\w+)?) (?:(?:on|at|in|from) )?(?:\x01)"
)
_EVENT_IS: Final = lazy_pattern(
    rf"(?i)^(?:(?:and|also|btw|by the way|reminder)[,:]? )*(?:my|our|the) (?P<v>(?:[\w-]+ ){{0,3}}{_EVENT_EN}(?: (?:with|to|at|in) (?:the |my )?\w+)?) "
    rf"(?:is|'s|starts|takes place|leaves)(?: scheduled)?(?: for| on| at| in)? ?(?:\x01)"
)
_DUE: Final = lazy_pattern(
    r"(?i)^(?:(?:and|also|btw|reminder|actually|update)[,:]? )*(?:(?=(?:release|launch|deadline) (?:is|was|has|moved|slipped|got) )|(?:the|our|my) )(?:(?P<of0>[\w-]+(?: [\w-]+)?) )?(?P<p>deadline|due date|release date|release|launch date|launch)"
    r"(?: (?:for|of) (?:the |my |our )?(?P<of>[\w-]+(?: [\w-]+){0,2}))? (?:(?:is|'s)(?: now| set for| planned for| scheduled for)?(?: on| by| in)?|(?:has |was |is |got )?(?:been )?(?:moved|postponed|pushed|pushed back|delayed|slipped)(?: back)? (?:to|until)) ?(?:\x01)"
)
_EVENT_ZH: Final = (
    "牙医|医生|会议|开会|例会|面试|考试|体检|航班|约会|婚礼|聚餐|手术|复查|答辩|演讲|培训|讲座|飞[\u4e00-\u9fff]{2,4}|出差|"
    "演唱会|课|预约$|团建|评审会|家长会"
)
_DATE_ZH: Final = lazy_pattern(
    rf"^(?:对了[，,]?)?(?:我们?|咱们)?\s*\x01+(?:我们?)?(?:要|得|还)?(?:有(?:个|一个|一场|一次)?|约了)?(?P<v>(?!的)[^，,。？?：:（）()、要计\x01]{{0,10}}?(?:{_EVENT_ZH})(?!开得|的事)[^，,。？?了：:（）()、再要\x01]{{0,4}})$"
)
_GOES_ON: Final = lazy_pattern(
    r"(?i), (?:so |because |as |since )?(?!if\b|but\b|unless\b|maybe\b|or\b|right\b)[^,]{3,60}$|"
    r"(?:because|as|since|due to|owing to|thanks to|after) (?![^,]{0,60}\b(?:or|if|unless|but)\b)[^,]{3,60}$"
)
"""What may stand behind a date: a reason, or what else is so, but no condition."""
_BECAUSE: Final = lazy_pattern(
    r"(?i)^(?:because(?: of)?|due to|owing to|since|as) (?!of\b)[^,\x01]{3,60}, |^(?:因为|由于|因)[^，,。？?\x01]{1,24}[，,]"
)
_DUE_ZH: Final = lazy_pattern(
    r"^(?:(?P<of>[^，,。？?\x01]{2,12}?)的)?(?P<p>截止日期|截止时间|期限|发布日期|上线日期|上线时间|发布日|上线日|上线|发布)(?:时间)?(?:(?:因为|由于|因)[^，,。？?\x01]{1,16}?)?(?:已经|又)?(?:定在|定于|改到|推迟到|延期到|延到|提前到|(?<!线)(?<!布)(?:是|为|在))了?\s*\x01+(?:[，,][^\x01？?]{0,30})?$"
)
_SHIFT: Final = r"(?:moved|rescheduled|postponed|pushed|shifted|delayed|brought)(?: back| forward| up| out)?"
_EVENT_MOVED: Final = lazy_pattern(
    rf"(?i)^(?:(?:and|also|btw|by the way|reminder|update)[,:]? )*(?:"
    rf"(?:(?:the|my|our) (?P<who>[\w-]+(?: [\w-]+)?)|they|he|she|I|we|dr\.? [\w-]+)(?: have| has|'ve)?(?: just| already)? {_SHIFT} (?:my|our|the) (?P<v>(?:[\w-]+ ){{0,2}}{_EVENT_EN})|"
    rf"(?:my|our) (?P<is>(?:[\w-]+ ){{0,3}}{_EVENT_EN}) (?:(?:has |was |is |got |'s )?(?:just |now )?(?:been )?){_SHIFT})"
    r"(?: back| forward| up| out)? (?:to|until|for) ?\x01"
)
_MOVED_ZH: Final = "(?:改到|改约到|改期到|推迟到|延期到|延到|提前到|挪到|调到|调整到)"
_EVENT_MOVED_ZH: Final = lazy_pattern(
    rf"^(?:对了[，,]?)?(?:(?P<who>[^，,。？?把的能可要会想请帮让\x01]{{1,8}}?)(?:那边|诊所)?(?:已经|又|刚|刚刚)?把)?我们?(?:和|跟)?的?(?P<v>[^，,。？?\x01]{{0,8}}?(?:预约|{_EVENT_ZH}))(?:的?时间)?"
    rf"(?:已经|又|被)?{_MOVED_ZH}了?\s*\x01+[早上午下中晚傍凌晨\d一二三四五六七八九十两点半:：分 ]{{0,12}}了?$"
)
_CARER_ZH: Final = lazy_pattern("(?:牙医|医生|大夫|律师|老师|教练|理发师|兽医|中介|房东)$")
_FROM: Final = lazy_pattern(r"(?i)(?<!\s)\s*+(?:\b(?:from|on|of|for)\s|从)$")
_SHIFTS: Final = lazy_pattern(
    rf"(?i)^\s*(?:to|until)\s$|^\s*(?:[\w\s']{{0,24}}\s)?{_SHIFT} (?:to|until)\s$|^[^，,。？?]{{0,16}}{_MOVED_ZH}了?\s*$"
)
"""Stands between the date before and the new one."""
_DUE_MOVED: Final = lazy_pattern(
    rf"(?i)^(?:(?:and|also|btw|actually|update)[,:]? )*(?:we|they|I|the team)(?: have| has|'ve)?(?: just| already)? {_SHIFT} (?:the |our |my )?"
    r"(?:(?P<of0>[\w-]+(?: [\w-]+){0,2}?)(?:'s)? )?(?P<p>deadline|due date|release date|launch date|release|launch)(?: back| forward| up| out)? (?:to|until) ?\x01"
)
_FROM_TO: Final = lazy_pattern(
    rf"(?i)\b({_SHIFT}(?: (?:the|our|my) [\w '-]{{2,40}}?)?) from [^,]{{2,40}}? to (?=[\w])"
)
"""The old and the new date, which would be read as a range."""
_EITHER: Final = lazy_pattern(r"(?i)\bor\b|或|还是")
_WEEKDAY: Final = lazy_pattern(
    r"(?i)^(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day$|^(?:周|星期|礼拜)[一二三四五六日天]"
)
_YEAR: Final = lazy_pattern(r"\d{4}|(?i:last|ago|yesterday|this)|去年|上(?!午)|昨|前天|今")

_CLOCK_EN: Final = lazy_pattern(r"(?i)\b(?P<h>\d{1,2})(?::(?P<m>\d\d))? ?(?P<half>[ap])\.?m\b")
_CLOCK_24: Final = lazy_pattern(r"(?<![\d:])(?P<h>\d{1,2}):(?P<m>\d\d)(?![\d:])")
_CLOCK_ZH: Final = lazy_pattern(
    r"(?:(?P<part>凌晨|早上|上午|中午|下午|傍晚|晚上|晚)\s*)?(?P<h>\d{1,2}|[一二两三四五六七八九十]{1,3})点(?P<m>半)?"
)

_TROUBLE_EN: Final = lazy_pattern(
    r"(?i)\b(?:\w*error|\w*exception|failed|failing|failure|crash(?:ed|es|ing)?|time-?outs?|bug|issue|problem|broke|deadlock|"
    r"leak|conflict|warning|hang|hung|fixed|root cause)\b"
)
_FIXED_EN: Final = lazy_pattern(
    r"(?i)\bthe (?:fix|solution|workaround) (?:was|is)\b|\b(?:the )?(?:root )?cause (?:was|turned out to be)\b|"
    r"\b(?:we|I)(?:'ve| have)? (?:fixed|solved|resolved|worked around) (?!it\b|that\b|this\b)[^.]{3,120}? by \w+ing\b|"
    r"^fixed: .{12,}\b(?:caused by|because|by \w+ing|due to|after|was)\b|"
    r"\b(?:went away|was (?:fixed|solved|resolved)|is (?:fixed|solved|resolved|gone)) (?:after|by|when|once) \w+ing\b"
)
_NOT_EN: Final = lazy_pattern(
    r"(?i)\b(?:not|n't|didn't|doesn't|isn't|if|whether|maybe|might|should|could|would|how|why|please|can you)\b"
)
_TROUBLE_ZH: Final = lazy_pattern(
    "报错|错误|异常|问题|失败|崩溃|超时|原因|泄漏|死锁|冲突|[A-Z]\\w{1,60}Error"
)
_FIXED_ZH: Final = lazy_pattern(
    "(?:通过|把|将|改|换|加|删|重|升级|降级|设置|安装|清理|关闭|回滚).{2,60}(?:解决了|修复了|修好了|恢复正常|就好了|好了|不再报错|正常了)|"
    "(?:原因是|是因为|根因是).{4,60}(?:解决|修复|恢复|删除|改|重)|已?修复[：:].{4,80}(?:造成|导致|引起)的?"
)
_NOT_ZH: Final = lazy_pattern(
    "没有?解决|没修|还没|怎么|如何|吗|是不是|如果|可能|也许|应该|请|帮我|不知道|能不能|是否"
)
_DROPPED: Final = lazy_pattern(
    r"^(?:(?i:by the way|btw|fyi|also|update|note)[,:]? )*(?i:we(?:'ve)?|our team|the (?:project|team)) (?P<no>(?i:no longer|don't|do not|stopped|quit)) (?i:use|using) "
    r"(?P<v>[A-Za-z][\w.+#-]*(?: [A-Z\d][\w.+#-]*){0,2})(?P<end> (?i:any ?more|any longer|now|at all))?(?=[.!]*$|,? (?:because|since|as|so)\b|, (?i:(?:it|everything|that)(?:'s| is)|we|now|and|but|only|all|just)\b)"
)
_DROPPED_ZH: Final = lazy_pattern(
    r"^(?:对了|另外|更新)?[，,：:]?(?:我们|项目|团队)(?:已经|现在)*不(?P<no>再)?(?:使用|用)\s*(?P<v>[A-Za-z][\w.+#-]*(?: [A-Z\d][\w.+#-]*){0,2})\s*(?P<end>了)?(?=[。！!.]*$|[，,；;])"
)
_LUNAR: Final = lazy_pattern("春节|过年|除夕|元宵|端午|七夕|中秋|重阳|腊八|农历|腊月|正月")
"""Days that fall on another date each year."""
_PREFIX: Final = lazy_pattern(r"^(?i:fixed|resolved|update|note|done)[:：] ?|^已?(?:修复|解决)[：:]")


def dated(sentence: Sentence, time: datetime) -> list[Found]:
    """Read appointments and deadlines with their date: `2026-03-17 15:00 dentist`."""
    text = _FROM_TO.sub(r"\g<1> to ", sentence.blotted)
    times = spans(text, time)
    if not times or BLOT in sentence.text or _EITHER.search(text[times[0][1] : times[-1][0]]):
        return []
    head, start, found = _new_date(text, times)
    end = times[-1][1]
    day = future_day(found.start, found.text, time)
    if day is None or found.end - found.start > timedelta(days=1):
        return []
    tail = text[end:].strip(" .。!！")
    marked = f"{head}\x01{text[end:].rstrip(' .。!！')}"
    when = f"{day:%Y-%m-%d}{clock(text if start == times[0][0] else text[start:])}"
    if due := _due(_BECAUSE.sub("", marked), tail):
        return [due._replace(value=f"{day:%Y-%m-%d}")]
    if what := _moved_event(marked, tail):
        return [
            Found("user", "appointments", what, over=True),
            Found("user", "appointments", f"{when} {what}"),
        ]
    for pattern in (_HAVE_EVENT, _EVENT_IS, _DATE_ZH):
        if (match := pattern.match(marked)) and len(tail) < 40:
            what = _CLOCK_ZH.sub("", match["v"]).strip() if pattern is _DATE_ZH else match["v"].strip()
            what = re.sub("^(?:预?约了|有[一]?[个场次])", "", what)
            return [Found("user", "appointments", f"{when} {what}")]
    return []


def _new_date(text: str, times: list[tuple[int, int, DateRange]]) -> tuple[str, int, DateRange]:
    """Return what stands before the date that counts, its place, and it: the second of "from 3 May to 5 May"."""
    (start, end, found), *more = times
    if not more or not _SHIFTS.match(text[end : more[0][0]]):
        return text[:start], start, found
    before, between = _FROM.sub("", text[:start]), text[end : more[0][0]].lstrip()
    return f"{before}{' ' if between.isascii() else ''}{between}", more[0][0], more[0][2]


_OUR_OWN: Final = lazy_pattern(r"^(?:我们|咱们?|本项目|这个项目|项目)(?:的|$)")


def _due(marked: str, tail: str) -> Found | None:
    """Read what a date, marked in the sentence, is the deadline or release date of; its value is left out."""
    match = _DUE.match(marked) or _DUE_MOVED.match(marked)
    if match and (len(tail) < 16 or _GOES_ON.match(tail)):
        predicate = "deadline" if match["p"].lower() in {"deadline", "due date"} else "release date"
        return Found(match.groupdict().get("of") or match["of0"] or "project", predicate, "")
    if match := _DUE_ZH.match(marked):
        predicate = "截止日期" if match["p"] in {"截止日期", "截止时间", "期限"} else "发布日期"
        return Found(_OUR_OWN.sub("", match["of"] or "") or "project", predicate, "")
    return None


def _moved_event(marked: str, tail: str) -> str:
    """Return which appointment was moved to the date marked in the sentence; empty if none was.

    Who moved it tells which it is if that is their calling: the dentist's, unlike the office's.
    """
    if (match := _EVENT_MOVED.match(marked)) and (len(tail) < 16 or _GOES_ON.match(_AT_CLOCK.sub("", tail))):
        what, who = match["v"] or match["is"], match["who"] or ""
        return f"{who} {what}" if what.lower() == "appointment" and is_job(who.split(" ")[-1]) else what
    if match := _EVENT_MOVED_ZH.match(_BECAUSE.sub("", marked)):
        who = _CARER_ZH.search(match["who"] or "")
        return f"{who[0]}预约" if who and match["v"] == "预约" else match["v"]
    return ""


_AT_CLOCK: Final = lazy_pattern(r"(?i)^at [\d:]{1,5}(?: ?[ap]\.?m\.?)?,?\s*")


def future_day(start: datetime, words: str, time: datetime) -> datetime | None:
    """Return the day that the words mean, today or later; None if it is past."""
    today = time.replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
    if start >= today:
        return start
    if _WEEKDAY.match(words):
        return start + timedelta(days=7) if start + timedelta(days=7) >= today else None
    if _YEAR.search(words) or _LUNAR.search(words):
        return None
    try:
        later = start.replace(year=today.year)
        return later if later >= today else start.replace(year=today.year + 1)
    except ValueError:  # 29 February
        return None


def date_of(words: str, time: datetime) -> str:
    """Return the date of the first time named that is to come, as exact as it is; else ""."""
    when = time_to_come(words, time)
    return shortest_date(*when) if when else ""


def time_to_come(words: str, time: datetime) -> tuple[datetime, datetime] | None:
    """Return the first time named that is to come; a month without a year is the next one."""
    today = time.replace(tzinfo=None)
    for _, end, span in spans(words, time):
        if "'s" in {words[end : end + 2], words[end - 2 : end]}:  # "New Year's presents" names no day
            continue
        if span.end > today:
            return span.start, span.end
        if (day := future_day(span.start, span.text, time)) is not None:
            return day, day + (span.end - span.start)
    return None


def shortest_date(start: datetime, end: datetime) -> str:
    """Return a day, a month or a year, as exact as a span is."""
    days = (end - start).days
    return f"{start:%Y-%m-%d}" if days <= 10 else f"{start:%Y-%m}" if days <= 62 else f"{start:%Y}"


def clock(text: str) -> str:
    """Return the time of day in a sentence as " 15:00", or an empty string."""
    if match := _CLOCK_EN.search(text):
        hour = int(match["h"]) % 12 + (12 if match["half"].lower() == "p" else 0)
        return f" {hour:02}:{match['m'] or '00'}" if int(match["h"]) <= 12 else ""
    if match := _CLOCK_24.search(text):
        return f" {int(match['h']):02}:{match['m']}" if int(match["h"]) < 24 else ""
    if match := _CLOCK_ZH.search(text):
        hour = int(match["h"]) if match["h"].isdecimal() else _number(match["h"])
        late = (match["part"] or "") in {"下午", "傍晚", "晚上", "晚"}
        hour += 12 if late and hour < 12 else 0
        return f" {hour:02}:{'30' if match['m'] else '00'}" if hour < 24 else ""
    return ""


def _number(word: str) -> int:
    """Return the value of a Chinese numeral from 一 to 二十四."""
    tens, ten, ones = word.rpartition("十")
    digits = "零一二三四五六七八九"
    one = 2 if ones == "两" else max(digits.find(ones), 0) if ones else 0
    return (max(digits.find(tens), 0) if tens else 1) * 10 + one if ten else one


def mended(sentence: Sentence) -> list[Found]:
    """Read an error together with its fix."""
    text = sentence.blotted
    english = _TROUBLE_EN.search(text) and _FIXED_EN.search(text) and not _NOT_EN.search(text)
    chinese = _TROUBLE_ZH.search(text) and _FIXED_ZH.search(text) and not _NOT_ZH.search(text)
    value = _PREFIX.sub("", sentence.text).rstrip(" .。!！").strip()
    if not (english or chinese) or not 8 <= len(value) <= 240 or value[-1] in ":：":  # the fix is not in it
        return []
    return [Found("project", "errors", value)]


def dropped(sentence: Sentence) -> list[Found]:
    """Read a tool that is no longer used as a decision, and as the end of the fact that it is used.

    In English "we don't use X" alone is neither.
    """
    if (match := _DROPPED.match(sentence.blotted)) is not None:
        name = bare(match["v"])
        clear = match["no"].lower() in {"no longer", "stopped", "quit"} or match["end"]
        if not clear or (name.islower() and not role_of(name)):  # "we no longer use it"
            return []
        return [Found("project", "decisions", f"no longer use {name}"), *_unused(name)]
    if (match := _DROPPED_ZH.match(sentence.blotted)) is not None:
        name = bare(match["v"])
        decision = Found("project", "decisions", f"不再用 {name}")
        return [decision, *(_unused(name) if match["no"] or match["end"] else [])]
    return []


def _unused(name: str) -> list[Found]:
    """Return the end of a project's use of a program; nothing if it is not known what it is for."""
    role = role_of(name)
    return [Found("project", role, name, over=True)] if role else []
