"""Copies that syncing tools leave when two machines changed one file: recognised, merged where that is safe.

Only names and bytes are looked at; acting on the plan is the caller's. A trailing ` (1)` is not a conflict:
browsers and file managers name ordinary copies so.
"""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

Tool = Literal["syncthing", "mnemark", "dropbox", "nextcloud"]

_PATTERNS: tuple[tuple[Tool, re.Pattern[str]], ...] = (
    # MEMORY.sync-conflict-20260213-101500-ABCDEF7.md
    ("syncthing", re.compile(r"(?P<stem>.+?)\.sync-conflict-[^/]*?(?P<suffix>\.[^./]+)?")),
    # MEMORY.conflict-20260213T101500-01J….md, mnemark's own
    ("mnemark", re.compile(r"(?P<stem>.+?)\.conflict-[^/]*?(?P<suffix>\.[^./]+)?")),
    # MEMORY (ann's conflicted copy 2026-02-13).md; MEMORY (conflicted copy 2026-02-13 101500).md
    (
        "dropbox",
        re.compile(r"(?P<stem>.+?) \([^()/]*conflicted copy[^()/]*\)(?P<suffix>\.[^./]+)?", re.IGNORECASE),
    ),
    # MEMORY_conflict-20260213-101500.md, from the older ownCloud and Nextcloud clients
    ("nextcloud", re.compile(r"(?P<stem>.+?)_conflict-\d[^/]*?(?P<suffix>\.[^./]+)?")),
)


class Copy(msgspec.Struct, frozen=True):
    """A conflict copy: `original` is where its content belongs, whether or not that file exists."""

    path: str
    original: str
    kind: Literal["jsonl", "markdown"]
    """`jsonl` merges by `merge_jsonl`; `markdown` is reported, and its facts may be merged by id."""
    tool: Tool


def copy_of(name: str) -> tuple[str, Tool] | None:
    """The original's file name and the tool that made the copy, if `name` names a conflict copy.

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


def plan_copies(paths: Iterable[str]) -> list[Copy]:
    """Which of the relative paths are conflict copies, sorted by path."""
    plan = []
    for path in paths:
        folder, slash, name = path.rpartition("/")
        found = copy_of(name)
        if found is not None:
            original, tool = found
            kind: Literal["jsonl", "markdown"] = "jsonl" if name.lower().endswith(".jsonl") else "markdown"
            plan.append(Copy(path, folder + slash + original, kind, tool))
    return sorted(plan, key=lambda copy: copy.path)


def has_merge_markers(text: str) -> bool:
    """Whether the text holds an unresolved git conflict: the three marker lines, in order."""
    if "<<<<<<<" not in text:
        return False
    wanted = iter(("<<<<<<<", "=======", ">>>>>>>"))
    marker = next(wanted)
    for line in text.splitlines():
        # The middle marker stands alone: a longer row of equals signs underlines a heading.
        if line == marker or (marker != "=======" and line.startswith(marker + " ")):
            following = next(wanted, None)
            if following is None:
                return True
            marker = following
    return False
