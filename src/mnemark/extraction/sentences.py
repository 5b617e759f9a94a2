"""Split a turn into the speaker's own sentences, without code, logs, quotations or recalled blocks."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from mnemark.extraction.abbreviations import FIRM_ENDS, GOES_ON, OPEN_OR_SHUT, OPENS, TITLES
from mnemark.extraction.candidate import BLOT
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import is_fenced, strip_fences

LONGEST: Final = 1_500
"""Maximum characters of a turn read whole; of a longer one, probably a paste, only the start and end are."""
_EDGE: Final = 400
_MAX_SENTENCES: Final = 60

_CODE_BLOCK: Final = lazy_pattern(
    r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*\n(?:.*?^[ \t]*\1[`~]*[ \t]*$|.*\Z)", re.DOTALL | re.MULTILINE
)
_TAGGED: Final = lazy_pattern(
    r"<(?P<tag>[a-z][\w-]{2,40})(?:\s[^<>]{0,200})?>.*?(?:</(?P=tag)>|\Z)", re.DOTALL | re.IGNORECASE
)
_CODE_LINE: Final = lazy_pattern(
    r"^(?:\s*>|\s*\$ |\s*(?:>>>|\.\.\.|\+\+\+|---|@@) |(?: {4}|\t)\S|\s*\|.*\|\s*$|"
    r"\s*(?:def|class|import|from \S+ import|return|func|fn|var|let|const|public|private|if|for|while|else|elif|"
    r"try|except|catch|SELECT|INSERT|UPDATE|CREATE|FROM|RUN|export|echo|cat|grep|curl|sudo|git|pip|npm)\b"
    r"(?=.*(?:[(){};=|:]|\s-{1,2}\w)).*$|"
    r"\s*(?:#include|//|/\*|\*/|<!--|<\?|<[a-z/][\w-]*[ >/])|"
    r"\s*[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\s*\[?\d\d:\d\d:\d\d|\s*\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b[\]: ]|"
    r"\s*(?:Traceback \(most recent|File \"|at [\w.$]+\(|\w+(?:Error|Exception|Warning): )|"
    r"\s*(?:FAILED|PASSED|ok|not ok)\s+\S+::?|\s*[\w.-]+ ?= ?[\"'\[{(]|\s*[{}\[\]()<>;,\"']+\s*$|"
    r"\s*(?:Q|A|(?i:user|assistant|human|ai|system|bot)|用户|助手|系统|客户|问|答|On .{5,60} wrote)\s?[:：])"
)
_PASTED: Final = lazy_pattern(r"Traceback \(most recent call last\)|^[ \t]*diff --git ", re.MULTILINE)
_QUOTED: Final = lazy_pattern(
    r"\"[^\"\n]{2,400}\"|“[^”\n]{1,400}”|「[^」\n]{1,400}」|『[^』\n]{1,400}』|«[^»\n]{1,400}»|"
    r"(?<![\w])'[^'\n]{3,400}'(?!\w)|‘[^’\n]{1,400}’"
)
_OPENS: Final = lazy_pattern(r"\"{3}|'{3}|““?|「")
_CLOSES: Final = lazy_pattern(r"\"{3}|'{3}|”{2,}")
_LONGEST_BLOCK: Final = 20_000
_LONGEST_QUOTE: Final = 4_000
"""Maximum characters of a multi-line quotation in triple (`_LONGEST_BLOCK`) and in other quotation marks."""
_END: Final = lazy_pattern(
    r"(?:(?<![.!?…])[.!?…]++[\"')\]”’]*+(?=\s|$)|[。！？]+[”’」』）]*|\n+|"
    r",(?=\s{1,3}(?:[Bb][Tt][Ww]|[Bb]y the way)(?:,?\s{1,3}(?!and\b|but\b)\w|[.!]?(?:\s|$))))"
)
"""Ends a sentence; so does the comma before an aside: "I'm vegan, btw I need a new bike", "I'm vegan, btw"."""
_ABBREVIATION: Final = lazy_pattern(rf"(?:\b(?:e\.g|i\.e|etc|vs|mrs?|dr|prof|{TITLES}|No|approx|[A-Z])\.)$")
_LONGEST_ABBREVIATION: Final = 8
_TASK: Final = lazy_pattern(
    r"(?i)\b(?:translate|proofread|rephrase|paraphrase|rewrite|summari[sz]e|complete the|continue the|correct (?:the|this)|"
    r"write (?:me )?(?:an?|the|some) (?!test)|draft (?:an?|the)|role-?play|act as|pretend|imagine|in the (?:story|film|movie|book)|"
    r"here is (?:the|a|my) (?:draft|text|transcript|log|article|letter)|reads as follows|the following)\b|"
    r"翻译|润色|改写|续写|补全|写一[篇封个首段]|扮演|假装|假设你|以下是|如下|总结一下|这句话|这段|造句|仿写"
)
_FICTION: Final = lazy_pattern(
    r"(?i)\W{0,3}(?:so |and |but )?(?:in|for) (?:the|my|our|this|a) (?:\w{1,12} )?(?:novel|game|role-?play|play|comic|screenplay|script|"
    r"fan ?fiction|campaign|simulation|dream)\b(?! (?:industry|business|sector|stud|compan|dev|design|world|team))"
    r"|(?:在)?(?:我的?|这个?|那个?)?(?:小说|故事|游戏|梦|剧本|角色扮演)(?:里|中)"
)
"""A sentence that begins so is not about life."""
_JOKE: Final = lazy_pattern(
    r"(?i)\b(?:lol|haha+|lmao|rofl|jk|just kidding|joking|kidding|as a joke|sarcasm)\b|/s\s*$|"
    r"哈哈|嘿嘿|开玩笑|说笑|逗你|🤣|😂|😜|手动狗头|\[狗头\]"
)


class Sentence(NamedTuple):
    """A sentence as written, and with its quotations masked by `BLOT` (same length)."""

    text: str
    blotted: str


def cleaned(text: str) -> str:
    """Remove recalled blocks, code, logs, multi-line quotations and quoted lines from a turn."""
    text = strip_fences(text.replace("\r\n", "\n")) if is_fenced(text) else text.replace("\r\n", "\n")
    text = _without_blocks(text)
    if len(text) > LONGEST:
        text = text[:_EDGE].rpartition("\n\n")[0] + "\n\n" + text[-_EDGE:].partition("\n\n")[2]
    if pasted := _PASTED.search(text):
        text = text[: pasted.start()]
    if "<" in text or "`" in text or "~" in text:
        text = _TAGGED.sub("\n", _CODE_BLOCK.sub("\n", text))
    return "\n".join(line for line in text.split("\n") if not _CODE_LINE.match(line)).replace("’", "'")


def _without_blocks(text: str) -> str:
    """Replace multi-line quotations by line breaks, in one pass even if many are not closed."""
    closes, ends, breaks = _Scan(_CLOSES, text), _Scan(re.compile("”"), text), _Scan(re.compile("\n"), text)
    corners, blots = _Scan(re.compile("」"), text), _Scan(re.compile(BLOT), text)
    kept: list[str] = []
    start = at = 0
    while found := _OPENS.search(text, at):
        end = 0
        if len(found[0]) > 1:
            close, stop = closes.after(found.end() + 1)
            if 0 < close - found.end() <= _LONGEST_BLOCK and blots.after(found.end())[0] >= close:
                end = stop
        if not end and found[0][0] in "“「":
            inside = found.start() + 1
            close, stop = (ends if found[0][0] == "“" else corners).after(inside)
            broken = breaks.after(inside)[0] < close < len(text)
            end = stop if broken and close - inside <= _LONGEST_QUOTE else 0
        if end:
            kept += (text[start : found.start()], "\n")
            start = end
        at = end or found.start() + 1
    return "".join((*kept, text[start:]))


class _Scan:
    """Finds the next match from increasing positions on, so that no text is searched twice."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern = pattern
        self._text = text
        self._span = (-1, -1)

    def after(self, place: int) -> tuple[int, int]:
        """Return the span of the next match from `place` on; the end of the text if there is none."""
        if self._span[0] < place:
            found = self._pattern.search(self._text, place)
            self._span = found.span() if found else (len(self._text), len(self._text))
        return self._span


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a cleaned turn, up to a request to process the text that follows."""
    text = text[:LONGEST]
    if _JOKE.search(text):
        return
    blotted = _QUOTED.sub(lambda match: BLOT * len(match[0]), text)
    start, count = 0, 0
    for end in [*(match.end() for match in _END.finditer(blotted)), len(text)]:
        if goes_on(blotted, start, end):
            continue
        raw, masked = text[start:end], blotted[start:end]
        left = len(raw) - len(raw.lstrip(" \t\n-*•#"))
        raw, masked, start = raw[left:].rstrip(), masked[left:].rstrip(), end
        if not raw:
            continue
        if _TASK.search(masked) or (count := count + 1) > _MAX_SENTENCES:
            return
        if not _FICTION.match(masked):
            yield Sentence(raw, masked)


def goes_on(text: str, start: int, end: int) -> bool:
    """Return whether the stop before `end`, in a sentence from `start`, ends an abbreviation, not the sentence."""
    start = max(start, end - _LONGEST_ABBREVIATION)
    if _ABBREVIATION.search(text, start, end):
        return not (OPEN_OR_SHUT.search(text, start, end) and OPENS.match(text, end))
    return FIRM_ENDS.search(text, start, end) is not None and GOES_ON.match(text, end) is not None
