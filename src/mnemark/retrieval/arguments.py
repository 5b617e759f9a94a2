"""Validate the arguments of a search, and make its request of them."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from mnemark.errors import MOST_SECONDS, number_given, one_of, text_given
from mnemark.files.scopes import scopes_of
from mnemark.files.workspace import Workspace
from mnemark.retrieval.filters import Filter
from mnemark.retrieval.focus import clipped
from mnemark.retrieval.presets import preset as named_preset
from mnemark.retrieval.stages import Request
from mnemark.text.dates.ranges import moment
from mnemark.types import KINDS, ORIGINS, SearchOptions

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
    """Return the query without the middle of a long one; raise UsageError where it is not a string."""
    return clipped(text_given(query, "the query"))


def count_of(k: int) -> int:
    """Return `k`; raise UsageError where it is out of range."""
    return int(number_given(k, "k", _MAX_HITS, 1))


def seconds_of(deadline: float) -> float:
    """Return a deadline; raise UsageError where it is no number of seconds."""
    return number_given(deadline, "the deadline, in seconds,", MOST_SECONDS)


def budget_of(tokens: int) -> int:
    """Return a budget; raise UsageError where it is no number of tokens."""
    return int(number_given(tokens, "the budget, in tokens,", _MAX_TOKENS))


def search_request(
    workspace: Workspace,
    query: str,
    k: int | None,
    scope: str | Iterable[str] | None,
    options: SearchOptions,
) -> Request:
    """Return the request of a search; raise UsageError for a wrong argument."""
    known = SearchOptions.__annotations__
    if unknown := sorted(options.keys() - known.keys()):
        raise TypeError(f"a search has no option {unknown[0]!r}; it has k, scope, {', '.join(known)}")
    config = workspace.config
    now = options.get("now") or workspace.now()

    def local(time: datetime | None) -> datetime | None:
        """Return a time on the clock by which turns and facts are filed; one without a zone is of it."""
        return time if time is None or time.tzinfo is None else workspace.local(time)

    where = Filter(
        kinds=among(options.get("kinds"), KINDS, "kinds"),
        origins=among(options.get("origins"), ORIGINS, "origins"),
        since=local(moment(options.get("since"), "since", now)),
        until=local(moment(options.get("until"), "until", now, end=True)),
        as_of=local(moment(options.get("as_of"), "as_of", now, last=True)),
        scopes=scopes_of(scope),
        archived=options.get("archived", False),
    )
    return Request(
        text=text_of(query),
        k=count_of(config.recall_hits if k is None else k),
        where=where,
        preset=named_preset(options.get("preset") or config.preset),
        now=now,
        context=tuple(options.get("context", ())),
        explain=options.get("explain", False),
    )
