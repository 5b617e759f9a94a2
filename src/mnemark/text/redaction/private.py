"""Find `<private>…</private>` spans, which are not to be stored. The scanner fails closed.

All variants of a tag count: any case, white space and invisible characters inside, attributes, full-width
brackets and letters, brackets escaped for HTML, JSON or URLs, `<私密>` and `<隐私>`. If tags do not pair,
more is private rather than less:

- an opening tag without a closing one: everything to the end;
- a closing tag without an opening one: everything before it, back to the last private span;
- a tag closes only what was opened in the same style (plain, full-width or escaped brackets), and only
  if it is complete, so that nothing inside can end the span early.

Tags count in code fences and quotations, too: the text is stored, not its rendering.
"""

import re

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import INVISIBLE_RANGES

PLACEHOLDER = "[private]"

_GAP = rf"[\s\\{INVISIBLE_RANGES}]*"
_NAMES = ("private", "私密", "隐私", "隱私")
_WIDE = ord("ａ") - ord("a")
_NAME = "|".join(
    _GAP.join(f"[{letter}{chr(ord(letter) + _WIDE)}]" if letter.isascii() else letter for letter in name)
    for name in _NAMES
)
# One pattern per first character: `re` searches for a literal first character fast.
_LEFTS = (
    ("plain", "<", "<"),
    ("wide", "＜", "＜"),
    ("wide", "﹤", "﹤"),
    ("escaped", "&", r"&(?:amp;){0,9}(?:lt;?|\#0{0,9}60;?|\#x0{0,9}3c;?)"),
    ("escaped", "\\", r"\\(?:u003c|x3c)"),
    ("escaped", "%", r"%(?:25){0,9}3c"),
)
_SLASH = r"(?P<close>[/／⁄∕]|&\#0{0,9}47;|&\#x0{0,9}2f;|\\u002f|%(?:25){0,9}2f)"
_RIGHT = r"(?:>|[＞﹥]|&(?:amp;){0,9}(?:gt;?|\#0{0,9}62;?|\#x0{0,9}3e;?)|\\u003e|\\x3e|%(?:25){0,9}3e)"
# Gaps and names share no character with what follows them, so there is no backtracking: linear time.
_TAGS = tuple(
    (
        style,
        first,
        lazy_pattern(
            rf"{left}{_GAP}(?:{_SLASH}{_GAP})?(?:{_NAME})(?![\w-])(?P<end>{_GAP}{_RIGHT})?", re.IGNORECASE
        ),
    )
    for style, first, left in _LEFTS
)


def private_spans(text: str) -> list[tuple[int, int]]:
    """Return the private spans of `text`, half-open and disjoint, tags included, in order."""
    return _paired(text)[0]


def unpaired(text: str) -> tuple[int, bool] | None:
    """Return the position of the first unpaired tag, and whether it is an opening one; None if all pair."""
    return _paired(text)[1]


def _paired(text: str) -> tuple[list[tuple[int, int]], tuple[int, bool] | None]:
    """Return the private spans, and the first unpaired tag as `unpaired` does."""
    spans: list[tuple[int, int]] = []
    opened: list[str] = []
    begin = 0
    lone: tuple[int, bool] | None = None
    for style, mark in _tags(text):
        if mark["close"] is None:
            if not opened:
                begin = mark.start()
            opened.append(style)
        elif mark["end"] is None:
            continue  # an incomplete closing tag does not end the span
        elif not opened:
            # The opening tag was misspelt or lost: the text before is to be protected.
            lone = lone or (mark.start(), False)
            _add(spans, spans[-1][1] if spans else 0, mark.end())
        elif opened[-1] == style:
            opened.pop()
            if not opened:
                _add(spans, begin, mark.end())
    if opened:
        lone = lone or (begin, True)
        _add(spans, begin, len(text))
    return spans, lone


def _tags(text: str) -> list[tuple[str, re.Match[str]]]:
    """Return all tags in order, each with the style of its brackets."""
    found = [
        (style, mark) for style, first, pattern in _TAGS if first in text for mark in pattern.finditer(text)
    ]
    return sorted(found, key=lambda one: one[1].start())


def _add(spans: list[tuple[int, int]], start: int, end: int) -> None:
    if spans and spans[-1][1] == start:
        start = spans.pop()[0]
    spans.append((start, end))
