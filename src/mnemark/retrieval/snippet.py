"""Cut a snippet that shows why a passage was found."""

import re
from collections.abc import Mapping
from typing import Final

from mnemark.text.markdown.comments import drop_comments

_PIECE: Final = re.compile(r"[^\n。！？!?；;]*(?:[。！？!?；;]+|\n|$)|\n")
_MARKS: Final = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+|>[ \t]?|\d{1,3}[.)][ \t]+)+", re.MULTILINE)
"""Marks of headings, lists and quotes at the beginning of a line: they say nothing on one line."""
_SPACE: Final = re.compile(r"\s+")
_SCANNED: Final = 20_000
"""Characters of a passage looked at: a passage is short, but for a line that cannot be split."""


def without_comments(text: str) -> str:
    """Without what Markdown does not show, such as the bookkeeping behind a fact."""
    return drop_comments(text, blanks=" \t")


def snippet(text: str, idf: Mapping[str, float], *, length: int = 160) -> str:
    """Up to `length` characters of `text` around the sentence with the rarest terms of the query.

    White space is folded to single spaces; "…" marks what was left out.
    """
    text = _MARKS.sub("", without_comments(text[:_SCANNED]))
    if len(text) <= length:
        return _SPACE.sub(" ", text).strip()
    pieces = [match.group() for match in _PIECE.finditer(text) if match.group().strip()]
    if not pieces:
        return ""
    values = [_value(piece.casefold(), idf) for piece in pieces]
    best = max(range(len(pieces)), key=lambda index: (values[index], -index))
    first = last = best
    size = len(pieces[best])
    while first or last + 1 < len(pieces):
        after = len(pieces[last + 1]) if last + 1 < len(pieces) else length
        before = len(pieces[first - 1]) if first else length
        if size + after <= length:
            last, size = last + 1, size + after
        elif size + before <= length:
            first, size = first - 1, size + before
        else:
            break
    shown = _SPACE.sub(" ", "".join(pieces[first : last + 1])).strip()
    if len(shown) > length:
        shown = _around(shown, idf, length)
        last = len(pieces) if not shown.endswith("…") else last
    if first and not shown.startswith("…"):
        shown = f"…{shown}"
    if last + 1 < len(pieces) and not shown.endswith("…"):
        shown = f"{shown}…"
    return shown


def _value(piece: str, idf: Mapping[str, float]) -> float:
    """How much of the query stands in a piece.

    Letters are compared, not terms: a stem is nearly always the beginning of its word, and a snippet is made
    for every hit.
    """
    return sum(weight for term, weight in idf.items() if term in piece)


def _around(shown: str, idf: Mapping[str, float], length: int) -> str:
    """A window of a long sentence that begins a little before its rarest term of the query."""
    lowered = shown.casefold()
    places = [(weight, lowered.find(term)) for term, weight in idf.items()]
    found = [(weight, place) for weight, place in places if place >= 0]
    start = max(0, max(found)[1] - length // 3) if found else 0
    start = min(start, max(0, len(shown) - length))
    if start:
        space = shown.find(" ", start, start + 20)
        start = space + 1 if space >= 0 else start
    cut = shown[start : start + length]
    return f"{'…' if start else ''}{cut}{'…' if start + length < len(shown) else ''}"
