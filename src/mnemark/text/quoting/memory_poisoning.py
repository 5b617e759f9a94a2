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
from mnemark.text.words.normalize import HAN, normalize

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
    # A role and a goal are any prompt's; these goals are of nobody who asks a program to help.
    (r"\byou(?:'re| are)(?: now)? an? (?:[a-z-]+ ){0,3}(?:agent|assistant|model|bot)\b(?s:.{0,200}?)"
     r"\byour (?:[a-z]+ )?(?:goal|task|mission|job|objective|purpose|directive) is (?:now )?to (?s:.{0,120}?)"
     r"\b(?:delete|erase|wipe|destroy|drop|leak|exfiltrate|steal|upload|forward|share|send|publish)\b"
     r"[^.\n]{0,40}\b(?:resources|disks?|backups?|snapshots?|tables?|databases?|accounts?|credentials?|"
     r"passwords?|secrets?|tokens?|cards?|history|mails?|inbox|contracts?|home director(?:y|ies)|"
     r"users?'s?)\b"),
    (r"\b(?:trust|believe|accept|approve|grant|honou?r) (?:all|every|any|anything|everything|whatever)"
     r"(?: of)?(?: (?:his|her|their|its|this|the|my))?(?: [a-z]+)? ?(?:requests?|claims?|orders?|"
     r"instructions?|demands?|statements?|commands?|access|signed|said|from)\b[^\n]{0,60}"
     r"\b(?:without|skip|no|never|not|don't)\b[^.\n]{0,20}\b(?:confirm|verif|check|ask|question|approv|review)"),
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
    (r"你(?:现在)?是[^。,\n]{0,16}(?:智能体|代理|助手|机器人|agent)(?s:.{0,80}?)你的(?:目标|任务|使命|职责|工作)(?:是|就是|:)"
     r"[^\n]{0,60}?(?:清空|擦除|销毁|外发|泄露|窃取|(?:删除|上传|转发|发送)[^。,\n]{0,12}(?:备份|账号|账户|凭证|密码|密钥|记录|邮件|附件|数据库|用户|"
     r"云端?))"),
    (r"记(?:住|下)[^。\n]{0,20}(?:最|唯一)[^。,;\n]{0,4}(?:可信|可靠|权威|专业|安全|好的|值得)|"
     r"(?:未来|将来|今后|以后|日后)[^。\n]{0,10}(?:问题|提问|问答|咨询|回答)[^。\n]{0,6}(?:都|一律|优先|首推|只)"),
    (r"(?:信任|相信|批准|接受|满足|执行)[^。\n]{0,4}(?:他|她|它|其|用户|此人|对方)[^。\n]{0,4}(?:所有|一切|任何|全部)|"
     r"一切(?:要求|请求|指令)[^。\n]{0,4}(?:照办|满足|批准|执行)"),
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
_OPENED: Final = r"(?:^|[.!?:;#>*\-[\({\"'`|/】] ?)"
"""What stands before a label: the beginning of a line or a sentence, of a comment, a quotation, a bracket."""
_MACHINE: Final = (
    r"(?:(?:ai|llm|language[- ]model|autonomous|automated|coding|code) (?:[a-z]{2,12} )?"
    r"(?:agent|assistant|model|reviewer|bot|tool|crawler|summari[sz]er)|"
    r"ai|llm|language model|chatbot|copilot)s?"
)
_MACHINE_CHINESE: Final = (
    "(?:(?:ai|人工智能|智能|自动|大模型|代码|编程|编码) ?(?:代码|编程)?"
    "(?:审查|评审|审阅|审核|代理|助手|助理|智能体|模型|机器人)(?:者|员|器)?|"
    "智能体|大模型|语言模型|ai)(?:们)?"
)
_ADDRESSED: Final = (
    (rf"{_OPENED}(?:(?:please )?(?:note |messages? |instructions? )?(?:for|to|dear|attention|hey) )?"
     rf"(?:all |any |the |every )?(?:{_MACHINE})(?: (?:reading|please note)[^\n:,|]{{0,20}})?"
     r"[\])]?\s?[:,|!]"),
    (rf"{_OPENED}(?:new |updated |override |urgent )?\[?(?:system|developer|operator|admin)"
     r"(?: (?:instruction|message|note|notice|policy|directive|prompt|override)s?)?\]?\s?:"),
    (r"your (?:remembered|stored|saved|recorded|known|learned) (?:facts?|knowledge|preferences?|settings?|"
     r"profile|information|notes?)\b"),
    r"what you (?:know|remember|have stored) (?:about|of)\b",
    (r"(?:^|[.!:;] ?)(?:save|store|keep|remember) (?:this|these)(?: (?:setting|preference|rule|fact)s?)?"
     r" (?=permanently|forever|for good|across)"),
)  # fmt: skip
"""Labels that speak to a machine: to a reader that is one, as its system, about what it has stored."""
_ADDRESSED_CHINESE: Final = (
    (rf"(?:给|致|告诉|对|向)(?:所有|各位|每个)? ?{_MACHINE_CHINESE}[】\])]?\s?[:,】]|"
     rf"{_MACHINE_CHINESE}(?:你)?[,:]?请"),
    r"[【\[(]系统(?:消息|提示|指令)?[】\])]|(?:开发者|系统|管理员|运营者?)(?:指令|消息|指示|命令)\s?:",
    (r"[你您](?:所|已|们)?(?:保存|存储|记住|记下|记录|记得|储存)的[^。,:\n]{0,10}"
     r"(?:偏好|设置|资料|信息|事实|档案|规则|知识)|(?:进|入|到)[你您]的(?:偏好|设置|资料|档案|规则)"),
)  # fmt: skip
_BIDS: Final = (
    # It is allowed, or proved.
    (r"\b(?:is|are|am|been|'s|'m)(?: now| already| an?| the| fully){0,2} (?:authori[sz]ed|verified|"
     r"authenticated|pre-?approved|approved|trusted|cleared|exempt)\b"),
    (r"\b(?:has|have|'ve|had|already|was|were)(?: already| been){0,2} (?:agreed|consented|approved|passed|"
     r"completed|confirmed|verified|signed off|allowed|authori[sz]ed)\b"),
    r"(?:已|都|早就)经?(?:由[^。,\n]{1,8})?(?:同意|授权|批准|许可|确认|通过|核验|验证|完成)|经过验证",
    # It is not to be checked, or not to be told.
    (r"\b(?:skip|bypass|disable|turn off|ignore|omit|without|no longer|never|need no|don't|do not|"
     r"no need to|not)\b[^.\n]{0,40}\b(?:check|verif|confirm|review|diff|test|approv|tls|certificate|"
     r"signature|ask|mention|tell|report|log in|re-?authenticat|warn|reveal|refus)|"
     r"\bno (?:further |more )?(?:check|confirm|verif|review|approv)"),
    (r"(?:跳过|略过|关闭|关掉|免去?|不做|不用|无需|无须|不必|不要|不再|别再?|绝不)[^。,\n]{0,8}(?:校验|验证|核对|核实|"
     r"确认|检查|审核|询问|测试|证书|签名|登录|告诉|提到|提及|提示|写出|说明)"),
    # It is to be given away, destroyed or let in, and lasts.
    (r"\b(?:delete|erase|wipe|destroy|share|send|forward|upload|leak|publish|exfiltrate|hand over|merge|"
     r"approve|lgtm|trust|whatever (?:they|he|she)|permanently|for good|forever|across (?:all )?sessions)\b"),
    (r"直接(?:合并|通过|批准|回复|答复|执行|输出)|上传|发送|发到|转发|导出|删除|清空|擦除|销毁|永久|长期|跨会话|"
     r"绝不|永不"),
)  # fmt: skip
"""What is to be done, believed or passed over because of a label."""
_REACH: Final = 200  # characters after a label
_LONGEST: Final = 80  # characters of a bid; so much of what an earlier label reaches is read again
LEFT_OUT: Final = "[recalled text was left out here]"
"""Notice in the output of a tool from which recalled blocks were removed."""
_SHAPES: Final = tuple(lazy_pattern("|".join(shapes), re.MULTILINE) for shapes in (_ENGLISH, _FORGED))
_SHAPES_CHINESE: Final = lazy_pattern("|".join(_CHINESE), re.MULTILINE)
_LABELS: Final = tuple(lazy_pattern(label, re.MULTILINE) for label in _ADDRESSED)
_BID: Final = lazy_pattern("|".join(_BIDS))
_LABELS_CHINESE: Final = lazy_pattern("|".join(_ADDRESSED_CHINESE), re.MULTILINE)
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
    chinese = HAN.search(plain) is not None  # all shapes of the other language have such a character
    shapes = (*_SHAPES, _FIRST_PERSON, _SHAPES_CHINESE) if chinese else (*_SHAPES, _FIRST_PERSON)
    labels = (*_LABELS, _LABELS_CHINESE) if chinese else _LABELS
    return any(shape.search(plain) for shape in shapes) or any(_is_bid(label, plain) for label in labels)


def _is_bid(label: re.Pattern[str], plain: str) -> bool:
    """Return whether something is to be done, believed or passed over because of such a label."""
    reached = 0
    for one in label.finditer(plain):
        start, end = max(one.end(), reached - _LONGEST), one.end() + _REACH
        if _BID.search(plain, start, end):
            return True
        reached = end
    return False


def without_recalled(text: str) -> str:
    """Remove recalled blocks from the output of a tool; append `LEFT_OUT` if there were any."""
    return f"{strip_fences(text).strip()}\n{LEFT_OUT}".strip() if is_fenced(text) else text
