"""Find whose words a query asks for: a speaker it names, the user, or the assistant."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from mnemark.index.snapshot import Mask, Positions, TermHits
from mnemark.index.units import MONTHS, WEEKDAYS
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.words.segment import query_terms

_OTHERS: Final = lazy_pattern(
    r"\b(?:you|assistant|chatbot|ai)\s+(?:(?:just|first|also|already|previously|originally)\s+)?(?:said|told|"
    r"suggest(?:ed)?|recommend(?:ed)?|advised?|proposed?|explain(?:ed)?|mention(?:ed)?|gave|wrote|answer(?:ed)?|"
    r"came\s+up\s+with)\b|\byour\s+(?:\w+\s+)?(?:suggestion|advice|recommendation|answer|explanation|proposal)|"
    r"\b(?:summar(?:y|i[sz]e)|overview|recap)\b|"
    r"(?:你|您|助手)(?:之前|上次|刚才|当时)?(?:给我?|跟我|对我|向我)?(?:说|讲|建议|推荐|告诉|提到|提议|解释|回答)|"
    r"(?:你|您)的(?:建议|推荐|回答|解释)|总结|概括|概述|回顾",
    re.IGNORECASE,
)


def asks_user(text: str) -> bool:
    """Return whether the user's own messages answer a query, as far as it does not say otherwise.

    They do not more than others where it asks what the assistant said, or for a summary.
    """
    return _OTHERS.search(text[:2000]) is None


def named(hits: Mapping[str, TermHits], positions: Positions) -> Mask:
    """Return which of the passages have a speaker (or an attachment) that a term names.

    The head of a turn consists of speaker, attachments and date: a term in it that is no date names one.

    Args:
        hits: of the query's terms.
        positions: of passages, in any order.
    """
    found = np.zeros(len(positions), np.bool_)
    for term, hit in hits.items():
        if len(hit.pos) and not _is_date(term):
            place = np.minimum(np.searchsorted(hit.pos, positions), len(hit.pos) - 1)
            found |= (hit.pos[place] == positions) & (hit.head[place] > 0)
    return found


@cache
def _date_terms() -> frozenset[str]:
    words = (*MONTHS, *WEEKDAYS, "年", "月", "日")
    return frozenset(term for word in words for term in query_terms(word))


def _is_date(term: str) -> bool:
    return term in _date_terms() or any(character.isdigit() for character in term)
