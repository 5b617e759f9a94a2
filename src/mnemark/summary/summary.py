"""Summarize a conversation by rules: what it was about, and what was plainly decided, done, open or planned.

Precision before recall: a line that is kept stays in a person's notes for years. A part without evidence is
empty.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

import msgspec

from mnemark.extraction.speaker import of_another
from mnemark.summary.outcomes import (
    is_closing,
    is_decision,
    is_failure,
    is_open,
    is_result,
    is_step,
    left_over,
    result_text,
    step_text,
)
from mnemark.summary.sentences import (
    ASKS,
    HAPPY,
    OFFER,
    OWN,
    QUESTION,
    SMALL_TALK,
    TASK,
    capitalized,
    entities,
    is_chinese,
    projects,
    request,
    sentences,
)
from mnemark.summary.topics import (
    MAX_TITLE,
    NO_LANGUAGE,
    Language,
    Phrase,
    columns,
    is_common,
    is_identifier,
    phrases,
    substance,
    tells,
    titled,
)
from mnemark.text.dates.written import dated
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.injection import looks_like_instructions
from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import STOP

_NUMBER: Final = lazy_pattern(r"\d[\d.,:/-]*\d|\d{2,}")
_NAME: Final = lazy_pattern(r"(?<=[a-z,;] )[A-Z][\w'-]{2,}")  # a capitalised word inside a sentence
_WORD: Final = lazy_pattern(r"[a-z][\w'-]{3,}", re.IGNORECASE)
_HAN: Final = lazy_pattern(r"[\u4e00-\u9fff]+")
LONGEST_CHECKED: Final = 20_000
"""Maximum characters of a summary checked: each number and name is searched in the conversation."""
_STEM_LENGTH: Final = 4
_MIN_STEMS: Final = 5  # summaries with fewer word stems are not compared
_MIN_SHARED: Final = 0.25
_CALENDAR: Final = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "  # noqa: SIM905
    "september october november december".split()
)
_SHORTENED: Final = lazy_pattern(
    r"\b(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
)
_COMMON: Final = frozenset({"user", "users", "assistant", "agent", "owner", "the user", "english", "chinese"})


def unfounded(words: str, said: str) -> str:
    """Return why `words` is not a summary of `said`, as a clause after "because"; empty if it may be one.

    Good summaries share well over a third of their word stems (Chinese: character bigrams) with the
    conversation, unrelated answers a tenth. Invented content is found, distortions are not.

    >>> unfounded("Ann fixed the parser in 3 hours, with 97 tests.", "ann: I fixed the parser")
    'it names 97, which nobody said'
    """
    if len(words) > LONGEST_CHECKED:
        return f"it is longer than {LONGEST_CHECKED:,} characters"
    known = set(_NUMBER.findall(said))
    for number in dict.fromkeys(_NUMBER.findall(words)):
        if number not in known and number not in said:
            return f"it names {number}, which nobody said"
    low = said.casefold()
    for name in dict.fromkeys(_NAME.findall(words)):
        bare = name.casefold().rstrip("'-").removesuffix("'s")
        if bare not in low and bare not in _COMMON and not _is_shortened(bare, low):
            return f"it names {name}, which nobody said"
    pieces = _stems(words)
    if len(pieces) >= _MIN_STEMS and len(pieces & _stems(said)) < _MIN_SHARED * len(pieces):
        return "it has hardly a word of the conversation"
    return ""


def _is_shortened(name: str, said: str) -> bool:
    """Tell whether the name of a day or month stands in what was said as "Fri" or "Tues."."""
    return name in _CALENDAR and any(short.startswith(name[:3]) for short in _SHORTENED.findall(said))


def _stems(text: str) -> set[str]:
    stems = {word[:_STEM_LENGTH].casefold() for word in _WORD.findall(text)}
    pairs = {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}
    return stems | pairs


Status = Literal["done", "failed", ""]
LONGEST: Final = 160
"""Maximum length of a sentence in characters; longer ones are truncated."""
_GREETING: Final = lazy_pattern(
    r"(?i)^(?:(?:你好|您好|嗨|哈喽|早上好|晚上好)[呀啊]?[，,！!~\s]+|(?:hi|hello|hey)(?: there)?[,!]\s+)"
)
_OPENING: Final = 2
"""Turns of the owner in which a conversation says what it is about."""
_FOLLOWS: Final = lazy_pattern(
    r"(?i)(?:and|also|but|so|then|what about|how about|another|besides|in addition|ok(?:ay)?|yes|no|thanks?|"
    r"great|got it)\b|"
    "那|所以|另外|还有|此外|然后|接下来|关于(?:第|你|刚)|刚才|总结一下就是|总之|也就是说|好的|明白|谢谢|对[，,]|嗯"
)
"""Begins a sentence that goes on from an answer."""
_PLAIN: Final = lazy_pattern("[a-z]+")
_DIFF_SIDE: Final = lazy_pattern(r"^[ab]/(?=\S*\w\.\w+$)")
"""The side of a file in a diff: a/src/main.go."""
_ASKED: Final = 120
_ENDS: Final = "。.!！?？ "
_MAX_STATEMENTS: Final = 3
_MAX_LISTED: Final = 4
_MAX_DONE: Final = 2
_MAX_NAMES: Final = 8
_MAX_NAME: Final = 40
_OFTEN: Final = 3
"""Turns from which a topic is what a conversation was about, whatever its first request says."""
_LAST_TURNS: Final = 6  # number of last turns in which results are searched
_MAX_READ: Final = 200
"""Sentences of the owner in which a title is looked for."""
_HARD_TO_READ: Final = 0.3
"""What a statement counts as a title that is cut, or that points at what was said before."""
_PLEASANT: Final = lazy_pattern(
    r"(?i)\b(?:meet you|hello|good ?night|good ?bye|(?:talk|chat|speak) (?:to you |with you )?"
    r"(?:later|soon|again|tomorrow)|see you|take care|how are you|(?:go|going|off) to (?:bed|sleep)|"
    r"never ?mind)\b|"
    "聊|好久不见|认识你|认识您|晚安|再见|拜拜|睡觉|睡了|算了|怎么样"
)
"""What is said to be kind, or to part, and tells of nothing."""
_POINTS_AWAY: Final = lazy_pattern(
    r"\b(?:this|that|these|those|it|them|him|her|here|there|above|below|following|attached|again|instead|one)\b|[<>{}|:：;；]|"
    r"这|那|它|以下|上面|下面|如下|刚才|上述|继续",
    re.IGNORECASE,
)
"""What a title cannot point at: it is read without the conversation."""


class Line(NamedTuple):
    """A turn of the conversation."""

    role: str
    text: str
    time: datetime | None = None
    ref: str = ""


class Action(NamedTuple):
    """A tool execution."""

    title: str
    tool: str
    failed: bool = False
    time: datetime | None = None
    paths: tuple[str, ...] = ()


class Digest(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a conversation's summary; each is empty without evidence."""

    title: str = ""
    asked: str = ""  # the request that says most of what it was about
    decided: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    failed: str = ""
    questions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # distinctive terms and names that are not in the title
    projects: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()  # what is worth knowing later, as a model noted it
    said: tuple[str, ...] = ()  # statements of the user, for a summary that replaces the turns
    told: str = ""  # the user's statement that tells most, as a title, where there is no other
    chinese: bool = False

    @property
    def status(self) -> Status:
        """How it ended, as far as it was said."""
        return "failed" if self.failed else "done" if self.done else ""


class _Sentence(NamedTuple):
    turn: int
    role: str
    text: str
    time: datetime | None = None


def digest(
    lines: Sequence[Line],
    actions: Sequence[Action] = (),
    known: Sequence[str] = (),
    language: Language = NO_LANGUAGE,
) -> Digest:
    """Return the summary of a conversation.

    Args:
        lines: the turns, redacted and without recalled blocks, oldest first, on the clock of the memory.
        actions: the tool executions.
        known: names of known projects, recognised without the word "project".
        language: how words weigh; without it, no terms are found and a title is a plain request or none.
    """
    said = list(_sentences(lines))
    own = [one for one in said if one.role == "user"]
    topics = phrases(((line.role, line.text) for line in lines), language)
    title = _plain_request(own, topics) or _topic_title(own, topics) or _plain_statement(own, language)
    asked = _asked(own, topics)
    done, failed = _results(lines, said, actions)
    answered = _last_reply(lines)
    left, undecided = _left_over(said, _last_word(lines))
    steps = _listed([*(one for one in own if is_step(one.text)), *left], ahead=True)
    decided = _listed(one for one in own if is_decision(one.text))
    questions = _listed(
        one
        for one in own
        if is_open(one.text)
        or (one.turn > answered >= 0 and QUESTION.search(one.text) and len(_content(one.text)) >= 2)
    )
    questions = tuple(dict.fromkeys([*questions, *_listed(undecided)]))
    texts = [line.text for line in lines if line.role == "user"]
    paths = [path for action in actions for path in action.paths]
    return Digest(
        title=title,
        asked="" if request(asked).rstrip(_ENDS) == title or asked in {*decided, *questions} else asked,
        decided=decided,
        done=done,
        failed=failed,
        questions=tuple(text for text in questions if text not in steps),
        steps=steps,
        names=tuple(_names(texts, topics, title, language)),
        projects=tuple(projects(texts, paths, known)),
        said=_statements(said, {asked, *steps, *questions}),
        told="" if title else _most_telling(own, language),
        chinese=is_chinese("\n".join(texts)),
    )


def _sentences(lines: Sequence[Line]) -> Iterator[_Sentence]:
    for number, line in enumerate(lines):
        if line.role in {"user", "assistant"}:
            for text in sentences(line.text):
                asked = line.role == "user" and TASK.match(request(text))  # 你好，帮我修一下
                small = SMALL_TALK.match(_GREETING.sub("", text) or text)  # no small talk: 你好，我的猫病了
                if (asked or not small) and not of_another(text):
                    yield _Sentence(number, line.role, text, line.time)


def _plain_request(own: Sequence[_Sentence], topics: Sequence[Phrase]) -> str:
    """Return the first request as a title, where it is short and can be read without the conversation.

    A request that points at the sentence before it ("Can you fix it?") has that sentence as its title.
    """
    first = next((at for at, one in enumerate(own) if _is_request(one.text)), None)
    if first is None or own[first].turn > own[0].turn:
        return ""
    before = own[first - 1].text if first else ""
    for words in (request(own[first].text).rstrip(_ENDS), before.rstrip(_ENDS)):
        short = columns(words) <= MAX_TITLE and len(_content(words)) >= 2
        if short and not (QUESTION.search(words) or _POINTS_AWAY.search(words)):
            often = [one for one in topics[:_MAX_LISTED] if one.turns >= _OFTEN]
            return words if not often or _covered(words, topics[:_MAX_LISTED]) else ""
    return ""


def _topic_title(own: Sequence[_Sentence], topics: Sequence[Phrase]) -> str:
    """Return the topics as a title; where it would be a single word, the first sentence that says more.

    "Flat" or "房子" alone tells nobody what a conversation was about.
    """
    title = titled(topics)
    if not title or len(_content(title)) > 1:
        return title
    opening = (_without_greeting(one.text) for one in own[:_OPENING])
    tells_more = (one for one in opening if len(_content(one)) > 1 and not _PLEASANT.search(one))
    return next((_within_columns(one) for one in tells_more if not _POINTS_AWAY.search(one)), title)


def _plain_statement(own: Sequence[_Sentence], language: Language) -> str:
    """Return the first statement as a title, where it is short, plain, and names something."""
    first = _without_greeting(own[0].text) if own else ""
    short = columns(first) <= MAX_TITLE and len(_content(first)) >= 2
    if not short or QUESTION.search(first) or _POINTS_AWAY.search(first):
        return ""
    return first if tells(first, language) else ""


def _most_telling(own: Sequence[_Sentence], language: Language) -> str:
    """Return the statement with the most words of a subject, as a title; empty if all is small talk.

    A talk of many things repeats no word, and has no phrase that stands for it.
    """
    best, most = "", 0.0
    for one in own[:_MAX_READ]:
        words = _without_greeting(one.text)
        if HAPPY.search(words) or _PLEASANT.search(words) or QUESTION.search(one.text):
            continue
        weight = substance(words[:LONGEST], language)
        if columns(words) > MAX_TITLE or _POINTS_AWAY.search(words):
            weight *= _HARD_TO_READ
        if weight > most:
            best, most = words, weight
    return _within_columns(best)


def _without_greeting(sentence: str) -> str:
    """Return a sentence as a title, without a greeting before it and the stop at its end."""
    return capitalized(_GREETING.sub("", sentence).rstrip(_ENDS))


def _is_request(text: str) -> bool:
    return bool(TASK.match(request(text)) or ASKS.match(text))


def _asked(own: Sequence[_Sentence], topics: Sequence[Phrase]) -> str:
    """Return the first request or question, where it is what the conversation was about.

    What is asked in the middle, or follows from what was said before, is not: "and the rest?", 那价格方面呢？
    """
    opening = set(list(dict.fromkeys(one.turn for one in own))[:_OPENING])
    asks = [
        one for one in own if one.turn in opening and _asks_plainly(one.text) and not _FOLLOWS.match(one.text)
    ]
    if not asks or not any(one.turns >= _OFTEN for one in topics):
        return _shorter(asks[0].text, _ASKED) if asks else ""

    def told(one: _Sentence) -> int:
        return _covered(one.text, topics[:_MAX_LISTED]) + (TASK.match(request(one.text)) is not None)

    best = max((one for one in asks if one.turn == asks[0].turn), key=told)
    return _shorter(best.text, _ASKED) if told(best) >= 2 else ""


def _asks_plainly(text: str) -> bool:
    return bool(_is_request(text) or QUESTION.search(text)) and len(_content(text)) >= 2


def _covered(text: str, topics: Sequence[Phrase]) -> int:
    """Return how many words of the topics a text holds."""
    low = text.casefold()
    return sum(len(one.key) for one in topics if one.text.casefold() in low)


def _results(
    lines: Sequence[Line], said: Sequence[_Sentence], actions: Sequence[Action]
) -> tuple[tuple[str, ...], str]:
    """Return what was done, and what failed in the end.

    The user's word counts; the agent's where it used tools, or where the user thanks for it.
    """
    own = [one for one in said if one.role == "user" and is_result(one.text, by_owner=True)]
    last = len(lines) - _LAST_TURNS
    replies = [
        one for one in said if one.role == "assistant" and one.turn >= last and not OFFER.match(one.text)
    ]
    closing = _last_word(lines)
    trusted = [
        one
        for one in replies
        if actions or _thanked(lines, one.turn) or (one.turn == closing and is_closing(one.text))
    ]
    good = [
        one._replace(text=result_text(one.text)) for one in trusted if is_result(one.text, by_owner=False)
    ]
    final = max((one.turn for one in replies), default=-1)
    first = next((one for one in replies if one.turn == final), None)
    happy = _thanked(lines, final)
    if first is not None and is_failure(first.text) and not happy:
        return _listed(own, most=_MAX_DONE), _cut(first.text)
    done = _listed(
        [*own, *(one for one in good if one.turn == good[-1].turn)][: len(own) + 1], most=_MAX_DONE
    )
    if not done and not good and actions and actions[-1].failed and not happy:
        return (), actions[-1].title
    return done, ""


def _left_over(said: Sequence[_Sentence], closing: int) -> tuple[list[_Sentence], list[_Sentence]]:
    """Return what the agent's `closing` reply names under a label as still to do, and as open."""
    steps: list[_Sentence] = []
    questions: list[_Sentence] = []
    for one in said:
        if one.turn == closing:
            text, is_question = left_over(one.text)
            if text and not looks_like_instructions(text):
                (questions if is_question else steps).append(one._replace(text=text))
    return steps, questions


def _last_reply(lines: Sequence[Line]) -> int:
    """Return the number of the last reply; -1 without any."""
    return max((at for at, line in enumerate(lines) if line.role == "assistant"), default=-1)


def _last_word(lines: Sequence[Line]) -> int:
    """Return the number of the last reply, if the user says no more than thanks or goodbye to it; else -1."""
    last = _last_reply(lines)
    own = (line.text[:80] for line in lines[last + 1 :] if line.role == "user")
    ended = all((HAPPY.search(text) or SMALL_TALK.match(text)) and not _OBJECTS.search(text) for text in own)
    return last if ended else -1


_OBJECTS: Final = lazy_pattern(
    r"(?i)\b(?:but|still|wrong)\b|\b(?:is|are|was|does|did)(?: not|n['’]t)\b|"
    r"但|不过|可是|还(?:在|是|有|没|不)|不对|不行|没(?:修|改|用|成功|好)|错了"
)
"""Takes back thanks: "Thanks, but it still fails"."""


def _thanked(lines: Sequence[Line], turn: int) -> bool:
    """Return whether the user's next words after a turn are thanks."""
    after = next((line.text for line in lines[turn + 1 :] if line.role == "user"), "")
    after = after[:80]
    return bool(HAPPY.search(after)) and not QUESTION.search(after) and not _OBJECTS.search(after)


def _listed(found: Iterable[_Sentence], *, most: int = _MAX_LISTED, ahead: bool = False) -> tuple[str, ...]:
    """Return sentences for a list, with the dates of their time words; of too many, the last ones."""
    texts = (
        _cut(dated(words, one.time, ahead=ahead) if one.time else words)
        for one in found
        if (words := step_text(request(one.text) if ahead else _GREETING.sub("", one.text)))
    )
    return tuple(dict.fromkeys(texts))[-most:]


def _names(texts: Sequence[str], topics: Sequence[Phrase], title: str, language: Language) -> Iterator[str]:
    """Yield topics that are not in the title, then identifiers and repeated names that the user wrote."""
    said = [
        one.text for one in topics if one.turns >= _OFTEN or " " in one.text or not _PLAIN.fullmatch(one.text)
    ]
    prose = " ".join(word.strip("#*`[]") for text in texts for word in text.split() if "/" not in word)

    def sure(name: str) -> bool:
        plain = name.isascii() and columns(name) <= _MAX_NAME and not is_common(name, language)
        return plain and (is_identifier(name) or prose.count(name) > 1)

    wanted = [_DIFF_SIDE.sub("", name) for name in (*said, *filter(sure, entities(texts)))]
    low, count = title.casefold(), 0
    for name in wanted:
        longer = any(other.startswith(f"{name} ") for other in wanted)
        if count < _MAX_NAMES and not longer and name.casefold() not in low:
            low += "\0" + name.casefold()
            count += 1
            yield name


def _statements(said: Sequence[_Sentence], taken: set[str]) -> tuple[str, ...]:
    """Return the user's statements with the most frequent terms, without questions and requests."""
    counts = Counter(term for one in said for term in set(_content(one.text)))
    ranked: list[tuple[float, int, str]] = []
    for number, one in enumerate(said):
        text = _cut(one.text)
        if one.role != "user" or QUESTION.search(one.text) or not OWN.search(one.text) or text in taken:
            continue
        if request(one.text) != capitalized(one.text):
            continue
        terms = _content(one.text)
        if len(terms) >= 2:
            value = sum(math.log1p(counts[term]) for term in set(terms)) / math.sqrt(len(terms) + 4)
            ranked.append((value, number, text))
    chosen = sorted(ranked, key=lambda row: -row[0])[:_MAX_STATEMENTS]
    return tuple(text for _, _, text in sorted(chosen, key=lambda row: row[1]))


def _content(text: str) -> list[str]:
    return [term for term in query_terms(text[:1000]) if term not in STOP]


def _cut(text: str) -> str:
    return _shorter(text, LONGEST)


def _shorter(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 2 // 3 else cut).rstrip(" ,，、;；") + "…"


def short_title(text: str) -> str:
    """Return a sentence as a title: without what is polite, of at most `MAX_TITLE` columns.

    >>> short_title("Hi! Could you find out which server we deploy to?")
    'Find out which server we deploy to'
    """
    return _within_columns(request(_GREETING.sub("", text)))


def _within_columns(words: str) -> str:
    limit = min(len(words), MAX_TITLE)
    while columns(words[:limit]) > MAX_TITLE:
        limit -= 1
    return _shorter(words, max(limit, 2)).rstrip("。.!！ ")


def overlap(one: str, other: str) -> float:
    """Return the share of the terms of `one` that are in `other`, 0 to 1."""
    terms = set(_content(one))
    return len(terms & set(_content(other))) / len(terms) if terms else 0.0


_LABELS: Final = {
    "asked": ("Asked", "目标"),
    "said": ("Said", "提到"),
    "decided": ("Decided", "决定"),
    "done": ("Done", "完成"),
    "failed": ("Failed", "没成"),
    "steps": ("Next", "接下来"),
    "questions": ("Open", "待定"),
}


def items(found: Digest, *, said: bool = False) -> list[tuple[str, str]]:
    """Return the parts of a digest that are lists, as labels and texts, in its language.

    Args:
        found: the digest.
        said: whether statements of the user are among them, as in a summary that replaces the turns.
    """
    zh = found.chinese
    parts = (
        ("asked", (found.asked,)), ("said", found.said if said else ()), ("decided", found.decided),
        ("done", found.done), ("failed", (found.failed,)), ("steps", found.steps),
        ("questions", found.questions),
    )  # fmt: skip
    rows = dict.fromkeys((_LABELS[name][zh], text) for name, texts in parts for text in texts if text)
    return list(rows)


def summary_lines(found: Digest, *, said: bool = False) -> list[str]:
    """Return the digest as lines of a note; `said` as in `items`."""
    colon = "：" if found.chinese else ": "
    return [f"{name}{colon}{text}" for name, text in items(found, said=said)]
