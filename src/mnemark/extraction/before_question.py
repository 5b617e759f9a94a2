"""Take what a sentence tells before its question: 我吃素，晚饭做什么好？ "I'm vegetarian, what can I cook?".

Only plain clauses about the speaker count, and only those before the first clause that asks. What asks whether
the clause is so ("…, right?", …，对吗？) leaves nothing.
"""

from typing import Final

from mnemark.extraction.sentences import Sentence
from mnemark.text.lazy_pattern import lazy_pattern

_BORDER: Final = lazy_pattern(r"[,;:，；：]|(?<!\s)\s++(?:--?|[–—])\s|——")
_ASKS: Final = lazy_pattern(
    r"(?i)^\s*(?:(?:so|and|but|then|now|given that|also|well|anyway|please|plus)\b[,\s]*)*(?:(?:and|what about|how about) you|what|which|who|where|when|why|how|any (?:\w+ ){0,2}(?:ideas?|tips?|suggestions?|recommendations?|advice|thoughts|recipes?)|"
    r"(?:can|could|should|would|will|do|does|did|is|are|am|was|were|has|have|may|might|shall) (?:you|i|we|it|there|this|that|these|those|they|he|she|my|the|a|an|any))\b"
)
_ASKS_ZH: Final = lazy_pattern(
    "什么|怎么|怎样|如何|哪|多少|几[个点天次种家位岁]|谁|吗[?？]?$|呢[?？]?$|能不能|可不可以|有没有|要不要|该不该|是不是|好不好|行不行|会不会|需不需要|是否|能否|推荐|建议|为何|咋|啥"
)
_TAG: Final = lazy_pattern(
    r"(?i)^\s*(?:right|correct|no|yes|yeah|huh|ok(?:ay)?|or\b[^?？]*+|eh|agree[d]?|really|"
    r"(?:is|are|do|does|did|have|has|was|were|would|could|ca|wo|should)n't [^?？]*+|(?:am|do|did|was|have) i(?: not)?|still|remember)\s*[?？]|"
    r"(?:对|是|行|好|可以|没错)(?:吗|吧|不对|不是|么)|还是|记得|来着|知道|真的"
)
_ABOUT_SELF: Final = lazy_pattern(
    r"(?i)^\s*(?:(?:hi|hello|hey|so|well|ok(?:ay)?|also|btw|by the way|since|as|because|given that|now that)\b,?\s*)*(?=(?:i|i'm|i've|my|we|we're|we've|our)\b)"
)
_ABOUT_SELF_ZH: Final = lazy_pattern(r"^\s*(?:(?:你好|对了|另外|那|因为|由于|嗨)[，,]?)*(?=(?:我|本人|咱))")
_HAN: Final = lazy_pattern("[\u4e00-\u9fff]")
_UNSURE: Final = lazy_pattern(
    r"(?i)\b(?:if|when|want|wants|wanna|need|trying|looking|wondering|think|thought|was|were|going|would|could|should|had|know|heard|read|see|got|get)\b|如果|要是|的话|想|需要|觉得|看到|发现|听说|正在|刚|今天|昨天|明天|今晚|准备|打算|在看|在写|在做|遇到|收到|打开|有点"
)


def before_question(sentence: Sentence) -> Sentence | None:
    """Return the clauses about the speaker before the question of a sentence; None where there are none."""
    text = sentence.blotted
    if not text.rstrip().endswith(("?", "？", "吗", "呢", "么", "吗。", "呢。", "么。")):
        return None
    chinese = _HAN.search(text) is not None
    start = (_ABOUT_SELF_ZH if chinese else _ABOUT_SELF).match(text)
    if start is None:
        return None
    asks = _ASKS_ZH.search if chinese else _ASKS.match
    last, at = 0, start.end()
    for border in _BORDER.finditer(text, start.end()):
        if asks(text[at : border.start()]) or _UNSURE.search(text[at : border.start()]):
            break
        last, at = border.start(), border.end()
    if not last or _TAG.search(text[at:].strip()) or not asks(text[at:].strip()):
        return None
    part = slice(start.end(), last)
    return Sentence(sentence.text[part], text[part])
