"""Cut the words of a hit that are shown: without comments, and the snippet around what matched."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mnemark.retrieval.sought import Sought, sought
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown import drop_comments

NOTED: Final = "noted"
"""Key in the `meta` of a turn's hit: the `text` and `ref` of what was noted of it, where that says more."""

EARLIER: Final = "earlier"
"""Key in the `meta` of a hit: another one, on the same matter, is newer."""
CORRECTED: Final = "corrected"
"""Key in the `meta` of a hit of what was corrected in it since, in words."""
_SET_BY_SEARCH: Final = frozenset({CORRECTED, EARLIER, "applies", "suspect"})
"""Keys in the `meta` of a hit that a search sets, and no turn that was recorded with them."""


def recorded(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was recorded in a `meta`, without what only a search may say."""
    return {name: value for name, value in meta.items() if name not in _SET_BY_SEARCH}


def named(kind: str, path: str) -> dict[str, str]:
    """Return what the path of a passage says of it: the name of an attachment, for `describe`."""
    return {"attachment": path.rpartition("/")[2].removesuffix(".md")} if kind == "attachment" else {}


_END: Final = lazy_pattern(r"[。！？!?；;\n]+|\.(?=\s)")
"""Ends a sentence."""
_MARKS: Final = lazy_pattern(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+|>[ \t]?|\d{1,3}[.)][ \t]+)+", re.MULTILINE)
"""Markers of headings, lists and quotes at the start of a line, useless once lines are joined."""
_HEADING: Final = lazy_pattern(r"\s*#{1,6}[ \t]+(?P<name>[^\n]+)")
_MARKUP: Final = lazy_pattern(r"[`*_]")
_MAX_SCANNED: Final = 20_000
"""Maximum number of characters of a passage searched; only one with an unsplittable line is longer."""
_LONGEST_WORD: Final = 20
"""Characters that are looked through for the end of a word where a text is cut."""
_AFTER: Final = 60
"""Characters from a term on, to the end of its sentence, that are shown with it."""
_KIND: Final = ""
"""Stands among the terms of a question for the kind of thing that it asks for."""
_SOUGHT: Final = 0.5
"""Weight of that kind, as a share of the rarest term's: on six sets of questions, .3 to .8 differ little."""
_ROUNDING: Final = 1e-9


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


def snippet(
    text: str, idf: Mapping[str, float], *, title: str = "", question: str = "", length: int = 160
) -> str:
    """Return up to `length` characters of `text` that answer; "…" marks omissions.

    Those have the rarest terms of the question together, in sentences that do not ask themselves, and beside
    them the kind of thing that `question` asks for. White space is folded to single spaces. Headings that
    `title` says already are left out.
    """
    text = _without_title(text[:_MAX_SCANNED], title) if title else text[:_MAX_SCANNED]
    text = without_comments(text)
    longest = 2 * length  # before marks and white space are folded
    if len(text) <= longest and len(plain := _plain(text)) <= length:
        return plain
    places = _telling(text, _places(text, idf, sought(question)))
    start = _begin(text, _best_span(places, idf, length), length)
    shown = _plain(text[start : start + longest])
    more = len(shown) > length or start + longest < len(text)
    if len(shown) > length:
        space = shown.rfind(" ", length - _LONGEST_WORD, length + 1)
        shown = shown[: space if space > 0 else length]
    return f"{'…' if start else ''}{shown}{'…' if more else ''}"


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _places(text: str, idf: Mapping[str, float], kind: Sought | None) -> list[tuple[int, str]]:
    """Return where words begin like terms, with the term, and what is sought, with `_KIND`; in order."""
    folded = text.casefold()
    folded = folded if len(folded) == len(text) else text
    places: list[tuple[int, str]] = []
    # Beginnings are compared, not terms: a stem is nearly always a prefix of its word, and a snippet is
    # computed for every hit.
    for term in idf:
        at = folded.find(term)
        while at >= 0:
            before = folded[at - 1 : at]
            if not (before.isalnum() and before.isascii() and term[0].isascii()):
                places.append((at, term))
            at = folded.find(term, at + len(term))
    if kind is not None and places:
        places += [(at, _KIND) for at in kind.places(text)]
    return sorted(places)


def _telling(text: str, places: Sequence[tuple[int, str]]) -> list[tuple[int, int, str]]:
    """Return the places, each with the end of what is shown with it, that are in no question, if any."""
    telling: list[tuple[int, int, str]] = []
    end, asks = 0, False
    for at, term in places:
        if at >= end:
            match = _END.search(text, at)
            end = match.end() if match else len(text)
            asks = match is not None and match[0][-1] in "?？"
        if not asks:
            telling.append((at, min(at + _AFTER, end), term))
    return telling or [(at, at + len(term), term) for at, term in places]


def _best_span(
    places: Sequence[tuple[int, int, str]], idf: Mapping[str, float], length: int
) -> tuple[int, int]:
    """Return the first span of at most `length` characters with the places that weigh most together."""
    weights = {**idf, _KIND: _SOUGHT * max(idf.values(), default=0.0)}
    held = dict.fromkeys(weights, 0)
    value = most = 0.0
    best = (0, 0)
    last = 0
    for at, _, term in places:
        while last < len(places) and places[last][1] <= at + length:
            other = places[last][2]
            value += 0 if held[other] else weights[other]
            held[other] += 1
            last += 1
        if value > most + _ROUNDING:
            most, best = value, (at, places[last - 1][1])
        held[term] -= 1
        value -= 0 if held[term] else weights[term]
    return best


def _begin(text: str, span: tuple[int, int], length: int) -> int:
    """Return where to begin: with a sentence, at best in half of the room that a span leaves; else a word."""
    start, end = span
    latest = min(start, len(text) - length)
    room = length - (end - start)
    for before in (room // 2, room):
        least = min(start - before, latest)
        if least <= 0:
            return 0
        sentence = _END.search(text, least - 1, latest + 1)
        if sentence and sentence.end() <= latest:
            return sentence.end()
    least = min(start - room // 2, latest)
    return max(text.find(" ", least, least + _LONGEST_WORD) + 1, least)
