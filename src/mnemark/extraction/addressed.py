"""Tell whether a standing order is plainly addressed to the agent, unlike advice, notices and plans.

"Always reply in German" and 以后请用中文回复 are; "Never trust unknown devices", "In the future my shop will be
open on Sundays" and 禁止乱发广告 are not: such words between people must not become the agent's orders.
"""

from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN

_STANDING: Final = lazy_pattern(
    r"(?i)^(?:(?:please|and|also|so|ok(?:ay)?|hey|hi|hello|well|then|yes|no|always|never|ever|from now on|"
    r"going forward|from here on|henceforth|in (?:the )?future|remember(?: to| that)?|note(?: that)?|by default|"
    r"every time|each time|do|don't|do not|make sure(?: to| that)?|be sure to)\b[,:!.]?\s*|"
    r"(?:when(?:ever)?|before|after|if|unless|in|for|on) [^,]{2,80},\s*)+"
)
"""What stands before the verb of an order."""
_LATER: Final = lazy_pattern(
    r"(?i)^(?:when(?:ever)?|before|after|if|in|for|on|with) (?:(?!\b(?:will|is|are|was|I|we|my|our|he|she|they|it)\b)"
    r"[^,]){2,80}?\b(?:always|never|please|don't|do not) "
)
"""An order behind its circumstances, without a comma."""
_TO_YOU: Final = lazy_pattern(
    r"(?i)\byou (?:should|must|can|may|shall|have to|need to|are to|are allowed to)\b|"
    r"\b(?:should|must|can|do) you\b|\byour (?:answers?|repl(?:y|ies)|responses?|messages?|code|commits?|tone|"
    r"explanations?|summar(?:y|ies)|output)\b"
)
_FOR_ME: Final = lazy_pattern(
    r"(?i)\b(?:when(?:ever)?|if|before|after|each time|every time) I\b|\b(?:ask|asking|tell|remind|show|call|give|send|address|consult|warn|notify) me\b"
)
_WORKS: Final = (
    "reply|answer|respond|commit|push|merge|deploy|rebase|squash|lint|format|summari[sz]e|translate|cite|quote|"
    "ask|confirm|explain|document|schedule|book|email|back up|call me|address me|refactor|indent|rename|log|"
    "number|sign|tag|abbreviate|round|convert"
)
_DOES: Final = (
    "use|write|add|put|include|keep|create|edit|change|avoid|mention|give|make|have|start|end|begin|highlight|"
    "provide|report|run|test|check|show|tell|send|delete|remove|install|open|close|read|name|update|save|store|"
    "touch|modify|suggest|prefer|list|post|publish|review|skip|leave|speak|talk|look up|search|remind|order"
)
_WORK: Final = lazy_pattern(
    r"(?i)\b(?:repl(?:y|ies)|answers?|responses?|explanations?|summar(?:y|ies)|bullet(?: point)?s?|emojis?|markdown|"
    r"headings?|tables?|lists?|tone|sources?|citations?|links?|code|commits?|commit messages?|branch(?:es)?|main|"
    r"master|pull requests?|PRs?|merges?|tests?|test suite|CI|linters?|docstrings?|comments?|functions?|classes|"
    r"variables?|imports?|modules?|dependenc(?:y|ies)|packages?|types?|type hints?|tabs|spaces|indentation|"
    r"semicolons?|quotes|logs?|changelog|README|docs?|documentation|files?|folders?|scripts?|migrations?|"
    r"SQL|queries|database|schema|API|endpoints?|versions?|production|staging|servers?|secrets?|passwords?|tickets?|issues?|"
    r"emails?|drafts?|subject lines?|calendar|meetings?|appointments?|reports?|minutes|notes|units?|dates?|"
    r"time ?zones?|numbers|decimals|currency|English|German|French|Spanish|Italian|Chinese|Japanese|Korean|"
    r"Russian|Portuguese|Dutch|abbreviations?|jargon|details|steps|examples)\b"
)
_ORDER: Final = lazy_pattern(
    rf"(?i)^(?:(?P<works>{_WORKS})|(?P<does>{_DOES}))\b(?! (?:is|was|will|would|has)\b)"
)
_MUST: Final = lazy_pattern(
    r"(?i)^(?:every|each|all|any)\b.{2,60}?\b(?:must|should|has to|have to|needs? to)\b"
)
_OF_OTHERS: Final = lazy_pattern(
    r"(?i)\b(?:he|she|they|everyone|everybody|people|students?|employees?|kids|children|guests?|members)\b"
)

_TO_YOU_ZH: Final = lazy_pattern(
    "你|请|帮我|给我|问我|叫我|告诉我|提醒我|称呼我|跟我|对我|回复我|我问|问到|问起|我说|我让|记住|记得|牢记"
)
_STANDING_ZH: Final = lazy_pattern(
    "以后|今后|从现在起|从现在开始|从今以后|往后|从今天起|每次|每当|一律|默认|所有|凡是|[前后].{0,4}(?:一定|必须|务必)"
)
_BARE_ZH: Final = lazy_pattern("^(?:请)?(?:永远|始终|务必|总是|绝对|绝不|不要|别|必须|只|都|先|统一)")
_WORK_ZH: Final = lazy_pattern(
    "提交|代码|测试|回复|回答|答复|分支|推送|部署|函数|注释|命名|缩进|空格|合并|PR|SQL|接口|变量|脚本|表情|中文|英文|语气|"
    "格式|Markdown|markdown|列表|表格|摘要|引用|来源|单位|依赖|日志|配置|文档|文件|版本|备份|上线|工单|纪要|邮件|编码|模板|"
    "标题|链接|日期|代号|发布|确认|输出|报告|推荐|翻译|总结|解释|问题"
)
_OF_OTHERS_ZH: Final = lazy_pattern(
    "[他她您]|大家|各位|同学|员工|客户|顾客|群里|本群|群内|小区|业主|家长|孩子|广告"
)


def is_addressed(sentence: str) -> bool:
    """Return whether a sentence is an order to the agent.

    >>> [is_addressed(said) for said in ("Always reply in German.", "Never trust strangers.")]
    [True, False]
    """
    text = " ".join(sentence.split())
    return _is_addressed_zh(text) if HAN.search(text) else _is_addressed_en(text)


def _is_addressed_en(text: str) -> bool:
    if _TO_YOU.search(text) or _FOR_ME.search(text):
        return True
    rest = _STANDING.sub("", text, count=1)
    order = _ORDER.match(rest) or _ORDER.match(_LATER.sub("", text, count=1))
    if order is not None:
        return order["works"] is not None or "`" in text or _WORK.search(text) is not None
    must = _MUST.match(rest)
    return must is not None and _WORK.search(must[0]) is not None and not _OF_OTHERS.search(text)


def _is_addressed_zh(text: str) -> bool:
    if _OF_OTHERS_ZH.search(text):
        return False
    if _TO_YOU_ZH.search(text):
        return True
    return _WORK_ZH.search(text) is not None and bool(_STANDING_ZH.search(text) or _BARE_ZH.match(text))
