"""List the stop words of English and Chinese, including question words, and find what else a text says.

They are stemmed like all terms, so that a term of `segment` can be looked up directly. A question for an
overview has more words that say nothing of its topic: "Give me a summary of the trip" is about the trip. It is
answered by many passages together, one for a detail by one.
"""

# ruff: noqa: E501 - patterns read better whole

import re
from collections.abc import Iterable, Mapping
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.segment import Cut, cut_by_frequency, query_terms
from mnemark.text.words.terms import stem

_ENGLISH = """
a an the this that these those such same other another each every either neither both all any some no none
not nor only own so than too very just also again ever never here there then now once still yet already
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves one ones
am is are was were be been being do does did done doing have has had having will would shall should can could
might must ought
and or but if because as until while of at by for with about against between into through during before after
above below to from up down in out on off over under further upon onto within without via per
who whom whose which what when where why how whether
don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't shan't shouldn't can't
couldn't mustn't mightn't needn't ain't
dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wont wouldnt shouldnt cant couldnt cannot
tell please let etc s t
"""

_CHINESE = """
的 了 着 过 得 地 之 在 是 有 和 与 及 或 而 且 但 但是 并 并且 而且 以及 还 还是 还有 也 都 就 又 再
才 很 太 最 更 不 没 没有 不是 是否 把 被 让 给 对 对于 关于 向 从 到 由 于 以 为 为了 因为 所以 因此
如果 虽然 然后 其 其中 其他 比 我 你 您 他 她 它 咱 我们 你们 您们 他们 她们 它们 咱们 自己 大家 我的
你的 他的 她的 人家 这 那 这个 那个 这些 那些 这样 那样 这里 那里 这儿 那儿 这么 那么 此 该 某 每 各 另
另外 谁 哪 哪个 哪些 哪里 哪儿 哪位 什么 什么样 什么时候 何时 何处 为什么 为何 怎么 怎么样 怎样 怎 如何
几 多少 多久 多 吗 呢 吧 啊 呀 哦 嗯 嘛 哈 么 啦 呗 个 些 种 会 能 可以 可 要 想 应该 可能 已经 正在
曾经 曾 将 将要 请 请问 告诉 一个 一些 一下 一样 时候 的话 等 等等 所 上 下 里 中
"""

STOP: frozenset[str] = frozenset(stem(word) for word in (_ENGLISH + _CHINESE).split())
"""Stop words as terms: English stemmed, Chinese simplified."""


def is_stop(term: str) -> bool:
    """Return whether a term of `segment` is a stop word."""
    return term in STOP


def content_terms(text: str, cut: Cut | None = None) -> list[str]:
    """Return the distinct terms of a text without stop words, or with them where there are no others.

    `cut` segments Chinese, as for `query_terms`.
    """
    terms = list(dict.fromkeys(query_terms(text, cut)))
    return [term for term in terms if not is_stop(term)] or terms


def estimated_terms(text: str) -> set[str]:
    """Return the terms of a text without stop words; of Chinese, pairs of characters between stop words.

    There are about as many as in `content_terms`, and no dictionary is loaded for them (0.1 s).
    """
    terms = query_terms(text, lambda line: cut_by_frequency(line, _pairs_and_stop_words))
    return {term for term in terms if not is_stop(term)}


def _pairs_and_stop_words(words: Iterable[str]) -> Mapping[str, int]:
    return {word: 1000 if is_stop(word) else 1 for word in words if is_stop(word) or len(word) == 2}


_LONGEST: Final = 2_000
"""Characters of a question that are read for what it asks for."""
_SUM_UP_ZH: Final = "总结|小结|概括|概述|综述|梳理|回顾|汇总|归纳|盘点|复盘"
_HINTS: Final = (
    "summar|sum up|overview|recap|rundown|synopsis|outline|timeline|chronolog|me through|us through|"
    "up to speed|up to date|fill me in|catch me up|everything|all you|all we|history|order|sequence|"
    f"how did|how ha|over time|{_SUM_UP_ZH}|来龙去脉|始末|历程|演变|演进|发展|变化|进展|"
    "依次|先后|顺序|次序|时间线|时间轴|从头到尾"
).split("|")
"""One of these stands in every text that the patterns match, so that they are compiled for few."""
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
_OVERVIEW: Final = lazy_pattern(
    r"\b(?:summari[sz](?:e|ed|es|ing)|summary|summaries|recap|overview|rundown|synopsis|timeline|"
    r"chronolog(?:y|ical|ically)|sum up|(?:walk|run|take|talk) (?:me|us) through|(?:bring|get) (?:me|us) up to (?:speed|date)|"
    r"catch me up|fill me in|everything (?:that )?(?:about|we|you|i)|all (?:you|we) know|"
    r"in (?:what|which|the) (?:order|sequence)|(?:order|sequence) in which|order of events|over time|"
    r"how (?:has|have|had) (?:[\w'-]{1,30} ){1,8}?(?:developed|evolved|progressed|unfolded|changed|proceeded)|"
    r"how did (?:[\w'-]{1,30} ){1,8}?(?:develop|evolve|progress|unfold|change|proceed|come about|come along))\b|"
    rf"{_SUM_UP_ZH}|来龙去脉|始末|历程|演变|演进|怎么发展|如何发展|发展过程|"
    r"(?:怎么|如何|怎样|哪些|什么)变化|变化过程|进展(?:如何|怎么样|怎样|情况)|依次|先后|顺序|次序|时间线|时间轴|从头到尾",
    re.IGNORECASE,
)
_UNITS_ZH: Final = ("", *"个点件条项步句段字", "句话")
OVERVIEW_FORM: Final = (
    "summarize summarise summary summaries recap overview rundown synopsis outline timeline chronology chronological "
    "order sequence event develop development evolve evolution progress unfold change time history everything "
    "decide decision choose choice discuss discussion mention talk conversation chat session message bring topic aspect point "
    "complete full brief short concise detailed comprehensive main key overall entire whole throughout across course "
    "list name item step sentence word paragraph bullet table line two three four five six seven eight nine ten several "
    "different various exactly least raise brought came cover address dialogue exchange interaction start begin first last end "
    "总结 小结 概括 概述 综述 梳理 回顾 汇总 归纳 盘点 复盘 来龙去脉 始末 历程 演变 演进 发展 变化 过程 进展 情况 依次 先后 顺序 "
    "次序 时间线 时间轴 从头到尾 决定 选择 讨论 提到 聊 谈 谈到 说 对话 会话 方面 话题 事情 完整 全面 简要 简单 详细 主要 总体 "
    "整个 列 列出 列举 罗列 讲 讲讲 说说 用 按 分 只 事 时间 先后顺序 时间顺序 步骤 一句话 话 不同 各种 首先 最后 开始 结束 "
    "交流 沟通 聊天 聊过 提 条 项 点 步 句 字 "
    + " ".join(number + unit for number in "一二两三四五六七八九十" for unit in _UNITS_ZH)
)
"""Words of a question for an overview that say how it is to be made or that it was talked about."""


def wants_overview(text: str) -> bool:
    """Tell whether a question asks for many passages together: a summary, a development, an order."""
    text = text[:_LONGEST]
    return _hinted(text) and _OVERVIEW.search(text) is not None


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
