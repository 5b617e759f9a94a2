"""Tell what is kept of the words that the reader marks: whose, under which key, with which value and date."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby
from typing import Final, Literal, NamedTuple

from mnemark.extraction.candidate import VERSION, Candidate, Found, bare, kind_of, usable
from mnemark.extraction.practice_words import role_of
from mnemark.extraction.reader.clauses import CLAUSE_END, SENTENCE_END, around
from mnemark.extraction.reader.reading import Clause, Read, Reading
from mnemark.extraction.reader.whose import People
from mnemark.extraction.sentences import goes_on
from mnemark.extraction.since import valid_since
from mnemark.extraction.validity import clock, date_of, future_day
from mnemark.text import rows
from mnemark.text.dates.ranges import spans
from mnemark.text.dates.written import dated as written_out
from mnemark.text.lazy_pattern import lazy_pattern

SURE: Final = 0.7
"""Probability from which a reading is kept."""
SURE_OF_CHANGE: Final = 0.4
"""The same of what a turn says otherwise, where a fact of its key is known: then it is likelier."""
SURE_OF_END: Final = 0.65
"""The same of what is over, without a value in its place: what ends by mistake is told no more."""
SURE_OF_DOUBT: Final = 0.25
"""Probability from which what a turn says otherwise stands beside the fact that it may change."""
SURE_TO_LAST: Final = 0.8
"""Probability of a clause to say something that lasts, from which it is kept in its own words."""
SURE_OF_KEY: Final = 0.5
"""Probability of a key from which its value is kept under it; below, the clause is kept as it is said."""
_SHORTEST, _LONGEST = 4, 160
"""Characters of a clause kept as a statement."""
_COMING: Final = frozenset({"plans", "goals", "decisions"})
_NO_STATEMENT: Final = frozenset(
    {"rule", "forget", "private", "step", "deadline", "release_date", "appointments"}
)
"""Keys of which nothing is kept in the words of a clause."""
_DATED: Final = frozenset({"appointments", "deadline", "release date"})
"""Of these a date in the sentence says when it will be, not since when it is so."""
_ENDS: Final = frozenset({"ends", "cancels", "done"})
_CHANGES: Final = _ENDS | {"replaces", "corrects"}
_EDGES: Final = " \t\n.。!！,，;；:：~～、-–—"
_LEADS: Final = lazy_pattern(
    r"(?i)^(?:(?:and|but|so|also|btw|by the way|fyi|ok|okay|well|anyway|oh|hey|hi|hello|um|uh|because|since|as)\b[,:]?\s+)+|"
    r"^(?:另外|对了|还有|不过|但是?|所以|因为|而且|然后|嗯|哦|那个|反正)[，,：:]?\s*"
)
_NAMES: Final = lazy_pattern(r"[^\W_]{2}|\d|[\u3400-\u9fff]")
"""What names anything has two letters, a number or a Chinese character."""
_HOLDS: Final = frozenset({"", "replaces"})
"""Acts of a value that holds."""
_MAY_BE_DENIED: Final = _NO_STATEMENT | {
    "statement", "diet", "likes", "dislikes", "habits", "children", "siblings", "spouse", "marital_status",
    "decisions", "plans", "goals", "status",
}  # fmt: skip
"""Keys of which a value with a "not" says something, too: "I don't eat pork", "no children"."""
_DENIED: Final = lazy_pattern(
    r"(?i)\b(?:\w{2,6}n['’]t|(?:do|does|did|is|was|are|ca|wo)nt|not|never|no longer|used to)(?:\s+[\w'-]+){0,3}\s*$|"
    r"(?:不|没有?|未|并非|以前|曾经?|过去|原来|从前)[^，,。！？；]{0,3}\s*$"
)
"""Before a value: that it is not so, or no more."""
_SELF: Final = lazy_pattern(r"(?i)\b(?:i|i'm|i've|im|ive|my|me|mine|we|we're|our)\b|[我咱俺]|本人")
"""Whoever speaks: a clause kept in its words says something of them."""
_THIRD: Final = lazy_pattern(
    r"(?i)(?:^|[,;:，、；：\n]|\b(?:and|but|so|because|that))[ \t]{0,4}(?:he|she)\b|"
    r"(?:^|[,，、；：。\n]|但是?|所以|因为|而且)[他她](?![的们])"
)
"""Begins a clause of somebody else's."""
_ASKS: Final = lazy_pattern(r"[?？]|(?:吗|呢|么)\s*$")
_SEVERAL: Final = lazy_pattern(r"\w\s+\w|[\u3400-\u9fff]{3}")
_AT_CLOCK: Final = lazy_pattern(r"(?i)^[,\s]*at [\d:.]{1,5}(?: ?[ap]\.?m\.?)?")
_LINKS: Final = frozenset({"is", "on", "at", "in", "for", "by", "the"})
"""Words between what will be and its day, which stands before it."""
_IS_VERSION: Final = lazy_pattern(rf"(?i){VERSION}\+?")
_FAVORITE: Final = lazy_pattern(
    r"(?i)\bfav(?:ou?rite|e|s|ourites?|orites?)?s? (?P<en>[a-z][\w-]*(?: [a-z][\w-]*)?)(?= (?:is|are|has|of|'s|was)\b|[:=\-])|"
    r"最(?:喜欢|爱|喜歡|愛)的(?P<zh>[\u4e00-\u9fff]{1,6}?)(?=是|就|一直|[：:，,])"
)
_DECIMAL: Final = lazy_pattern(r"\d\.\d")
_LETTER: Final = lazy_pattern(r"[^\W\d_]")
_NO_ADDRESS: Final = lazy_pattern(r"\d\s*[月点]|[《》]")
"""A day or a title, whose 号 and numbers look like a house's."""
_LATIN: Final = lazy_pattern(r"[A-Za-z][A-Za-z.+#]*")


_FORMS: Final[Mapping[str, Callable[[str], bool]]] = {
    "email": lambda words: "@" in words,
    "phone": lambda words: sum(map(str.isdigit, words)) >= 5,
    "age": lambda words: _DECIMAL.search(words) is None,
    "address": lambda words: _LETTER.search(words) is not None and _NO_ADDRESS.search(words) is None,
    "appointments": lambda words: _LETTER.search(words) is not None,
}
"""What a value must look like whose form is fixed; another reading of it is wrong."""
_NOT_OWN: Final[Mapping[str, re.Pattern[str]]] = {
    "name": lazy_pattern(
        r"(?i)\b(?:business|company|shop|brand|product|firm|domain|user|file|project|repo|band|team|boat|branch|app)(?:'s)? name\b|"
        r"(?:公司|店铺?|品牌|产品|项目|团队|域名?|用户|文件|分支|仓库)名"
    ),
}
"""Before a value, in its sentence: it is something else's."""


class Kept(NamedTuple):
    """What is kept under a key, from the table `reader_keys.tsv`."""

    subject: str
    predicate: str
    type: str
    priority: str
    importance: float
    topic: str


@cache
def kept_as() -> dict[str, Kept]:
    """Return what is kept by key; a key that is not in it leaves nothing by itself."""
    return {
        key: Kept(subject, predicate, kind, priority, float(importance), topic)
        for key, subject, predicate, kind, priority, importance, topic in rows("reader_keys")
    }


class _Said(NamedTuple):
    """A reading in its turn."""

    turn: str
    one: Reading
    kept: Kept
    words: str
    """The value as it stands there, without signs at its edges."""
    start: int
    end: int
    """Where its sentence stands in the turn."""
    time: datetime

    @property
    def sentence(self) -> str:
        return self.turn[self.start : self.end].strip()

    @property
    def over(self) -> bool:
        return self.one.act in _ENDS


def candidates(turn: str, read: Read, time: datetime, confidence: float) -> list[Candidate]:
    """Return what is kept of the readings and clauses of a turn, in order."""
    out: dict[tuple[str, str, str], Candidate] = {}
    people = People(turn)
    told: list[tuple[int, int]] = []
    for one in read.readings:
        kept = kept_as().get(one.key)
        against = _against(one)
        if kept is None or against is None:
            continue
        start, end = around(turn, one.start, one.end, SENTENCE_END)
        words = _whole(turn[one.start : one.end].strip(_EDGES))
        if not (one.evidence or (_FORMS.get(one.key, bool)(words) and _is_own(turn[start : one.start], one))):
            continue
        if one.act in _HOLDS and one.key not in _MAY_BE_DENIED and _DENIED.search(turn[start : one.start]):
            one = one._replace(act="ends")  # noqa: PLW2901 - "I don't live in Paris": only of use where it is known
            against = "change" if one.probability >= SURE_OF_END else "doubt"
        said = _Said(turn, one, kept, words, start, end, time)
        if (fact := _fact(said, people)) is not None:
            out.setdefault(fact[:3], _candidate(said, fact, confidence, against))
            if against != "doubt":
                told.append((one.start, one.end))
    left = [
        part
        for part in read.clauses
        if part.probability >= SURE_TO_LAST
        and not any(part.start < end and part.end > start for start, end in told)
        and not _ASKS.search(turn[part.start : part.end])
    ]
    for _, parts in groupby(left, lambda part: around(turn, part.start, part.end, SENTENCE_END)):
        if (whole := _lasting(turn, list(parts), read.readings, time, confidence)) is not None:
            out.setdefault(("user", "", whole.value), whole)
    return list(out.values())


def _lasting(
    turn: str, sure: Sequence[Clause], readings: Sequence[Reading], time: datetime, confidence: float
) -> Candidate | None:
    """Return the clauses of a sentence that surely say something to keep, in their words; None where none does."""
    start, end = sure[0].start, sure[-1].end
    if goes_on(turn, start, end):  # "My manager is Dr. | Weber"
        end = around(turn, start, end, SENTENCE_END)[1]
    text = " ".join(_LEADS.sub("", turn[start:end].strip(_EDGES)).split())
    if not (_SHORTEST <= len(text) <= _LONGEST and _SEVERAL.search(text) and _SELF.search(text)):
        return None
    near = (one for one in readings if start <= one.start < end)
    told = max(near, key=lambda one: one.probability, default=None)
    if told is not None and (told.key in _NO_STATEMENT or told.act in _ENDS):
        return None
    topic = kept_as()[told.topic_key].topic if told is not None and told.topic_key in kept_as() else "self"
    return Candidate(
        subject="user", predicate="", value=written_out(text, time), since=time, topic=topic, importance=0.5,
        confidence=round(confidence * max(one.probability for one in sure), 2),
        quote=turn[slice(*around(turn, start, end, SENTENCE_END))].strip(),
    )  # fmt: skip


def _is_own(before: str, one: Reading) -> bool:
    """Return whether what stands before a value in its sentence leaves it to whom the reader gives it.

    Who is spoken of last is meant: what follows "she …" is hers, up to "I".
    """
    others = _NOT_OWN.get(one.key)
    if others is not None and others.search(before):
        return False
    if one.other or one.key == "relation":
        return True
    third = max((match.start() for match in _THIRD.finditer(before)), default=-1)
    return third < 0 or any(match.start() > third for match in _SELF.finditer(before))


def _against(one: Reading) -> Literal["", "change", "doubt"] | None:
    """Return what a reading does to a fact that is known, as `Candidate.against`; None where it is nothing."""
    if one.probability >= SURE and one.act not in _ENDS:
        return ""
    if one.act in _CHANGES and one.probability >= (SURE_OF_END if one.act in _ENDS else SURE_OF_CHANGE):
        return "change"
    least = SURE_OF_DOUBT if one.act in _CHANGES else SURE_OF_CHANGE
    return "doubt" if one.probability >= least and one.act != "plans" else None


def _fact(said: _Said, people: People) -> Found | None:
    """Return what a reading says as a triple, a statement without a predicate; None where it leaves nothing."""
    one, kept = said.one, said.kept
    subject = kept.subject
    if one.other or one.key == "relation":
        subject = people.whose(one)
        if not subject or not kept.predicate:
            return None
    if one.evidence:
        return Found(subject, kept.predicate, "", over=True) if said.over and kept.predicate else None
    if one.act == "plans" and kept.predicate not in _COMING | {"appointments"}:
        return Found(subject, "plans", _clause(said))
    sure = one.key_probability >= SURE_OF_KEY or said.over
    fact = _VALUES.get(one.key, _plain)(said) if sure and _NAMES.search(said.words) else None
    if fact is not None and fact.value:
        return fact._replace(
            subject=subject if fact.subject == kept.subject else fact.subject, over=said.over
        )
    clause = _clause(said)
    if said.over or subject != kept.subject or not _SHORTEST <= len(clause) <= _LONGEST:
        return None
    return Found("user", "", clause)


def _candidate(
    said: _Said, fact: Found, confidence: float, against: Literal["", "change", "doubt"]
) -> Candidate:
    kept, time = said.kept, said.time
    coming = fact.predicate in _COMING and not fact.over
    statement = not fact.predicate
    dated = coming or statement or fact.predicate in _DATED
    topic = kept_as()[said.one.topic_key].topic if said.one.topic_key in kept_as() else kept.topic
    return Candidate(
        subject=fact.subject, predicate=fact.predicate,
        value=written_out(fact.value, time, ahead=coming) if coming or statement else fact.value,
        type="fact" if statement else kept.type,
        since=time if dated else valid_since(fact, said.sentence, time),
        confidence=round(confidence * said.one.probability, 2), importance=kept.importance,
        priority="long" if statement else kept.priority, topic=topic if statement else "",
        over=fact.over, against=against, quote=said.sentence,
    )  # fmt: skip


def _plain(said: _Said) -> Found | None:
    value = bare(said.words)
    return Found(said.kept.subject, said.kept.predicate, value) if usable(value, 100) else None


def _statement(said: _Said) -> Found | None:
    """Return a statement as its whole clause, unless that is long."""
    clause = _clause(said)
    return Found("user", "", clause) if len(clause) <= _LONGEST else _rule(said)


def _rule(said: _Said) -> Found | None:
    """Return a rule in its own words; one word is none."""
    words = _LEADS.sub("", said.words)
    return Found(said.kept.subject, said.kept.predicate, words) if _SEVERAL.search(words) else None


def _plan(said: _Said) -> Found | None:
    """Return a plan or goal; of one word alone, in its clause."""
    if said.over or _SEVERAL.search(said.words):
        return _plain(said)
    return Found(said.kept.subject, said.kept.predicate, _clause(said))


def _day(said: _Said) -> Found:
    day = date_of(said.words, said.time) or date_of(said.sentence, said.time)
    return Found("project", said.kept.predicate, day or said.words)


def _appointment(said: _Said) -> Found | None:
    """Return an appointment with its day first, where one is named: `2026-03-17 15:00 dentist`."""
    words = said.words
    for text in () if said.over else (words, said.sentence):
        for start, end, span in spans(text, said.time):
            day = future_day(span.start, span.text, said.time)
            if day is None or span.end - span.start > timedelta(days=1):
                continue
            before, after = words.split(), list[str]()
            if text is words:
                before, after = words[:start].split(), _AT_CLOCK.sub("", words[end:]).split()
            while before and before[-1].casefold() in _LINKS:
                before.pop()
            while after and after[0].casefold() in _LINKS:
                after.pop(0)
            what = " ".join((*before, *after)).strip(_EDGES)
            return (
                Found("user", "appointments", f"{day:%Y-%m-%d}{clock(text)} {what}")
                if _LETTER.search(what)
                else None
            )
    return Found("user", "appointments", written_out(words, said.time, ahead=True))


def _favorite(said: _Said) -> Found:
    topic = _FAVORITE.search(said.sentence)
    name = (topic["en"] or topic["zh"]) if topic else ""
    return Found("user", f"favorite {name}" if name else "likes", said.words)


def _version(said: _Said) -> Found | None:
    """Return the version of the program that stands before a number; None where none does."""
    before = said.turn[max(0, said.one.start - 40) : said.one.start].rstrip(" v:=是用到成了为升")
    words = [word.strip("'\"()`,，。:：") for word in before.replace("\n", " ").split(" ")]
    latin = _LATIN.findall(words[-1])
    name = latin[-1] if latin else ""
    known = name and (role_of(name) or kind_of(name) or name[0].isupper())
    return (
        Found("project", f"{name.casefold()} version", said.words)
        if known and _IS_VERSION.search(said.words)
        else None
    )


def _tool(said: _Said) -> Found:
    kind = kind_of(said.words) or role_of(said.words)
    own = kind in {"editor", "shell", "os", "browser", "terminal"}
    return Found("user" if own else "project", kind or "tools", said.words)


def _nothing(_: _Said) -> None:
    """A path or command says nothing without what it is for: the clause is kept."""


_VALUES: Final[Mapping[str, Callable[[_Said], Found | None]]] = {
    "statement": _statement, "rule": _rule, "deadline": _day, "release_date": _day,
    "appointments": _appointment, "plans": _plan, "goals": _plan, "favorite": _favorite, "version": _version, "tools": _tool, "path": _nothing,
    "command": _nothing,
}  # fmt: skip


def _whole(words: str) -> str:
    """Return words without a bracket that is not closed, or not opened, at their edge."""
    for opening, closing in ("()", "（）", "[]", "「」", "“”"):
        if words.count(opening) > words.count(closing) and (at := words.rfind(opening)) >= 0:
            words = words[:at].rstrip(_EDGES) if at else words[1:]
        elif words.count(closing) > words.count(opening) and words.endswith(closing):
            words = words[:-1].rstrip(_EDGES)
    return words


def _clause(said: _Said) -> str:
    """Return the words around a value that say it, without greeting and without what follows."""
    sentence = said.turn[said.start : said.end]
    first, last = around(sentence, said.one.start - said.start, said.one.end - said.start, CLAUSE_END)
    clause = sentence[first:last].strip(_EDGES)
    if len(clause) < len(said.words) + 4:
        clause = sentence.strip(_EDGES)
    return " ".join(_LEADS.sub("", clause).split())
