"""Detect text of tools and web pages that addresses the memory or claims facts about its owner.

A search finds such text, but it is not recalled automatically, as it may be memory poisoning. So recall comes
before precision here, unlike in `injection`: statements of a page about "the user" match, a manual's "if the
user is not signed in" does not. Code, logs, diffs and manuals have the same words: so no word or form marks a
text by itself, but who is addressed or spoken of, and what is to be believed or done.
"""

import re
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import is_fenced, strip_fences
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.quoting.notices import without_notices
from mnemark.text.words.normalize import normalize

_CONDITIONS: Final = ("if", "when", "once", "whether", "until", "unless", "where", "what")
_WHO: Final = (
    r"\b(?=user|owner|customer|human)"
    + "".join(rf"(?<!\b{word} {article})" for word in _CONDITIONS for article in ("", "the ", "a "))
    + "(?:user|owner|customer|human)"
)
"""Who a text makes a claim about; "if the user always …" is a condition of a manual, no claim."""
_ABOUT: Final = (
    r"\b(?:name|city|e-?mail|employer|address|editor|language|birthday|phone|job|home|country|allergy|bank)\b"
)
_CURATED: Final = r"(?:\b(?:memory|user|soul)\.md\b|\bmemory/(?:facts|review)\b)"
_ENGLISH: Final = (
    (rf"{_WHO}'?s? (?:now|no longer|currently|actually|really|always|never|prefers|likes|lives|works (?:at|"
     rf"for|in|as)|"
     r"wants(?! (?:me|us|to)\b)|moved|switched|hates|owns|has a new|has changed|decided|trusts|loves)\b"),
    (rf"{_WHO}'s? (?:\w+[ -]){{1,3}}(?:is|are|was|has been|have been|has changed|has moved|changed|moved|"
     rf"switched|"
     "equals|=|:)(?: |$)"),
    rf"{_WHO} {_ABOUT}[^.\n]{{0,12}}(?:is\b|:|=)",
    # A manual's "keep in mind that …" is for its readers; for a memory it says what about whom.
    (r"\b(?:memori[sz]e|keep in mind|bear in mind|don't forget|do not forget|"
     r"remember)\b[^.\n]{0,60}\b(?:user|owner|"
     r"my|the assistant|always|never|whenever|from now|tokens?|keys?|passwords?|credentials?|secrets?|"
     r"invoices?|payments?|paid|bank|approved?|trusted)\b"),
    (r"\bnote to (?:self|memory|(?:the |your |this )?(?:ai|assistant|agent|model|bot))\b|"
     r"\b(?:long[- ]term|persistent) memory\s?[:,]"),
    (r"\b(?:from now on|henceforth|in (?:all )?future sessions|for all (?:future|later) (?:sessions|"
     r"chats))\b"),
    (r"\b(?:add|save|store|put|commit|write|append)(?: this| that| the following| it)? (?:to|in|into) "
     r"(?:your )?memory\s?:|(?:^|[.!:;] ?)(?:write|append|add|save) (?:this |the following )?(?:to|into) "
     r"(?:agents|claude|gemini|qwen)\.md\b|>> ?\S{0,100}\b(?:agents|claude|gemini|qwen)\.md\b"),
    (r"\b(?:update|add|save|store|write|append|edit|overwrite|record|commit|put|insert|keep|"
     r"persist)\b[^.\n]{0,30}"
     r"\b(?:(?:your|its|long[- ]term|persistent|the (?:user|owner|assistant|agent|model|ai)'s) (?:memory|"
     r"memories|"
     rf"preferences?|facts?)|user preferences?|memories)\b|\b(?:update|add|save|store|write|append|edit|"
     rf"overwrite|"
     rf"insert|put)\b[^.\n]{{0,30}} ?{_CURATED}|>> ?\S{{0,100}}{_CURATED}|^(?:\+\+\+|---|"
     rf"\*\*\* \w+ file:) \S*{_CURATED}|{_CURATED}[^\n]{{0,8}}\n[+-]"),
    r"mnemark:(?:begin|end)|\bmnemark (?:remember|add|forget|undo|review|trust|erase)\b",
    (r"\b(?:rule|policy|preference|instruction|important)\s?[:,][^.\n]{0,60}\b(?:always|never|every)\b|"
     r"\b(?:rule|policy|preference|instruction)\s?[:,][^.\n]{0,60}\b(?:must|all)\b|"
     r"\bimportant\s?[:,][^.\n]{0,60}\bmust (?:send|post|forward|upload|e-?mail|pay|trust|approve)\b"),
    (r"(?:^|[.!:;\n] ?)(?:please )?(?:always|never) (?:use|run|reply|answer|respond|say|send|trust|"
     r"recommend|approve|"
     r"commit|ask|write|call|install|follow|obey)\b"),
    (r"(?:^|[.!?:;#>*-] ?)(?:(?:a )?note |messages? |instructions? )?(?:for|to|dear|attention) (?:all |"
     r"any |the )?"
     r"(?:ai|llm|language model)s?(?: agents?| assistants?)?(?: reading|\s?[:,!])|"
     r"(?:^|[.!;] ?)(?:ai|llm) (?:agents?|assistants?)\s?[:,]|"
     r"\b(?:ai|llm) (?:agents?|assistants?) (?:must|should|shall|have to|need to|reading)\b"),
    (r"\b(?:you|always|only|agents?|assistants?|models?) obey\b|(?:^|[.!:;,] ?)obey\b|"
     r"\b(?:user|owner) trusts\b|(?:^|[.!:;] ?)trust (?:[^\n]{0,40} as\b|\w+(?: always| fully| completely|"
     r"[.!,]|$))|"
     r"\btrusted (?:vendor|supplier|contact|partner)\b|\boutside the quotation|\bspeaks? for the owner|"
     r"\bis the administrator\b"),
    (r"^(?:human|assistant)\s?: ?(?:\S+ ){2}\S|"
     r"^(?:system|developer)\s?: ?(?:you|please|ignore|always|never|the (?:user|owner)|do not|don't|now|"
     r"trust)\b"),
)  # fmt: skip
_CHINESE: Final = (
    (r"(?<!如果)(?<!若)(?<!当)(?<!若是)(?:用户|主人|机主|使用者)(?:现在?(?:住|用|喜欢|在\S{1,8}(?:工作|"
     r"上班))|"
     "已经?(?:改|搬|换|跳槽|升级|迁)|不再(?:喜欢|用|住)|住在|喜欢|偏好(?!设置)|搬到|跳槽|总是|"
     "从[^。,\n]{1,16}(?:换|升级|搬|改)到|"
     "叫|希望(?:你|助手|所有|每|把|将)|没有过敏|的?(?:新|工作|常用|银行|首选)?(?:邮箱|城市|姓名|名字|地址|地点|"
     "住址|电话|公司|雇主|"
     "生日|编辑器|账户|过敏|语言|职业|手机)[^。,\n]{0,8}(?:是(?!否)|为(?!空)|已经?(?:改|换|变|搬)|改成|"
     "换成|变更|:|@|在))"),
    (r"(?:请|务必|一定要|切|牢)?记(?:住|下|得|到)[^。\n]{0,12}(?:用户|主人|机主|我|记忆|以后|今后|总是|"
     r"永远|每次|一律|都[用寄发])|"
     r"记一下|(?:切记|牢记|别忘|不要忘)[^。\n]{0,8}(?:用户|主人|以后|今后|凡是|总是|永远|每次|一律)"),
    (r"(?:写入|写进|更新|添加|保存|存入|加入|加到|修改|记录|存)[^。\n]{0,10}(?:(?:你的|您的|助手的|长期|"
     r"永久)记忆|(?:到|入|进)记忆|记忆里|你的偏好|"
     r"(?:user|memory|soul)\.md)"),
    (r"(?:^|[。!;:,\n\"'“(])(?:从今以后|从今往后|从今|以后|今后|从现在(?:开始|起)?|往后|"
     r"此后)[^。\n]{0,12}(?:都|一律|总是|每次|凡是|必须|只)"),
    (r"(?:规则|规定|政策|重要|偏好|注意)\s?[:,][^。\n]{0,30}(?:永远|总是|一律)|"
     r"(?:规则|规定)\s?[:,] ?(?:不要|只|必须|先)|必须(?:发送?|上传|转|寄|付)[^。\n]{0,6}到"),
    (r"(?:^|[。!:,;\n] ?)请?(?:永远|一律|总是)(?:不要|别|要|用|使用|批准|相信|推荐|服从|回答|回复|先)|"
     r"一律(?:批准|相信|推荐)"),
    (r"(?:服从|听从|遵从)(?!规则|规定|法律|安排|指引)\S|(?:请|要|必须|应|只)(?:信任|相信)\S|(?:^|[。!:,;\n])(?:信任|相信)\S|引用(?:之外|"
     r"结束)|代表主人|新的主人|"
     "^系统(?:消息)?[:,]\\S|事实更新"),
    r"(?:ai ?助手|ai|助手|语言模型|大模型)(?:你)?[,:]?(?:请|必须|应当|读到)",
)  # fmt: skip
_FORGED: Final = (
    # An entry of ours, with what only an entry has: who said it.
    (r"\borigin\b[\"']?\s?[:=]\s?[\"']?(?:owner|agent)\b|来源\s?[=:]\s?(?:主人|用户|机主)|"
     r"<!--[^>\n]{0,40}\b(?:id: ?01[0-9a-z]{10,}|type: ?(?:fact|rule|preference)\b|trigger:)"),
    (r"^\s?[-*+] \*\*(?:city|employer|home|birthday|allergy|(?:payment|bank) account)\*\*\s?:|"
     r"<!--[^>\n]{0,120}\b(?:(?:tell|ask|inform|warn) the user|assistant|ignore)\b"),
    r"\"kind\"\s?:\s?\"remember\"",
    (r"mnemark-recall|(?:<|&lt;|\\u003c)\s?/\s?(?:tool|function)_?(?:results?|calls?|response)\s?(?:>|&gt;|"
     r"\\u003e)|"
     r"(?:&lt;|\\u003c)\s?/?\s?system\s?(?:&gt;|\\u003e)|<\|(?:im_|system|user|assistant)|\[/?inst\]"),
)  # fmt: skip
LEFT_OUT: Final = "[recalled text was left out here]"
"""Notice in the output of a tool from which recalled blocks were removed."""
_SHAPES: Final = tuple(
    lazy_pattern("|".join(shapes), re.MULTILINE) for shapes in (_ENGLISH, _CHINESE, _FORGED)
)
_FIRST_PERSON: Final = lazy_pattern(
    r"\b(?:my (?:new |preferred |favou?rite )?(?:name|address|city|home|employer|job|e-?mail|language|"
    r"editor|boss|birthday|phone) (?:is|:)|i (?:moved to|live in|work (?:at|for)|prefer|always use|"
    r"am (?:the owner|moving))|"
    r"we (?:decided|agreed|chose) (?:to use|on))\b|我(?:叫|是|住在|搬到|上周搬|在\S{1,12}(?:上班|工作)|"
    r"喜欢|偏好|一直用|"
    r"们决定|的(?:名字|城市|地址|公司|邮箱))"
)
# Tags, direction controls, invisible operators and soft hyphens, which nobody types; not emoji joiners.
_HIDDEN: Final = lazy_pattern(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]"
    "|(?<!^)\ufeff|\ufeff[\u2060a-zA-Z]|\x1b\\[[0-9;]*8m"
)
# A word of two alphabets whose letters look alike; those of units ("μs", "kΩ") look like no Latin letter.
_ALIKE: Final = (
    "\u0400-\u04ff\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    "\u03b1\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9"
)
_MIXED: Final = lazy_pattern(f"[a-zA-Z]{{2}}[{_ALIKE}]|[{_ALIKE}][a-zA-Z]{{2}}|[a-zA-Z][{_ALIKE}][a-zA-Z]")


def speaks_for_owner(text: str) -> bool:
    """Return whether untrusted text addresses a memory or a model, speaks for the owner, or hides text.

    Only for text of tools and web pages: most of this is legitimate in the words of a person.
    """
    text = without_notices(text)
    if LEFT_OUT in text or _HIDDEN.search(text) or _MIXED.search(text) or looks_like_instructions(text):
        return True
    plain = normalize(text)
    return any(shape.search(plain) for shape in _SHAPES) or _FIRST_PERSON.search(plain) is not None


def without_recalled(text: str) -> str:
    """Remove recalled blocks from the output of a tool; append `LEFT_OUT` if there were any."""
    return f"{strip_fences(text).strip()}\n{LEFT_OUT}".strip() if is_fenced(text) else text
