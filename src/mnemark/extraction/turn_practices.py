"""Tell which practices of a turn may be kept: none of a pasted document, and what might be about a task only alone."""

from typing import Final

from mnemark.extraction.chinese_practice import chinese_practices
from mnemark.extraction.english_practice import english_practices
from mnemark.extraction.practice import Practice
from mnemark.extraction.sentences import Sentence
from mnemark.extraction.speaker import of_another
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN

_DOCUMENT: Final = lazy_pattern(
    r"(?im)^#{1,6} \S|^\*\*[^*\n]{2,60}\*\*:?\s*$|^(?:steps to reproduce|expected behaviou?r|actual behaviou?r|describe the bug|acceptance criteria|"
    r"summary|description|background|changelog|installation|contributing|getting started)\b:?\s*$|\b(?:closes|fixes|resolves) #\d|://|^(?:Co-authored-by|Signed-off-by|Author|Commit|Reviewer):|^[ \t]*+\d+ *[|│]|"
    r"^(?:复现步骤|预期(?:行为|结果)|实际(?:行为|结果)|问题描述|验收标准)[：:]?"
)
"""Marks of a pasted issue, README or mail, also of a turn with a link."""
_RULES_FOLLOW: Final = lazy_pattern(
    r"(?i)^(?!.*(?:\b(?:their|his|her|its|the|someone|somebody|from)\b(?! following)|\w's\b|[他她它]|客户|官方|上游|别人))(?:.*\b(?:rules?|conventions?|guidelines?|notes?|remember|preferences|reminders?|setup|basics|how we work)\b[^.:]{0,30}|.*(?:规则|约定|规范|注意|记住|习惯|说明)[^。：:]{0,10})[:：]$"
)
_FILLER: Final = lazy_pattern(
    r"(?i)(?:hi|hello|hey|thanks|thank you|ok(?:ay)?|please|cheers|got it|great|note|fyi|btw|also)(?: all| there| a lot)?[.!,: ]*|(?:谢谢|好的?|你好|嗯|辛苦了|明白)[。！!，, ]*"
)
_UNSURE: Final = lazy_pattern(
    r"(?i)\b(?:maybe|perhaps|probably|might|wish|hope|i guess|not sure|wondering|supposedly|apparently|considering)\b|也许|可能|或许|大概|说不定|考虑|希望|不确定|好像|似乎|听说|据说"
)
_ASKS: Final = lazy_pattern(r"[?？]|(?:吗|呢|么)\s*[。.!！]?$")
_INFINITIVE: Final = lazy_pattern(r"(?i)to (?=\w)")


class TurnPractices:
    """The practices of a turn, sentence by sentence."""

    def __init__(self, turn: str, *, whole: bool) -> None:
        """`turn`: as cleaned; `whole`: whether nothing was left out of it, such as code."""
        self._turn = turn.rstrip()
        self._pasted: bool | None = None
        """Whether the turn, or what is left of it, is a pasted document; None: not looked at."""
        self._whole = whole
        self._others: list[str] = []
        """Sentences from which nothing lasting was read."""
        self._last = ""

    def of(self, sentence: Sentence, *, wanted: bool) -> list[Practice]:
        """Return what a sentence says; `wanted`: it is asked to be remembered, so what it says is firm."""
        text = sentence.blotted
        self._last = sentence.text
        if text[-1:] in ":：" and not _RULES_FOLLOW.search(text):
            self._pasted = True
        if self._pasted or text[-1:] in "?？:：":
            return []
        if wanted and (match := _INFINITIVE.match(text)):
            text = text[match.end() :]
        found = chinese_practices(text) if HAN.search(text) else english_practices(text)
        if not found or _ASKS.search(text) or _UNSURE.search(text) or of_another(text):
            return []
        if self._pasted is None:
            self._pasted = _DOCUMENT.search(self._turn) is not None
        if self._pasted:
            return []
        return [one._replace(firm=True) for one in found] if wanted else found

    def heard_nothing(self) -> None:
        """Note that nothing lasting was read from the last sentence."""
        self._others.append(self._last)

    @property
    def alone(self) -> bool:
        """Whether the turn says nothing but what lasts: then its orders hold in general."""
        if not self._whole or self._pasted or not self._turn.endswith(self._last):
            return False
        return all(_FILLER.fullmatch(one) or _RULES_FOLLOW.search(one) for one in self._others)
