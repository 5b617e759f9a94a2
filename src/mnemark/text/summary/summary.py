"""Summarize a conversation by rules: goal, outcome, statements, decisions, next steps, open questions.

Precision before recall: a line that is kept stays in a person's notes for years.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

import msgspec

from mnemark.text.extraction.speaker import of_another
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.summary.sentences import (
    DECIDED,
    DONE,
    FAILED,
    HAPPY,
    LEFT,
    NEXT,
    OFFER,
    OWN,
    QUESTION,
    SMALL_TALK,
    TASK,
    UNSURE,
    entities,
    is_chinese,
    projects,
    request,
    sentences,
)
from mnemark.text.words.segment import query_terms
from mnemark.text.words.stopwords import is_stop

_NUMBER: Final = lazy_pattern(r"\d[\d.,:/-]*\d|\d{2,}")
_NAME: Final = lazy_pattern(r"(?<=[a-z,;] )[A-Z][\w'-]{2,}")  # a capitalised word inside a sentence
_WORD: Final = lazy_pattern(r"[a-z][\w'-]{3,}", re.IGNORECASE)
_HAN: Final = lazy_pattern(r"[\u4e00-\u9fff]+")
LONGEST_CHECKED: Final = 20_000
"""Maximum characters of a summary checked: each number and name is searched in the conversation."""
_STEM_LENGTH: Final = 4
_MIN_STEMS: Final = 5  # summaries with fewer word stems are not compared
_MIN_SHARED: Final = 0.25
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
        bare = name.casefold().removesuffix("'s")
        if bare not in low and bare not in _COMMON:
            return f"it names {name}, which nobody said"
    pieces = _stems(words)
    if len(pieces) >= _MIN_STEMS and len(pieces & _stems(said)) < _MIN_SHARED * len(pieces):
        return "it has hardly a word of the conversation"
    return ""


def _stems(text: str) -> set[str]:
    stems = {word[:_STEM_LENGTH].casefold() for word in _WORD.findall(text)}
    pairs = {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}
    return stems | pairs


Status = Literal["done", "failed", "open"]
LONGEST: Final = 160
"""Maximum length of a sentence in characters; longer ones are truncated."""
_MAX_STATEMENTS: Final = 3
_MAX_LISTED: Final = 4
_STEP: Final = lazy_pattern(r"(?:next steps?|to-?do|下一步|接下来|待办)\s*[:：]\s*", re.IGNORECASE)
"""The label before an item of a to-do list."""
_LAST_TURNS: Final = 6  # number of last turns in which the outcome is searched


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
    """The parts of a conversation's summary."""

    title: str
    goal: str
    outcome: str
    status: Status
    said: tuple[str, ...] = ()  # statements of the user, in order
    decided: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    did: tuple[str, ...] = ()  # what was done, as a model noted it
    observed: tuple[str, ...] = ()  # what is worth knowing later, as a model noted it
    chinese: bool = False


class _Sentence(NamedTuple):
    turn: int
    role: str
    text: str


def digest(lines: Sequence[Line], actions: Sequence[Action] = (), known: Sequence[str] = ()) -> Digest:
    """Return the summary of a conversation.

    Args:
        lines: the turns, redacted and without recalled blocks, oldest first.
        actions: the tool executions.
        known: names of known projects, recognised without the word "project".
    """
    said = list(_sentences(lines))
    chinese = is_chinese("\n".join(line.text for line in lines if line.role == "user"))
    goal = _goal(said)
    decided = _unique((_cut(one.text) for one in said if _is_decision(one)), most=_MAX_LISTED)
    outcome, status = _outcome(lines, said, actions)
    answered = max((at for at, line in enumerate(lines) if line.role == "assistant"), default=-1)
    left = (_cut(_STEP.sub("", request(one.text)) or one.text) for one in said if _is_step(one, answered))
    steps = _unique(left, most=_MAX_LISTED, last=True)
    asked = (text for text in _open_questions(said, answered) if request(text) not in steps)
    questions = _unique(asked, most=_MAX_LISTED, last=True)
    taken = {goal, outcome, *decided, *steps, *questions}
    texts = [line.text for line in lines if line.role in {"user", "assistant"}]
    paths = [path for action in actions for path in action.paths]
    return Digest(
        title=_shorter(goal.rstrip("。.!！?？") or outcome, 60),
        goal=goal,
        outcome=outcome,
        status=status,
        said=_statements(said, taken),
        decided=decided,
        entities=tuple(entities(texts)),
        projects=tuple(projects(texts, paths, known)),
        questions=questions,
        steps=steps,
        chinese=chinese,
    )


def _sentences(lines: Sequence[Line]) -> Iterator[_Sentence]:
    for number, line in enumerate(lines):
        if line.role in {"user", "assistant"}:
            for text in sentences(line.text):
                asked = line.role == "user" and TASK.match(request(text))  # 你好，帮我修一下
                if (asked or not SMALL_TALK.match(text)) and not of_another(text):
                    yield _Sentence(number, line.role, text)


def _goal(said: Sequence[_Sentence]) -> str:
    """Return the first request of the user, with the sentence before it if the request is short."""
    own = [one for one in said if one.role == "user" and _content(one.text)]
    if not own:
        return ""
    asked = next((one for one in own if _asks(one.text)), None)
    if asked is None:
        return _cut(own[0].text)
    words = request(asked.text)
    before = [one.text for one in own[: own.index(asked)] if one.turn == asked.turn]
    if before and len(_content(words)) < 3:
        return _cut(f"{before[0]} {words}")
    return _cut(words)


def _asks(text: str) -> bool:
    words = request(text)
    return words != text[:1].upper() + text[1:] or bool(TASK.match(words) or QUESTION.search(text))


def _outcome(
    lines: Sequence[Line], said: Sequence[_Sentence], actions: Sequence[Action]
) -> tuple[str, Status]:
    last = len(lines) - _LAST_TURNS
    replies = [
        one
        for one in said
        if one.role == "assistant" and not (QUESTION.search(one.text) or OFFER.match(one.text))
    ]
    late = [one for one in replies if one.turn >= last]
    good = [one for one in late if DONE.search(one.text) and not FAILED.search(one.text)]
    done = next((one for one in good if one.turn == good[-1].turn), None)
    failed = next((one for one in reversed(late) if FAILED.search(one.text)), None)
    final = next((line.text for line in reversed(lines) if line.role == "user"), "")
    happy = bool(HAPPY.search(final)) and not FAILED.search(final) and len(final) < 80
    if failed is not None and (done is None or failed.turn > done.turn) and not happy:
        return _cut(failed.text), "failed"
    if done is not None:
        return _cut(done.text), "done"
    if actions and actions[-1].failed and not happy:
        return actions[-1].title, "failed"
    last_reply = next((one for one in reversed(late) if _content(one.text)), None)
    if last_reply is None:
        return "", "open"
    first = next(one for one in replies if one.turn == last_reply.turn)
    return _cut(first.text), "done" if happy else "open"


def _is_decision(one: _Sentence) -> bool:
    return bool(DECIDED.search(one.text)) and not QUESTION.search(one.text) and one.role == "user"


def _is_step(one: _Sentence, answered: int) -> bool:
    """Return whether a sentence is a next step: not an answered request, nor just a date of the assistant."""
    if QUESTION.search(one.text) or not NEXT.search(one.text) or DONE.search(one.text):
        return False
    if one.role == "user":
        return one.turn > answered or not _asks(one.text)
    return bool(LEFT.search(one.text)) and not OFFER.match(one.text)


def _open_questions(said: Sequence[_Sentence], answered: int) -> Iterator[str]:
    for one in said:
        asked_last = one.turn > answered and QUESTION.search(one.text)
        if one.role == "user" and (asked_last or UNSURE.search(one.text)):
            yield _cut(one.text)


def _statements(said: Sequence[_Sentence], taken: set[str]) -> tuple[str, ...]:
    """Return the user's statements with the most frequent terms, without questions and requests."""
    counts = Counter(term for one in said for term in set(_content(one.text)))
    ranked: list[tuple[float, int, str]] = []
    for number, one in enumerate(said):
        text = _cut(one.text)
        if one.role != "user" or QUESTION.search(one.text) or not OWN.search(one.text) or text in taken:
            continue
        if request(one.text) != one.text[:1].upper() + one.text[1:]:
            continue
        terms = _content(one.text)
        if len(terms) >= 2:
            value = sum(math.log1p(counts[term]) for term in set(terms)) / math.sqrt(len(terms) + 4)
            ranked.append((value, number, text))
    chosen = sorted(ranked, key=lambda row: -row[0])[:_MAX_STATEMENTS]
    return tuple(text for _, _, text in sorted(chosen, key=lambda row: row[1]))


def _content(text: str) -> list[str]:
    return [term for term in query_terms(text[:1000]) if not is_stop(term)]


def _unique(texts: Iterator[str], *, most: int, last: bool = False) -> tuple[str, ...]:
    found = list(dict.fromkeys(texts))
    return tuple(found[-most:] if last else found[:most])


def _cut(text: str) -> str:
    return _shorter(text, LONGEST)


def _shorter(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 2 // 3 else cut).rstrip(" ,，、;；") + "…"


def overlap(one: str, other: str) -> float:
    """Return the share of the terms of `one` that are in `other`, 0 to 1."""
    terms = set(_content(one))
    return len(terms & set(_content(other))) / len(terms) if terms else 0.0


_LABELS: Final = {
    "goal": ("Asked", "目标"),
    "said": ("Said", "提到"),
    "decided": ("Decided", "决定"),
    "done": ("Done", "结果"),
    "failed": ("Failed", "没成"),
    "did": ("Done", "完成"),
    "open": ("Last", "进展"),
    "steps": ("Next", "接下来"),
    "questions": ("Open", "待定"),
}


def label(name: str, *, chinese: bool) -> str:
    """Return the label of a part of a digest in Chinese or English."""
    return _LABELS[name][chinese]


def summary_lines(found: Digest, *, short: bool = False) -> list[str]:
    """Return the digest as lines of a note."""
    zh = found.chinese
    colon = "：" if zh else ": "
    parts: list[tuple[str, Sequence[str]]] = [("goal", [found.goal]), (found.status, [found.outcome])]
    if not short:
        parts[1:1] = [("said", found.said), ("decided", found.decided), ("did", found.did)]
        parts += [("steps", found.steps), ("questions", found.questions)]
    rows = dict.fromkeys((name, text) for name, texts in parts for text in texts if text)
    return [f"{label(name, chinese=zh)}{colon}{text}" for name, text in rows]
