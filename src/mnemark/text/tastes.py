"""Find where somebody says what they like, avoid or always do, or chooses among what was offered. Pure.

A taste lasts: what is told of one day ("this morning I took the usual way") states none, nor does a question.
"""

# ruff: noqa: E501 - patterns read better whole

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN

_LONGEST: Final = 1_000
"""Characters of a text that are read."""
_SENTENCE: Final = lazy_pattern(
    r"(?<=[.!?])\s+|[。！？\n]+|,\s+(?=(?:(?:and|so|but)\s)?(?:(?:can|could|would|will|should|do|does|is)\s(?:you|I|we|it|there|the|my)|"
    r"how|what|which|where)\b)"
)
"""Stands between sentences, and before a question that goes on behind a statement."""
_ONCE: Final = lazy_pattern(
    r"\b(?:this (?:morning|afternoon|evening|week|weekend|month|year)|today|tonight|yesterday|"
    r"last (?:night|week|month|year|time)|earlier|so far|just now)\b|今[天早晚]|昨[天晚]|刚才|上[周次个]",
    re.IGNORECASE,
)
"""Tells of one time."""
_ADVERBS: Final = (
    r"(?: (?:really|just|much|also|still|strictly|absolutely|personally|simply|often|so|a bit|quite|very|rather|actually|"
    r"especially|both|all))*+ "
)
_TASTE: Final = lazy_pattern(
    r"\b(?:(?<!if )(?<!whether )(?:I|[Ww]e)(?:['’](?:m|d|re|ve)| am| are| would| have| do)?(?:"
    + _ADVERBS
    + r"(?:prefer|avoid|hate|dislike|loathe|detest|despise|adore|enjoy|refuse|never|only|always|usually|generally|normally|mostly|rarely|seldom|"
    r"tend to|(?<!['’]d )(?<!would )(?:like|love)(?! (?:that|this|your|it|how|you|the (?:idea|approach|focus|plan|look|"
    r"sound|structure|suggestion|inclusion))\b)|"
    r"(?:can['’]?t|cannot|can not) (?:stand|bear|take|handle|tolerate|sleep|eat|drink|do without)|"
    r"(?:don['’]?t|do not|won['’]t) (?:really )?(?:like|enjoy|eat|drink|trust|use|want|care|buy|do|watch|wear|"
    r"drive|fly|touch)|"
    r"(?:allergic|intolerant|vegan|vegetarian|fond|keen|afraid|scared|sensitive|picky|partial|averse|more of|"
    r"against|into|a (?:big |huge )?(?:fan|lover))\b|"
    r"find [^.!?,;]{2,40} (?:\w{2,20}ing|hard|difficult|easier|better|too)\b|"
    r"an? (?:\w{2,20} )?(?:allergy|aversion|weakness|preference|phobia|soft spot)\b)|(?<=d) (?:much )?rather\b)|"
    r"only (?:ones?|thing|kind) (?:I|we)\b|(?:not|aren['’]t|isn['’]t) (?:really )?(?:my thing|for me)\b|"
    r"[Mm]y (?:favou?rite|preference|go-to|cup of tea|style|allerg(?:y|ies)|\w{2,20} (?:allerg(?:y|ies)|can['’]t be))\b|"
    r"(?:gives?|makes?|puts?|wears?) (?:me|us) (?:sick|anxious|nervous|nauseous|sleepy|tired|uncomfortable|dizzy|out|"
    r"down|to sleep|a headache|headaches|nightmares)\b|"
    r"(?:upsets?|tires?|hurts?|irritates?|itch(?:es)?(?: on)?) my\b|any day\b(?=[,.!]|$)|not (?:an option|happening) for (?:me|us)\b|(?:bores?|exhausts?|drains?|disgusts?|suits?) (?:me|us)\b|For me\b(?=,| an? ))"
)
_TASTE_ZH: Final = lazy_pattern(
    r"[我咱][^，,。；;！!？?\n]{0,6}?(?:喜欢|偏爱|最爱|爱[吃喝看听玩用住坐穿]|讨厌|反感|受不了|忍不了|不[吃喝碰用买坐住穿看敢爱信习太]|"
    r"从不|从来|总是|一般|通常|一向|向来|只[吃喝买用看坐住穿听去选送要]|宁[可愿]|习惯|过敏|怕|[吃喝待坐住]不[了住惯]|懒得|偏好|更愿意|"
    r"忌|是[^，。]{0,8}[型派控]|绕着走|(?:都|从|一律|绝|死活)不|[听吃喝看住睡坐穿]不(?:进去|下去|惯|来|得)|不加班)|"
    r"都?不能[碰吃喝]|(?:都|一律|绝)不(?:吃|喝|用|买|坐|住|穿|看|去|考虑|碰|听|收|接|选)|[惯][了的]|只(?:吃|喝|用|买|坐|住|穿|看|去|听|送)"
)
_CHOICE: Final = lazy_pattern(
    r"\b(?:(?:I|[Ww]e)(?:['’]d|['’]ll| would| will) (?:(?:go|opt) (?:with|for)|(?:take|pick) the|choose)\b|"
    r"[Oo]ption (?:\d|one|two|three|four|[A-D])\b|it is\b(?=[.!]?$)|sounds (?:right|best)\b|the usual\b(?=[,.!]|$))|"
    r"^(?!I['’]|That|This|If|Now|But)[^,.!?]{3,40} (?:again(?=,|[.!]?$)|(?:as|like) (?:always|usual)\b)|^\w{2,20}, as (?:always|usual)\b|^(?:Then |So )?[Tt]he \w{2,20}(?: \w{2,20})?(?: one)?,|"
    r"照旧|老样子|老规矩|还是[^，。]{1,12}吧|^我?(?:那就|就|选|要)[^，。]{1,10}(?:吧|$|，)|第.个吧"
)


class Taste(NamedTuple):
    """A clause that states a taste."""

    words: str
    chosen: bool
    """Whether it chooses; what among, was said before."""


def tastes(text: str) -> Iterator[Taste]:
    """Yield the clauses of what somebody said that state a taste.

    >>> list(tastes("I avoid hotels with nightlife, can you find another?"))
    [Taste(words='I avoid hotels with nightlife', chosen=False)]
    """
    text = text[:_LONGEST]
    pattern = _TASTE_ZH if HAN.search(text) else _TASTE
    if not (pattern.search(text) or _CHOICE.search(text)):
        return
    for sentence in _SENTENCE.split(text):
        words = sentence.strip()
        if words and words[-1] not in "?？":
            chosen = _CHOICE.search(words) is not None
            if (chosen or pattern.search(words)) and not _ONCE.search(words):
                yield Taste(words, chosen)
