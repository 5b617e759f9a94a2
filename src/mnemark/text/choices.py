"""Check words of which only some are known."""

from collections.abc import Iterable
from typing import TypeVar

from mnemark.errors import UsageError

Word = TypeVar("Word", bound=str)


def one_of(value: Word, known: Iterable[Word], name: str) -> Word:
    """Return `value` if it is a known one; raise UsageError, which names the known ones, otherwise."""
    if value not in (choices := tuple(known)):
        raise UsageError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value
