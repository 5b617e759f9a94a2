"""Read chats of WeChat as people have them: its own text of a chat, copied messages, and exports of tools.

A message begins with a line of a name and a time, in the date forms of both languages. Tools such as
WeChatMsg (MemoTrace) write a table as well, which says which messages are the owner's.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from mnemark.errors import IntegrityError, NotFoundError
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_adapters.importers.chats import HALF, Said, hour_of, read_chat
from mnemark_adapters.importers.conversations import moment
from mnemark_adapters.importers.source import Member, Source

TEXTS: Final = "*微信*.txt", "*wechat*.txt", "*聊天*.txt"
FILES: Final = (*TEXTS, "*.csv")
COLUMNS: Final = frozenset({"issender", "strcontent", "type"})
_SERVICE: Final = "wechat"
_CLOCK: Final = (
    rf"(?:(?P<before>{HALF})\s?)?(?P<hour>\d{{1,2}})[:：](?P<minute>\d\d)(?:[:：](?P<second>\d\d))?"
    rf"(?:\s?(?P<after>{HALF}))?"
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEK: Final = ("一", "二", "三", "四", "五", "六", "日")
_ENGLISH_WEEK: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DATE: Final = (
    r"(?:(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})日?|"
    r"(?P<zmonth>\d{1,2})月(?P<zday>\d{1,2})日|"
    r"(?P<emonth>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6})\.? (?P<eday>\d{1,2})"
    r"(?:,? (?P<eyear>\d{4}))?|"
    r"(?P<word>今天|昨天|前天|Today|Yesterday|(?:星期|周)[一二三四五六日天]|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day))"
)
_TIME: Final = rf"(?:{_DATE}(?:\s?(?:星期|周)[一二三四五六日天])?[,，]?\s{{0,4}})?{_CLOCK}"
_TIME_FIRST: Final = lazy_pattern(rf"{_TIME}\s{{1,4}}(?P<name>[^\n]{{1,64}})")
_NAME_FIRST: Final = lazy_pattern(rf"(?P<name>[^\n]{{1,64}}?)[:：]?(?:\s{{1,4}}|\s?[(（]){_TIME}[)）]?")
_DAY_LINE: Final = lazy_pattern(r"[—–\-=─ ]{2,40}(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?[—–\-=─ ]{2,40}")
_INTRODUCTION: Final = lazy_pattern(
    r"(?i).{0,120}(?:的聊天记录如下[:：]?|chat history between .{1,100} is as follows[:：]?|聊天记录[:：]?)"
)
_KINDS: Final = (
    r"图片|照片|视频|语音|动画表情|表情包|文件|位置|链接|音乐|小程序|聊天记录|红包|转账|名片|视频号|通话|语音通话|视频通话|"
    r"Photo|Image|Picture|Video|Voice|Audio|Sticker|Animated Sticker|File|Location|Link|Music|Mini Program|"
    r"Transfer|Red Packet|Contact Card|Voice Call|Video Call"
)
_PLACEHOLDER: Final = lazy_pattern(rf"(?i)[\[【<](?:{_KINDS})[\]】>]")
_OWN_LINE: Final = lazy_pattern(
    r"(?:.{1,40}撤回了一条消息.{0,20}|.{1,40}拍了拍.{1,40}|以上是打招呼的内容|.{1,80}recalled a message|"
    r".{1,200}(?:加入了|移出了|退出了)群聊.{0,20})"
)
_LEVEL: Final = lazy_pattern(r"(?i)^\W{0,2}(?:info|error|warn(?:ing)?|debug|trace|fatal)\b")
OWN_NAMES: Final = frozenset({"我", "我自己", "me", "myself"})
"""What such texts call the owner."""
_TEXT_TYPES: Final = frozenset({"1", "文本", "text"})
_TYPES: Final = {
    "3": "picture", "34": "voice message", "42": "contact card", "43": "video", "47": "sticker",
    "48": "location", "49": "link or file", "50": "call", "10000": "line of WeChat's own",
}  # fmt: skip
_FILES: Final = "only text is imported"
_HEAD_LINES: Final = 80
_MOST_HEADERS: Final = 0.7
"""Share of lines that begin messages: what has more is a log, whose lines all begin with a time."""
_PREAMBLE: Final = 6


class _Header(NamedTuple):
    """The line that a message begins with."""

    name: str
    found: re.Match[str]
    line: str


def is_chat(head: str) -> bool:
    """Whether a text begins as a chat of WeChat."""
    lines = [line.strip() for line in head.split("\n")[:_HEAD_LINES] if line.strip()]
    headers = [(number, one) for number, line in enumerate(lines) if (one := _header_of(line)) is not None]
    if not headers or headers[0][0] > _PREAMBLE or len(headers) > _MOST_HEADERS * len(lines):
        return False
    is_introduced = any(map(_INTRODUCTION.fullmatch, lines[:_PREAMBLE]))
    dated = (
        is_introduced
        or any(map(_DAY_LINE.fullmatch, lines))
        or any(_has_date(one.found) for _, one in headers)
    )
    return dated and not any(_LEVEL.match(one.name) for _, one in headers)


def read(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import chats of WeChat; raises NotFoundError if there is none, IntegrityError if it is no text."""
    found = False
    for member in source.matching(*FILES):
        look = source.look(member)
        if look.columns >= COLUMNS:
            _read_table(incoming, member)
        elif is_chat(look.head) or source.is_single:
            if not is_chat(look.head):
                raise IntegrityError(f"{member.base} is no chat of WeChat: no line has a name and a time")
            read_chat(incoming, _SERVICE, _stem(member), _said(incoming, member))
        else:
            continue
        found = True
    if not found:
        raise NotFoundError(f"there is no chat of WeChat in {source.path.name}")


def _stem(member: Member) -> str:
    return member.base.rpartition(".")[0] or member.base


def _header_of(line: str) -> _Header | None:
    line = line.strip().lstrip("\ufeff")
    if len(line) > 120 or not any(sign in line for sign in ":："):
        return None
    found = _TIME_FIRST.fullmatch(line) if line[:1].isdigit() else None
    if found is None or not _has_date(found):
        found = _NAME_FIRST.fullmatch(line) or found
    if found is None or not found["name"].strip(" :："):
        return None
    return _Header(found["name"].strip(" :："), found, line)


def _has_date(found: re.Match[str]) -> bool:
    return any(found[name] for name in ("year", "zmonth", "emonth", "word"))


def _said(incoming: Incoming, member: Member) -> Iterator[Said]:
    written = _saved(member)
    day: date | None = None
    header: _Header | None = None
    at: date | None = None
    lines: list[str] = []
    for line in member.lines():
        bare = line.strip()
        if (marked := _DAY_LINE.fullmatch(bare)) is not None:
            day = _date_of(int(marked[1]), int(marked[2]), int(marked[3])) or day
            continue
        new = _header_of(line)
        if new is None or (not _has_date(new.found) and day is None):
            lines.append(line)
            continue
        yield from _message(incoming, header, at, lines)
        header, lines = new, []
        at = _day_in(new.found, written) if _has_date(new.found) else day
    yield from _message(incoming, header, at, lines)


def _saved(member: Member) -> date | None:
    """Return the day on which a file was last changed, on this machine's clock."""
    if member.path is None:
        return None
    return datetime.fromtimestamp(member.path.stat().st_mtime, UTC).astimezone().date()


def _message(incoming: Incoming, header: _Header | None, at: date | None, lines: list[str]) -> Iterator[Said]:
    text = "\n".join(lines).strip()
    if header is None or not text:
        return
    if _PLACEHOLDER.fullmatch(text):
        incoming.left("picture, file or call", _FILES)
    elif _OWN_LINE.fullmatch(text):
        incoming.left("line of WeChat's own", "nobody said it")
    else:
        owner = True if header.name.lower() in OWN_NAMES else None
        yield Said(_time_in(header.found, at), header.name, text, owner, header.line)


def _date_of(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _day_in(found: re.Match[str], written: date | None) -> date | None:
    """Return the day that a header names; "yesterday" refers to when the text was saved."""
    if found["year"]:
        return _date_of(int(found["year"]), int(found["month"]), int(found["day"]))
    if found["emonth"] and found["eyear"]:
        month = _MONTHS.index(found["emonth"][:3].lower()) + 1
        return _date_of(int(found["eyear"]), month, int(found["eday"]))
    if written is None:
        return None
    if found["word"]:
        return written - timedelta(days=_days_ago(found["word"], written))
    month = int(found["zmonth"]) if found["zmonth"] else _MONTHS.index(found["emonth"][:3].lower()) + 1
    named = _date_of(written.year, month, int(found["zday"] or found["eday"]))
    return _date_of(written.year - 1, month, named.day) if named and named > written else named


def _days_ago(word: str, written: date) -> int:
    known = {"今天": 0, "today": 0, "昨天": 1, "yesterday": 1, "前天": 2}
    low = word.lower()
    if low in known:
        return known[low]
    weekday = (
        _ENGLISH_WEEK.index(low[:3])
        if low[:3] in _ENGLISH_WEEK
        else _WEEK.index(word[-1].replace("天", "日"))
    )
    return (written.weekday() - weekday) % 7 or 7


def _time_in(found: re.Match[str], day: date | None) -> datetime | None:
    hour = hour_of(found["hour"], found["before"] or found["after"])
    if day is None:
        return None
    try:
        return datetime(  # noqa: DTZ001 - such texts have local times
            day.year, day.month, day.day, hour, int(found["minute"]), int(found["second"] or 0)
        )
    except ValueError:
        return None


def _read_table(incoming: Incoming, member: Member) -> None:
    talks = {row.get("talkerid", "") for row in member.rows()}
    for talk in sorted(talks):
        title = _stem(member) if len(talks) == 1 else f"{_stem(member)} {talk}"
        read_chat(incoming, _SERVICE, title, _rows(incoming, member, talk))


def _rows(incoming: Incoming, member: Member, talk: str) -> Iterator[Said]:
    for row in member.rows():
        if row.get("talkerid", "") != talk:
            continue
        kind, text = row.get("type", "").strip(), row.get("strcontent", "").strip()
        if kind.lower() not in _TEXT_TYPES or not text:
            incoming.left(_TYPES.get(kind, "message of another kind"), _FILES)
            continue
        is_mine = row.get("issender", "").strip() == "1"
        name = next((row[key] for key in ("remark", "nickname", "sender") if row.get(key, "").strip()), "")
        yield Said(_row_time(row), name or ("我" if is_mine else "somebody"), text, is_mine)


def _row_time(row: Mapping[str, str]) -> datetime | None:
    stamp = row.get("createtime", "").strip()
    if stamp.isdigit():
        try:
            return datetime.fromtimestamp(int(stamp), UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return moment(row.get("strtime", "").strip() or None)
