"""Check arguments of questions as callers give them."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mnemark.errors import UsageError, one_of
from mnemark.retrieval.query import MAX_CHARACTERS

_MOST_HITS: Final = 1_000


def among(values: Iterable[Any] | None, known: Sequence[str], name: str) -> frozenset[Any] | None:
    """The values, all of them known ones; None for None."""
    if values is None:
        return None
    chosen = frozenset([values] if isinstance(values, str) else values)
    for value in sorted(chosen):
        one_of(value, known, name)
    return chosen


def text_of(query: str) -> str:
    """The query, if it is text, as far as it is read: a pasted file is no question."""
    if not isinstance(query, str):
        raise UsageError(f"the query must be text, not {type(query).__name__}")
    return query[:MAX_CHARACTERS]


def count_of(k: int) -> int:
    """How many hits, if so many can be given."""
    if not 1 <= k <= _MOST_HITS:
        raise UsageError(f"k must be from 1 to {_MOST_HITS}, not {k}")
    return k
