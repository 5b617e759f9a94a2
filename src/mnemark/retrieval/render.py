"""Cut the words of a hit that are shown: without comments, and the snippet around what matched."""

import re
from collections.abc import Mapping
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown import drop_comments

NOTED: Final = "noted"
"""Key in the `meta` of a turn's hit: the `text` and `ref` of what was noted of it, where that says more."""

EARLIER: Final = "earlier"
"""Key in the `meta` of a hit: another one, on the same matter, is newer."""


def named(kind: str, path: str) -> dict[str, str]:
    """Return what the path of a passage says of it: the name of an attachment, for `describe`."""
    return {"attachment": path.rpartition("/")[2].removesuffix(".md")} if kind == "attachment" else {}


_PIECE: Final = lazy_pattern(r"[^\n。！？!?；;]*(?:[。！？!?；;]+|\n|$)|\n")
_MARKS: Final = lazy_pattern(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+|>[ \t]?|\d{1,3}[.)][ \t]+)+", re.MULTILINE)
"""Markers of headings, lists and quotes at the start of a line, useless once lines are joined."""
_HEADING: Final = lazy_pattern(r"\s*#{1,6}[ \t]+(?P<name>[^\n]+)")
_MARKUP: Final = lazy_pattern(r"[`*_]")
_MAX_SCANNED: Final = 20_000
"""Maximum number of characters of a passage searched; only one with an unsplittable line is longer."""


def without_comments(text: str) -> str:
    """Remove Markdown comments, such as the metadata of a fact."""
    return drop_comments(text, blanks=" \t")


def _without_title(text: str, title: str) -> str:
    """Remove the headings at the start of a passage that its title repeats, if more than headings follows."""
    names = {_MARKUP.sub("", name).strip() for name in title.split("›")}
    at = 0
    while (match := _HEADING.match(text, at)) and _MARKUP.sub("", match["name"]).strip(" \t\r#") in names:
        at = match.end()
    return text[at:] if text[at:].strip() else text


def snippet(text: str, idf: Mapping[str, float], *, title: str = "", length: int = 160) -> str:
    """Return up to `length` characters of `text` around the sentence with the rarest terms of the query.

    White space is folded to single spaces; "…" marks omissions. Headings that `title` says already are left
    out.
    """
    text = _without_title(text[:_MAX_SCANNED], title) if title else text[:_MAX_SCANNED]
    text = _MARKS.sub("", without_comments(text))
    if len(text) <= length:
        return " ".join(text.split())
    pieces = [match.group() for match in _PIECE.finditer(text) if match.group().strip()]
    if not pieces:
        return ""
    # Substrings are compared, not terms: a stem is nearly always a prefix of its word, and a snippet is
    # computed for every hit.
    values = [
        sum(weight for term, weight in idf.items() if term in folded) for folded in map(str.casefold, pieces)
    ]
    best = values.index(max(values))
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
    shown = " ".join("".join(pieces[first : last + 1]).split())
    if len(shown) > length:
        shown = _window(shown, idf, length)
        last = len(pieces) if not shown.endswith("…") else last
    if first and not shown.startswith("…"):
        shown = f"…{shown}"
    if last + 1 < len(pieces) and not shown.endswith("…"):
        shown = f"{shown}…"
    return shown


def _window(shown: str, idf: Mapping[str, float], length: int) -> str:
    """Cut a window from a long sentence, starting a little before its rarest query term."""
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
