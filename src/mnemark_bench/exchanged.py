"""Make questions on a memory's matters that it does not answer: one word exchanged for another of its kind.

The other word comes from the memory's other questions or speakers, so that it is at home there; what it
is exchanged for stands in the evidence, and it does not.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from mnemark.index.passage import MONTHS
from mnemark.text.words.normalize import HAN
from mnemark.text.words.segment import query_terms, tagged
from mnemark.text.words.stopwords import is_stop
from mnemark_bench.data import DataSet, SetQuestion, SetUnit

_MONTH: Final = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_CHINESE_MONTH: Final = re.compile(r"(?<!\d)(?:1[0-2]|[1-9])月")
_TOKEN: Final = re.compile(r"[A-Z][A-Za-z']*(?: [A-Z][A-Za-z']*)*|[A-Za-z']+|[.?!,:]")
"""A word, a name of several words, or a sign."""
_BEFORE_NOUN: Final = frozenset({
    "the", "a", "an", "his", "her", "their", "my", "our", "your", "its", "this", "that", "new", "first",
    "of", "for", "at", "in", "on", "with", "about", "and", "from", "to",
})  # fmt: skip
"""Words before which a word of a question is taken for a noun or a name."""


class _Slot(NamedTuple):
    """A word of a question that can be exchanged."""

    start: int
    end: int
    kind: str


def exchanged(data: DataSet) -> dict[str, SetQuestion]:
    """Return for each question, by id, one that its memory does not answer; without those that have none."""
    units = {scope: {unit.id: unit for unit in members} for scope, members in data.units.items()}
    words = {scope: _words(data, scope) for scope in units}
    found = {}
    for question in data.questions:
        scope = question.scopes[0]
        gold = [units[scope][identifier] for identifier in question.gold_ids]
        text = _exchange(question.query, gold, words[scope])
        if text is not None:
            found[question.qid] = replace(question, query=text, answerable=False)
    return found


def _words(data: DataSet, scope: str) -> dict[str, list[str]]:
    """Return the words by kind that a memory's questions and speakers have, the most frequent first."""
    found: dict[str, Counter[str]] = {}
    for question in data.questions:
        if question.scopes[0] == scope:
            for start, end, kind in _slots(question.query):
                found.setdefault(kind, Counter())[question.query[start:end]] += 1
    speakers = Counter(unit.role for unit in data.units[scope] if unit.role and unit.kind == "turn")
    found.setdefault("name", Counter()).update({name: 0 for name in speakers if name[0].isupper()})
    found["month"] = Counter(dict.fromkeys(MONTHS, 1))
    found["月"] = Counter(dict.fromkeys((f"{number}月" for number in range(1, 13)), 1))
    return {kind: [word for word, _ in counts.most_common()] for kind, counts in found.items()}


def _exchange(text: str, gold: list[SetUnit], words: dict[str, list[str]]) -> str | None:
    """Return a question with one word exchanged, or None; the same for the same question."""
    evidence = " ".join(f"{unit.role or ''} {unit.text}" for unit in gold)
    inside = set(query_terms(evidence))
    times = {(unit.time or "")[5:7] for unit in gold}
    chance = random.Random(text)  # noqa: S311 - a sample, no secret
    choices = [
        (slot, others)
        for slot in _slots(text)
        if slot.kind in {"month", "月"} or not inside.isdisjoint(query_terms(text[slot.start : slot.end]))
        if (others := [word for word in words[slot.kind] if _is_other(word, text, inside, times)])
    ]
    if not choices:
        return None
    slot, others = chance.choice(choices)
    return text[: slot.start] + chance.choice(others) + text[slot.end :]


def _is_other(word: str, text: str, inside: set[str], times: set[str]) -> bool:
    """Return whether a word is neither in the question nor in its evidence."""
    if word in text or not inside.isdisjoint(query_terms(word)):
        return False
    number = MONTHS.index(word) + 1 if word in MONTHS else word.removesuffix("月")
    return f"{number:0>2}" not in times


def _slots(text: str) -> Iterator[_Slot]:
    for match in _MONTH.finditer(text):
        yield _Slot(match.start(), match.end(), "month")
    for match in _CHINESE_MONTH.finditer(text):
        yield _Slot(match.start(), match.end(), "月")
    before = ""
    for match in _TOKEN.finditer(text):
        word = match[0].removesuffix("'s")
        if len(word) > 3 and word not in MONTHS and not is_stop(word.casefold()):
            end = match.start() + len(word)
            if word[0].isupper() and before not in {"", ".", "?", "!"}:
                yield _Slot(match.start(), end, "name")
            elif word[0].islower() and before.casefold() in _BEFORE_NOUN:
                yield _Slot(match.start(), end, "plural" if word.endswith("s") else "noun")
        before = match[0]
    yield from _chinese_slots(text)


def _chinese_slots(text: str) -> Iterator[_Slot]:
    place = 0
    for word, tag in tagged(text):
        start = text.find(word, place)
        if start < 0:
            continue
        place = start + len(word)
        if len(word) > 1 and HAN.match(word) and tag[:2] in {"n", "nr", "ns", "nt", "nz"}:
            yield _Slot(start, place, tag[:2])
