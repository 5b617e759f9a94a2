"""Classify sentences of a conversation in English and Chinese, and extract names from them."""

# ruff: noqa: E501 - a pattern reads best with its alternatives on one line

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN

_FENCED: Final = lazy_pattern(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_MARKS: Final = lazy_pattern(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,3}[.)、][ \t]*)")
_SENTENCE: Final = lazy_pattern(
    r".+?(?:(?<!\b[A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bDr)[.!?](?=[\s\"')\]]|$)[\"')\]]*|[。！？；]+[”’」』）]*|$)",
    re.DOTALL,
)
_ASIDE: Final = lazy_pattern(
    r"^(?:(?:by the way|btw|one more thing|oh|also|and|but|anyway)\b[,:]?\s+|(?:对了|另外|还有|顺便说一下|顺便|哦|噢)[，,：:\s]+)",
    re.IGNORECASE,
)

POLITE: Final = lazy_pattern(
    r"^(?:(?:hi|hello|hey|ok|okay|so|well|thanks|great)\b[\s,!.]*(?:\w+[,!]\s+)?|(?:now|also|then),?\s+|please,?\s+|"
    r"(?:can|could|would|will) you\s+(?:please\s+|kindly\s+)?|"
    r"(?:i'd|i would) (?:like|love)\s+(?:you\s+)?to\s+|i (?:want|need)\s+(?:you\s+)?to\s+|help me\s+(?:to\s+)?|"
    r"let's\s+|let us\s+|(?:你好|您好|嗨|早上好|晚上好|好的|那么|那)[，,！!。\s]*|请问?|麻烦你?|劳驾|(?:你|您)(?=帮我|给我)|帮忙|帮我|帮我们|给我|"
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
HAPPY: Final = lazy_pattern(
    r"\b(?:thanks|thank you|perfect|works|great|awesome|that did it|nice)\b|谢谢|多谢|可以了|好了|搞定|没问题|太好了|完美",
    re.IGNORECASE,
)
TASK: Final = lazy_pattern(
    r"^(?:fix|write|run|add|make|create|update|check|find|show|explain|compare|review|deploy|release|refactor|test|build|install|"
    r"send|book|summari[sz]e|translate|draft|prepare|remove|rename|move|set up|open|look|search|plan|help|change|convert|"
    r"generate|implement|debug|clean|merge|order|remind|schedule)\b|^(?:修|写|跑|查|找|看|做|改|加|删|整理|翻译|总结|生成|部署|发布|准备|订|提醒|安排|比较|解释|检查|更新)",
    re.IGNORECASE,
)
"""A request starts without polite words."""
ASKS: Final = lazy_pattern(
    r"^(?:(?:hi|hello|hey|ok|okay|so|and|also|now)\b[\s,!.]*)?(?:(?:can|could|would|will) you|please|i(?:'d| would) (?:like|love) (?:you )?to|"
    r"i (?:want|need) (?:you )?to|help me|let's|how (?:to|do i|can i|should i))\b|^.{0,12}(?:帮我|帮忙|请你?|麻烦|能不能|可不可以|能否|想请教|想问)",
    re.IGNORECASE,
)
"""A request begins politely."""
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
    r"\bproject (?P<called>[A-Z][a-z][\w-]+|`[^`\n]{2,40}`|\"[^\"\n]{2,40}\")|"
    r"\bthe (?P<named>[A-Z][\w-]{2,30}|`[^`\n]{2,40}`|\"[^\"\n]{2,40}\") project\b|"
    r"(?:项目名(?:称|字)?|项目代号)(?:是|叫|为|[:：])[“\"「《]?(?P<zh>[\w-]{2,20})|[“\"「《](?P<quoted>[^“”\"「」《》\n和与的、，]{2,20})[”\"」》]\s?项目|"
    r"(?:叫做?|名为)[“\"「《]?(?P<known>[\w-]{2,12}?)[”\"」》]?的项目|(?<![A-Za-z])(?P<latin>[A-Z][\w-]{1,30}) ?项目",
)
_FOLDER: Final = lazy_pattern(
    r"(?:^|[/\s:])(?:projects?|repos?|repositories|workspaces?)/(?P<name>\w[\w.-]*)(?:/|$)|"
    r"^(?:~|/(?:home|Users)/[^/]+|/root)/(?:src|code|git|dev|work|source|Source|Projects|Code)/(?P<home>\w[\w.-]*)(?:/|$)|"
    r"(?:github|gitlab|gitee|bitbucket)\.(?:com|org)[/:][\w.-]+/(?P<remote>[\w.-]+?)(?:\.git)?(?=[/\s#?).,]|$)"
)
_COMMON: Final = frozenset(
    ["ok", "todo", "api", "url", "http", "https", "json", "yaml", "html", "css", "sql", "cli", "ui", "ux", "id", "pdf", "csv", "usa", "am", "pm", "faq", "tbd", "fyi", "asap", "ai", "llm", "ci", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "english", "chinese", "i'm", "i'll", "e.g", "i.e", "etc"]
)  # fmt: skip
_NOT_PROJECTS: Final = frozenset(
    "management manager plan planning structure directory overview goals requirements timeline setup status scope "  # noqa: SIM905
    "readme ai react python flask django node rust docker id ui".split()
)
"""Words beside "project" that are no names."""
_MIN_COMPARED: Final = 200  # minimum number of frequent names checked for being part of a longer one
_MAX_DIGITS: Final = 4
_MAX_FINDS: Final = 20
_SUFFIX_DOTS: Final = frozenset({"e.g", "i.e", "a.m", "p.m"})


def is_chinese(text: str) -> bool:
    """Return whether a text is mostly Chinese: each character counts as much as a short word."""
    return len(HAN.findall(text)) * 3 > len(re.findall(r"[A-Za-z]", text))


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
    return capitalized(words) if words else sentence


def capitalized(words: str) -> str:
    """Return words with a capital at the start and the rest as it is."""
    return words[:1].upper() + words[1:]


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
    """Return projects that are marked as such in texts ("project Falcon", 项目名：猎鹰), and repositories in paths."""
    found: dict[str, None] = {}
    texts = list(texts)
    for match in chain.from_iterable(map(_PROJECT.finditer, texts)):
        name = next(filter(None, match.groups())).strip('`" ')
        if name.casefold() not in _NOT_PROJECTS:
            found.setdefault(name)
    together = "\n".join(texts)
    for name in known:
        if re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", together, re.IGNORECASE):
            found.setdefault(name)
    for match in chain.from_iterable(map(_FOLDER.finditer, [*paths, *texts])):
        name = next(filter(None, match.groups()))
        if sum(map(str.isdigit, name)) < _MAX_DIGITS:  # no id
            found.setdefault(name)
    return list(found)[:most]
