"""Recognize copies that syncing tools leave, and merge them where that is safe.

Only names and bytes are looked at; acting on the plan is the caller's. A trailing ` (1)` is not a conflict:
browsers and file managers name ordinary copies so.
"""

import bisect
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from mnemark.files import ids, jsonl

Tool = Literal["syncthing", "mnemark", "dropbox", "nextcloud"]

_PATTERNS: tuple[tuple[Tool, re.Pattern[str]], ...] = (
    # MEMORY.sync-conflict-20260213-101500-ABCDEF7.md
    ("syncthing", re.compile(r"(?P<stem>.+?)\.sync-conflict-\d[^/]*?(?P<suffix>\.[^./]+)?")),
    # MEMORY.conflict-20260213T101500-01J….md, mnemark's own. The digit keeps a session that somebody called
    # "git.conflict-resolution" from being taken for a copy, and with it lost from the index.
    ("mnemark", re.compile(r"(?P<stem>.+?)\.conflict-\d[^/]*?(?P<suffix>\.[^./]+)?")),
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
    """`jsonl` merges by `lacking`; `markdown` is for a person to merge."""
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


class Lacking(NamedTuple):
    """What one copy of an append-only log has and the other has not."""

    lines: list[bytes]
    """To be appended: records whose id is not there at all, in order of their ids or times."""
    unclear: list[bytes]
    """For a person: other contents of a known id, and lines that are no records."""


def lacking(ours: bytes, theirs: bytes) -> Lacking:
    """What `theirs` has and `ours` lacks: the union of two logs without moving a line of `ours`.

    Lines keep their numbers, so refs to them hold. A record that `ours` has erased stays erased; a torn line
    is left out where its whole is on either side.
    """
    have = set(_lines(ours))
    known = {name for line in have if (name := _name(line))}
    erased = {name for line in have if (name := _name(line)) and "erased" in (jsonl.decode(line) or {})}
    new = [line for line in dict.fromkeys(_lines(theirs)) if line not in have]
    whole = sorted({*have, *new})
    found: list[bytes] = []
    unclear: list[bytes] = []
    for line in new:
        name = _name(line)
        if name in erased or _torn(line, whole):
            continue
        (unclear if name in known or jsonl.decode(line) is None else found).append(line)
    return Lacking(sorted(found, key=lambda line: _moment(line) or ""), unclear)


def _lines(data: bytes) -> Iterator[bytes]:
    """The lines without their ends, which git and editors change."""
    return (clean for line in data.split(b"\n") if (clean := line.removesuffix(b"\r")).strip())


def _name(line: bytes) -> str:
    """The id of a record; empty where it has none."""
    identifier = (jsonl.decode(line) or {}).get("id")
    return identifier if isinstance(identifier, str) else ""


def _moment(line: bytes) -> str | None:
    """Where a record belongs among others: its ULID, or one made from its time."""
    record = jsonl.decode(line) or {}
    identifier, time = record.get("id"), record.get("time")
    if isinstance(identifier, str) and ids.is_id(identifier):
        return identifier
    if not isinstance(time, str):
        return None
    try:
        return ids.derived_id(b"", datetime.fromisoformat(time))
    except (ValueError, OverflowError):
        return None


def _torn(line: bytes, whole: list[bytes]) -> bool:
    """Whether `line` is only the beginning of another; `whole` is sorted."""
    following = bisect.bisect_right(whole, line)
    return following < len(whole) and whole[following].startswith(line) and jsonl.decode(line) is None
