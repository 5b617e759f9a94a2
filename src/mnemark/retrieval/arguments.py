"""Validate the arguments of a search."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mnemark.errors import UsageError
from mnemark.retrieval.query import MAX_CHARACTERS
from mnemark.text.choices import one_of

_MAX_HITS: Final = 1_000


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
    if not isinstance(query, str):
        raise UsageError(f"the query must be text, not {type(query).__name__}")
    return query[:MAX_CHARACTERS]


def count_of(k: int) -> int:
    """Return `k`; raise UsageError where it is out of range."""
    if not 1 <= k <= _MAX_HITS:
        raise UsageError(f"k must be from 1 to {_MAX_HITS}, not {k}")
    return k
