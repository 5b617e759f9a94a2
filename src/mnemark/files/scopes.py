"""Name scopes, the folders with the memory of a user, an agent or a project.

Each entrance takes a scope through `one_scope`, `scope_name` or `scopes_of`, so that what is acknowledged
lies in a folder that is memory, on every system, and is found under the same name.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from mnemark.errors import UsageError
from mnemark.files import layout, platform
from mnemark.text.lazy_pattern import lazy_pattern

_UNSAFE: Final = lazy_pattern(r'[/\\:*?"<>|]|^[\s.]|[\s.]$')
_MOST_BYTES: Final = 100
_TAKEN: Final = frozenset({layout.CONFIG.casefold(), "memory.md"})
"""Names of files that would make a workspace of the folder that all scopes of a kind lie in."""
_WANTED: Final = '"users/NAME", "agents/NAME" or "projects/NAME"'
_SHOWN: Final = 5


def folder_name(name: str) -> str:
    """Return a user's, an agent's or a project's name in Unicode NFC, as its folder is called.

    Raises UsageError where it is no folder name on every system, or would not be a folder of memory.
    """
    formed = unicodedata.normalize("NFC", name)
    folded = formed.casefold()
    if (
        not formed
        or not formed.isprintable()  # control characters, marks that are not seen, halves of characters
        or len(formed.encode()) > _MOST_BYTES
        or _UNSAFE.search(formed)
        or folded in _TAKEN
        or folded.split(".")[0].rstrip() in platform.RESERVED
        or layout.skipped_folder(folded)
    ):
        raise UsageError(
            f"{name[:_MOST_BYTES]!r} cannot be used as a name: use letters, digits, '-' and '_', at most "
            f"{_MOST_BYTES} bytes, and no name that the system or mnemark needs"
        )
    return formed


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
    return frozenset({"", *map(_checked, names)})


def one_scope(scope: str) -> str:
    """Return a scope to write to, or the one to read, empty for the shared memory. Raises UsageError."""
    if scope == "*":
        raise UsageError(f'name one scope: {_WANTED}, or "" for the shared memory')
    return _checked(scope)


def _checked(scope: str) -> str:
    if not isinstance(scope, str):
        raise UsageError(f"scope must be {_WANTED}, not {scope!r}")
    kind, _, name = scope.partition("/")
    if scope and (kind not in layout.SCOPES or not name or "/" in name):
        raise UsageError(f'scope must be {_WANTED} or "*", not {scope[:_MOST_BYTES]!r}')
    return f"{kind}/{folder_name(name)}" if scope else ""


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
