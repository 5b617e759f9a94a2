"""Cut lists into pages, with the cursors that continue them; count by value and by day."""

import base64
import binascii
import heapq
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Any, Final, Generic, TypeVar

import msgspec

from mnemark.errors import UsageError

T = TypeVar("T")
MOST: Final = 200
"""Maximum number of rows of a page."""
MOST_DAYS: Final = 3_700


class Page(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """Some rows of a list."""

    rows: tuple[T, ...]
    next: str = ""
    """The cursor of the next page; empty on the last one."""
    total: int | None = None
    """Number of rows of the whole list; None where it was not counted."""


def checked(limit: int) -> int:
    """Return a number of rows. Raises UsageError unless it is from 1 to `MOST`."""
    if not 1 <= limit <= MOST:
        raise UsageError(f"limit must be from 1 to {MOST}, not {limit}")
    return limit


def last_days(days: int, until: date) -> list[date]:
    """Return so many days up to a day, oldest first. Raises UsageError unless they are 1 to `MOST_DAYS`."""
    if not 1 <= days <= MOST_DAYS:
        raise UsageError(f"days must be from 1 to {MOST_DAYS}, not {days}")
    return [until - timedelta(days=n) for n in reversed(range(days))]


def counts(values: Iterable[str]) -> dict[str, int]:
    """Return how often each value is there, the most frequent first."""
    return dict(Counter(values).most_common())


def cursor(*key: str | int) -> str:
    """Return the cursor of the rows that come after the one with this sort key."""
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def key_of(given: str, types: Any) -> Any:
    """Return the sort key in a cursor, a tuple of `types`; None for an empty cursor.

    Raises:
        UsageError: it is no cursor of this list.
    """
    if not given:
        return None
    try:
        data = base64.urlsafe_b64decode(given.encode() + b"=" * (-len(given) % 4))
        return msgspec.json.decode(data, type=types)
    except (binascii.Error, msgspec.DecodeError, UnicodeError) as error:
        raise UsageError("this is no cursor of this list; begin again without one") from error


def page_by(
    found: Sequence[T], key: Callable[[T], tuple[Any, ...]], types: Any, *,
    after: str, limit: int, falls: bool = True,
) -> Page[T]:  # fmt: skip
    """Return a page of a list, the largest key first if it falls; the cursor is the key of its last row."""
    start = key_of(after, types)
    beyond = operator.lt if falls else operator.gt
    rest = found if start is None else [one for one in found if beyond(key(one), start)]
    first = heapq.nlargest if falls else heapq.nsmallest
    page = tuple(first(checked(limit), rest, key=key))
    more = cursor(*key(page[-1])) if len(rest) > len(page) else ""
    return Page(rows=page, next=more, total=len(found))


def numbered(rows: Sequence[T], after: str, limit: int) -> Page[T]:
    """Return a page of a list that is whole in memory; the cursor counts rows."""
    start = (key_of(after, tuple[int]) or (0,))[0]
    end = max(start, 0) + checked(limit)
    more = cursor(end) if end < len(rows) else ""
    return Page(rows=tuple(rows[max(start, 0) : end]), next=more, total=len(rows))
