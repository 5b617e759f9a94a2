"""The words of exported pages, in the language of what is on them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.memory.transfer.export.model import Talk
from mnemark.memory.transfer.export.turns import HOSTS, TOOLS, USERS


class Words(NamedTuple):
    """Words in one language."""

    lang: str
    you: str
    assistant: str
    tool: str
    system: str
    day: str
    days: str
    episode: str
    talk: str
    talks: str
    notes: str
    facts: str
    learned: str
    file: str
    part: str
    since: str
    until: str
    core: str
    contents: str
    undated: str
    other: str
    messages: str
    nothing: str


ENGLISH: Final = Words(
    lang="en", you="You", assistant="Assistant", tool="Tool", system="System", day="Day", days="Days",
    episode="Episode", talk="Conversation", talks="Conversations", notes="Notes", facts="Facts",
    learned="Remembered", file="File", part="Part", since="since", until="until", core="Core memory",
    contents="Contents", undated="Undated", other="Also in", messages="messages",
    nothing="There are no conversations yet.",
)  # fmt: skip
CHINESE: Final = Words(
    lang="zh-Hans", you="你", assistant="助手", tool="工具", system="系统", day="日期", days="日期",
    episode="纪要", talk="对话", talks="对话", notes="笔记", facts="事实", learned="记住了", file="文件",
    part="第几部分", since="始于", until="止于", core="核心记忆", contents="目录", undated="无日期",
    other="另见", messages="条消息", nothing="还没有对话。",
)  # fmt: skip
_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(USERS, "you"), "assistant": "assistant", **dict.fromkeys(TOOLS, "tool"),
    **dict.fromkeys(HOSTS, "system"),
}  # fmt: skip


def words_for(*, chinese: bool) -> Words:
    """Return the words for a page in Chinese, or in English."""
    return CHINESE if chinese else ENGLISH


def speaker(role: str, talk: Talk) -> str:
    """Return who speaks in a role: the user of a scope by name, you elsewhere."""
    words = words_for(chinese=talk.chinese)
    kind, _, name = talk.scope.partition("/")
    if role in USERS and kind == "users":
        return name
    return str(getattr(words, _ROLES[role])) if role in _ROLES else role


def span(talk: Talk) -> str:
    """Return when a talk was: `2026-02-13 14:05 – 14:20`; empty if nobody knows."""
    if talk.begin is None or talk.end is None:
        return ""
    first, last = minute(talk.begin), minute(talk.end)
    if first == last:
        return first
    return f"{first} – {last[11:] if first[:10] == last[:10] else last}"


def minute(moment: datetime) -> str:
    """Return a time to the minute."""
    return moment.strftime("%Y-%m-%d %H:%M")
