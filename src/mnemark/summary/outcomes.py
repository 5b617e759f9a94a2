"""Tell which sentences state a decision, a next step, a result or an open question in so many words.

Precision before recall: a sentence that only sounds like one is left out, as the line stays in a person's notes
for years. Most of a conversation states none.
"""

# ruff: noqa: E501 - a pattern reads best with its alternatives on one line

import re
from typing import Final

from mnemark.summary.sentences import QUESTION, capitalized
from mnemark.text.lazy_pattern import lazy_pattern

_MOST: Final = 200
"""Maximum characters of a sentence that is judged; a longer one tells a story."""
_LEAD: Final = r"^(?:(?:so|ok(?:ay)?|and|but|then|well|yes|yeah|right|great|perfect|alright|thanks|finally|in the end|for now|today|yesterday|also|good|sure|update|decisions?)[,:.!—-]*\s+){0,3}"
_NOUN: Final = r"(?!(?:i|we|you|he|she|they|it|what|which|who|that|when|if|whether)\b)[\w'’/-]+"
_TOPIC: Final = rf"(?:(?:(?:as )?for|regarding|concerning) (?:{_NOUN} ){{0,4}}{_NOUN},? |(?:in|at|after) (?:the|our|a|some|this|today['’]s|yesterday['’]s) (?:{_NOUN} ){{0,2}}{_NOUN},? )?"
"""Of what, or when, something was decided: "for the database we decided on …"."""
_DECISION_EN: Final = lazy_pattern(
    _LEAD
    + _TOPIC
    + r"(?:(?:we|i)(?:['’]ve| have)?(?: (?:just|also|now|finally|both|all|already|recently|jointly))* (?:decided (?:to|on|that|against|not to|upon|for)|agreed (?:to|on|that)|settled (?:on|for)|opted (?:to|for))|"
    r"let['’]?s (?:go (?:with|for)|use|keep (?:using|(?:\S+ ){1,4}as[- ]is)|stick (?:with|to)|switch (?:\w+ ){0,4}to|drop|not use|standardi[sz]e on|postpone|call it)|"
    r"(?:we|i)(?:['’]ll| will|['’]re going to| are going to|['’]m going to| am going to) (?:go with|switch (?:\S+ ){0,4}to|settle on|standardi[sz]e on|use \S+(?: \S+){0,3} instead)|"
    r"(?:we|i)(?:['’]re| are|['’]m| am) (?:going with|switching (?:\S+ ){0,4}to)|"
    r"we(?:['’]ve| have)? (?:switched|migrated) (?:\S+ ){0,5}?(?:from|to)|"
    r"(?:the |our |my )?(?:final )?decision(?: is|:) (?:to |that )?|from now on,? )(?! ?(?:this|that|these|those|it|them|the (?:plan|conversation|momentum))\b)\b",
    re.IGNORECASE,
)
_DECISION_ZH: Final = lazy_pattern(
    r"(?:^|[，,；;：:！!\s]|^(?:关于|至于|对于)?[^，。！？；：\s我你您他她咱让请叫帮使等给求由跟和与问说听]{2,8}(?=我们|咱们))(?:(?:好的?|行|那么?|所以|于是|最后|最终|经过[^，]{1,12}|综合[^，]{1,8}|嗯|对)[，,\s]?){0,2}"
    r"(?:(?:我们?|咱们?|我和[^，。]{1,6}|大家)?(?:已经?|最终|最后|还是|暂时|现在|今天|昨天|刚刚?|都|一致|先|这次|正式){0,3}"
    r"(?:决定(?!性|权|因素|的|不了|是否|要不要|哪|怎|吧|之前|前|论|于|什么|自己|人|书|下来|着)(?:了|好了)?|商量好了?|说好了|敲定了|拍板了|定下来?了(?=[^，。]))|"
    r"(?:那|我们?|咱们?)就(?:用|选|定|采用)(?!的|到|来|了|上|意|在|这|你|您|它)|就(?:用|选|定)(?!的|到|来|了|上|意|在)(?=[^，。]{2,20}(?:吧|了)[。！!]?$)|"
    r"(?:我们?|咱们?|项目|团队)(?:[^，。是]{0,8})(?:改用|统一用|不再用)|从[^，。]{1,12}(?:换|切换|迁移|迁)(?:成|到)了?|"
    r"(?:以后|今后|从现在起|从今以后)(?:我们?|咱们?)?(?:都|就|一律|全部|统一|全)(?:用|不用|按|不要|别|走|改|采用|不再))"
    r"[^，。！!]{2,}"
)
_NO_DECISION: Final = lazy_pattern(
    r"[?？]|\b(?:if|momentum|whether|unless|should|might|maybe|perhaps|haven['’]t|didn['’]t|not (?:yet|sure)|before (?:we|i)|could|would)\b|\blet['’]?s (?:use|keep|go for|drop) (?:it|this|that|them|these|those|up|a walk|going|moving|pushing)\b|\bon (?:a|your) mind\b|"
    r"吗|呢[。！!]?$|如果|要是|假如|是否|要不要|还没|没有?决定|没定|再(?:做)?决定|做决定|考虑|想想|可能|也许|或许|怎么|什么|按照?(?:这|你|您|上面)|[他她]们?(?:已经|最终|最后)?决定|让[^，。]{0,6}决定|由[^，。]{0,6}决定|希望|觉得|应该",
    re.IGNORECASE,
)
_WHEN_EN: Final = r"(?:tomorrow(?: (?:morning|afternoon|evening|night))?|tonight|later today|this (?:afternoon|evening|weekend|week|month|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|next (?:week(?:end)?|month|quarter|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:on|by|before|until) (?:next )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:on|by|before) (?:the )?(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:january|february|march|april|may|june|july|august|september|october|november|december)|(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2})|in (?:a|an|two|three|four|five|six|\d{1,2}) (?:days?|weeks?|months?)|by (?:the )?end of (?:the |this |next )?(?:day|week|month))"
_WILL_EN: Final = r"(?:(?:['’]ll| will|['’]m going to| am going to|['’]re going to| are going to| plan to| ?['’]m planning to| are planning to| intend to| need to| have to| must| still need to| still have to|['’]ve got to|(?:['’]m|['’]re| am| are) (?:flying|heading|going|meeting|presenting|travell?ing|leaving|starting|submitting|visiting|attending|moving|launching|running|giving|hosting|releasing|shipping|demoing|interviewing)))\b"
_STEP_EN: Final = lazy_pattern(
    _LEAD
    + rf"(?:(?:my |our |the )?next steps?(?: (?:is|are|will be))?:? (?:to )?\w|to-?do: \w|(?:we|i) still (?:need|have) to \w|remind me (?:to|about) |don['’]t let me forget |"
    rf"{_WHEN_EN},? (?:we|i){_WILL_EN} |(?:we|i){_WILL_EN} .{{4,120}}\b{_WHEN_EN}\b)",
    re.IGNORECASE,
)
_NO_STEP: Final = lazy_pattern(
    r"[?？]|\b(?:if|whether|unless|might|maybe|perhaps|hope|wish|would|could|should(?! be)|can you|could you|you|worried|afraid|excited|glad|nervous|feel(?:ing)?|love|thinking (?:about|of)|wonder)\b|"
    r"\bwill be\b|\b(?:see you|let you know|talk (?:to|soon)|not (?:yet )?sure|probably|for now|survive|consider it|sensitive|ready|looking forward|used to|have to (?:say|admit)|need to (?:know|understand|see|hear|talk|chat|remember)|supposed|trying|struggling|having|doing (?:great|well|good|fine))\b|"
    r"吗|呢[。！!]?$|如果|要是|假如|是否|会不会|可能|也许|或许|希望|期待|按照?(?:这|你|您|上面)|试试[。！!]?$|试试看|心里|踏实|早起|怕|感触|应该|建议|帮我|请你|你|您|谢谢|感谢|把握|放心|最关心|关心的|天气|气温|多云|控制|不(?:用|必|太)|担心|感觉|觉得|其实|比如|例如|怎么|什么|如何|有没有|想(?:请|了解|知道|听|问|再|看)|喜欢|经常|总是|每[天周月年]|周[一二三四五六][、，][一二三四五六]",
    re.IGNORECASE,
)
_WHEN_ZH: Final = r"(?:明[天早晚日]|后天|今晚|今天(?:下午|晚上)|(?:这|本|下|下下)(?:个)?(?:周|星期|礼拜|月)[一二三四五六日天末]?|周[一二三四五六日末]|月底|月初|年底|(?:\d{1,2}|[一二三四五六七八九十]{1,3})月(?:\d{1,2}|[一二三四五六七八九十]{1,3})[日号]|\d{1,2}[日号]|[一两二三四五六七八九十\d]{1,3}(?:天|周|个月)后|初[一二三四五六七八九十])"
_REMIND: Final = lazy_pattern(
    _LEAD + rf"(?:(?:can|could|will|would) you )?(?:please )?remind me (?:{_WHEN_EN} )?(?:to|about) \w|"
    rf"(?:^|[，,])(?:到时候?|麻烦你?|请你?|{_WHEN_ZH}){{0,3}}提醒我(?!的|了|们|一下[。！]?$)[^，。？]{{2,}}",
    re.IGNORECASE,
)
"""Asks to be reminded, which is a step however politely it is asked."""
_DO_ZH: Final = r"(?:准备|打算|计划|要(?!求|是|点|么)|得(?!到|知|出|以)|需要|还要|必须|将|会(?!议|场|员|不))"
_STEP_ZH: Final = lazy_pattern(
    r"^(?:(?:对了|另外|还有|嗯|好的?|行|那|然后|所以)[，,\s]?){0,2}(?:"
    rf"(?:我们?|咱们?)?(?:{_WHEN_ZH})(?:上午|下午|早上|晚上|中午|前|之前)?(?:，)?(?:我们?|咱们?)?(?:就|先|还|再|也|都){{0,2}}{_DO_ZH}|"
    rf"(?:我们?|咱们?)(?:就|先|还|再|也|已经)?{_DO_ZH}(?:在|于)?{_WHEN_ZH}|"
    rf"(?:我的?|我们的?)?(?:下一步|接下来)(?:我们?|咱们?)?(?:就|先|再|也){{0,2}}{_DO_ZH}|(?:我的?|我们的?)?下一步(?:计划)?(?:是|就是|[:：])(?=[^，。]{{4,}})|"
    r"待办(?:事项)?[:：]|(?:我们?|咱们?)还(?:需要|得|差|没来得及)|(?:别忘了|记得)提醒我)"
)
_STEP_LABEL: Final = lazy_pattern(
    r"^(?:(?:next steps?|to-?do|下一步|接下来|待办(?:事项)?)\s*[:：]\s*|(?:the |my |our )?next steps? (?:is|are|will be) to )",
    re.IGNORECASE,
)
_VERB_ZH: Final = r"(?:完成|修好|修复|解决|搞定|发出|发送|上线|部署|保存|写好|做好|改好|更新|添加|加上|删除|创建|提交|合并|做完|写完|安装|整理好)"
_VERB_EN: Final = r"(?:fixed|finished|completed|added|updated|removed|deleted|renamed|created|merged|deployed|released|installed|implemented|refactored|migrated|resolved|committed|pushed|published|submitted|shipped|launched|booked|sent|wrote|documented)"
_DONE_BY_AGENT: Final = lazy_pattern(
    rf"^(?:all )?(?:done[:.!,—-]|{_VERB_EN}(?:[:.]| (?!by\b)\S))|[;—–] (?:now |all )?(?:fixed|resolved|done)[.!]?$|^已?完成[:：]\s*\S|^(?:i|i['’]ve|i have|we['’]ve)(?: (?:now|just|also|successfully|already))* {_VERB_EN}\b|\ball (?:\d+ )?(?:unit )?tests (?:now )?pass|"
    rf"^[^，。？]{{0,12}}(?:已经?|都)(?:帮你|为你)?[^，。？]{{0,16}}{_VERB_ZH}|^{_VERB_ZH}(?:了|好了|成功)|{_VERB_ZH}(?:成功了|好了)[。！]?$",
    re.IGNORECASE,
)
_DONE_BY_OWNER: Final = lazy_pattern(
    _LEAD
    + rf"(?:i|we)(?:['’]ve| have)?(?: (?:just|finally|already|now|also|successfully))* {_VERB_EN} (?!(?:up|it|this|that|reading|watching)\b)\S|"
    rf"^(?:我们?|咱们?)(?:刚刚?|已经?|终于|今天|昨天|也|都){{1,2}}(?:把[^，。]{{1,16}})?{_VERB_ZH}了?[^，。？]{{2,}}",
    re.IGNORECASE,
)
_FAILED: Final = lazy_pattern(
    r"\b(?:failed|still fails|is failing|could ?n[o'’]t be|was not possible|timed out|crashed)\b|失败了|没成功|没能|报错了|崩溃了",
    re.IGNORECASE,
)
_NO_RESULT: Final = lazy_pattern(
    r"[?？:：]$|\b(?:if|when|once|unless|should|would|will|might|may|can|could(?! ?n[o'’]t be)|to (?:fix|avoid|prevent)|not|never|without)\b|如果|一旦|可能|应该|需要|建议|可以|避免|防止|没有?(?!成功|能)|并未",
    re.IGNORECASE,
)
_ATTENDED: Final = lazy_pattern(
    r"\b(?:finished|completed|wrapped up) (?:(?:an?|the|my|our|another) )?(?:(?!of\b)[\w-]+ ){0,2}(?:meeting|call|class|lesson|dinner|lunch|breakfast|workout|shift|session|chat|book|chapter|movie|episode|run)s?\b|"
    r"(?:开完|吃完|上完|看完|跑完|练完|参加完|结束了?)[^，。]{0,8}(?:会|饭|餐|课|书|电影|步|活动|讲座)",
    re.IGNORECASE,
)
"""What one has been to or has read is over, but nothing was made of it."""
_SOMEONE: Final = lazy_pattern(r"\b(?:i|my|me|you|your|we|our|he|she|they)\b|[我你您他她]", re.IGNORECASE)
"""A person, who may fail at anything."""
_OPEN: Final = lazy_pattern(
    r"\b(?:undecided|open question|tbd|to be decided|have(?:n['’]t| not) decided|still (?:need|have) to (?:decide|figure out|find out)|not sure (?:yet )?whether (?:to|we (?:should|want|will|can)|i (?:should|want|will|can)))\b|"
    r"还没(?:有)?(?:定(?!义|位)|决定|想好|确定)|没想好|(?:仍|有)?待定(?=[。，；！!]|$)|没决定|拿不准(?:要不要|该不该|选)|犹豫要不要",
    re.IGNORECASE,
)


def is_decision(sentence: str) -> bool:
    """Return whether the owner says in this sentence what was decided."""
    return _plain(sentence, _NO_DECISION) and bool(
        _DECISION_EN.search(sentence) or _DECISION_ZH.search(sentence)
    )


def is_step(sentence: str) -> bool:
    """Return whether the owner says in this sentence what they do next, or asks to be reminded of it."""
    if len(sentence) <= _MOST and _REMIND.search(sentence):
        return True
    return _plain(sentence, _NO_STEP) and bool(_STEP_EN.search(sentence) or _STEP_ZH.search(sentence))


def step_text(sentence: str) -> str:
    """Return a step without the label before it."""
    return capitalized(_STEP_LABEL.sub("", sentence) or sentence)


def is_result(sentence: str, *, by_owner: bool) -> bool:
    """Return whether a sentence says that something is done."""
    done = _DONE_BY_OWNER if by_owner else _DONE_BY_AGENT
    plain = len(sentence) <= _MOST and not _NO_RESULT.search(sentence) and not _ATTENDED.search(sentence)
    return plain and bool(done.search(sentence))


def is_closing(sentence: str) -> bool:
    """Return whether an agent sums up under a label what is done: "Done: retry, typo."."""
    return bool(_CLOSING.match(sentence)) and is_result(sentence, by_owner=False)


def left_over(sentence: str) -> tuple[str, bool]:
    """Return what an agent names under a label as not done, and whether it is a question; "" for nothing.

    >>> left_over("Open: the systemd unit."), left_over("待办：续费域名。"), left_over("Open: none.")
    (('The systemd unit.', True), ('续费域名。', False), ('', False))
    """
    match = _LEFT.match(sentence) if len(sentence) <= _MOST else None
    words = sentence[match.end() :].strip() if match else ""
    if not match or QUESTION.search(words) or _NO_LEFT.search(words):
        return "", False
    return capitalized(words), match["open"] is not None


_CLOSING: Final = lazy_pattern(
    r"^(?:all )?(?:done|finished|completed|已?完成)\s*[:：]\s*(?=\S)", re.IGNORECASE
)
_LEFT: Final = lazy_pattern(
    r"^(?:(?P<open>(?:still )?open|pending|unresolved|待定|待确认)|(?:still )?(?:to-?do|left(?: to do)?|remaining)|next(?: steps?)?|待办(?:事项)?|下一步|未完成|遗留|剩下)\s*[:：]\s*(?=\S)",
    re.IGNORECASE,
)
_NO_LEFT: Final = lazy_pattern(
    r"^(?:none|nothing|n/?a|no\b|all (?:done|clear)|[-–—.]|无|没有|暂无)|[:：]$|://|[>→]|\b(?:you|your|me|let['’]?s|i|if|maybe|might)\b|[你您我]|如果|可能",
    re.IGNORECASE,
)
"""What names nothing, is a path to click through, offers or supposes."""


def result_text(sentence: str) -> str:
    """Return a result without a label before it: "Done: retry, typo." is "Retry, typo."."""
    return capitalized(_CLOSING.sub("", sentence))


def is_failure(sentence: str) -> bool:
    """Return whether a sentence says that something did not work."""
    found = len(sentence) <= _MOST // 2 and _FAILED.search(sentence) and not _NO_RESULT.search(sentence)
    return bool(found) and not _SOMEONE.search(sentence)


def is_open(sentence: str) -> bool:
    """Return whether the owner says that something is still to be decided."""
    return len(sentence) <= _MOST and bool(_OPEN.search(sentence))


def _plain(sentence: str, not_one: re.Pattern[str]) -> bool:
    return len(sentence) <= _MOST and not QUESTION.search(sentence) and not not_one.search(sentence)
