"""Find the people in a question: whose words it asks for, and about whom; without numpy, for hooks."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from mnemark.index.passage import MONTHS, WEEKDAYS
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN, normalize
from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import is_stop

_OTHERS: Final = lazy_pattern(
    r"\b(?:you|assistant|chatbot|ai)\s+(?:(?:just|first|also|already|previously|originally)\s+)?(?:said|told|"
    r"suggest(?:ed)?|recommend(?:ed)?|advised?|proposed?|explain(?:ed)?|mention(?:ed)?|gave|wrote|answer(?:ed)?|"
    r"came\s+up\s+with)\b|\byour\s+(?:\w+\s+)?(?:suggestion|advice|recommendation|answer|explanation|proposal)|"
    r"\b(?:summar(?:y|i[sz]e)|overview|recap)\b|"
    r"(?:你|您|助手)(?:之前|上次|刚才|当时)?(?:给我?|跟我|对我|向我)?(?:说|讲|建议|推荐|告诉|提到|提议|解释|回答)|"
    r"(?:你|您)的(?:建议|推荐|回答|解释)|总结|概括|概述|回顾",
    re.IGNORECASE,
)
_OTHER_WORDS: Final = (
    *("you", "assistant", "chatbot", "ai", "summar", "overview", "recap"),
    *("你", "您", "助手", "总结", "概括", "概述", "回顾"),
)
"""Each match has one of them: the pattern takes a millisecond to compile."""


def asks_user(text: str) -> bool:
    """Return whether the user's own messages answer a query, as far as it does not say otherwise.

    They do not more than others where it asks what the assistant said, or for a summary.
    """
    text = text[:2000]
    folded = text.casefold()
    return not any(word in folded for word in _OTHER_WORDS) or _OTHERS.search(text) is None


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


_YOU: Final = lazy_pattern(
    r"(?i)\b(?:you|your|yours|you['’]\w+|congrat\w*|good luck|happy birthday)\b|[你您]|恭喜|祝贺|生日快乐"
)
"""What tells of whom one speaks to."""


def named_in(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """Return the speakers whom a question names, by the whole name or a word of it.

    A character of a Chinese name alone names nobody: 王芳 is not 王强.
    """
    text = normalize(question[:_LONGEST])
    words = frozenset(re.findall(r"\w+", text))

    def is_named(speaker: str) -> bool:
        if not is_name(speaker):
            return False
        name = normalize(speaker)
        return name in text if HAN.match(speaker) else not words.isdisjoint(name.split())

    return frozenset(filter(is_named, set(speakers)))


def is_about(name: str, text: str) -> bool:
    """Return whether a text of somebody else is about a person: it names them, or tells them of "you"."""
    found = rf"\b{re.escape(name.split(maxsplit=1)[0])}\b" if name.isascii() else re.escape(name)
    rest = re.sub(_CALLED.format(found), "", text, flags=re.IGNORECASE)
    if rest != text and _YOU.search(text):
        return True
    return re.search(found, rest, re.IGNORECASE) is not None


def is_date(term: str) -> bool:
    """Return whether a term is a part of a date, as heads of passages hold them."""
    return term in _date_terms() or any(character.isdigit() for character in term)


@cache
def _date_terms() -> frozenset[str]:
    english = (term for word in (*MONTHS, *WEEKDAYS) for term in query_terms(word))
    return frozenset((*english, *_WORDS_OF_DATES))


_WORD: Final = lazy_pattern(r"[^\W\d_]{2,}\b(?!\s+[A-Z])")
_FAMILIAR: Final = lazy_pattern(r"[小老阿][\u4e00-\u9fff]")


def short_names(question: str) -> list[str]:
    """Return the words that may be short for a name: "Mel", 小王; but no part of "San Marino"."""
    text = question[:_LONGEST]
    found = [] if text.islower() else _WORD.findall(text)
    words = [word for word in found if word[0].isupper() and word[1:].islower()]
    terms = [(word, query_terms(word)) for word in words]
    names = [word for word, cut in terms if not any(is_stop(term) or is_date(term) for term in cut)]
    return names if text.isascii() else names + _FAMILIAR.findall(text)


def called(short: Sequence[str], speakers: Sequence[str]) -> list[bool]:
    """Return which of the speakers a short name means; none where it fits two of them, or is a name itself.

    Args:
        short: see `short_names`.
        speakers: of passages, with repeats.
    """
    names = {name for name in speakers if is_name(name)}
    known = {part for name in names for part in (name, *name.split())}
    fitting = [[name for name in names if _shortens(word, name)] for word in short if word not in known]
    meant = {fits[0] for fits in fitting if len(fits) == 1}
    return [speaker in meant for speaker in speakers]


def _shortens(short: str, name: str) -> bool:
    if not HAN.match(short):
        return any(part.startswith(short) for part in name.split())
    return (short[0] != "阿" and name[0] == short[1]) or (short[0] != "老" and name[-1] == short[1])


_NAME: Final = r"(?P<{}>[^\W\d_][\w'’.-]*(?:\s+[A-Z][\w'’.-]*){{0,2}})"
_END: Final = r"(?=\s*(?:[?!.,;，。？！]|$)|\s+(?:in\s+relation|to\s+(?:me|us)|again|and)\b)"
"""What may follow where a question asks who somebody is, and not whom they like or meet."""
_ASKED: Final = lazy_pattern(
    rf"\b(?i:who)(?:['’]s|\s+is|\s+was)\s+{_NAME.format('who')}(?<!['’]s){_END}"
    rf"|\b(?i:who)\s+(?=[A-Z]){_NAME.format('who_is')}\s+(?:is|was){_END}"
    rf"|\b(?i:how)\s+do\s+I\s+know\s+{_NAME.format('know')}"
    rf"|\b(?i:what|how)\s+is\s+{_NAME.format('related')}\s+(?:relat(?:ed|ion(?:ship)?)\s+to\s+me)"
    r"|(?P<zh>[\u4e00-\u9fffA-Za-z·]{2,12}?)(?:到底)?是(?:我的?)?(?:谁|什么人|哪位)"
    r"|谁是(?P<zh_is>[\u4e00-\u9fffA-Za-z·]{2,12})"
    r"|我[和跟与](?P<zh_with>[\u4e00-\u9fffA-Za-z·]{2,12}?)是?什么关系"
    r"|(?P<zh_to>[\u4e00-\u9fffA-Za-z·]{2,12}?)[和跟与]我是?什么关系",
)
_ASKED_WITH: Final = ("who", "know", "relat", "谁", "什么人", "哪位", "什么关系")
"""Each match has one of these: without them, the pattern, which takes 4 ms to compile, is not needed."""
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
_NOBODY_ZH: Final = ("我", "咱", "你", "您", "他", "她", "它", "这", "那", "哪", "谁")
_LONGEST: Final = 500


def asked_about(question: str) -> str:
    """Return the name of the person whom a question asks who they are; empty for other questions."""
    question = question[:_LONGEST]
    folded = question.casefold()
    match = _ASKED.search(question) if any(word in folded for word in _ASKED_WITH) else None
    if match is None:
        return ""
    name = re.sub(r"['’]s$", "", next(value for value in match.groups() if value)).strip(" .'’")
    first = name.casefold().split()[:1]
    return "" if (first and first[0] in _NOBODY) or name.startswith(_NOBODY_ZH) else name


def tells_of(name: str, text: str) -> bool:
    """Return whether a text says who a person is: "my colleague Amina", "Amina is a singer", 小美是我表妹."""
    return name.casefold() in text.casefold() and _telling(name).search(text) is not None


_THEIRS: Final = r"(?:my|our|an?|one\s+of|[A-Z]\w+['’]s)\s"
_NOUN: Final = (
    r"(?!(?:to|with|and|or|but|for|at|about|by|that|when|if|from|on|in|as|than|like|because|so|is|was|met|saw|told|"
    r"said|gave|made|sent|took|left|knew|\w+ed)\b)[\w'’-]+"
)
"""A word of what somebody is called, "my old friend Amina": no verb and no preposition."""
_NOUN_ZH: Final = r"(?:(?![了给把和跟与在是去问对向着过见说到被让请找看想等陪带送约打喜爱])[\u4e00-\u9fff])"


@lru_cache(maxsize=64)
def _telling(name: str) -> re.Pattern[str]:
    who = re.escape(name)
    if not name.isascii():
        return re.compile(
            rf"{who}(?:[，,]?[他她]?就?是(?!谁|什么|不|否|哪|怎|从|在|[今昨明]天|[上中下]午)|[（(])"
            rf"|{who}[，,](?:我|咱)们?的?{_NOUN_ZH}{{2,8}}[，,。]"
            rf"|(?:我|咱)们?(?:的{_NOUN_ZH}{{1,8}}|{_NOUN_ZH}{{1,6}}){who}|叫{who}"
            rf"|[和跟与]{who}(?:结婚|订婚|恋爱|交往|是(?!不|否))"
        )
    called = rf"(?:my|our)\s+(?:{_NOUN}\s+){{0,3}}?{_NOUN}(?<![^s'’\s]s)"
    kids = rf"(?:my|our)\s+{_NOUN}"
    return re.compile(
        rf"\b{who}(?:\s+(?:is|was)\s+(?:the\s|{_THEIRS})|(?:['’]s|,|\s+\()\s*{_THEIRS})"
        rf"|\b{who}(?:,|\s+[-–—(])\s*(?:he|she)(?:['’]s|\s+is|\s+was)\s+(?:the\s|{_THEIRS})"
        rf"|\b(?:{called}|{kids}|an?\s+(?:{_NOUN}\s+){{1,3}}?of\s+(?:mine|ours))(?:\s+{who}\b|,\s+{who}\b(?!['’]s))"
        rf"|\b(?:an?|our|my)\s+(?:{_NOUN}\s+){{0,3}}?{_NOUN},\s+{who}(?=[,.;!?]|$)"
        rf"|\b(?:named|name\s+is|is\s+called|was\s+called|(?:married|engaged|related)\s+to)\s+{who}\b"
        rf"|\bI(?:['’]m|\s+am|\s+was)\s+{who}['’]s\s|\b{who}\s+and\s+I\s+(?:are|were|met|married|grew|share)\b"
        rf"|\b{who}\s+(?:works?|worked|lives?|lived|studie[sd])\s+with\s+(?:me|us)\b",
        re.IGNORECASE,
    )
