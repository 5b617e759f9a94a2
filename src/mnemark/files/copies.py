"""Recognize conflict copies of syncing tools by their names.

A trailing ` (1)` is no conflict: browsers and file managers name ordinary copies so. `user 2.md` (iCloud) and
`user-DESKTOP-A1.md` (OneDrive) may be anything: `may_be_copy` says of what, and who reads both can tell.
"""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from mnemark.text.lazy_pattern import lazy_pattern

Tool = Literal["syncthing", "mnemark", "dropbox", "nextcloud", "unknown"]

_PATTERNS: tuple[tuple[Tool, re.Pattern[str]], ...] = (
    # MEMORY.sync-conflict-20260213-101500-ABCDEF7.md
    ("syncthing", lazy_pattern(r"(?P<stem>.+?)\.sync-conflict-\d[^/]*?(?P<suffix>\.[^./]+)?")),
    # MEMORY.conflict-20260213T101500-01J….md, mnemark's own. The digit keeps a session that somebody called
    # "git.conflict-resolution" from being taken for a copy, and with it lost from the index.
    ("mnemark", lazy_pattern(r"(?P<stem>.+?)\.conflict-\d[^/]*?(?P<suffix>\.[^./]+)?")),
    # MEMORY (ann's conflicted copy 2026-02-13).md; MEMORY (conflicted copy 2026-02-13 101500).md
    (
        "dropbox",
        lazy_pattern(r"(?P<stem>.+?) \([^()/]*conflicted copy[^()/]*\)(?P<suffix>\.[^./]+)?", re.IGNORECASE),
    ),
    # MEMORY_conflict-20260213-101500.md, from the older ownCloud and Nextcloud clients
    ("nextcloud", lazy_pattern(r"(?P<stem>.+?)_conflict-\d[^/]*?(?P<suffix>\.[^./]+)?")),
)


ARCHIVE = "memory/archive/copies"
"""Where copies go, in each scope, once what they have is in their originals."""
_UNSURE = (
    lazy_pattern(r"(?P<stem>.+) \d(?P<suffix>\.[^./]+)"),
    lazy_pattern(r"(?P<stem>.+?)-[A-Z0-9][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*(?P<suffix>\.[^./]+)"),
)


class Copy(msgspec.Struct, frozen=True):
    """A conflict copy of the file `original`, which need not exist."""

    path: str
    original: str
    tool: Tool


def copy_of(name: str) -> tuple[str, Tool] | None:
    """Return the original's file name and the tool that made the copy, if `name` is a conflict copy.

    >>> copy_of("MEMORY.sync-conflict-20260213-101500-ABCDEF7.md")
    ('MEMORY.md', 'syncthing')
    """
    if "conflict" not in name.lower():
        return None
    for tool, pattern in _PATTERNS:
        match = pattern.fullmatch(name)
        if match is not None:
            original = match["stem"] + (match["suffix"] or "")
            # A copy of a copy belongs to the first original.
            return (copy_of(original) or (original, tool))[0], tool
    return None


def may_be_copy(path: str) -> list[str]:
    """Return the paths of the files that a file may be a copy of, by names that are not sure.

    >>> may_be_copy("memory/facts/user-DESKTOP-A1.md")
    ['memory/facts/user.md']
    """
    folder, slash, name = path.rpartition("/")
    found = (pattern.fullmatch(name) for pattern in _UNSURE)
    return [f"{folder}{slash}{one['stem']}{one['suffix']}" for one in found if one is not None]


def original_of(path: str) -> str:
    """Return the path of the file that a conflict copy was made of; empty for any other file.

    >>> original_of("notes/plan (conflicted copy 2026-02-13 101500).md")
    'notes/plan.md'
    """
    plan = plan_copies([path])
    return plan[0].original if plan else ""


def plan_copies(paths: Iterable[str]) -> list[Copy]:
    """Return the conflict copies among relative paths, sorted by path."""
    plan = []
    for path in paths:
        folder, slash, name = path.rpartition("/")
        if (found := copy_of(name)) is not None and not f"/{folder}/".endswith(f"/{ARCHIVE}/"):
            plan.append(Copy(path, folder + slash + found[0], found[1]))
    return sorted(plan, key=lambda copy: copy.path)
