"""Tell what kind of thing a question asks for, and where a text has one that the question does not name."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

_LONGEST: Final = 500
"""Characters of a question that are read."""
_FOR_NUMBER: Final = lazy_pattern(
    r"\bhow (?:many|much|old|long|often|far|big|large|tall|high|heavy|fast)\b|\bwhen\b|"
    r"\b(?:what|which) (?:\w{1,20} )?(?:day|date|time|year|month|week|number|age|price|size)\b|"
    r"多少|几|何时|什么时[候间]|哪一?[天年月日周]|多[大长久高远重快]|时间|日期|号码",
    re.IGNORECASE,
)
_FOR_NAME: Final = lazy_pattern(
    r"\b(?:who|whom|whose|where|which)\b|"
    r"\bwhat\b[^.?!\n]{0,40}\b(?:name|named|called|title|place|city|country)\b|"
    r"谁|哪[里儿个位家座]|什么(?:名|地方|人)|叫什么",
    re.IGNORECASE,
)
_DIGITS_ZH: Final = "一二三四五六七八九十百千万两半"
# Each begins with a character or two that are rare, so that a text is gone through at the speed of `find`.
_NUMBERS: Final = (
    lazy_pattern(r"(\d+)"),
    lazy_pattern(
        r" (one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice|January|February|March|"
        r"April|May|June|July|August|September|October|November|December|"
        r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
    ),
    lazy_pattern(rf"(?<![{_DIGITS_ZH}])([{_DIGITS_ZH}]++[个次把年月日号天元块人件点岁周])"),
)
_NAMES: Final = (
    lazy_pattern(r" (?<=[a-z,] )([A-Z][\w'’-]+)"),
    lazy_pattern(r"[\"“《「『]([^\s\"”》」』.,!?，。]{2,40})"),
)
"""Words with a capital inside a sentence, and what begins in quotation marks."""


class Sought:
    """The kind of thing that a question asks for."""

    def __init__(self, patterns: tuple[re.Pattern[str], ...], question: str) -> None:
        self._patterns = patterns
        self._asked = question.casefold()

    def places(self, text: str) -> Iterator[int]:
        """Yield the offsets of such things in a text, without those that the question names."""
        for pattern in self._patterns:
            for match in pattern.finditer(text):
                if match[1].casefold() not in self._asked:
                    yield match.start(1)


@lru_cache(maxsize=16)
def sought(question: str) -> Sought | None:
    """Return what a question asks for first: a number or a time, or a name; None for anything else."""
    question = question[:_LONGEST]
    kinds = ((_FOR_NUMBER.search(question), _NUMBERS), (_FOR_NAME.search(question), _NAMES))
    asked = [(match.start(), patterns) for match, patterns in kinds if match]
    return Sought(min(asked, key=lambda kind: kind[0])[1], question) if asked else None
