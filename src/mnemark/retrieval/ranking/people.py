"""Find the person whom a question asks about, and text that tells who a person is."""

import re
from functools import lru_cache
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

_NAME: Final = r"(?P<{}>[^\W\d_][\w'’.-]*(?:\s+[A-Z][\w'’.-]*){{0,2}})"
_ASKED: Final = lazy_pattern(
    rf"\b(?i:who)(?:['’]s|\s+is|\s+was)\s+{_NAME.format('who')}"
    rf"|\b(?i:how)\s+do\s+I\s+know\s+{_NAME.format('know')}"
    rf"|\b(?i:what|how)\s+is\s+{_NAME.format('related')}\s+(?:relat(?:ed|ion(?:ship)?)\s+to\s+me)"
    r"|(?P<zh>[\u4e00-\u9fffA-Za-z·]{2,12}?)(?:到底)?是(?:我的?)?(?:谁|什么人|哪位)"
    r"|谁是(?P<zh_is>[\u4e00-\u9fffA-Za-z·]{2,12})"
    r"|我[和跟与](?P<zh_with>[\u4e00-\u9fffA-Za-z·]{2,12}?)是?什么关系"
    r"|(?P<zh_to>[\u4e00-\u9fffA-Za-z·]{2,12}?)[和跟与]我是?什么关系",
)
_NOBODY: Final = frozenset(
    {
        "a",
        "an",
        "the",
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "this",
        "that",
        "these",
        "those",
        "it",
        "he",
    }
    | {"she", "they", "we", "i", "you", "there", "in", "on", "at", "going", "coming", "responsible"}
)
_LONGEST: Final = 500


def asked_about(question: str) -> str:
    """Return the name of the person whom a question asks who they are; empty for other questions."""
    match = _ASKED.search(question[:_LONGEST])
    if match is None:
        return ""
    name = re.sub(r"['’]s$", "", next(value for value in match.groups() if value)).strip(" .'’")
    return "" if name.casefold().split()[:1] and name.casefold().split()[0] in _NOBODY else name


def tells_of(name: str, text: str) -> bool:
    """Whether a text says who a person is: "my colleague Amina", "Amina is a singer", 小美是我表妹."""
    return _telling(name).search(text) is not None


@lru_cache(maxsize=64)
def _telling(name: str) -> re.Pattern[str]:
    who = re.escape(name)
    if not name.isascii():
        near = r"[^，。！？；,.!?;\n]"
        return re.compile(
            rf"{who}[，,]?[他她]?(?:就?是(?!谁|什么|不是)|[（(])|(?:我|我们|咱)的?{near}{{1,8}}{who}|叫{who}"
        )
    own = r"(?:my|our)\s+(?:[\w'’-]+\s+){1,4}?"
    return re.compile(
        rf"\b{who}(?:\s+(?:is|was)|['’]s|,|\s+\()\s*(?:my|our|the|an?|one\s+of|[A-Z]\w+['’]s)\s"
        rf"|\b{own}(?:is\s+|was\s+)?(?:(?:is\s+)?(?:called|named)\s+)?,?\s*{who}\b",
        re.IGNORECASE,
    )
