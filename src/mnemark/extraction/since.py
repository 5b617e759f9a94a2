"""Find since when a fact holds, by the time words of its own clause."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple

from mnemark.extraction.candidate import Found
from mnemark.text.dates.grammar import START
from mnemark.text.dates.ranges import spans
from mnemark.text.lazy_pattern import lazy_pattern

_JOINT: Final = lazy_pattern(
    r"[,;，；。]|(?<!\s)\s++(?:and|but|although|though|while|whereas|because|so)(?!\S)|而且|并且|但是?|不过|后来|然后"
)
_BEGUN: Final = lazy_pattern(
    r"(?i)\b(?:i|we|you|he|she|it|they|my|our|his|her|their|this|that|there)\b|^\W{0,3}(?:(?:and|but|so) )?(?:now|currently|then)\b"
    r"|[\u4e00-\u9fff]"
)
"""Where a clause of its own begins: in English with a subject, while Chinese leaves it out."""
_OF_TIMES: Final = lazy_pattern(
    r"(?i)\b(?:in|on|at|since|from|by|around|about|early|late|mid|back|the|of|already|just|only|so|and|but)\b"
    r"|[的时候那在从自大概左右起开始早就事]|[\W_]"
)
_NOW: Final = lazy_pattern(
    r"(?i)\b(?:now|currently|nowadays|these days|at the moment|at present)\b|现在|目前|如今|眼下|至今"
)


class _Past(NamedTuple):
    start: int
    end: int
    begun: datetime


def valid_since(fact: Found, text: str, time: datetime) -> datetime:
    """Return since when a fact of a sentence holds: a past time that its clause names, else `time`.

    "In May, I moved to Porto" dates the move. "I live in Porto now, in 2025 I lived in Lisbon" dates nothing
    of Porto, nor does "My cousin Amina was here on Friday" date that she is a cousin.
    """
    today = time.replace(tzinfo=None)
    # "Since March" lasts until today: who says so means what holds now, whatever was said in between.
    # "By Wednesday" has no beginning.
    past = [
        _Past(start, end, one.start)
        for start, end, one in spans(text, time)
        if one.start > START and one.end <= today
    ]
    if not past or (fact.predicate == "relation" and not fact.over):
        return time
    at = text.casefold().find(fact.value.casefold()) if fact.value else -1
    if at < 0 or len(text.casefold()) != len(text):
        return past[0].begun.replace(tzinfo=time.tzinfo)
    parts = list(pairwise([0, *(joint.start() for joint in _JOINT.finditer(text)), len(text)]))
    first, last = _clause(text, parts, at, at + len(fact.value))
    clause, own = text[first:last], [one for one in past if first <= one.start < last]
    if _NOW.search(clause):
        return time
    dated = own or [one for one in past if _is_alone(text, parts, one)]
    return dated[0].begun.replace(tzinfo=time.tzinfo) if dated else time


def _clause(text: str, parts: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Return where the clause with the text from `start` to `end` begins and ends."""
    first, last = 0, len(text)
    for begin, stop in parts:
        if start < begin < end or not _BEGUN.search(text[begin:stop]):
            continue
        if begin >= end:
            last = begin
            break
        first = begin
    return first, last


def _is_alone(text: str, parts: Sequence[tuple[int, int]], time: _Past) -> bool:
    """Return whether the part of a sentence with a time says nothing else: "In May, I moved to Porto"."""
    first, last = next((first, last) for first, last in parts if first <= time.start < last)
    return not _OF_TIMES.sub("", text[first : time.start] + text[time.end : last])
