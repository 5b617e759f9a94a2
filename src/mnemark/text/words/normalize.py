"""Normalize text: width, case, traditional Chinese, invisible characters."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby, pairwise
from typing import Literal

from mnemark.text import DATA
from mnemark.text.lazy_pattern import lazy_pattern

_HAN_SPANS = (
    (0x3005, 0x3005),
    (0x3007, 0x3007),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
INVISIBLE_SPANS = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),  # zero width, direction marks
    (0x202A, 0x202E),  # direction controls
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE01EF),  # tags and more selectors
)
"""Characters that can hide or reorder text: first and last code point of each span."""


def character_class(spans: Iterable[tuple[int, int]]) -> str:
    """Return the body of a regular expression character class of these characters."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)


class CharacterKind:
    """A kind of characters to look for in texts, each judged when it is first met.

    That is for short texts: a pattern is quicker, but with such a class it takes a millisecond to compile.
    """

    def __init__(self, belongs: Callable[[str], bool]) -> None:
        self._belongs = belongs
        self._members: set[str] = set()
        self._others: set[str] = set()

    @classmethod
    def within(cls, spans: Iterable[tuple[int, int]]) -> "CharacterKind":
        """Return those of spans, given by first and last code point."""
        bounds = tuple((chr(first), chr(last)) for first, last in spans)
        return cls(lambda character: any(first <= character <= last for first, last in bounds))

    def among(self, text: str) -> set[str]:
        """Return the characters of this kind that a text contains."""
        rest = set(text).difference(self._others)
        if not rest:
            return rest
        members = {one for one in rest if one in self._members or self._belongs(one)}
        self._members |= members
        self._others |= rest - members
        return members


HAN_RANGES = character_class(_HAN_SPANS)
"""Body of a regular expression character class of Chinese characters."""

HAN = lazy_pattern(f"[{HAN_RANGES}]")
"""A Chinese character."""

CHINESE_RUNS = lazy_pattern(f"([{HAN_RANGES}]+)")
"""Runs of Chinese characters: `split` returns them at odd places, and at even ones what stands between.

One pattern for all who need them, as each such class takes a millisecond to compile; see `chinese_runs`.
"""
_HAN_KIND = CharacterKind.within(_HAN_SPANS)

VARIANTS = DATA / "variants.txt"
"""File of two lines: traditional characters, and their simplified forms (tools/build_variants.py)."""

INVISIBLE_RANGES = character_class(INVISIBLE_SPANS)
"""Body of a regular expression character class of invisible characters, which can hide or reorder text."""

_MAX_MARKS = 30  # combining marks on one letter (Stream-Safe Text Format, UAX #15); no language has more
# A superset of the characters that NFKD maps to combining marks, such as half-width voiced sound marks.
_MANY_MARKS = lazy_pattern(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{_MAX_MARKS + 1},}}")
_FEW_REPLACED = 8  # different characters; replacing each takes as long as translating a part of the text
_MAX_ROUNDS = 4  # folding is stable after two rounds; the bound is for safety only


@cache
def _variants() -> tuple[str, str]:
    traditional, simplified = VARIANTS.read_bytes().decode().splitlines()
    return traditional, simplified


class _Replacements(dict[int, str]):
    """A translation table: simplified Chinese, NFKC of Chinese punctuation, "" for invisibles, else the same.

    No replacement contains a character that is replaced. What stands for a character is looked up when it is
    first met: all of them take 2 ms to make.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        traditional, simplified = _variants()
        if any(first <= code <= last for first, last in INVISIBLE_SPANS):
            replacement = ""
        elif code in {0x2026, 0x3000} or 0xFF01 <= code <= 0xFF5E:
            replacement = unicodedata.normalize("NFKC", character)
        else:
            at = traditional.find(character)
            replacement = character if at < 0 else simplified[at]
        self[code] = replacement
        return replacement


_REPLACEMENTS = _Replacements()
_REPLACED_CHARACTERS = CharacterKind(lambda character: _REPLACEMENTS[ord(character)] != character)


def _with_replacements(text: str) -> str:
    """Return `text.translate(_REPLACEMENTS)`, faster where few different characters are replaced."""
    replaced = _REPLACED_CHARACTERS.among(text)
    if len(replaced) > _FEW_REPLACED:
        return text.translate(_REPLACEMENTS)
    for character in replaced:
        text = text.replace(character, _REPLACEMENTS[ord(character)])
    return text


def fold(text: str) -> str:
    """Return `text` in NFKC and simplified Chinese, without invisible characters; case is kept."""
    if text.isascii():
        return text
    text = _with_replacements(text)
    for _ in range(_MAX_ROUNDS):
        if unicodedata.is_normalized("NFKC", text):
            break
        # NFKC may produce traditional characters, and removing a character may let its neighbours compose.
        text = _with_replacements(in_form("NFKC", text))
    return text


def in_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Normalize `text` to a Unicode form in linear time, keeping at most 30 combining marks in a row.

    Python sorts combining marks in quadratic time: a letter with 100,000 of them would take minutes.
    """
    return unicodedata.normalize(form, _MANY_MARKS.sub(_without_excess_marks, text))


def _without_excess_marks(match: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for char in match[0]:
        marks = marks + 1 if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else 0
        if marks <= _MAX_MARKS:
            kept.append(char)
    return "".join(kept)


def normalize(text: str) -> str:
    """Fold `text` (see `fold`) and casefold it, for matching. Idempotent; the length may change."""
    return normalize_folded(fold(text))


def normalize_folded(text: str) -> str:
    """Casefold a text that `fold` returned."""
    if text.isascii():
        return text.lower()
    for _ in range(_MAX_ROUNDS):
        # Case folding can undo composition and the reverse: repeat until the text is stable.
        caseless = text.casefold()
        if caseless == text:
            break
        text = fold(caseless)
    return text


def chinese_runs(text: str) -> list[tuple[bool, str]]:
    """Split a short text into runs of Chinese characters and of others, each with whether it is Chinese."""
    han = _HAN_KIND.among(text)
    if not han:
        return [(False, text)] if text else []
    return [(chinese, "".join(run)) for chinese, run in groupby(text, han.__contains__)]


def han_pairs(text: str) -> set[str]:
    """Return the pairs of characters that stand beside each other, both Chinese.

    >>> sorted(han_pairs("我弹钢琴, ok"))
    ['弹钢', '我弹', '钢琴']
    """
    return {one + two for one, two in pairwise(text) if one >= "\u4e00" and two >= "\u4e00"}
