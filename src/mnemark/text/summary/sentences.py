"""Classify sentences of a conversation in English and Chinese, and extract names from them."""

# ruff: noqa: E501 - a pattern reads best with its alternatives on one line

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.segment import query_terms

_FENCED: Final = lazy_pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_MARKS: Final = lazy_pattern(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,3}[.)、][ \t]*)")
_SENTENCE: Final = lazy_pattern(r".+?(?:[.!?](?=[\s\"')\]]|$)[\"')\]]*|[。！？；]+[”’」』）]*|$)", re.DOTALL)
_ASIDE: Final = lazy_pattern(
    r"^(?:(?:by the way|btw|one more thing|oh|also|and|but|anyway)\b[,:]?\s+|(?:对了|另外|还有|顺便说一下|顺便|哦|噢)[，,：:\s]+)",
    re.IGNORECASE,
)
_HAN: Final = lazy_pattern(r"[\u3400-\u9fff]")

POLITE: Final = lazy_pattern(
    r"^(?:(?:hi|hello|hey|ok|okay|so|well|thanks|great)\b[\s,!.]*(?:\w+[,!]\s+)?|(?:now|also|then),?\s+|please,?\s+|"
    r"(?:can|could|would|will) you\s+(?:please\s+|kindly\s+)?|"
    r"(?:i'd|i would) (?:like|love)\s+(?:you\s+)?to\s+|i (?:want|need)\s+(?:you\s+)?to\s+|help me\s+(?:to\s+)?|"
    r"let's\s+|let us\s+|(?:你好|您好|嗨|早上好|晚上好|好的|那么|那)[，,！!。\s]*|请问?|麻烦你?|劳驾|帮忙|帮我|帮我们|给我|"
    r"(?:你|您)?(?:能不能|可不可以|能否|可以|能)(?=帮|请|把|给|看|查|写|改|做)|我(?:想要?|需要|要)(?:你)?(?=[\u3400-\u9fff]))",
    re.IGNORECASE,
)
SMALL_TALK: Final = lazy_pattern(
    r"^(?:hi|hello|hey|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|ok(?:ay)?|great|perfect|nice|cool|sure|"
    r"yes|no|yep|got it|good (?:morning|evening|night)|bye|see you|works?|"
    r"你好|您好|早上好|早|晚上好|晚安|谢谢你?|多谢|好的?|行|可以|嗯+|哈+|收到|明白|再见|没事|辛苦了?|太好了|不客气)"
    r"[\s,，!！.。~～\w]{0,12}$",
    re.IGNORECASE,
)
QUESTION: Final = lazy_pattern(
    r"[?？]\s*[\"'”）)]*$|(?:吗|呢|么)[。.!！]?$|^(?:what|which|why|how|when|where|who|is|are|does|do|did|should|shall)\b",
    re.IGNORECASE,
)
DONE: Final = lazy_pattern(
    r"\b(?:done|fixed|finished|completed?|(?:it |that |now )works?|works now|pass(?:es|ed)?|merged|deployed|"
    r"released|created|added|updated|resolved|sent|booked|saved|moved|renamed|removed|installed|wrote|written|"
    r"migrated|published|is (?:now )?(?:ready|live|in place|green)|succeeded|set up)\b|"
    r"完成|搞定|修好|修复了|解决了|通过了?|已经?(?:[^，。]{0,8})|发出|发送了|上线了|部署好|预订好|订好|保存好|写好|做好|改好|更新了|成功",
    re.IGNORECASE,
)
FAILED: Final = lazy_pattern(
    r"\b(?:fail(?:s|ed|ing)?|could ?n[o']t|can ?n[o']t|unable|still (?:broken|fails?|errors?)|blocked|gave up|"
    r"not (?:possible|working)|timed out|crash(?:es|ed)?)\b|失败|没成功|不成功|不行|报错|卡住|崩溃|超时|无法|没法",
    re.IGNORECASE,
)
HAPPY: Final = lazy_pattern(
    r"\b(?:thanks|thank you|perfect|works|great|awesome|that did it|nice)\b|谢谢|多谢|可以了|好了|搞定|没问题|太好了|完美",
    re.IGNORECASE,
)
DECIDED: Final = lazy_pattern(
    r"\b(?:we(?:'ve| have)? decided|i(?:'ve| have)? decided|decision|let's (?:go with|use|keep|take|stick)|"
    r"(?:we|i)(?:'ll| will| shall) (?:use|go with|keep|take|switch)|go(?:ing)? with|agreed|from now on|"
    r"switch(?:ed|ing)? (?:\w+ ){0,3}to|settled on|instead of|no longer)\b|"
    r"决定|就用|改用|换成|换到|以后都?|从现在起|定了|定下来|采用|不再用|统一用",
    re.IGNORECASE,
)
NEXT: Final = lazy_pattern(
    r"\b(?:next steps?|to-?do|tomorrow|next (?:week|month|monday|tuesday|wednesday|thursday|friday)|"
    r"follow[- ]up|remaining|remains to|still (?:need|have|has|needs) to|left to do|later (?:this|today))\b|"
    r"下一步|接下来|明天|后天|下周|下个月|待办|回头再?|之后再|还要|还需要|还差|剩下",
    re.IGNORECASE,
)
LEFT: Final = lazy_pattern(
    r"\b(?:next steps?|to-?do|remaining|remains to|still (?:need|have|has|needs) to|left to do)\b|下一步|接下来|待办|还需要|还差|剩下",
    re.IGNORECASE,
)
"""An assistant announces remaining work."""
UNSURE: Final = lazy_pattern(
    r"\b(?:not sure|unclear|undecided|open question|tbd|don't know (?:yet|whether|if|which)|"
    r"have(?:n't| not) decided|to be decided|need to (?:decide|figure out|find out))\b|"
    r"不确定|没想好|还没定|待定|没决定|不清楚|要想想|再想想|拿不准",
    re.IGNORECASE,
)
TASK: Final = lazy_pattern(
    r"^(?:fix|write|run|add|make|create|update|check|find|show|explain|compare|review|deploy|release|refactor|test|build|install|"
    r"send|book|summari[sz]e|translate|draft|prepare|remove|rename|move|set up|open|look|search|plan|help|change|convert|"
    r"generate|implement|debug|clean|merge|order|remind|schedule)\b|^(?:修|写|跑|查|找|看|做|改|加|删|整理|翻译|总结|生成|部署|发布|准备|订|提醒|安排|比较|解释|检查|更新)",
    re.IGNORECASE,
)
"""A request starts without polite words."""
OWN: Final = lazy_pattern(r"\b(?:i|i'm|i've|my|we|we're|our|me)\b|我|咱", re.IGNORECASE)
OFFER: Final = lazy_pattern(
    r"^(?:(?:let me know|feel free|i can(?! ?no)|i could(?! no)|shall i|should i|do you want|would you like|"
    r"if you(?:'d)? (?:want|like|need)|anything else|happy to|you're welcome|sure|of course|certainly|"
    r"i'll (?:take a look|check|look|do that|start))\b|"
    r"(?:需要我|要不要|如果(?:你|您)?需要|还有什么|随时|我可以|不客气|好的|没问题|当然))",
    re.IGNORECASE,
)

_CODE: Final = lazy_pattern(r"`([^`\n]{2,60})`")
_PATH: Final = lazy_pattern(
    r"(?<![\w/.:-])(?:[\w.-]+/)+[\w.-]*\w|(?<![\w/-])[\w-]{2,}\.[a-z][a-z0-9]{0,4}\b(?!\.)"
)
_VERSION: Final = lazy_pattern(r"\b(?:[A-Z][\w+-]{0,40}\s?v?|[a-z]{1,40}[ -]?v)\d{1,9}(?:\.\d{1,9}){1,9}\b")
_NAME: Final = lazy_pattern(r"(?<![.!?。！？:：]\s)(?<!^)\b[A-Z][a-z]+(?: [A-Z][a-z]+){0,2}\b", re.MULTILINE)
_MIXED: Final = lazy_pattern(
    r"\b(?:[A-Z][a-z]+[A-Z]\w*|[a-z]+[A-Z]\w+|[A-Z]{2,}[a-z]\w*|[A-Z][A-Z0-9]{1,7})\b"
)
_TITLED: Final = lazy_pattern(r"《([^《》\n]{1,30})》")
_LATIN_IN_HAN: Final = lazy_pattern(r"(?<![A-Za-z0-9_./:@-])[A-Za-z][\w.+#-]{1,30}(?![\w/@])")
_PLACE_ZH: Final = lazy_pattern(
    r"(?:搬到|搬去|住在|来自|飞往|出差去|去)([\u3400-\u9fff]{2,3}?)(?=了|的|出差|旅游|玩|工作|住|[，。,.！!；;\s]|$)"
)
_PROJECT: Final = lazy_pattern(
    r"\bproject ([A-Z][\w-]+|`[^`]+`|\"[^\"]+\")|([A-Za-z][\w-]{1,30}|[\u3400-\u9fff]{2,6}) ?项目"
)
_FOLDER: Final = lazy_pattern(r"/(?:projects?|repos?|src|code|workspaces?|git|dev)/(?P<name>[\w.-]+)(?:/|$)")
_COMMON: Final = frozenset(
    ["ok", "todo", "api", "url", "http", "https", "json", "yaml", "html", "css", "sql", "cli", "ui", "ux", "id", "pdf", "csv", "usa", "am", "pm", "faq", "tbd", "fyi", "asap", "ai", "llm", "ci", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "english", "chinese", "i'm", "i'll", "e.g", "i.e", "etc"]
)  # fmt: skip
_NOT_PROJECTS: Final = frozenset(
    [
        "这个",
        "那个",
        "一个",
        "新",
        "该",
        "本",
        "我的",
        "我们的",
        "整个",
        "the",
        "a",
        "this",
        "new",
        "这",
        "那",
    ]
)
_NO_NAME_ENDS: Final = frozenset("把将对在从给是有做搞个些的这那该本新老跟和与为用让被于到去看了")
"""Last characters of words before 项目 that are not names (我想把项目…)."""
_MIN_COMPARED: Final = 200  # minimum number of frequent names checked for being part of a longer one
_MAX_FINDS: Final = 20
_SUFFIX_DOTS: Final = frozenset({"e.g", "i.e", "a.m", "p.m"})


def is_chinese(text: str) -> bool:
    """Return whether a text is mostly Chinese: each character counts as much as a short word."""
    return len(_HAN.findall(text)) * 3 > len(re.findall(r"[A-Za-z]", text))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a message, each on one line, without code, quotations and list markers."""
    for line in _FENCED.sub("\n", text).splitlines():
        if line.lstrip().startswith((">", "|")):
            continue
        for found in _SENTENCE.findall(_MARKS.sub("", line)):
            words = _ASIDE.sub("", " ".join(found.split()), count=1)
            if re.search(r"\w", words):
                yield words


def request(sentence: str) -> str:
    """Remove polite words around a request, unless nothing else is left."""
    words = sentence
    for _ in range(4):
        shorter = POLITE.sub("", words, count=1).lstrip(" ，,")
        if shorter == words or not shorter:
            break
        words = shorter
    words = re.sub(r",? (?:please|thanks|thank you)([.!?]?)$", r"\1", words, flags=re.IGNORECASE)
    words = re.sub(r"[，,]?(?:谢谢|好吗|可以吗|行吗|好不好)([。！？!?]?)$", "", words)
    if words != sentence:
        words = words.rstrip("?？")
    return words[:1].upper() + words[1:] if words else sentence


def entities(texts: Iterable[str], *, most: int = 12) -> list[str]:
    """Return names, paths, versions and titles, the most frequent first."""
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for text in texts:
        for name in _entities(text):
            words = name.strip(" .,;:-")
            key = words.casefold()
            if len(words) < 2 or key.split()[0] in _COMMON or key in _SUFFIX_DOTS or words.isdigit():
                continue
            spelled.setdefault(key, words)
            counts[key] += 1
    order = [key for key, _ in counts.most_common()]
    together = "\0".join(("", *order, ""))
    looked_at = order[: max(_MIN_COMPARED, most)]
    return [spelled[key] for key in looked_at if not _is_within(key, together)][:most]


def _is_within(key: str, names: str) -> bool:
    """Return whether a name is a word of another, longer one; `names` has each between NULs."""
    at = names.find(key)
    for _ in range(_MAX_FINDS):  # nearly always enough, and much faster than a regular expression per name
        if at < 0:
            return False
        before, after = names[at - 1], names[at + len(key)]
        inside_word = before.isalnum() or after.isalnum() or "_" in (before, after)
        if not inside_word and not before == after == "\0":
            return True
        at = names.find(key, at + 1)
    word = re.escape(key)
    return re.search(rf"(?<!\w){word}(?!\w)(?:(?<!\0{word})|(?!\0))", names) is not None


def _entities(text: str) -> Iterator[str]:
    prose = re.sub(r"\[(?:redacted:[^\[\]]*|private)\]", " ", _FENCED.sub("\n", text))
    names = _LATIN_IN_HAN if is_chinese(prose) else _NAME
    for pattern in (_CODE, _TITLED, _PLACE_ZH, _PATH, _VERSION, _MIXED, names):
        yield from pattern.findall(prose)


def projects(
    texts: Iterable[str], paths: Iterable[str] = (), known: Iterable[str] = (), *, most: int = 5
) -> list[str]:
    """Return projects named in texts ("project Falcon", 猎鹰项目) or by the folders of tool executions."""
    found: dict[str, None] = {}
    texts = list(texts)
    for text in texts:
        for english, other in _PROJECT.findall(text):
            name = (english or other).strip('`" ')
            if _HAN.match(name):  # 帮我看看猎鹰项目: the last word of it
                words = query_terms(name)
                name = words[-1] if len(words[-1]) > 1 else "".join(words[-2:])
            if len(name) > 1 and name.casefold() not in _NOT_PROJECTS and name[-1] not in _NO_NAME_ENDS:
                found.setdefault(name)
    together = "\n".join(texts)
    for name in known:
        if re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", together, re.IGNORECASE):
            found.setdefault(name)
    found |= {match["name"]: None for path in paths if (match := _FOLDER.search(path))}
    return list(found)[:most]
