"""Arguments as callers give them, checked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from mnemark.errors import ConfigError, UsageError
from mnemark.files.config import Config
from mnemark.memory.sessions.session import folder_name
from mnemark.retrieval.query import MAX_CHARACTERS

_MOST_HITS: Final = 1_000
_SCOPE_KINDS: Final = frozenset({"users", "agents", "projects"})


def changed(settings: Config, changes: Mapping[str, Any]) -> Config:
    """Settings with some of them replaced, checked like those of a file."""
    try:
        return msgspec.convert(msgspec.to_builtins(settings) | dict(changes), Config)
    except msgspec.ValidationError as error:
        raise ConfigError(f"config: {error}; docs/configuration.md lists all settings") from error


def scope_name(*, user: str | None = None, agent: str | None = None) -> str:
    """The scope folder of a user or agent; empty for the root.

    Raises:
        UsageError: both were given, or the name is no folder name.
    """
    if user is not None and agent is not None:
        raise UsageError("a session belongs to a user or to an agent; give one of them")
    if user is not None:
        return f"users/{folder_name(user)}"
    return f"agents/{folder_name(agent)}" if agent is not None else ""


def scopes_of(scope: str | Iterable[str] | None) -> frozenset[str] | None:
    """The scopes a search may see: the root's and those named; None for all ("*")."""
    names = [scope] if isinstance(scope, str) else list(scope or ())
    if "*" in names:
        return None
    for name in names:
        kind, _, rest = name.partition("/")
        if name and (kind not in _SCOPE_KINDS or not rest or "/" in rest):
            raise UsageError(
                f'scope {name!r} is none; write "users/NAME", "agents/NAME", "projects/NAME" or "*"'
            )
    return frozenset({"", *names})


def among(values: Iterable[Any] | None, known: Sequence[str], name: str) -> frozenset[Any] | None:
    """The values, all of them known ones; None for None."""
    if values is None:
        return None
    chosen = frozenset([values] if isinstance(values, str) else values)
    if wrong := sorted(chosen - set(known)):
        raise UsageError(f"{name}: {wrong[0]!r} is none of {', '.join(known)}")
    return chosen


def text_of(query: str) -> str:
    """The query, if it is text, as far as it is read: a pasted file is no question."""
    if not isinstance(query, str):
        raise UsageError(f"a query is text, not {type(query).__name__}")
    return query[:MAX_CHARACTERS]


def count_of(k: int) -> int:
    """How many hits, if so many can be given."""
    if not 1 <= k <= _MOST_HITS:
        raise UsageError(f"k must be 1 to {_MOST_HITS}, not {k}")
    return k
