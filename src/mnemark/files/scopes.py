"""Name scopes, the folders with the memory of a user, an agent or a project."""

from collections.abc import Iterable, Sequence
from typing import Final

from mnemark.errors import UsageError
from mnemark.files import layout
from mnemark.text.lazy_pattern import lazy_pattern

_UNSAFE: Final = lazy_pattern(r'[\x00-\x1f/\\:*?"<>|]|^\.+$|^\s*$|[. ]$')

_SHOWN: Final = 5


def folder_name(name: str) -> str:
    """Check a user's or agent's name. Raises UsageError where it is no folder name on every system."""
    if _UNSAFE.search(name) or len(name.encode()) > 100:
        raise UsageError(f"{name!r} cannot be used as a name; use letters, digits, '-' and '_'")
    return name


def scope_name(*, user: str | None = None, agent: str | None = None, project: str | None = None) -> str:
    """Return the scope of a user, an agent or a project; empty for the root. Raises UsageError."""
    given = zip(layout.SCOPES, (user, agent, project), strict=True)
    named = [f"{kind}/{folder_name(name)}" for kind, name in given if name is not None]
    if len(named) > 1:
        raise UsageError("a session belongs to one user, agent or project; give only one of them")
    return named[0] if named else ""


def scopes_of(scope: str | Iterable[str] | None) -> frozenset[str] | None:
    """Return the scopes a search may see, the root's and those named; None for all ("*")."""
    names = [scope] if isinstance(scope, str) else list(scope or ())
    if "*" in names:
        return None
    for name in names:
        kind, _, rest = name.partition("/")
        if name and (kind not in layout.SCOPES or not rest or "/" in rest):
            raise UsageError(
                f'scope must be "users/NAME", "agents/NAME", "projects/NAME" or "*", not {name!r}'
            )
    return frozenset({"", *names})


def check_known(known: Sequence[str], scope: str | Iterable[str] | None) -> None:
    """Check that scopes to read exist, with text or without. Raises UsageError, which names the nearest."""
    missing = sorted((scopes_of(scope) or frozenset()).difference(known, ("",)))
    if missing:
        from difflib import get_close_matches

        there = [name for name in known if name]
        near = get_close_matches(missing[0], there, cutoff=0.5) or there[:_SHOWN]
        if not near:
            raise UsageError(f"there is no scope {missing[0]}, nor any other: leave the scope out")
        raise UsageError(f"there is no scope {missing[0]}; the nearest are {', '.join(near)}")


def scopes_among(known: Iterable[str], scope: str | Iterable[str] | None) -> list[str]:
    """Return those of the known scopes that a search may see, in their order."""
    wanted = scopes_of(scope)
    return [name for name in known if wanted is None or name in wanted]
