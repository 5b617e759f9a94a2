"""Normalize text: width, case, traditional Chinese, invisible characters."""

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Literal

from mnemark.text.lazy_pattern import lazy_pattern

VARIANTS = Path(__file__).resolve().parents[2] / "data" / "variants.txt"
"""Two lines: traditional characters, and below each its simplified form (tools/build_variants.py)."""

_INVISIBLE_SPANS = (
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

INVISIBLE = "".join(f"{chr(first)}-{chr(last)}" for first, last in _INVISIBLE_SPANS)
"""Body of a character class: characters without width, which can hide or reorder text."""

_MOST_MARKS = 30  # combining marks on one letter (Stream-Safe Text Format, UAX #15); no language has more
# A superset of what may become a combining mark, among them the voiced sounds of half width.
_MAYBE_MARKS = lazy_pattern(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{_MOST_MARKS + 1},}}")
_MOST_ROUNDS = 4  # Unicode folds settle in two; the bound is for safety only


@cache
def _table() -> dict[int, str | None]:
    """Map to simplified Chinese and apply NFKC to the punctuation of Chinese texts, in one pass."""
    traditional, simple = VARIANTS.read_text(encoding="utf-8").splitlines()
    table: dict[int, str | None] = dict(zip(map(ord, traditional), simple, strict=True))
    for point in (0x2026, 0x3000, *range(0xFF01, 0xFF5F)):
        table[point] = unicodedata.normalize("NFKC", chr(point))
    for first, last in _INVISIBLE_SPANS:
        table.update(dict.fromkeys(range(first, last + 1)))
    return table


def fold(text: str) -> str:
    """Return `text` in one width (NFKC), simplified Chinese, without invisible characters; case is kept."""
    if text.isascii():
        return text
    text = text.translate(_table())
    for _ in range(_MOST_ROUNDS):
        if unicodedata.is_normalized("NFKC", text):
            break
        # What NFKC makes may be traditional, and what was taken away may let its neighbours compose.
        text = in_form("NFKC", text).translate(_table())
    return text


def in_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Normalize `text` to a Unicode form in linear time, keeping at most 30 combining marks in a row.

    Python orders marks one by one: a letter with 100,000 of them would take minutes.
    """
    return unicodedata.normalize(form, _MAYBE_MARKS.sub(_first_marks, text))


def _first_marks(match: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for char in match[0]:
        marks = marks + 1 if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else 0
        if marks <= _MOST_MARKS:
            kept.append(char)
    return "".join(kept)


def normalize(text: str) -> str:
    """Fold `text` (see `fold`) and its case, for matching. Idempotent; the length may change."""
    if text.isascii():
        return text.lower()
    text = fold(text)
    for _ in range(_MOST_ROUNDS):
        # Case folding can undo the composition, and the other way round: go on until nothing moves.
        caseless = text.casefold()
        if caseless == text:
            break
        text = fold(caseless)
    return text
