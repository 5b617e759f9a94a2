"""Check arguments of callers; errors name what is right."""

from collections.abc import Iterable
from typing import TypeVar

from mnemark.errors import UsageError

MOST_SECONDS = 86_400.0
"""The longest deadline, a day."""
Word = TypeVar("Word", bound=str)


def one_of(value: Word, known: Iterable[Word], name: str) -> Word:
    """Return `value` if it is a known one; raise UsageError, which names the known ones, otherwise."""
    if value not in (choices := tuple(known)):
        raise UsageError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


def text_given(value: object, name: str) -> str:
    """Return `value`; raise UsageError where it is not text."""
    if not isinstance(value, str):
        raise UsageError(f"{name} must be text, not {type(value).__name__}")
    return value


def number_given(value: object, name: str, most: float, least: float = 0) -> float:
    """Return `value`; raise UsageError where it is not a number from `least` to `most`."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not least <= value <= most:
        raise UsageError(f"{name} must be a number from {least:g} to {most:g}, not {value!r}")
    return value
