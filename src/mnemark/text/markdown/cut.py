"""Split a block that is too large for one passage."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.blocks import BlockKind

_BOL: Final = r"(?:(?<=\n)|(?<=\r)(?!\n))"
_LINE: Final = lazy_pattern(_BOL)
_ITEM: Final = lazy_pattern(_BOL + r"(?= {0,3}(?:[-+*]|\d{1,9}[.)])[ \t])")
_GAP: Final = lazy_pattern(r"(?:(?<=\n[ \t]\n)|(?<=\n\n)|(?<=\n\r\n)|(?<=\r\r))(?=[^\r\n])")
_QUOTE_GAP: Final = lazy_pattern(r"(?<=\n)>[> \t]*\r?\n")
_SENTENCE: Final = lazy_pattern(r"""(?:[。！？!?…]++[”’」』）)】》"']*+\s*+|\.["')\]”’]*+\s++(?=[^a-z\s]))""")
_CLAUSE: Final = lazy_pattern(r"[，；：、,;:]\s*+(?=\D)")
_WORD: Final = lazy_pattern(r"(?<=\s)(?=\S)")

_SPLIT_POINTS: Final[dict[BlockKind, tuple[re.Pattern[str], ...]]] = {
    "list": (_ITEM, _LINE, _SENTENCE, _CLAUSE, _WORD),
    "fence": (_GAP, _LINE, _WORD),
    "code": (_GAP, _LINE, _WORD),
    "table": (_LINE, _SENTENCE, _WORD),
    "quote": (_QUOTE_GAP, _SENTENCE, _LINE, _CLAUSE, _WORD),
    "html": (_GAP, _LINE, _SENTENCE, _WORD),
    "front": (_LINE, _WORD),
    "paragraph": (_SENTENCE, _LINE, _CLAUSE, _WORD),
}
_DEFAULT_SPLIT_POINTS: Final = (_LINE, _SENTENCE, _WORD)
_MOST_LOOKAHEAD: Final = 14
"""Characters that a pattern looks at behind its match, at most: the indent and number of an item."""
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")


def cut(
    text: str,
    span: tuple[int, int],
    kind: BlockKind,
    limits: tuple[float, float],
    cost: Callable[[str], float],
) -> Iterator[tuple[int, int, float]]:
    """Yield parts `(start, end, tokens)` of the span: the first up to `limits[0]` tokens, others `limits[1]`.

    Each part ends at the best split point in its second half, by the order of `_SPLIT_POINTS`, or else at any
    character. Work per part is bounded by its length.
    """
    start, end = span
    places = _SPLIT_POINTS.get(kind, _DEFAULT_SPLIT_POINTS)
    limit = max(limits[0], 1)
    size = int(limit * 4)
    while start < end:
        size, tokens = _fit(text, (start, end), size, limit, cost)
        at = start + size
        if at < end:
            if end - at < size // 4:
                # Two parts of about half each, rather than a full one and a tiny one.
                at = start + max(1, (end - start) * 5 // 8)
            at = _split_point(text, start, min(at, start + size), places)
            tokens = cost(text[start:at])
        yield start, at, tokens
        start, limit = at, limits[1]
        size = max(size, 16)


def _fit(
    text: str, span: tuple[int, int], guess: int, limit: float, cost: Callable[[str], float]
) -> tuple[int, float]:
    """Return about the maximum number of characters within `limit` tokens, at least 1, and their cost."""
    start, end = span
    size = min(max(guess, 1), end - start)
    tokens = cost(text[start : start + size])
    while tokens <= limit * 0.8 and size < end - start:
        more = min(end - start, max(size + 1, int(size * min(2.0, limit / max(tokens, 1)))))
        size, tokens = more, cost(text[start : start + more])
    while tokens > limit and size > 1:
        size = max(1, min(size - 1, int(size * limit / tokens * 0.97)))
        tokens = cost(text[start : start + size])
    return size, tokens


def _split_point(text: str, start: int, limit: int, places: tuple[re.Pattern[str], ...]) -> int:
    low = start + (limit - start) // 2
    for place in places:
        # A split point exactly at the limit is found by what follows it.
        ends = (match.end() for match in place.finditer(text, low, limit + _MOST_LOOKAHEAD))
        if best := max((end for end in ends if low < end <= limit), default=0):
            return best
    at = limit
    while at > start + 1 and limit - at < 16 and _inseparable(text, at):
        at -= 1
    return limit if _inseparable(text, at) else at


def _inseparable(text: str, at: int) -> bool:
    """Return whether `at` is inside a grapheme: before a combining mark, in a joined emoji or in CRLF."""
    if at >= len(text):
        return False
    here, before = text[at], text[at - 1]
    if before == "\r" and here == "\n":
        return True
    return here in _JOINERS or before == "\u200d" or unicodedata.combining(here) != 0
