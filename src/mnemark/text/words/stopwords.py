"""List the stop words of English and Chinese, including question words, and find what else a text says.

They are stemmed like all terms, so that a term of `segment` can be looked up directly. A question for an
overview has more words that say nothing of its topic: "Give me a summary of the trip" is about the trip.
"""

# ruff: noqa: E501 - patterns read better whole

import re
from collections.abc import Iterable, Mapping
from typing import Final

from mnemark.text import word_lists
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.segment import Cut, cut_by_frequency, query_terms
from mnemark.text.words.terms import stem

_LISTS: Final = word_lists("stop_words")
STOP: Final = frozenset(map(stem, _LISTS["english"] | _LISTS["chinese"]))
"""Stop words as terms: English stemmed, Chinese simplified."""


ASKING_FORM: Final = frozenset(map(stem, _LISTS["asking"]))
"""Words of a way of asking, as terms: a question says nothing with them of what it asks for."""
OF_MEMORY: Final = frozenset(map(stem, _LISTS["memory"]))
"""Words for what is remembered and for looking it up, as terms."""
QUESTION_WORDS_ZH: Final = tuple(_LISTS["question"])
"""Words by which a Chinese sentence asks."""


_LONGEST_KEY: Final = 42
_PROPERTY: Final = lazy_pattern(r"\s{0,4}[\w-]{1,40}::?[ \t]{0,4}([\w-]{1,40})\s{0,4}")
"""A property of a note and its value, of a word each, as front matter has them."""


def is_stop(term: str) -> bool:
    """Return whether a term of `segment` is a stop word."""
    return term in STOP


def content_terms(text: str, cut: Cut | None = None) -> list[str]:
    """Return the distinct terms of a text without stop words, or with them where there are no others.

    A value of a property counts whatever its words are: `status: done`. `cut` segments Chinese, as for
    `query_terms`.
    """
    terms = list(dict.fromkeys(query_terms(text, cut)))
    found = _PROPERTY.fullmatch(text) if ":" in text[:_LONGEST_KEY] else None
    kept = frozenset(query_terms(found[1], cut)) if found else frozenset[str]()
    return [term for term in terms if term in kept or not is_stop(term)] or terms


def estimated_terms(text: str, without: frozenset[str] = frozenset()) -> set[str]:
    """Return the terms of a text without stop words; of Chinese, pairs of characters between stop words.

    There are about as many as in `content_terms`, and no dictionary is loaded for them (0.1 s). The terms of
    `without` are left out like stop words.
    """

    def pairs_and_stop_words(words: Iterable[str]) -> Mapping[str, int]:
        return {
            word: 1000 if is_stop(word) or word in without else 1
            for word in words
            if is_stop(word) or word in without or len(word) == 2
        }

    terms = query_terms(text, lambda line: cut_by_frequency(line, pairs_and_stop_words))
    return {term for term in terms if not is_stop(term) and term not in without}


_LONGEST: Final = 2_000
"""Characters of a question that are read for what it asks for."""
_SUM_UP_ZH: Final = "总结|小结|概括|概述|综述|梳理|回顾|汇总|归纳|盘点|复盘"
_HINTS: Final = (
    "summar|sum up|overview|recap|rundown|synopsis|outline|timeline|chronolog|me through|us through|"
    f"up to speed|up to date|fill me in|catch me up|everything|me all|us all|history|{_SUM_UP_ZH}"
).split("|")
"""One of these stands in every text that the pattern matches, so that it is compiled for few."""
_POLITE: Final = (
    r"(?:(?:please|kindly|now|ok|okay|so|and|then|can you|could you|would you|will you|"
    r"i(?:'d| would) like(?: you)?(?: to)?|i (?:want|need)(?: you)?(?: to)?|let's|help me)[, ]+){0,4}"
)
_SUMMARY: Final = r"(?:summary|overview|recap|rundown|synopsis|outline|timeline|chronology|history)"
_FRAME: Final = lazy_pattern(
    rf"(?:^|(?<=[.!?;。！？；\n]))(?P<space>\s{{0,8}}+)(?:{_POLITE}"
    r"(?:(?:summari[sz]e|recap|sum up)\b|"
    r"(?:(?:give|show|provide|write|send|get|make|prepare|tell)(?: me| us)?(?: with)? )?(?:an?|the|some) (?:[a-z-]{3,20},? (?:and )?){0,3}"
    rf"{_SUMMARY} (?:of|on|about|for)\b|"
    r"(?:walk|run|take|talk) (?:me|us) through\b|"
    r"(?:bring|get) (?:me|us) up to (?:speed|date)(?: on| with| about)?\b|(?:catch me up|fill me in)(?: on| about)?\b|"
    r"(?:list (?:me |us )?everything|(?:tell|remind|show|give) (?:me|us) (?:everything|all))(?: (?:that )?(?:you|we|i) (?:know|have|remember|said))?(?: about| of| on)?\b)|"
    r"(?:你|您)?(?P<asks>请|麻烦|劳烦|能不能|能否|可以|可否)?(?:你|您)?(?:再)?(?P<asked>(?:帮|给|替|为)(?:我们|我|咱们|大家))?"
    rf"(?:{_SUM_UP_ZH})"
    r"(?:一下|一遍|一番|下(?!周|月|次|个|一|半|午|班|雨|雪|面|载)|(?=我|你|咱|大家|关于|有关|这|那|目前|迄今|至今|所有|全部|最近|之前|以前|过去|上)|(?(asks)|(?(asked)|(?!))))吧?)",
    re.IGNORECASE,
)


def topic(text: str) -> str:
    """Return a question without the words that ask for a summary, or as it is where these are all of it."""
    head = text[:_LONGEST]
    if not _hinted(head):
        return text
    left = _FRAME.sub(r"\g<space>", head)
    if len(left) == len(head):
        return text
    left += text[_LONGEST:]
    return left if any(map(_has_content, estimated_terms(left))) else text


def _has_content(term: str) -> bool:
    return any(map(str.isalnum, term)) and not is_stop(term)


def _hinted(text: str) -> bool:
    folded = text.casefold()
    return any(hint in folded for hint in _HINTS)
