"""Find what a standing instruction or preference is about: when it applies, in its own words.

"Always give dates as DD/MM when I ask about scheduling" applies to scheduling, 写邮件的时候一律用敬语 to
写邮件. Pure: strings in, values out.
"""

# ruff: noqa: E501 - patterns read better whole

import re
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
    r"(?:(?:我|你|您|咱们|我们)*(?:在|想|要|让你|请你|叫你|帮我|给我)*(?:问起|问到|问及|询问|谈到|说到|提到|聊到|讨论|涉及|"
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
    r"\b(?:recommend|suggest|advi[cs]e|should (?:I|we)|shall (?:I|we)|help (?:me|us)|plan|book|order|reserve|choose|"
    r"pick|find (?:me|us)|get (?:me|us)|make (?:me|us)|give (?:me|us)|bring|I(?:'d| would) like|I want|I need|ideas?|"
    r"(?:can|could|would|will) you|please|let's|put on|play|turn|set|prepare|schedule)\b|"
    r"推荐|建议|帮[我忙]|(?:^|[，,。请])给我|我想|我要|想要|该|要不要|选|订|预约|点[个份杯些首]|放[点些首]|来[点份杯首]|安排|计划|准备|请|"
    r"[吃喝看听买送穿玩]什么|怎么(?:样|办|安排)|去哪|哪[家个种].{0,6}好",
    re.IGNORECASE,
)


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


def is_request(message: str) -> bool:
    """Return whether a message asks for something to be done or advised, where tastes count.

    >>> [is_request(said) for said in ("Which seat should I book?", "Who sat beside me in May?")]
    [True, False]
    """
    return _REQUEST.search(message[: _LONGEST * 5]) is not None
