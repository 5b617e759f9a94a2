"""Detect text that looks like instructions to a model; it is labelled and ranked lower, never deleted.

Precision before recall: a diary that says "you are now a father" or asks to ignore a previous e-mail does not
match. Patterns match text addressed *to* a model *about* its instructions, roles or secrets.
"""

import re
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import normalize

_ENGLISH: Final = (
    ("ignore|disregard|forget|override|bypass|discard",
     (r"\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?:(?:all|any|every|the|your|my|of|these|"
      r"those|and|other|everything|in)\s+){0,4}(?:previous|prior|above|earlier|preceding|foregoing|existing|"
      r"original|system|initial|past)\s+(?:(?:and|or|system|user|safety|developer)\s+){0,3}(?:instructions?|"
      r"prompts?|rules|directions?|directives?|guidelines|messages|commands|constraints)\b")),
    ("ignore|disregard|forget",
     (r"\b(?:ignore|disregard|forget)\s+(?:all\s+)?(?:of\s+)?(?:your|the)\s+(?:instructions|system prompt|"
      r"guidelines|programming|training)\b")),
    ("you are no",
     (r"\byou are (?:now|no longer)\s+(?:in\s+|an?\s+|the\s+|bound\s+|"
      r"restricted\s+)?(?:\w+\s+){0,3}(?:assistant|chatbot|language model|ai|ai model|dan|jailbroken|"
      "unrestricted|developer mode|debug mode|admin mode|god mode|by (?:your|any|the) (?:rules|guidelines|"
      r"policies|instructions))\b")),
    ("from now on",
     (r"\bfrom now on,?\s+(?:you|the (?:assistant|ai|model|agent))\s+(?:will|must|shall|are to|"
      r"should)\s+(?:always\s+|only\s+|never\s+|not\s+)?(?:respond|reply|answer|act|obey|follow|ignore|"
      r"pretend|behave|output|comply|refuse|speak|say|include|recommend|send|call|run)\b")),
    ("system prompt|system message|hidden instructions|initial instructions",
     (r"\b(?:reveal|print|show|output|repeat|leak|disclose|send|display|give)\s+(?:\w+\s+){0,3}(?:your|"
      r"the)\s+(?:\w+\s+){0,2}(?:system prompt|system message|hidden instructions|initial instructions)\b")),
    ("system prompt|system message|system instruction",
     (r"\b(?:new|updated|real|actual|override)\s+(?:system prompt|system message|"
      r"system instructions?)\b\s*[:=]")),
    ("system prompt|system message|system instruction|override",
     (r"(?m:^)[ \t>*#-]{0,8}(?:system prompt|system message|system instructions?|system override|"
      r"admin override)\s*:")),
    ("the user",
     (r"\b(?:do not|don't|never|without)\s+(?:tell|telling|inform|informing|mention|mentioning|reveal|"
      r"revealing|alert|alerting|notify|notifying)\s+(?:\w+\s+){0,4}(?:to\s+)?the user\b")),
    ("reading this|reads this|read this|processing this",
     (r"\b(?:assistant|ai|agent|model|llm|chatbot)s?\s*(?:reading this|that reads? this|who reads? this|"
      r"processing this)\b")),
    ("an ai|a language model|ing this|read this|see this|process this",
     (r"\b(?:when|if|after|once) you(?:'re| are)?\s+(?:an ai|a language model|reading this|read this|"
      r"see this|process this)\b[^.\n]{0,40}\b(?:must|should|run|execute|send|call|delete|reply|respond|"
      r"ignore|output|say)\b")),
    ("an ai|a language model|an language model|an llm|a ai|a llm",
     (r"\bas an? (?:ai|ai assistant|language model|llm),?\s+you\s+(?:must|should|shall|are required|need to|"
      r"have to)\b")),
    ("without|with no|free of",
     (r"\b(?:pretend|act|behave|respond|answer)\s+(?:\w+\s+){0,6}(?:without|with no|free of)\s+(?:any\s+|"
      r"all\s+|your\s+)?(?:restrictions|limitations|filters|guidelines|safety|censorship|rules)\b")),
)  # fmt: skip
_CHINESE: Final = (
    ("指令|指示|提示|命令|规则|设定|约束|限制|说明",
     ("(?:忽略|无视|忘记|忘掉|不要理会|不用理会|不要管|抛弃|丢弃|跳过|覆盖|绕过|不再遵守|"
      r"停止遵守)[^。\n!?]{0,6}(?:之前|以前|先前|上面|上述|以上|前面|此前|所有|全部|系统|原有|原来|一切|"
      r"已有|你的)[^。\n!?]{0,6}(?:指令|指示|提示词|提示|命令|规则|设定|约束|限制|说明)")),
    ("你现在|现在你|你从现在|你已经",
     ("(?:你现在|现在你|你从现在|你已经)(?:开始|起)?(?:不再)?(?:是|将是|扮演|将扮演|充当|作为|进入|处于|"
      r"切换)[^。\n!?]{0,12}(?:助手|语言模型|大模型|ai|机器人|开发者模式|管理员模式|调试模式|无限制|越狱|"
      "dan)")),
    ("从现在",
     ("从现在(?:开始|起),?你(?:将|必须|只能|不再|要|应该|需要)(?:始终|总是|只|都)?(?:回答|回复|扮演|遵守|"
      "服从|忽略|输出|执行|拒绝|充当|受|用|以|说)")),
    ("提示|指令|系统消息",
     (r"(?:输出|显示|泄露|打印|重复|复述|公开|透露|说出|发送|告诉我)[^。\n!?]{0,8}(?:系统提示|系统指令|"
      "系统消息|初始指令|隐藏指令|你的提示词|你的指令)")),
    ("系统提示|系统指令|系统消息|新指令|新的指令|管理员指令",
     r"(?m:^)[ \t>*#-]{0,8}(?:系统提示词?|系统指令|系统消息|新的?指令|管理员指令)\s*:"),
    ("用户", "(?:不要|不得|不能|别|切勿)(?:告诉|告知|通知|提醒|让)用户"),
    ("作为|身为",
     (r"(?:作为|身为)(?:一个|一名)?(?:ai|人工智能|语言模型|大模型|智能助手)[^。\n!?]{0,6},?你(?:必须|应该|"
      "应当|需要|只能)")),
    ("限制|约束|审查|规则",
     r"(?:假装|扮演|表现得)[^。\n!?]{0,10}(?:没有|不受)(?:任何)?[^。\n!?]{0,4}(?:限制|约束|审查|规则)"),
)  # fmt: skip
_MARKERS: Final = (
    ("<",
     r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>"),
    ("inst]", r"\[/?inst\]"),
    ("<", "<<sys>>"),
    ("<", "</?(?:system|system-reminder|system_prompt|developer)>"),
    ("<", "<start_of_turn>"),
    ("system|developer",
     (r"(?m:^)[ \t>*#-]{0,8}(?:system|developer)\s*:\s*(?:you (?:are|must|should|will)|ignore|always|never|"
      "from now on|你(?:是|必须|现在|要|将)|忽略)")),
)  # fmt: skip

_Hints = tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]


def _by_hint() -> _Hints:
    """Return each hint with its patterns; every match of a pattern contains one of its hints."""
    found: dict[str, tuple[re.Pattern[str], ...]] = {}
    for hints, shape in (*_ENGLISH, *_CHINESE, *_MARKERS):
        pattern = lazy_pattern(shape)
        for hint in hints.split("|"):
            found[hint] = (*found.get(hint, ()), pattern)
    return tuple(found.items())


_HINTS: Final = _by_hint()
_ASCII_HINTS: Final = tuple(entry for entry in _HINTS if entry[0].isascii())
_UNCASED_HINTS: Final = tuple(entry for entry in _HINTS if entry[0].upper() == entry[0])


def looks_like_instructions(text: str) -> bool:
    """Return whether `text` addresses a model about its instructions, role or secrets (English or Chinese).

    Width, case, traditional and invisible characters are normalised first.
    """
    plain = normalize(text)
    for hint, patterns in _possible_hints(plain):  # a substring search is fast: this runs for every passage
        if hint in plain and any(pattern.search(plain) for pattern in patterns):
            return True
    return False


def _possible_hints(plain: str) -> _Hints:
    """Return the hints that a normalised text can contain, going by its characters."""
    if plain.isascii():
        return _ASCII_HINTS
    return _UNCASED_HINTS if plain.upper() == plain else _HINTS
