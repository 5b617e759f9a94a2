"""Extract lasting facts from a turn, by rules and by the trained reader. Precision goes before recall.

Facts are statements of the owner about themselves, their project and how they want to work; from agents only
decisions and errors with their fix. Questions, hypotheses, quotations, pasted text, code, logs, jokes,
recalled blocks, words of others, and one-off requests are ignored. `mnemark bench extract` measures it.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Final, NamedTuple

import msgspec

from mnemark.extraction.before_question import before_question
from mnemark.extraction.candidate import BLOT, Candidate, Clause, Found, Rule
from mnemark.extraction.chinese import RULES as CHINESE
from mnemark.extraction.chinese_owner import about_people
from mnemark.extraction.english import RULES as ENGLISH
from mnemark.extraction.english_facts import english_facts, to_do
from mnemark.extraction.practice import Practice
from mnemark.extraction.reader.joined import joined
from mnemark.extraction.reader.reader import Stretch, is_lasting, learned, read
from mnemark.extraction.reader.whose import People
from mnemark.extraction.sentences import Sentence, cleaned, sentences
from mnemark.extraction.since import valid_since
from mnemark.extraction.speaker import hands_over, of_another, without_mail
from mnemark.extraction.statements import asked, statement
from mnemark.extraction.turn_practices import TurnPractices
from mnemark.extraction.validity import dated, dropped, mended
from mnemark.text.dates.ranges import spans
from mnemark.text.dates.written import dated as written_out
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import han_pairs
from mnemark.types import Origin

__all__ = ["OWNER_ROLES", "Candidate", "by_rules", "extract"]

_TRUSTED_ORIGINS: Final = frozenset({"owner", "agent", "import"})
OWNER_ROLES: Final = frozenset({"user", "human", "owner"})
_AGENT_ROLES: Final = frozenset({"assistant", "agent", "ai", "model"})
_CONFIDENCE: Final[dict[str, float]] = {"owner": 0.85, "agent": 0.6, "import": 0.6}

_HAN: Final = lazy_pattern("[\u4e00-\u9fff]")
_LATIN: Final = lazy_pattern("[A-Za-z]{2}")
_QUESTION: Final = lazy_pattern(r"[?？]|(?:吗|呢|么|没有)\s*[。.!！]?$|来着")
_HYPOTHETICAL: Final = lazy_pattern(
    r"(?i)^(?!(?:if|when) (?:I|we) (?:ask|inquire|request)\b[^,]{2,80}, (?:please|always|never|don't|do not|make sure|only|you must)\b)"
    r"(?:if|suppose|supposing|assume|assuming|imagine|pretend|what if|say,|let's say|unless|in case|should|could|can|"
    r"would|do|does|did|is|are|was|were|will|have you|has|how|what|why|where|who|when(?! you)|which|e\.g|for example|"
    r"for instance|in theory|tell \w+ that|according to|the (?:article|docs|readme|documentation|page|book|log) )\b|"
    r"^(?!(?:如果|要是)我?(?:问|提|说|聊|谈)[^，,]{1,24}[，,]?(?:请|都|一律|必须|务必|不要|别))(?:如果|假如|假设|要是|倘若|万一|假装|比如|例如|譬如|比方|设想|想象|据说|听说|告诉|根据|文章|文档|文中|书上|README)"
)
_DOUBT: Final = lazy_pattern(
    r"(?i)\b(?:maybe|perhaps|probably|might|(?-i:may)|thinking (?:of|about)|considering|wish|hope|hopefully|want to|wanted to|"
    r"would like|supposedly|apparently|i guess|not sure|wondering|outdated|"
    r"(?:he|she|they|someone|people|everyone|somebody|nobody|\w+'s|customer|client|boss|article|docs?) (?:said|says|told|claims?|thinks?|writes?|wrote))\b|"
    r"也许|可能|或许|大概|说不定|考虑|希望|打算|想要|想住|想去|想过|不确定|好像|似乎|听说|据说|"
    r"[他她]们?(?:说|告诉|觉得|认为)|客户说|老板说|同事说|朋友说|从没|从未"
)
_PAST: Final = lazy_pattern(r"(?i)\b(?:used to|no longer|not any ?more)\b|以前|曾经|过去|本来")
_TEXT_TASK: Final = lazy_pattern(
    r"(?i)^(?:please |now |then )*(?:write|change|replace|translate|set|rename|say|type|make|print|reply|answer|put|insert|fill|"
    r"render|paste|quote|use)\b[^:]*:|^(?:请|帮我|给我|把|将|麻烦|再)*[^：:]{0,12}(?:写|翻译|改成|改为|回复|输出|打印|填上?|造句?|"
    r"替换成?|一句|句子|标题)[^：:]{0,8}[：:]"
)
"""Announces text to be written, which is not a statement."""
_SECOND_VERB: Final = lazy_pattern(r"(?i)^(I(?:'m| am)?\b[^,;]{2,60}?) and (live|work|am|use|speak|prefer)\b")
_ABOUT_SELF: Final = lazy_pattern(
    "^我(?:的名字)?(?:叫|是|今年|搬|换工作|跳槽|住|来自|对.{1,12}过敏|很?喜欢|不喜欢)"
)
_CONTINUES_ABOUT_SELF: Final = lazy_pattern(
    "^(?:现在|目前|如今|刚|已经|也|还|更|最)*(?:住|不喜欢.|喜欢.|讨厌.|在.{1,12}(?:工作|上班|任职|就职)$|来自|今年|是.{0,10}$)"
)
_NEGATED_ZH: Final = lazy_pattern(
    r"^(?:我|我们)(?:现在|目前|已经|还)*(?:不住|不是|没|不在|不用|不再|不会)(?!.*(?:决定|以后))"
)
_SPLIT: Final = lazy_pattern(
    r"[,;:]\s+(?:(?:and|but|so|because|then)\s+)?|(?<!\s)\s++(?:(?:but|so|because|although|though|while)\s+|[-–—]+\s+)|"
    r"(?<!\s)\s++and (?=I\b|I'|we\b|my\b)|[，；]\s*(?:但是?|所以|因为|而且|并且|不过|然后)?|,(?=[\u4e00-\u9fff])"
)
_TRAILING_ADVERB: Final = lazy_pattern(
    r"(?i)(?<!\s)\s++(?:now|these days|nowadays|currently|at the moment|at present|recently|lately|too|as well|please|by the way|btw|"
    r"on my (?:laptop|desktop|machine|computer|work machine)|at work|at home|any ?more|though|actually|for years|"
    r"since .{3,20})$|(?<!\s)\s*+(?:呢|啊|哦|啦|呀|的说|哈|～|~)$"
)
_WHOLE: Final = frozenset({"decisions", "rules"})  # predicates whose values are whole statements
_TAG: Final = lazy_pattern(
    r"(?i),\s*(?:right|correct|no|yes|(?:am|do|did|was|have) i(?: not)?|(?:is|are|do|does|did|have|has|was)n't \w+)\s*\?\s*$|"
    r"[，,]\s*(?:对|是|没错|对不对|是不是)[吗吧]?\s*[?？]\s*$"
)
"""Asks whether the sentence is so."""
_NEVER: Final = lazy_pattern(r"(?!)")
_PRACTICE: Final = Rule(_NEVER, lambda *_: [], importance=0.7)
_ORDER: Final = Rule(_NEVER, lambda *_: [], type="rule", importance=0.8, priority="permanent", standing=True)
_CLOSE: Final = " \t.。!！,，;；"


def extract(
    text: str, *, time: datetime, role: str = "user", origin: Origin = "owner", language: str | None = None
) -> list[Candidate]:
    """Return what is learned of a turn, by the rules and, of the owner's words, by the trained reader; never raises.

    Arguments as of `by_rules`.
    """
    if not _may_teach(role, origin):
        return []
    heard = _heard(text)
    found = _read_by_rules(heard, time=time, role=role, origin=origin, language=language)
    if role not in OWNER_ROLES:
        return found
    said = list(_asserted(heard))
    if not said and all(one.predicate != "decisions" for one in found):
        return joined(found, [])
    whole = read(heard.turn)
    by_rule = [
        one for one in found if one.predicate != "decisions" or is_lasting(whole, heard.turn, one, time)
    ]
    return joined(by_rule, learned(whole, heard.turn, said, time, _CONFIDENCE[origin]))


def by_rules(
    text: str, *, time: datetime, role: str = "user", origin: Origin = "owner", language: str | None = None
) -> list[Candidate]:
    """Return the facts that the rules read of a turn, in order, without duplicates; linear, never raises.

    Args:
        text: the turn, after redaction.
        time: time of the turn, to which relative times refer.
        role: "user" or "assistant"; for other roles (system, tool) the result is empty.
        origin: origin of the turn; for tools, the web and files the result is empty.
        language: "en" or "zh" to apply the rules of one language only; by default the script decides.
    """
    if not _may_teach(role, origin):
        return []
    return _read_by_rules(_heard(text), time=time, role=role, origin=origin, language=language)


def _may_teach(role: str, origin: Origin) -> bool:
    return origin in _TRUSTED_ORIGINS and (role in OWNER_ROLES or role in _AGENT_ROLES)


class _Heard(NamedTuple):
    """A turn without code, mails and the like, and its sentences up to where it hands over to others."""

    turn: str
    sentences: list[Sentence]
    whole: bool
    """Whether nothing was left out."""


def _heard(text: str) -> _Heard:
    turn = without_mail(cleaned(text))
    own = takewhile(lambda sentence: not hands_over(sentence.blotted), sentences(turn))
    return _Heard(turn, list(own), len(turn) == len(text))


def _read_by_rules(
    heard: _Heard, *, time: datetime, role: str, origin: Origin, language: str | None
) -> list[Candidate]:
    own, turn = role in OWNER_ROLES, heard.turn
    found: dict[tuple[str, str, str], Candidate] = {}
    doubtful: dict[tuple[str, str, str], Candidate] = {}
    practices = TurnPractices(turn, whole=heard.whole) if own else None
    for sentence in heard.sentences:
        wanted = asked(sentence) if own else None
        told = None if wanted else before_question(sentence)
        sentence = wanted or told or sentence  # noqa: PLW2901 - read without the request or question
        read = [
            (rule, fact)
            for rule, fact in _read(sentence, turn, time, language, wanted=wanted is not None)
            if (own or rule is None or rule.agent) and not _has_open_bracket(fact.value)
        ]
        of_work = practices.of(sentence, wanted=wanted is not None) if practices and not told else []
        read = _without_doubles(read, of_work)
        for rule, fact in read:
            if not _has_better(fact, [other for _, other in read]):
                candidate = _candidate(rule, fact, sentence, time, origin)
                found.setdefault((fact.subject, fact.predicate, fact.value), candidate)
        for one in of_work:
            candidate = _candidate(_ORDER if one.order else _PRACTICE, one.found, sentence, time, origin)
            (found if one.firm else doubtful).setdefault(one.found[:3], candidate)
        if practices and not (read or of_work):
            practices.heard_nothing()
        if not own or told is not None or of_work:
            continue
        alone = sentence.text.strip() == turn.strip()
        # "My sister Sarah is pregnant" tells more than the name.
        named = _STATE.search(sentence.blotted) is not None
        little = all(fact.over or (named and fact.predicate == "relation") for _, fact in read)
        parts = [sentence] if little else _untold(sentence, read)
        for part in parts:
            kept = _statement(part, time, origin, language, wanted=wanted is not None, alone=alone)
            if kept is not None:
                kept = msgspec.structs.replace(kept, quote=sentence.text)
                found.setdefault(("user", "", kept.value), kept)
    if doubtful and practices and practices.alone:
        found = doubtful | found
    return list(found.values())


def _asserted(heard: _Heard) -> Iterator[Stretch]:
    """Yield the sentences in which the owner says what is so, with quotations masked.

    The reader reads whole messages; what is supposed, doubted, pretended or another's words is kept from it here.
    """
    at = 0
    for sentence in heard.sentences:
        start = heard.turn.find(sentence.text, at)
        if start < 0:
            continue
        at = start + len(sentence.text)
        text = sentence.blotted
        if not (_is_supposed(text) or _DOUBT.search(text) or _TEXT_TASK.match(text) or _TAG.search(text)):
            yield Stretch(start, text)


def _without_doubles(
    read: list[tuple[Rule | None, Found]], practices: list[Practice]
) -> list[tuple[Rule | None, Found]]:
    """Leave out of what was read what the practices of the sentence say, too, which are more exact."""
    if not practices:
        return read
    of_work = {one.found.predicate for one in practices} | {"tools", "plans", "decisions"}
    return [(rule, fact) for rule, fact in read if fact.over or fact.predicate not in of_work]


def _untold(sentence: Sentence, read: list[tuple[Rule | None, Found]]) -> list[Sentence]:
    """Return the clauses beside those that facts were read from: "I'm vegan and I don't smoke" tells two things."""
    text = sentence.blotted
    parts = [part for part in _JOINED.split(text) if part]
    if not 2 <= len(parts) <= 3 or BLOT in text or not _is_assertion(text):
        return []
    if _DOUBT.search(text) or any(rule is None for rule, _ in read):
        return []
    told = {stem for _, fact in read for stem in _stems(fact.value)}
    left = [part for part in parts if _OWN.match(part) and not told & _stems(part)]
    return [Sentence(part, part) for part in left]


def _stems(text: str) -> set[str]:
    """Return the beginnings of the Latin words of a text and its pairs of Chinese characters."""
    low = text.casefold()
    return han_pairs(low) | {word[:3] for word in _WORD.findall(low)}


_JOINED: Final = lazy_pattern(
    r"(?i)(?:,\s*+|(?<!\s)\s++)(?:and|but)\s+(?:also\s+)?(?=(?:i|i'm|i've|my|we)\s)|[，,](?:而且|并且|不过|但是?)?(?=我(?!们))"
)
_STATE: Final = lazy_pattern(r"(?i)^my .{3,60}? (?:is|has been) (?!\w{1,16}ing\b)")
_OWN: Final = lazy_pattern(r"(?i)(?:i|i'm|i've|my)\s+\S+\s+\S|我(?!们)")
_WORD: Final = lazy_pattern(r"\d+|[a-z]{3,}")


def _statement(
    sentence: Sentence, time: datetime, origin: Origin, language: str | None, *, wanted: bool, alone: bool
) -> Candidate | None:
    """Return a sentence that is plainly lasting as a statement, or one that is to be remembered."""
    text = sentence.blotted
    if not wanted and (not _is_assertion(text) or _DOUBT.search(text)):
        return None
    chinese = language == "zh" or (language is None and _HAN.search(text) is not None)
    kept = statement(sentence, chinese=chinese, wanted=wanted, alone=alone)
    if kept is None:
        return None
    return Candidate(
        subject="user",
        predicate="",
        value=written_out(kept.text, time),
        since=time,
        confidence=_CONFIDENCE[origin],
        importance=0.5,
        topic=kept.topic,
        quote=sentence.text,
    )


def _is_assertion(text: str) -> bool:
    return not (_QUESTION.search(text) or _is_supposed(text))


def _is_supposed(text: str) -> bool:
    """Return whether a sentence tells of what is not so, or is another's."""
    return _HYPOTHETICAL.match(text) is not None or of_another(text)


_JUDGED: Final = 600
"""Characters of a sentence, and around a value, that are looked at."""


def is_doubtful(sentences: Sequence[str]) -> bool:
    """Return whether each of these sentences only supposes, doubts or wishes what it says."""
    heads = (one[:_JUDGED] for one in sentences)
    return all(_is_supposed(one) or _DOUBT.search(one) for one in heads)


def is_of_another(text: str, value: str) -> bool:
    """Return whether a turn of the owner's says a value of somebody else: so it is read, or its sentence begins."""
    place = text.casefold().find(value.casefold())
    if place < 0:
        return False
    first = max(0, place - _JUDGED)
    text, start = text[first : place + len(value) + _JUDGED], place - first
    clause = max((match.end() for match in _CLAUSE_END.finditer(text, 0, start)), default=0)
    if _OWN_SUBJECT.match(text, clause):
        return False
    own = [one for one in read(text).readings if one.start < start + len(value) and one.end > start]
    return all(one.other for one in own) if own else People(text).begins(clause, start)


_CLAUSE_END: Final = lazy_pattern(r"[,;，；。！？\n]|[.!?](?=\s)")
_OWN_SUBJECT: Final = lazy_pattern(
    r"(?i)\s*(?:(?:and|but|so|because) )?(?:(?:i|we)\b(?!['’]?s\b)|我们?(?![的家爸妈哥姐弟妹儿女奶爷])|咱们?(?![家爸妈])|俺)"
)


def _has_open_bracket(value: str) -> bool:
    return any(value.count(left) > value.count(right) for left, right in ("()", "（）", "[]", "「」", "“”"))


def _has_better(fact: Found, others: list[Found]) -> bool:
    """Return whether another finding in the sentence is a better version of `fact`.

    Of decisions and rules the longer value is better ("not to ship on Friday"), else that without time words.
    """
    same = [other.value for other in others if other[:2] == fact[:2] and other.value != fact.value]
    if fact.predicate in _WHOLE:
        return any(value.startswith(fact.value) or value.endswith(fact.value) for value in same)
    return any(fact.value.startswith(f"{value} ") for value in same)


def _read(
    sentence: Sentence, turn: str, time: datetime, language: str | None, *, wanted: bool
) -> Iterator[tuple[Rule | None, Found]]:
    """Yield the findings in a sentence with their rule; the rule is None for the readers of `validity`."""
    text = sentence.blotted
    if not _is_assertion(text):
        return
    yield from ((None, fact) for fact in mended(sentence))
    chinese = language == "zh" or (language is None and _HAN.search(text) is not None)
    english = language == "en" or (language is None and not chinese and _LATIN.search(text) is not None)
    if chinese and not _TEXT_TASK.match(text):
        yield from about_people(Clause(text.rstrip(_CLOSE), text, turn, time))
    if wanted and english and (task := to_do(sentence.text, time)):
        yield None, task
        return
    if english and not _TEXT_TASK.match(text):
        yield from english_facts(text, time)
    if _DOUBT.search(text):
        return
    yield from ((None, fact) for fact in dropped(sentence))
    over = _PAST.search(text) is not None
    if not over:
        yield from ((None, fact) for fact in dated(sentence, time))
    rules = (CHINESE if chinese else ()) + (ENGLISH if english else ())
    whole = Clause(text.rstrip(_CLOSE), text, turn, time)
    for clause in _clauses(whole):
        if not (_NEGATED_ZH.match(clause.text) or _PAST.search(clause.text)):
            yield from _first_match(rules, clause, whole=False)
    if not over:
        yield from _first_match(rules, whole, whole=True)


def _first_match(rules: tuple[Rule, ...], clause: Clause, *, whole: bool) -> Iterator[tuple[Rule, Found]]:
    """Yield the findings of the first rule that has any; more specific rules come first."""
    for rule in rules:
        if rule.whole == whole and (match := rule.pattern.match(clause.text)):
            facts = rule.read(match, clause)
            if facts:
                yield from ((rule, fact) for fact in facts)
                return


def _clauses(whole: Clause) -> Iterator[Clause]:
    """Yield the sentence and its clauses, each also without trailing adverbs and time words."""
    parts: list[str] = []
    if not _TEXT_TASK.match(whole.text):
        gone_on = (_SECOND_VERB.sub(r"\1\n I \2", part.strip()) for part in _SPLIT.split(whole.text))
        parts = _with_speaker([piece for part in gone_on for piece in part.split("\n ")])
    seen: set[str] = set()
    for part in [whole.text, *parts] if len(parts) > 1 else parts:
        text = part.strip(_CLOSE)
        plain = _without_times(text, whole.time)
        for form in (text, _TRAILING_ADVERB.sub("", text), plain, _TRAILING_ADVERB.sub("", plain)):
            if form and form not in seen:
                seen.add(form)
                yield whole._replace(text=form)


def _with_speaker(parts: list[str]) -> list[str]:
    """Repeat the subject 我 in clauses that continue about the speaker without it."""
    if not _ABOUT_SELF.match(parts[0]):
        return parts
    return [parts[0], *(f"我{part}" if _CONTINUES_ABOUT_SELF.match(part) else part for part in parts[1:])]


def _without_times(text: str, time: datetime) -> str:
    """Remove time words and a preposition left at the end from a clause."""
    for start, end, _ in reversed(spans(text, time)):
        if not re.search(r"\d\.\d", text[start:end]):
            text = (text[:start].rstrip() + " " + text[end:].lstrip()).strip()
    text = re.sub(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])", "", text)
    return re.sub(r"(?i)(?<!\s)\s++(?:in|on|at|since|from)$", "", text)


def _candidate(
    rule: Rule | None, fact: Found, sentence: Sentence, time: datetime, origin: Origin
) -> Candidate:
    kind, importance, priority = "fact", 0.6, "short"
    if rule is not None:
        kind, importance, priority = rule.type, rule.importance, rule.priority
    if fact.predicate == "errors":
        kind, priority = "error", "long"
    elif fact.predicate == "language" and kind == "rule":
        kind = "preference"
    coming = fact.predicate in {"decisions", "plans", "goals"} and not fact.over
    # "In December" is when a plan is to come true, not since when it is one.
    begun = rule is not None and rule.dated and (fact.predicate == "decisions" or not coming)
    since = valid_since(fact, sentence.blotted, time) if begun else time
    return Candidate(
        subject=fact.subject,
        predicate=fact.predicate,
        value=written_out(fact.value, time, ahead=True) if coming else fact.value,
        type=kind,
        since=since,
        confidence=_CONFIDENCE[origin],
        importance=importance,
        priority=priority,
        over=fact.over,
        standing=rule is not None and rule.standing,
        announced=rule is not None and rule.whole,
        quote=sentence.text,
    )
