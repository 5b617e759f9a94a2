"""Find what a question in the first person asks of its owner: where they live, whom they work for, what is theirs.

Its words are in every second note: "where do I live" has none but "live". What answers it is what says so in the
same form, "I live in Ghent", so the question is turned into that form. Other people's "I" is in quotations, in
pasted talk and in what tools print, and counts for nothing. Pure.
"""

# ruff: noqa: E501 - patterns read better whole

import re
from functools import lru_cache
from typing import Final, NamedTuple

from mnemark.extraction.speaker import of_another
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import HAN
from mnemark.text.words.segment import query_terms

_LONGEST: Final = 200
"""Characters of a question that are read."""
_LONGEST_LINE: Final = 600
"""Characters of a line that are read."""
_FIRST_PERSON: Final = frozenset({"i", "we", "my", "our"})
"""Each English question has one of them; the patterns take 3 ms to compile."""
_ADVERBS: Final = r"(?:now|also|still|currently|mostly|mainly|usually|always|just|actually|only|normally|both|all|really|\w{2,20}ly)"
_ASKED: Final = lazy_pattern(
    r"\b(?P<wh>where|who|whom|what|which)\b"
    r"(?:\s+(?!(?:did|was|were|had|should|shall|can|could|will|would|may|might|must|if|when)\b)[\w-]+){0,3}?\s+"
    rf"(?:(?P<aux>do|am|are)\s+)?(?:I|we)\s+(?:{_ADVERBS}\s+){{0,2}}"
    rf"(?!{_ADVERBS}\b)"
    r"(?!(?:do|have|need|want|know|think|sa[yi]d?|tell|mean|make|find|fix|get|go|see|add|set|change|ask|call|write|put|start|"
    r"stop|begin|avoid|decide|remember|forget|install|configure|create|update)\b)(?P<verb>[a-z]{2,20})\b"
    r"(?:(?<!ed)(?:\s+(?:for|at|in|with|on|to))?\s*[?.!]?$|(?(aux)|(?!)))",
    re.IGNORECASE,
)
"""Not with a verb of what is to be done, or of what was said."""
_ASKED_MINE: Final = lazy_pattern(
    r"\b(?:what|who|when|where|which|how)(?:['’]s|\s+(?:\w+\s+)?(?:is|are))\s+(?:my|our)\s+"
    r"(?P<thing>[\w'’-]{2,20}(?:\s+[\w'’-]{2,20}){0,2}?)"
    r"(?=\s*(?:[?!.,]|$)|\s+(?:again|now|called|at|in|on|for|of|from|with|right)\b)",
    re.IGNORECASE,
)
_BEHIND: Final = {
    "where": r"\s+(?:in|at|near|on|by|outside|between|next|with|from|to)\b",
    "who": r"\s+(?:for|at(?!\s+(?:least|most))|with|under|to)\b",
    "whom": r"\s+(?:for|at(?!\s+(?:least|most))|with|under|to)\b",
}
"""What follows the verb in an answer, by the question's first word."""
_OBJECT: Final = r"\s+(?!(?:it|this|that|them|these|those|the\s+following|to|and)\b)\S"
_ASKED_ZH: Final = lazy_pattern(
    r"^(?:请问|你?还?(?:记得|知道)|告诉我|帮我[查看]一?下|那么?|话说|[，,\s])*+我们?(?P<mine>的)?"
    r"(?!该|应|想|要|能|可|需|准备|打算|刚|上|昨|前|去年|今|明|下|曾|怎)(?P<before>[^，,。！!？?的我你他她]{1,8}?)(?P<named>是|叫)?"
    r"(?:哪里|哪儿|哪[家个座国种款门些位]?|什么|谁|多少|多[高大重]|几)(?P<behind>[^，,。！!？?的]{0,8}?)(?:来着|的|呢|啊|呀|吗)?[？?。]?$"
)
_ADVERBS_ZH: Final = (
    r"(?:现在|目前|如今|一直|平时|平常|主要|都|就|也|还|一般|通常|已经|每天|从[^，,。]{1,8}?(?:起|开始)|(?:19|20)\d\d年起?|"
    r"[一二三四五六七八九十\d]{1,4}年来)"
)
_PREPOSITIONS_ZH: Final = ("在", "为", "给", "对", "跟", "和", "替", "从")
"""Need the verb behind their object."""
_SUPPOSING: Final = (
    *(
        "if",
        "unless",
        "where",
        "wherever",
        "how",
        "what",
        "whether",
        "until",
        "that",
        "think",
        "why",
        "when",
        "which",
        "who",
    ),
    *("如果", "要是", "假如"),
)
"""Before them, it is not said that something is so."""
_QUOTES: Final = ("“”", "「」", "‘’")


class State(NamedTuple):
    """What a question asks of its owner."""

    terms: tuple[str, ...]
    """Terms that each passage has which tells it."""
    word: str
    """Each line that tells it has this, in lower case."""
    told: re.Pattern[str]
    """Matches in what tells it."""

    def is_told(self, text: str) -> bool:
        """Return whether a text tells it in its writer's own name."""
        lines = (line[:_LONGEST_LINE] for line in text.split("\n") if self.word in line.casefold())
        return any((match := self.told.search(line)) and _is_own(line, *match.span()) for line in lines)


def _is_own(line: str, start: int, end: int) -> bool:
    """Return whether these words of a line are the writer's own, no condition and no question."""
    bare, before = line.lstrip(" \t-*+#0123456789."), line[:start]
    if next((mark for mark in line[end:] if mark in ".!?。！？"), "") in {"?", "？"}:
        return False
    if bare.startswith((">", "|")) or of_another(bare) or before.rstrip().casefold().endswith(_SUPPOSING):
        return False
    return before.count('"') % 2 == 0 and all(before.count(a) <= before.count(b) for a, b in _QUOTES)


@lru_cache(maxsize=64)
def asked_state(question: str) -> State | None:
    """Return what a question asks of its owner's present; None for other questions."""
    question = question[:_LONGEST].strip()
    if HAN.search(question):
        return _asked_zh(question) if "我" in question else None
    if _FIRST_PERSON.isdisjoint(question.casefold().split()):
        return None
    if mine := _ASKED_MINE.search(question):
        return _has(mine["thing"].casefold())
    match = _ASKED.search(question)
    return match and _does(match["wh"].casefold(), (match["aux"] or "").casefold(), match["verb"].casefold())


def _has(thing: str) -> State:
    """Return the state "my THING is"."""
    words = thing.removesuffix("s").split()
    name = r"\s+".join(map(re.escape, words))
    told = rf"\b(?:my|our)\s+(?:[\w'’-]+\s+){{0,2}}?{name}s?\b(?:\s*[:=]|[^.,;!?\n]{{0,30}}?\b(?:is|are)\b)|\b(?:is|are)\s+my\s+{name}\b(?!['’])"
    return State(("my", *query_terms(thing)), words[-1], re.compile(told, re.IGNORECASE))


def _does(wh: str, aux: str, verb: str) -> State:
    """Return the state "I VERB", "I am VERBing", "I have VERBed" or "I am ADJECTIVE"."""
    is_state = aux in {"am", "are"}
    root = re.escape((verb.removesuffix("ing") if is_state else verb).removesuffix("e"))
    if is_state and not verb.endswith("ing"):
        said = rf"(?:['’]m|\s+am)[^.!?\n]{{0,20}}?\s{re.escape(verb)}\b"
    else:
        adverbs = rf"(?:\s+{_ADVERBS}){{0,2}}\s+"
        said = rf"(?:{adverbs}{root}e?\b|(?:['’]m|\s+am){adverbs}{root}ing\b|(?:['’]ve|\s+have){adverbs}(?:been\s+{root}ing|{root}ed)\b)"
        said += _BEHIND.get(wh, _OBJECT)
    return State(("i", *query_terms(verb)), root, re.compile(rf"\b(?:I|[Ww]e){said}"))


def _asked_zh(question: str) -> State | None:
    match = _ASKED_ZH.match(question)
    before = re.sub(rf"^(?:{_ADVERBS_ZH})+", "", match["before"]) if match else ""
    if match is None or not before:
        return None
    if match["mine"] or match["named"]:
        told = rf"我们?的?{re.escape(before)}(?:号码?|名字?)?\s*(?:是|为|叫|在|[:：=])"
        return State(("我", before[0]), before, re.compile(told))
    root = re.sub(r"(?<=.)[在了着过]$", lambda end: f"{end[0]}?", re.escape(before))
    verb = match["behind"] if before in _PREPOSITIONS_ZH else ""
    told = (
        rf"我们?(?:{_ADVERBS_ZH}){{0,2}}{root}(?!哪|什么|谁|多少|几)[^，,。！!？?\n]{{1,20}}{re.escape(verb)}"
    )
    return State(("我", (verb or before)[0]), verb or before[0], re.compile(told))
