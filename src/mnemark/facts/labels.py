"""Name predicates for people, in English and Chinese, and tell what they are about.

Files and core memory show a predicate in the language of the person; it is stored under its own name, which
the comment of a bullet keeps.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from mnemark.facts.keys import predicate_key, subject_key, subjects
from mnemark.facts.predicates import Predicate, predicates
from mnemark.files import user_config
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN

_VERSION: Final = lazy_pattern(r"(?P<of>\S[^\n]*?) version\Z", re.IGNORECASE)

_WORD: Final = lazy_pattern(r"[^\W\d_]{2,}")
_PLAIN: Final = lazy_pattern(r"(?<![\w-])[a-z]{3,}(?![\w-])")
"""A word in small letters, as names of people, places and most programs are not."""
_SENTENCE: Final = 3
"""Words from which a value is more than a name."""
Around = Callable[[], Sequence[str]]
"""Returns the values of the user's facts, for the language of a file beside theirs."""


@cache
def _shown() -> Mapping[str, Predicate]:
    """Return the predicates with a name in Chinese, by the keys that `predicate_key` gives."""
    return {predicate_key(key): row for key, row in predicates().items() if row.chinese}


def is_chinese(text: str) -> bool:
    """Return whether a text holds Chinese characters."""
    return HAN.search(text) is not None


def in_chinese(*first: Iterable[str], before: bool | None = None) -> bool:
    """Return whether what is generated is in Chinese: as it is set, as it was `before`, or as a person wrote.

    Of several collections the first one decides that has a word of a language, and in it the first text: what
    a person wrote first. Numbers, heron-2 and names such as Zed tell nothing: both languages have them. Facts
    that come later change nothing.
    """
    if chosen := user_config.language():
        return chosen == "zh"
    if before is not None:
        return before
    told = (is_chinese(text) for group in first for text in group if is_chinese(text) or _PLAIN.search(text))
    return next(told, False)


def shows_chinese(values: Sequence[str], around: Around) -> bool:
    """Return whether the predicates of a file with these values are shown in Chinese.

    Names of programs and servers are the same in both languages: beside them the user's own facts (`around`)
    tell what language is written.
    """
    telling = [value for value in values if is_chinese(value) or len(_WORD.findall(value)) >= _SENTENCE]
    return in_chinese(*([telling] if telling else [around(), values]))


@lru_cache(maxsize=4_096)
def label(predicate: str, *, chinese: bool) -> str:
    """Return the name of a predicate in a language; as it is if it is in that language, or has none there.

    >>> label("city", chinese=True), label("城市", chinese=False), label("lives in", chinese=False)
    ('城市', 'city', 'lives in')
    """
    if is_chinese(predicate) == chinese:
        return predicate
    row = _shown().get(predicate_key(predicate))
    if row is None:
        of = _VERSION.match(predicate) if chinese else None
        return f"{of['of']} 版本" if of else predicate
    return row.chinese if chinese else row.key


def subject_label(subject: str, *, chinese: bool) -> str:
    """Return the name of a subject in a language; as it is if it is in that language, or has none there.

    A Chinese name of one character is doubled where that names the same person: 妈 before 的 is a curse.

    >>> [subject_label(name, chinese=True) for name in ("mother", "妈", "姐", "猫", "Ann")]
    ['妈妈', '妈妈', '姐姐', '猫', 'Ann']
    """
    key = subject_key(subject)
    name, _ = subjects().get(key, ("", ""))
    if is_chinese(subject) == chinese:
        is_short = chinese and len(subject) == 1 and subject_key(subject * 2) == key
        return subject * 2 if is_short else subject
    return (name if chinese else key) if name else subject


def labels(predicate: str) -> tuple[str, ...]:
    """Return all names that a predicate is shown under, its own first."""
    return tuple(dict.fromkeys((predicate, label(predicate, chinese=False), label(predicate, chinese=True))))


def topic(predicate: str) -> str:
    """Return what a predicate is about; empty if unknown."""
    row = _shown().get(predicate_key(predicate))
    return row.topic if row is not None else ""
