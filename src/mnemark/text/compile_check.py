"""Whether a model that was asked to shorten a text kept to it: nothing invented, nothing turned round.

Every line must rest on words of the source; its numbers, paths and code must stand there as they are, and
what the source forbids must not come back allowed. A rule cannot prove that a summary is right; it refuses
what is plainly not in the source.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from mnemark.text.outline import outline
from mnemark.text.segment import query_terms
from mnemark.text.stopwords import is_stop

GROUNDED: Final = 0.6
"""Share of a line's words that must stand in the source."""
COVERED: Final = 0.5
"""Share of a rule's words that a line must have to stand for it."""
_EXACT: Final = re.compile(
    r"`[^`\n]+`|https?://\S+|\d[\d.,:/-]*\d|\d|(?<!\w)[~./][\w./-]{2,}|\b[\w-]+/[\w./-]+"
)
_NOT: Final = re.compile(
    r"\b(?:not|never|no|don'?t|doesn'?t|cannot|can'?t|won'?t|without|avoid|forbidden|refuse|except|unless|neither|nor)\b|"
    r"不|没|别|勿|禁|严禁|绝不|避免|除非|无需|拒绝",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(r"^[\s>#*+-]*(?:\d{1,3}[.)、])?\s*")


def complaints(lines: Iterable[str], source: str, *, must: Sequence[str] = ()) -> list[str]:
    """What is wrong with `lines` as a shorter form of `source`; empty where nothing is found.

    Args:
        lines: the shorter form.
        source: the text it was made from.
        must: items of the source that must be there in some wording.
    """
    shown = [line for line in lines if _MARKS.sub("", line).strip()]
    pieces = [(item.text, words_of(item.text)) for item in outline(source)]
    known = words_of(source)
    flat = _flat(source)
    found = [wrong for line in shown if (wrong := _wrong(line, flat, known, pieces))]
    kept = [words_of(line) for line in shown]
    for rule in must:
        words = words_of(rule)
        if words and max((len(words & one) / len(words) for one in kept), default=0.0) < COVERED:
            found.append(f"a rule is missing: {rule[:80]}")
    return found


def words_of(text: str) -> frozenset[str]:
    """Words with weight, as the search cuts them."""
    return frozenset(term for term in query_terms(text) if not is_stop(term))


def _wrong(
    line: str, source: str, known: frozenset[str], pieces: Sequence[tuple[str, frozenset[str]]]
) -> str:
    words = words_of(_MARKS.sub("", line))
    for exact in _EXACT.findall(_MARKS.sub("", line)):
        if _flat(exact.strip("`.,:")) not in source:
            return f"not in the source: {exact} in {line[:80]!r}"
    if words and len(words & known) / len(words) < GROUNDED:
        return f"not in the source: {line[:80]!r}"
    best = max(pieces, key=lambda piece: _alike(words, piece[1]), default=None)
    close = best is not None and _alike(words, best[1]) >= COVERED
    if best is not None and close and len(_NOT.findall(line)) != len(_NOT.findall(best[0])):
        return f"turned round: {line[:80]!r}"
    return ""


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
