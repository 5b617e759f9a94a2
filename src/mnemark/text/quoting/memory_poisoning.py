"""Detect text of tools and web pages that addresses the memory or claims facts about its owner.

A search finds such text, but it is not recalled automatically, as it may be memory poisoning. So recall comes
before precision here, unlike in `injection`: statements of a page about "the user" match, a manual's "if the
user is not signed in" does not.
"""

import re
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import is_fenced, strip_fences
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.words.normalize import normalize

_ENGLISH: Final = (
    (r"\b(?:the |this |our |your )?(?:user|owner|customer|human)'?s? (?:now|no longer|currently|actually|"
     "really|always|never|prefers|likes|lives|works|wants|moved|switched|hates|owns|has a new|has changed|"
     r"decided|trusts|loves|uses)\b"),
    (r"\b(?:the |this |our |your )?(?:user|owner|customer|human)'s? (?:\w+[ -]){1,3}(?:is|are|was|has been|"
     "have been|has changed|has moved|changed|moved|switched|equals|=|:)(?: |$)"),
    (r"\b(?:the |this |our |your )?(?:user|owner|customer|human) (?:name|city|e-?mail|employer|address|"
     r"editor|language|birthday|phone|job|home|country)\b[^.\n]{0,12}(?:is|:|=)"),
    (r"\b(?:memori[sz]e|keep in mind|bear in mind|don't forget|do not forget)\b[^.\n]{0,24}(?:\bthat\b|"
     r"\bthis\b|[:,]|\bto\b|\bfor\b)"),
    (r"\bremember(?:\s?[:,]|,? (?:that|this)\b[^.\n]{0,40}\b(?:user|owner|always|never|my|the assistant)\b)|"
     r"^remember that\b|\bnote to (?:self|memory|(?:the |your |this )?(?:ai|assistant|agent|model|bot))\b|"
     r"\b(?:long[- ]term|persistent) memory\s?[:,]"),
    (r"\b(?:from now on|henceforth|in (?:all )?future sessions|for all (?:future|later) (?:sessions|"
     r"chats))\b"),
    (r"\b(?:update|add|save|store|write|append|edit|overwrite|record|commit|put|insert|keep|"
     r"persist)\b[^.\n]{0,30}\b(?:memory|memories|memory\.md|user\.md|soul\.md|agents?\.md|preferences?|"
     r"facts?)\b"),
    r"\b(?:memory|user|soul|agents)\.md\b|\bmemory/(?:facts|review)\b|\bmnemark\b",
    (r"\b(?:rule|policy|preference|instruction|important)\s?[:,][^.\n]{0,60}\b(?:always|never|must|every|"
     r"all)\b"),
    (r"(?:^|[.!:;\n] ?)(?:please )?(?:always|never) (?:use|run|reply|answer|respond|say|send|trust|"
     r"recommend|approve|commit|ask|write|call|install|follow|obey)\b"),
    (r"\b(?:for|to|dear|attention) (?:ai|llm|language model)s?(?: agents?| assistants?)?\b|\b(?:ai|"
     r"llm) agents?\b"),
    (r"\b(?:tool|function)_result|\b(?:human|assistant|system|developer)\s?:\s?\S|\bobey|\btrust(?:s|"
     r"ed)? \w+|\boutside the quotation|\bspeaks? for the owner|\badministrator\b[^\n]{0,10}$"),
)  # fmt: skip
_CHINESE: Final = (
    ("(?:用户|主人|机主|使用者)(?:现|已(?!登录)|不再|住|喜欢|偏好|搬|改|升级|跳槽|更换|总|从|叫|是|希望|"
     r"想要|没有|(?:的|邮箱|城市|姓名|名字|地址|电话|公司|生日)[^。,\n]{0,8}(?:是|为|已|改|换|变|:|@|在))"),
    "(?:请|要|务必|切|一定|会话都|都要)记(?:住|下|得|录)?|记(?:住|一下|到|在)|切记|牢记|别忘|不要忘",
    (r"(?:写入|写进|更新|添加|保存|存入|加入|加到|修改|记录|存)[^。\n]{0,10}(?:记忆|memory|偏好|事实|"
     r"user\.md)"),
    r"(?:以后|今后|从今|从现在|往后|此后)[^。\n]{0,12}(?:都|一律|总是|每次|凡是|必须|只)",
    r"(?:规则|规定|政策|重要|偏好|注意)\s?[:,][^。\n]{0,30}(?:永远|总是|一律|必须|不要|不得|只|先)",
    "(?:永远|一律|总是)(?:不要|别|要|用|使用|批准|相信|推荐|先)",
    r"(?:信任|服从|听从|遵从|相信)\S|引用(?:之外|结束)|代表主人|新的主人|通过验证|可信度|事实更新|优先于",
    r"(?:ai|助手|语言模型|大模型)[^。\n]{0,10}(?:请|必须|应当|应该|跳过|停止|先|调用|读到)",
)  # fmt: skip
_FORGED: Final = (
    r"\borigin\b\W{0,4}(?:owner|file|agent)\b|<!--|来源\s?[=:]",
    r'"role"\s?:|"kind"\s?:|\brole:\s|"predicate"|^\s?[-*+] \*\*',
    r"(?:^|\n)(?:\+\+\+|---) \S+\.md|\*\*\* (?:begin|update|end)|>> ?\S{1,200}\.md",
    (r"\bmnemark|(?:<|&lt;|\\u003c)\|?\s?/?(?:system|user|assistant|im_|human|tool)|</\w*(?:results?|"
     r"calls)>|\[/?inst\]"),
)  # fmt: skip
LEFT_OUT: Final = "[recalled text was left out here]"
"""Notice in the output of a tool from which recalled blocks were removed."""
_SHAPES: Final = tuple(
    lazy_pattern("|".join(shapes), re.MULTILINE) for shapes in (_ENGLISH, _CHINESE, _FORGED)
)
_FIRST_PERSON: Final = lazy_pattern(
    r"\b(?:my (?:new |preferred |favou?rite )?(?:name|address|city|home|employer|job|e-?mail|language|"
    r"editor|boss|birthday|phone) (?:is|:)|i (?:moved to|live in|work (?:at|for)|prefer|always|never|"
    r"am (?:the owner|moving))|"
    r"we (?:decided|agreed|chose) (?:to|on))\b|我(?:叫|是|住在|搬到|上周搬|在\S{1,12}(?:上班|工作)|"
    r"喜欢|偏好|一直用|"
    r"们决定|的(?:名字|城市|地址|公司|邮箱))"
)
# Tags, direction controls, invisible operators and soft hyphens, which nobody types; not emoji joiners.
_HIDDEN: Final = lazy_pattern(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]"
    "|(?<!^)\ufeff|\ufeff[\u2060a-zA-Z]|\x1b\\[[0-9;]*8m"
)
_MIXED: Final = lazy_pattern("[a-zA-Z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-zA-Z]")


def speaks_for_owner(text: str) -> bool:
    """Return whether untrusted text addresses a memory or a model, speaks for the owner, or hides text.

    Only for text of tools and web pages: most of this is legitimate in the words of a person.
    """
    if LEFT_OUT in text or _HIDDEN.search(text) or _MIXED.search(text) or looks_like_instructions(text):
        return True
    plain = normalize(text)
    return any(shape.search(plain) for shape in _SHAPES) or _FIRST_PERSON.search(plain) is not None


def without_recalled(text: str) -> str:
    """Remove recalled blocks from the output of a tool; append `LEFT_OUT` if there were any."""
    return f"{strip_fences(text).strip()}\n{LEFT_OUT}".strip() if is_fenced(text) else text
