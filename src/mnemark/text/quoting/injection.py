"""Detect text shaped like instructions to a model: labelled and ranked lower, never deleted.

Precision comes first: a diary that says "you are now a father" or asks to ignore a previous e-mail is left
alone. What is looked for is talk *to* a model *about* its instructions, roles or secrets.
"""

import re
from functools import cache

from mnemark.text.words.normalize import normalize

_Shape = tuple[tuple[str, ...], str]


def _shape(hints: str, *pieces: str) -> _Shape:
    """A shape, and words of which one must be there: a plain search for those costs next to nothing."""
    return tuple(hints.split("|")), "".join(pieces)


@cache
def _compiled(shape: str) -> re.Pattern[str]:
    # On first use: most texts need none of them, and compiling all takes as long as a whole search.
    return re.compile(shape)


_ENGLISH = (
    _shape(
        "ignore|disregard|forget|override|bypass|discard",
        r"\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?:(?:all|any|every|the|your|my|",
        r"of|these|those|and|other|everything|in)\s+){0,4}(?:previous|prior|above|earlier|preceding|",
        r"foregoing|existing|original|system|initial|past)\s+(?:(?:and|or|system|user|safety|",
        r"developer)\s+){0,3}(?:instructions?|prompts?|rules|directions?|directives?|guidelines|",
        r"messages|commands|constraints)\b",
    ),
    _shape(
        "ignore|disregard|forget",
        r"\b(?:ignore|disregard|forget)\s+(?:all\s+)?(?:of\s+)?(?:your|the)\s+(?:instructions|",
        r"system prompt|guidelines|programming|training)\b",
    ),
    _shape(
        "you are no",
        r"\byou are (?:now|no longer)\s+(?:in\s+|an?\s+|the\s+|bound\s+|",
        r"restricted\s+)?(?:\w+\s+){0,3}(?:assistant|chatbot|language model|ai|ai model|dan|",
        r"jailbroken|unrestricted|developer mode|debug mode|admin mode|god mode|by (?:your|any|",
        r"the) (?:rules|guidelines|policies|instructions))\b",
    ),
    _shape(
        "from now on",
        r"\bfrom now on,?\s+(?:you|the (?:assistant|ai|model|agent))\s+(?:will|must|shall|are to|",
        r"should)\s+(?:always\s+|only\s+|never\s+|not\s+)?(?:respond|reply|answer|act|obey|follow|",
        r"ignore|pretend|behave|output|comply|refuse|speak|say|include|recommend|send|call|run)\b",
    ),
    _shape(
        "prompt|system message|instructions",
        r"\b(?:reveal|print|show|output|repeat|leak|disclose|send|display|",
        r"give)\s+(?:\w+\s+){0,3}(?:your|the)\s+(?:\w+\s+){0,2}(?:system prompt|system message|",
        r"hidden instructions|initial instructions)\b",
    ),
    _shape(
        "system prompt|system message|system instruction",
        r"\b(?:new|updated|real|actual|override)\s+(?:system prompt|system message|",
        r"system instructions?)\b\s*[:=]",
    ),
    _shape(
        "system prompt|system message|system instruction|override",
        r"(?m:^)[ \t>*#-]{0,8}(?:system prompt|system message|system instructions?|system override|",
        r"admin override)\s*:",
    ),
    _shape(
        "the user",
        r"\b(?:do not|don't|never|without)\s+(?:tell|telling|inform|informing|mention|mentioning|",
        r"reveal|revealing|alert|alerting|notify|notifying)\s+(?:\w+\s+){0,4}(?:to\s+)?the user\b",
    ),
    _shape(
        "reading this|reads this|read this|processing this",
        r"\b(?:assistant|ai|agent|model|llm|chatbot)s?\s*(?:reading this|that reads? this|",
        r"who reads? this|processing this)\b",
    ),
    _shape(
        "an ai|a language model|ing this|read this|see this|process this",
        r"\b(?:when|if|after|once) you(?:'re| are)?\s+(?:an ai|a language model|reading this|",
        r"read this|see this|process this)\b[^.\n]{0,40}\b(?:must|should|run|execute|send|call|",
        r"delete|reply|respond|ignore|output|say)\b",
    ),
    _shape(
        "an ai|a language model|an language model|an llm|a ai|a llm",
        r"\bas an? (?:ai|ai assistant|language model|llm),?\s+you\s+(?:must|should|shall|",
        r"are required|need to|have to)\b",
    ),
    _shape(
        "without|with no|free of",
        r"\b(?:pretend|act|behave|respond|answer)\s+(?:\w+\s+){0,6}(?:without|with no|",
        r"free of)\s+(?:any\s+|all\s+|your\s+)?(?:restrictions|limitations|filters|guidelines|",
        r"safety|censorship|rules)\b",
    ),
)

_CHINESE = (
    _shape(
        "指令|指示|提示|命令|规则|设定|约束|限制|说明",
        r"(?:忽略|无视|忘记|忘掉|不要理会|不用理会|不要管|抛弃|丢弃|跳过|覆盖|绕过|不再遵守|",
        r"停止遵守)[^。\n!?]{0,6}(?:之前|以前|先前|上面|上述|以上|前面|此前|所有|全部|系统|原有|",
        r"原来|一切|已有|你的)[^。\n!?]{0,6}(?:指令|指示|提示词|提示|命令|规则|设定|约束|限制|说明)",
    ),
    _shape(
        "你现在|现在你|你从现在|你已经",
        r"(?:你现在|现在你|你从现在|你已经)(?:开始|起)?(?:不再)?(?:是|将是|扮演|将扮演|充当|作为|",
        r"进入|处于|切换)[^。\n!?]{0,12}(?:助手|语言模型|大模型|ai|机器人|开发者模式|管理员模式|",
        r"调试模式|无限制|越狱|dan)",
    ),
    _shape(
        "从现在",
        r"从现在(?:开始|起),?你(?:将|必须|只能|不再|要|应该|需要)(?:始终|总是|只|都)?(?:回答|回复|",
        r"扮演|遵守|服从|忽略|输出|执行|拒绝|充当|受|用|以|说)",
    ),
    _shape(
        "提示|指令|消息",
        r"(?:输出|显示|泄露|打印|重复|复述|公开|透露|说出|发送|告诉我)[^。\n!?]{0,8}(?:系统提示|",
        r"系统指令|系统消息|初始指令|隐藏指令|你的提示词|你的指令)",
    ),
    _shape(
        "系统提示|系统指令|系统消息|新指令|新的指令|管理员指令",
        r"(?m:^)[ \t>*#-]{0,8}(?:系统提示词?|系统指令|系统消息|新的?指令|管理员指令)\s*:",
    ),
    _shape(
        "用户",
        r"(?:不要|不得|不能|别|切勿)(?:告诉|告知|通知|提醒|让)用户",
    ),
    _shape(
        "作为|身为",
        r"(?:作为|身为)(?:一个|一名)?(?:ai|人工智能|语言模型|大模型|",
        r"智能助手)[^。\n!?]{0,6},?你(?:必须|应该|应当|需要|只能)",
    ),
    _shape(
        "限制|约束|审查|规则",
        r"(?:假装|扮演|表现得)[^。\n!?]{0,10}(?:没有|不受)(?:任何)?[^。\n!?]{0,4}(?:限制|约束|审查|",
        r"规则)",
    ),
)

_MARKERS = (
    _shape(
        "im_|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|",
        r"eot_id)\|>",
    ),
    _shape(
        "inst]",
        r"\[/?inst\]",
    ),
    _shape(
        "<<sys>>",
        r"<<sys>>",
    ),
    _shape(
        "<system|</system|developer>",
        r"</?(?:system|system-reminder|system_prompt|developer)>",
    ),
    _shape(
        "<start_of_turn>",
        r"<start_of_turn>",
    ),
    _shape(
        "system|developer",
        r"(?m:^)[ \t>*#-]{0,8}(?:system|developer)\s*:\s*(?:you (?:are|must|should|will)|ignore|",
        r"always|never|from now on|你(?:是|必须|现在|要|将)|忽略)",
    ),
)

_SHAPES: tuple[_Shape, ...] = (*_ENGLISH, *_CHINESE, *_MARKERS)


def looks_like_instructions(text: str) -> bool:
    """Whether `text` speaks to a model about its instructions, role or secrets, in English or Chinese.

    Width, case, traditional characters and invisible characters make no difference.
    """
    plain = normalize(text)
    for hints, shape in _SHAPES:  # plain loops: this runs for every passage that is indexed
        for hint in hints:
            if hint in plain:
                if _compiled(shape).search(plain):
                    return True
                break
    return False
