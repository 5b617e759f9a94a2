"""Detect text that looks like instructions to a model; it is labelled and ranked lower, never deleted.

It is no defence: other words always get through. It helps a person to see what a page wants. The patterns, in
`data/instructions.txt`, match text addressed *to* a model *about* its instructions, roles or secrets: a diary
that says "you are now a father" or asks to ignore a previous e-mail does not match. Each is searched only
around the words that it needs, so that ordinary text costs a look at its words.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.spans import positions
from mnemark.text.words.normalize import HAN, normalize

PATTERNS: Final = Path(__file__).resolve().parents[2] / "data" / "instructions.txt"
"""The patterns; its first lines say how it is written."""

_MARKERS: Final = lazy_pattern(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>|<<sys>>|"
    r"</?(?:system|system-reminder|system_prompt|developer)>|<start_of_turn>|\[/?inst\]"
)
_PART: Final = lazy_pattern("«[A-Z_]+»")
_DEFINITION: Final = lazy_pattern("(?P<name>«[A-Z_]+») = (?P<value>.*)")
_SEPARATORS: Final = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(256))
_BEFORE, _AFTER = 100, 70
"""Characters around a word in which the patterns that need it are searched."""
_LONGEST = 1_500
"""Characters in which a pattern is searched at a time, so that no text makes it slow."""


class Group(NamedTuple):
    """Patterns that need the same words."""

    words: tuple[frozenset[str], ...]  # a match has one of each; it is looked for around those of the first
    hints: tuple[str, ...]  # and one of these, if there are any
    patterns: tuple[re.Pattern[str], ...]


class Table(NamedTuple):
    """All patterns, by what they need."""

    english: tuple[Group, ...]
    by_anchor: dict[str, tuple[int, ...]]  # the groups that need a word first
    others: frozenset[str]  # all further words
    chinese: tuple[tuple[tuple[str, ...], tuple[re.Pattern[str], ...]], ...]
    any_chinese: re.Pattern[str]


@cache
def table() -> Table:
    """Read the patterns."""
    parts: dict[str, str] = {}
    english: list[Group] = []
    chinese: list[tuple[tuple[str, ...], tuple[re.Pattern[str], ...]]] = []
    for block in PATTERNS.read_text("utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        while lines and (defined := _DEFINITION.fullmatch(lines[0])):
            parts[defined["name"]] = _filled(defined["value"], parts)
            del lines[0]
        if not lines:
            continue
        head = _filled(lines.pop(0), parts)
        hints = (
            _filled(lines.pop(0), parts).removeprefix("hints: ").split("|")
            if lines[0].startswith("hints: ")
            else ()
        )
        patterns = tuple(lazy_pattern(_filled(line, parts)) for line in lines)
        if head.startswith("chinese: "):
            chinese.append((tuple(head.removeprefix("chinese: ").split("|")), patterns))
        else:
            words = head.removeprefix("words: ").split(" / ")
            english.append(Group(tuple(frozenset(one.split()) for one in words), tuple(hints), patterns))
    anchors = frozenset(word for group in english for word in group.words[0])
    return Table(
        english=tuple(english),
        by_anchor={
            word: tuple(n for n, one in enumerate(english) if word in one.words[0]) for word in anchors
        },
        others=frozenset(word for group in english for words in group.words[1:] for word in words),
        chinese=tuple(chinese),
        any_chinese=lazy_pattern("|".join(word for words, _ in chinese for word in words)),
    )


def _filled(line: str, parts: dict[str, str]) -> str:
    return _PART.sub(lambda found: parts[found[0]], line)


def looks_like_instructions(text: str) -> bool:
    """Return whether `text` addresses a model about its instructions, role or secrets (English or Chinese).

    Width, case, traditional and invisible characters are normalised first.
    """
    plain = normalize(text)
    if ("<" in plain or "inst]" in plain) and _MARKERS.search(plain):
        return True
    if _in_english(plain):
        return True
    return not plain.isascii() and HAN.search(plain) is not None and _in_chinese(plain)


def _in_english(plain: str) -> bool:
    known = table()
    words = plain.encode("ascii", "replace").translate(_SEPARATORS).decode("latin-1").split()
    anchors = known.by_anchor.keys() & words
    if not anchors:
        return False
    found = known.others.intersection(words)
    for number in sorted({number for anchor in anchors for number in known.by_anchor[anchor]}):
        group = known.english[number]
        if any(map(found.isdisjoint, group.words[1:])):
            continue
        if group.hints and not any(hint in plain for hint in group.hints):
            continue
        if _found_near(plain, anchors & group.words[0], group.patterns):
            return True
    return False


def _in_chinese(plain: str) -> bool:
    known = table()
    if not known.any_chinese.search(plain):
        return False
    for words, patterns in known.chinese:
        here = [word for word in words if word in plain]
        if here and _found_near(plain, here, patterns):
            return True
    return False


def _found_near(plain: str, words: Iterable[str], patterns: tuple[re.Pattern[str], ...]) -> bool:
    """Return whether a pattern matches around one of `words`; what is far apart is searched apart."""
    places = sorted((at, at + len(word)) for word in words for at in positions(plain, word))
    begin, end = max(0, places[0][0] - _BEFORE), 0
    for first, last in places:
        if first - _BEFORE > end > 0 or last - begin > _LONGEST:
            if _matches(patterns, plain, begin, end):
                return True
            begin = max(0, first - _BEFORE)
        end = last + _AFTER
    return _matches(patterns, plain, begin, end)


def _matches(patterns: tuple[re.Pattern[str], ...], plain: str, begin: int, end: int) -> bool:
    return any(pattern.search(plain, begin, end) for pattern in patterns)
