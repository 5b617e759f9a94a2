"""Validate the arguments of a search."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mnemark.errors import MOST_SECONDS, number_given, one_of, text_given
from mnemark.retrieval.query import MAX_CHARACTERS

_MAX_HITS: Final = 1_000
_MAX_TOKENS: Final = 10_000_000


def among(values: Iterable[Any] | None, known: Sequence[str], name: str) -> frozenset[Any] | None:
    """Return the values as a set, or None for None; raise UsageError for an unknown value."""
    if values is None:
        return None
    chosen = frozenset([values] if isinstance(values, str) else values)
    for value in sorted(chosen):
        one_of(value, known, name)
    return chosen


def text_of(query: str) -> str:
    """Return the query cut to `MAX_CHARACTERS`; raise UsageError where it is not a string."""
    return text_given(query, "the query")[:MAX_CHARACTERS]


def count_of(k: int) -> int:
    """Return `k`; raise UsageError where it is out of range."""
    return int(number_given(k, "k", _MAX_HITS, 1))


def seconds_of(deadline: float) -> float:
    """Return a deadline; raise UsageError where it is no number of seconds."""
    return number_given(deadline, "the deadline, in seconds,", MOST_SECONDS)


def budget_of(tokens: int) -> int:
    """Return a budget; raise UsageError where it is no number of tokens."""
    return int(number_given(tokens, "the budget, in tokens,", _MAX_TOKENS))
