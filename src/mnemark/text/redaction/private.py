"""Find `<private>…</private>`, which a person marked as not to be kept. The scanner fails closed.

Anything that could be meant as a mark counts as one: any case, white space and invisible characters inside,
attributes, full-width brackets and letters, brackets escaped for HTML, JSON or URLs, `<私密>` and `<隐私>`.
Where marks do not pair, more is private rather than less:

- an opening mark without its closing one: everything to the end;
- a closing mark without an opening one: everything before it, back to the last private span;
- a mark closes only what was opened in the same spelling (plain, full-width or escaped brackets), and only
  if it is complete, so that nothing inside can end the span early.

Marks count in code fences and quotations, too: the text is stored, not its rendering.
"""

import re

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.normalize import INVISIBLE

PLACEHOLDER = "[private]"

_GAP = rf"[\s\\{INVISIBLE}]*"
_NAMES = ("private", "私密", "隐私", "隱私")
_WIDE = ord("ａ") - ord("a")
_NAME = "|".join(
    _GAP.join(f"[{letter}{chr(ord(letter) + _WIDE)}]" if letter.isascii() else letter for letter in name)
    for name in _NAMES
)
# One pattern for each first character: such a pattern is looked for at the speed of memory.
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
# Gaps and names share no character with what follows them, so nothing is tried twice: linear in time.
_MARKS = tuple(
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
    """Return the private spans of `text`, half-open and disjoint, marks included, in order."""
    return _paired(text)[0]


def unpaired(text: str) -> tuple[int, bool] | None:
    """Return the place of the first mark without its partner, and whether it opens; None: all pair."""
    return _paired(text)[1]


def _paired(text: str) -> tuple[list[tuple[int, int]], tuple[int, bool] | None]:
    """Return the private spans, and the first mark without its partner."""
    spans: list[tuple[int, int]] = []
    opened: list[str] = []
    begin = 0
    lone: tuple[int, bool] | None = None
    for style, mark in _marks(text):
        if mark["close"] is None:
            if not opened:
                begin = mark.start()
            opened.append(style)
        elif mark["end"] is None:
            continue  # not a whole closing mark: it ends nothing
        elif not opened:
            # Its opening mark was misspelt or lost: what it was to protect lies before it.
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


def _marks(text: str) -> list[tuple[str, re.Match[str]]]:
    """Return all marks in order, each with the spelling of its brackets."""
    found = [
        (style, mark) for style, first, pattern in _MARKS if first in text for mark in pattern.finditer(text)
    ]
    return sorted(found, key=lambda one: one[1].start())


def _add(spans: list[tuple[int, int]], start: int, end: int) -> None:
    if spans and spans[-1][1] == start:
        start = spans.pop()[0]
    spans.append((start, end))


def hide_private(text: str) -> str:
    """Replace each private span with `[private]`. Idempotent."""
    spans = private_spans(text)
    begins, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return PLACEHOLDER.join(text[begin:end] for begin, end in zip(begins, ends, strict=True))
