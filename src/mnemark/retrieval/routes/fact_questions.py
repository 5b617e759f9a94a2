"""Parse the subjects and predicates that a question asks for, in English and Chinese.

Names of predicates come from `facts.keys`; questions that do not name one ("where do I live", 我住在哪) have
patterns here. Pure: strings in, values out.
"""

# ruff: noqa: E501 - patterns read better whole, and Chinese counts twice

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

import msgspec

from mnemark.facts.keys import plain_words, predicate_names, singular, subject_names, translated_names
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize

_MAX_CHARACTERS: Final = 2_000
"""Maximum number of characters of a question parsed."""
_PATTERNS: Final = {
    "name": r"who am i\b|what (?:am|was) i called|what (?:should|do|can) \w+ call me|我叫什么|我是谁|"
    r"怎么称呼我?|如何称呼|贵姓",
    "city": r"where (?:do|does|did|is|am|are|was|have|has) [\w' ]{1,40}?(?:liv(?:e|es|ed|ing)|resid(?:e|es|ed|ing)|based)|"
    r"where [\w']+ (?:lives?|resides?)|(?:what|which) (?:city|town) \w{0,30} ?\w{1,30} (?:live|in)|"
    r"住(?:在)?(?:哪|什么地方|何处)|(?:在|是)哪(?:个|座)?城市|在哪(?:里|儿)?(?:居)?住|(?:搬|住)到(?:了)?哪",
    "country": r"(?:what|which) country|哪个国家|哪国",
    "address": r"(?:street|home|postal) address|住址|家在哪",
    "hometown": r"where (?:do|does|did|is|are|am) [\w' ]{1,30}?(?:from|grow up)\b|哪里人|哪儿的?人|老家(?:是|在)|来自哪",
    "email": r"(?:e-?mail|reach) [\w ]{0,12}(?:at|address)|邮箱是|发邮件到哪",
    "phone": r"(?:phone|call) (?:number|me at)|手机号|电话(?:号码)?是",
    "birthday": r"when (?:is|was|were) [\w' ]{1,30}?(?:born|birthday)|什么时候(?:出生|过?生日)|哪(?:一)?天(?:的)?(?:生日|出生)|"
    r"生日是",
    "age": r"how old\b|多大(?:年纪|岁数)?了?(?=[?。吗呢]|$)|几岁|多少岁",
    "job": r"what (?:do|does) [\w' ]{1,20}?do (?:for a living|for work|professionally)|做什么(?:工作|的)|"
    r"(?:干|从事)(?:什么|哪)|什么(?:工作|职业|职位)",
    "employer": r"(?:where|who|whom|which company) (?:do|does|did|have|has) [\w' ]{1,30}?work(?:ed)?(?: for| at)?\b|"
    r"(?:在)?哪(?:里|儿|家公司|个公司|家单位)?(?:上班|工作|任职|就职)|什么公司",
    "manager": r"who (?:is|does) [\w' ]{1,20}?(?:boss|manager|report to|supervisor)|谁是[\w]{0,6}(?:上司|领导|经理)|"
    r"(?:向|跟)谁汇报",
    "spouse": r"who (?:is|am|are) [\w' ]{1,20}?(?:married|wife|husband|partner)|(?:和|跟|与)谁结婚|另一半",
    "language": r"(?:what|which) language (?:should|do|does|must|to)\b[\w' ]{0,30}|in (?:what|which) language|"
    r"(?:用|以|说)(?:什么|哪种|哪门)(?:语言|话)",
    "timezone": r"(?:what|which) time ?zone|哪个时区|什么时区",
    "editor": r"(?:what|which) (?:\w+ )?(?:editor|ide)\b|用(?:什么|哪个|哪款)(?:代码|文本)?编辑器|用什么(?:写|敲)代码|"
    r"what (?:do|does) [\w' ]{1,20}?(?:code|edit|write code) (?:in|with)",
    "shell": r"(?:what|which) (?:\w+ )?shell\b|用(?:什么|哪个)(?:终端|shell)",
    "os": r"(?:what|which) (?:operating system|os)\b|用(?:的)?(?:什么|哪个)(?:操作)?系统",
    "python version": r"(?:what|which) (?:version of )?python\b|python (?:is|are) [\w' ]{0,20}(?:on|using)|"
    r"(?:什么|哪个|哪一个|几)(?:版本)?的?\s?python|python\s?(?:是|用)(?:的)?(?:什么|哪个|几)",
    "node version": r"(?:what|which) (?:version of )?node(?:\.?js)?\b|(?:什么|哪个)(?:版本)?的?\s?node",
    "database": r"(?:what|which) (?:\w+ )?(?:database|db)\b|(?:什么|哪个|哪种)数据库",
    "package manager": r"(?:what|which) package manager|(?:什么|哪个)包管理",
    "deadline": r"when (?:is|was|are) [\w' ]{1,40}?(?:due|deadline)|(?:什么时候|何时|哪天)[\w]{0,4}(?:截止|到期|交)",
    "release date": r"when (?:is|was|will|do|does|did) [\w' ]{1,40}?(?:releas|launch|ship|go(?:es)? live)|"
    r"(?:什么时候|何时|哪天)[\w]{0,4}(?:发布|上线)",
    "license": r"(?:what|which) licen[cs]e|under (?:what|which) licen[cs]e|(?:什么|哪个|哪种)(?:开源)?(?:许可证|协议)",
    "branch": r"(?:what|which) branch|(?:哪个|什么)分支",
    "budget": r"how much [\w' ]{0,20}(?:budget|spend)|预算(?:是|有)?多少",
    "likes": r"what (?:do|does|did) [\w' ]{1,20}?\b(?:like|love|enjoy)(?! (?:to be called|about))|(?<!不)喜欢(?:什么|哪|吃什么|喝什么)",
    "dislikes": r"what (?:do|does|did) [\w' ]{1,20}?\b(?:dislike|hate)|(?:do not|don't|does not|doesn't|not) (?:like|enjoy)|"
    r"(?:不喜欢|讨厌)(?:什么|哪)?",
    "favorite food": r"favou?rite (?:food|dish|meal)|最(?:喜欢|爱)吃(?:什么|的)?",
    "favorite color": r"favou?rite colou?r|(?:最)?喜欢(?:的|什么)颜色",
    "hobbies": r"(?:free|spare) time|业余(?:时间|爱好)|有什么爱好",
    "allergies": r"allerg(?:ic|y|ies)\b|过敏",
    "children": r"(?:how many|have any|names? of \w+) (?:kids|children|sons|daughters)|(?:几个|有没有)(?:孩子|小孩|儿子|女儿)",
    "pets": r"(?:what|which|have any|names? of \w+|how many) (?:pets?|cats?|dogs?)\b|养了?(?:什么|几)",
    "languages": r"(?:what|which|how many) languages (?:do|does|can)|会(?:说)?(?:哪些|几种|什么)语言",
    "diet": r"what (?:do|does) [\w' ]{1,20}?(?:not )?eat\b|(?:vegetarian|vegan)\b|吃素|忌口|饮食",
    "decisions": r"what (?:did|have|was) [\w' ]{0,20}?deci(?:de|ded|sion)|决定了?(?:什么|哪些)",
}  # fmt: skip
"""Patterns of questions by predicate, for those that do not contain its name as it is."""

_FIRST: Final = lazy_pattern(
    r"\b(?:i|i'm|i've|me|my|mine|myself|we|our|us|user's|users|user(?! (?:interfaces?|agents?|story|stories|manuals?|guides?|"
    r"inputs?|experience|bases?|ids?|names?|accounts?|tables?|groups?|roles?|modes?|space|data|logins?|sessions?|tests?|testing|"
    r"research|acceptance|model|service|api|page|list|menu)\b))\b|[我咱俺]|用户(?!界面|体验|手册|组|表|名|故事|协议|数据|接口|列表|测试)|本人"
)
_SECOND: Final = lazy_pattern(r"\b(?:you|your|yours|yourself|assistant)\b|[你您]|助手|助理")
_SECOND_ASKED: Final = lazy_pattern(r"\byour\b|[你您](?:的|叫|是|会|用)")


class FactQuestion(msgspec.Struct, frozen=True):
    """A parsed question."""

    subjects: frozenset[str]
    """Keys of the canonical subjects it names: "user", "agent", "project"; for others see `speaks_of`."""
    predicates: Mapping[str, str]
    """The words of the question that matched, by the key of the predicate."""
    words: str
    """The question normalised: one width and case, punctuation replaced by blanks."""


@lru_cache(maxsize=256)
def parse_question(question: str) -> FactQuestion:
    """Return the subjects and predicates that a question asks for.

    >>> sorted(parse_question("where do I live now?").predicates), sorted(parse_question("我住在哪").subjects)
    (['city'], ['user'])
    """
    text = normalize(question[:_MAX_CHARACTERS])
    words = f" {plain_words(text)} "
    single = f" {' '.join(singular(word) for word in words.split())} "
    found = {key: match[0] for key, pattern in _patterns() if (match := pattern.search(text))}
    for key, name in _named(words, single, text):
        if len(name) > len(found.get(key, "")):
            found[key] = name
    return FactQuestion(_subjects(text, words), _outermost(found), words)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(key, re.compile(pattern)) for key, pattern in _PATTERNS.items()]


_SHORT: Final = 3


@cache
def _names() -> list[tuple[str, str]]:
    """Return (key, name) of predicates, without short Chinese names, which are ambiguous: 前端 in 前端用什么."""
    names = [(key, name) for name, key in predicate_names().items() if name.isascii() or len(name) > 1]
    return names + [(key, name) for name, key in translated_names().items() if len(name) > _SHORT]


def _named(words: str, single: str, text: str) -> list[tuple[str, str]]:
    return [
        (key, name)
        for key, name in _names()
        if _holds(words, text, name) or (name.isascii() and f" {name} " in single)
    ]


def _outermost(found: Mapping[str, str]) -> dict[str, str]:
    """Remove matches inside other matches: 喜欢 in 不喜欢, language in "which language should"."""
    return {
        key: words
        for key, words in found.items()
        if not any(words != other and words in other for other in found.values())
    }


def _subjects(text: str, words: str) -> frozenset[str]:
    found = {
        key
        for name, key in subject_names().items()
        if len(name) > (2 if name.isascii() else 1) and _holds(words, text, name)
    }
    found -= {"user", "agent"}
    if _FIRST.search(text):
        found.add("user")
    if _SECOND.search(text) and ("user" not in found or _SECOND_ASKED.search(text)):
        found.add("agent")
    return frozenset(found)


def _holds(words: str, text: str, name: str) -> bool:
    return f" {name} " in words if name.isascii() else name in text


def speaks_of(question: FactQuestion, subject: str) -> bool:
    """Return whether a question names a subject, given by its key."""
    return subject in question.subjects or _holds(question.words, question.words, subject)
