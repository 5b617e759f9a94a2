"""Find what a standing instruction or preference is about: when it applies, in its own words.

"Always give dates as DD/MM when I ask about scheduling" applies to scheduling, 写邮件的时候一律用敬语 to
写邮件. Pure: strings in, values out.
"""

# ruff: noqa: E501 - patterns read better whole

import re
from functools import cache
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN

_LONGEST: Final = 400
"""Characters of an instruction that are read."""
_ASKED: Final = (
    r"(?:(?:I|we)(?:'m| am| are)? ?(?:ask(?:ing)?|talk(?:ing)?|inquir(?:e|ing)|speak(?:ing)?|want(?:ing)?|need(?:ing)?|"
    r"request(?:ing)?|mention(?:ing)?|discuss(?:ing)?)(?: you)?(?: (?:about|for|to|how to|of|questions? (?:about|on)|"
    r"help with))?|(?:the )?(?:question|topic|subject|talk) is(?: about)?|it comes to|you(?:'re| are)?|I(?:'m| am)?|"
    r"we(?:'re| are)?|asked (?:about|for|to)|talking about)"
)
_WHEN: Final = lazy_pattern(
    r"\b(?:when(?:ever)?|if|(?:every|each|any) ?time|before|after|while|as soon as)\s+"
    rf"(?:{_ASKED}\s+)?(?P<what>[^,;.]{{2,80}})",
    re.IGNORECASE,
)
_AHEAD: Final = lazy_pattern(
    r"^(?:please\s+)?(?:in|for|on|with|during|about|regarding|as for)\s+(?P<what>[^,;.]{2,60}),",
    re.IGNORECASE,
)
_BEHIND: Final = lazy_pattern(
    r"\b(?:in|for|on|about|during)\s+(?:(?:all|any|the|my|our|your|every)\s+)*(?P<what>[^,;.]{2,40})$",
    re.IGNORECASE,
)
_ORDER: Final = lazy_pattern(
    r"\s+(?:please|always|never|do not|don't|you (?:should|must)|make sure)\b.*$", re.IGNORECASE
)
"""What an instruction without a comma asks for, behind its condition."""
_ASKED_ZH: Final = (
    r"(?:(?:我们|咱们|我|你|您)*+(?:在|想|要|让你|请你|叫你|帮我|给我)*+(?:问起|问到|问及|询问|谈到|说到|提到|聊到|讨论|涉及|"
    r"关于|有关|碰到|遇到|问)?(?:你|我)?(?:关于|有关)?)"
)
_WHEN_ZH: Final = lazy_pattern(
    rf"(?:每次|每当|凡是|只要|如果|要是|当)?{_ASKED_ZH}(?P<what>[^，,。；;]{{1,24}}?)"
    r"(?:的?时候|(?<![小同及有何几])时(?![间候])|之前|之后|以后(?=都|一律|必须|要)|前(?=一定|必须|务必|都|先)|"
    r"后(?=一定|必须|务必|都|先))"
)
_AHEAD_ZH: Final = lazy_pattern(
    rf"^(?:每次|每当|凡是|只要|如果|要是|关于|对于|所有|任何)的?{_ASKED_ZH}(?P<what>[^，,。；;]{{1,20}}?)(?:的话)?"
    r"(?:[，,]|(?:都|一律|必须|务必))"
)
_TOPIC_ZH: Final = lazy_pattern(
    r"^(?P<what>[^，,。；;]{2,12}?)[，,]?(?:请|要|都|也)*(?:一律|统一|必须|务必|默认|始终|总是|永远|不要|不许|不准|别|都[要得用写给先])"
)
_REST: Final = lazy_pattern(
    r"^(?:(?:in|to|about|for|the|a|an|my|our|your|any|all|some|of|writ(?:e|ing)|mak(?:e|ing)|do(?:ing)?)\s+)+|"
    r"^(?:以后|今后|往后|回答|回复)+(?=..)|^[写做发看用](?=[\u3400-\u9fff]{2})|"
    r"\s+(?:questions?|stuff|things?|topics?|details)$|\s+for (?:me|us)$|(?:的)?(?:相关)?(?:问题|事情|内容|话题)$",
    re.IGNORECASE,
)
"""Words of a condition that say nothing of what it is about."""
_REQUEST: Final = lazy_pattern(
    r"(?:^|[.!?;,:]\s+|\b(?:please|and|to|you|just|let's)\s+)(?:recommend|suggest|advise|help|plan|book|order|reserve|choose|"
    r"pick|find|get|make|give|bring|put|play|turn|set|prepare|schedule|cook|buy|draft|write)\b(?<!did you suggest)(?<!did you recommend)|"
    r"\b(?:should|shall) (?:I|we)\b|\b(?:can|could|would|will) you\b|\bplease\b|\blet's\b|\bI(?:'d| would) like\b|\bI (?:want|need)\b|"
    r"\b(?:ideas?|suggestions?|recommendations?|advice|tips?) (?:for|on|about)\b|\b(?:can|could) (?:I|we)\b|"
    r"\bhow (?:do (?:I|we)|to|best)\b|\bbest (?:ways?|for (?:me|us))\b|\bany (?:\w+ )?(?:ideas?|suggestions?|tips?|advice)\b|"
    r"\bdo you think (?:I|we)\b|\b(?:can|could|should) (?:my|our)\b|\banything (?:good|nice|worth)\b|\bmust-see\b|\bis worth\b|"
    r"\bwhat\b[^.?!]{1,40}\bwould (?:be (?:good|best|nice|right|ideal)|suit|fit)\b|\bmy (?:usual|standard|preferred|regular)\b|\b(?:how|way) I like\b|"
    r"\bwhat(?:['’]s| is| are| would be| else is)? (?:a |an |the |some |any )?(?:good|better|best|nice|great|fun|helps)\b|"
    r"\bwhich\b[^.?!]{1,40}\b(?:should|would|is best|are best|suits)\b|\b(?:I|we)(?:['’]m|['’]re| am| are) (?:\w+ )?(?:looking for|planning|thinking (?:of|about))\b|"
    r"(?:^|[，,。请你])(?:给我|推荐)|推荐(?:一|几|个|点|下)|建议(?=[?？吗]|我|一下)|帮[我忙]|我(?:们)?(?:想(?![起到知])|要(?!求)|想要|该|应该)|要不要|"
    r"(?:选|订|预约|安排|计划|准备)(?:一下|个|一个|张|间|份)|[点放来][个份杯首些](?!了)|请(?![问客假教])|"
    r"[吃喝看听买送穿玩点选种养]什么(?!了)|怎么(?:办|安排|选|[^了的？?]{0,6}(?:好|方便|合适|提高|开始|学|弄|谈))|去哪(?!了)|[选哪][里儿家个款种][^了]{0,8}[好适值]|"
    r"老样子|照旧|适合(?:我|我们)|我适合|怎么[减省存瘦]|(?:约|定|安排|放)在(?:什么时候|哪天|几点)(?!的|了)|带[本点个些]?什么(?!了)|我(?:平时|常用|习惯)的|[住选][到在]?哪(?![^？?]{0,6}[了的过])|该[^了]{0,4}哪|(?:什么|哪)[^了]{0,6}(?:好(?!了)|合适)|有(?:什么|没有)[^了]{0,4}(?:建议|办法|推荐|值得|好)|[找挑]个|怎么[去走](?![了的过])",
    re.IGNORECASE,
)
"""Asks for something to be done or advised; not what somebody did, suggested or ordered once."""
_PAST: Final = lazy_pattern(
    r"^\W*(?:what|when|where|who|which|why|how)\b[^,.?!]{0,40}\b(?:did|was|were|had)\b|"
    r"\b(?:did|was|were|had) (?:I|we|you|he|she|they|it|my|our)\b|"
    r"\b(?:please|you) (?:please )?(?:specify|list|describe|identify|remind me)\b|请(?:具体)?(?:说明|列出|列举|描述|概括)",
    re.IGNORECASE,
)
"""Asks for what was or is known, though its words are those of a request."""
_SENTENCE: Final = lazy_pattern(r"(?<=[.!?])\s+|[。！？\n]+")


_FORMS: Final = {
    "price": r"\bhow much (?:is|are|was|were|does|do|did|will|would)\b(?!.{0,30}\btime\b)|\bwhat (?:does|do|did) .{1,60} cost\b|多少钱|什么价",
    "distance": r"\bhow (?:far|long is the way)\b|多远",
    "travel": r"\bhow (?:do|can|could|should|would) (?:I|we|you) (?:get|travel|go) (?:to|from|there|back)\b|怎么[去走到](?!了)",
    "schedule": r"\bon (?:my|the|our) calendar\b|\bfind (?:me |us )?a (?:slot|time|date) for\b|\bwhen (?:should|shall|can|could) (?:I|we)\b|"
    r"(?:安排|定|改|约)(?:在|到)(?:哪天|什么时候|几点|[周星下明])",
    "summary": r"\bsum(?:mari[sz]e| .{1,20}? up)\b|\btl;?dr\b|(?:^|[，,。请我])(?:总结|概括|归纳)",
}
"""Forms of questions that do not name what they ask for."""


class Trigger(NamedTuple):
    """When an instruction or preference applies."""

    text: str
    """The words of its condition; without one, its topic."""
    conditional: bool
    """Whether it names a condition."""


def trigger_of(value: str) -> Trigger:
    """Return when an instruction or preference applies.

    >>> trigger_of("Always give dates as DD/MM when I ask about scheduling")
    Trigger(text='scheduling', conditional=True)
    >>> trigger_of("window seats")
    Trigger(text='window seats', conditional=False)
    """
    text = " ".join(value[:_LONGEST].split()).rstrip(" .!。！")
    patterns = (_WHEN_ZH, _AHEAD_ZH, _TOPIC_ZH) if HAN.search(text) else (_WHEN, _AHEAD, _BEHIND)
    for pattern in patterns:
        if match := pattern.search(text):
            what = _REST.sub("", _ORDER.sub("", match["what"])).strip()
            if what:
                return Trigger(what, conditional=True)
    return Trigger(text, conditional=False)


def asks_for(message: str) -> tuple[str, ...]:
    """Return what the form of a question says that it asks for.

    >>> asks_for("How far is it to the lake?")
    ('distance',)
    """
    head = message[: _LONGEST * 5]
    return tuple(what for what, pattern in _forms() if pattern.search(head))


@cache
def _forms() -> list[tuple[str, re.Pattern[str]]]:
    return [(what, re.compile(pattern, re.IGNORECASE)) for what, pattern in _FORMS.items()]


def request_of(message: str) -> str:
    """Return what a message asks to be done or advised: the sentences that ask, and those before them.

    >>> request_of("It rained all day. I am in Rome. Where should we eat? Thanks a lot.")
    'I am in Rome. Where should we eat?'
    >>> request_of("Who sat beside me in May?")
    ''
    """
    sentences = _SENTENCE.split(message[: _LONGEST * 5])
    asks = [_REQUEST.search(one) is not None and not _PAST.search(one) for one in sentences]
    return " ".join(one for at, one in enumerate(sentences) if any(asks[at : at + 2]))
