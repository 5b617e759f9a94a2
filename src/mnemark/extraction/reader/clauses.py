"""Cut a message into sentences and clauses, as spans of characters."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from mnemark.extraction.reader.tokens import Token
from mnemark.extraction.sentences import goes_on
from mnemark.text.lazy_pattern import lazy_pattern

SENTENCE_END: Final = lazy_pattern(r"(?<![.!?…])[.!?…]++(?=\s|$)|[。！？\n]+")
CLAUSE_END: Final = lazy_pattern(
    r"[,;，；]\s*|(?<!\s)\s++(?:and|but|so|because)\s+(?=(?:i|i'm|i've|my|we|our)\b)"
)
_CUT: Final = lazy_pattern(rf"(?i){SENTENCE_END.pattern}|{CLAUSE_END.pattern}")
_FEWEST: Final = 2
"""Tokens of a clause; fewer are a part of the one before."""


def around(text: str, start: int, end: int, stop: re.Pattern[str]) -> tuple[int, int]:
    """Return where the part of a text around a place begins and ends, between two stops."""
    first, last = 0, len(text)
    for match in stop.finditer(text):
        if goes_on(text, first, match.end()):
            continue
        if match.end() <= start:
            first = match.end()
        elif match.start() >= end:
            last = match.end()
            break
    return first, last


def clauses(text: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the clauses of a message as spans of its tokens, without gaps."""
    cuts, at = [0], 0
    for match in _CUT.finditer(text):
        while at < len(tokens) and tokens[at].start < match.end():
            at += 1
        if at == len(tokens):
            break
        if at - cuts[-1] >= _FEWEST:
            cuts.append(at)
    return list(pairwise([*cuts, len(tokens)])) if tokens else []
