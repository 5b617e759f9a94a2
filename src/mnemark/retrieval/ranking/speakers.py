"""Tell names of speakers from other words; without numpy, for hooks."""

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from mnemark.index.passage import MONTHS, WEEKDAYS
from mnemark.text.words.normalize import HAN
from mnemark.text.words.segment import query_terms

_WORDS_OF_DATES: Final = ("年", "月", "日")
"""Not cut: that would load the dictionary, 0.1 s."""


_ROLES: Final = frozenset(
    {"user", "human", "owner", "assistant", "agent", "ai", "bot", "model", "system", "developer", "tool"}
    | {"用户", "主人", "助手", "助理", "系统", "机器人", "模型", "工具"}
)


def is_name(speaker: str) -> bool:
    """Return whether a speaker is called by a name, not by a role: "Ann", 小王; no "User", "agent chat"."""
    named = speaker[:1].isupper() or HAN.match(speaker) is not None
    return named and speaker.casefold() not in _ROLES


_CALLED: Final = (
    r"(?:^|[,，.。!！?？;；\n]|\b(?:hey|hi|hello|dear|thanks|thank you|wow|yeah|yes|no|oh|bye|so|and)) ?"
    r"{}(?= ?(?:[,，.。!！?？;；~:：\n]|$))"
)
"""How people call each other: "Thanks, Ann!", "Ann, …", 小王，…"""


def is_by_another(speaker: str, text: str, named: str, terms: Collection[str]) -> bool:
    """Return whether somebody else than the speaker that a question names said a text, and not about them.

    Args:
        speaker: who said it, or "".
        text: the text.
        named: a speaker whose passage has a term of the question in its head.
        terms: the question's terms.
    """
    if not speaker or speaker == named or not is_name(named):
        return False
    if named.isascii():
        meant = not set(query_terms(named)).isdisjoint(terms)
    else:
        meant = any(term in named for term in terms)  # not cut, as in `_WORDS_OF_DATES`
    return meant and not _tells_of(named, text)


def _tells_of(name: str, text: str) -> bool:
    """Return whether a text names somebody otherwise than to call them."""
    found = rf"\b{re.escape(name.split(maxsplit=1)[0])}\b" if name.isascii() else re.escape(name)
    called = re.sub(_CALLED.format(found), "", text, flags=re.IGNORECASE)
    return re.search(found, called, re.IGNORECASE) is not None


def is_date(term: str) -> bool:
    """Return whether a term is a part of a date, as heads of passages hold them."""
    return term in _date_terms() or any(character.isdigit() for character in term)


@cache
def _date_terms() -> frozenset[str]:
    english = (term for word in (*MONTHS, *WEEKDAYS) for term in query_terms(word))
    return frozenset((*english, *_WORDS_OF_DATES))
