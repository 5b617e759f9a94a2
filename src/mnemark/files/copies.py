"""Copies that syncing tools leave when two machines changed one file: recognised, merged where that is safe.

Only names and bytes are looked at; acting on the plan is the caller's. A trailing ` (1)` is not a conflict:
browsers and file managers name ordinary copies so.
"""

import bisect
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

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


def merge_jsonl(ours: bytes, theirs: bytes) -> bytes:
    """The union of two copies of one append-only log: no record of either is lost, none appears twice.

    Records are ordered by their ULID, else by their `time`. Where one id has two contents, both stay. Lines
    that are no records (torn, blank id, other programs') stay behind the record they followed; only a torn
    line whose whole is there as well is left out. The order of the arguments does not matter, and merging
    again changes nothing.

    A tombstone is a record like any other: what one side has erased comes back if the other still holds it,
    so apply the journal's tombstones after merging.
    """
    lines = _keyed(ours) | _keyed(theirs)
    whole = sorted(line for _, _, line in lines)
    kept = [line for _, _, line in sorted(lines) if not _torn(line, whole)]
    return b"".join(line + b"\n" for line in kept)


def _keyed(data: bytes) -> set[tuple[str, bool, bytes]]:
    """Each line with its place: (ULID-like key, whether it only follows that record, bytes)."""
    keyed = set()
    last = ""
    for line in data.split(b"\n"):
        clean = line.removesuffix(b"\r")
        if not clean.strip():
            continue
        key = _key(clean)
        last = last if key is None else key
        keyed.add((last, key is None, clean))
    return keyed


def _key(line: bytes) -> str | None:
    record = jsonl.decode(line) or {}
    identifier, time = record.get("id"), record.get("time")
    if isinstance(identifier, str) and ids.is_id(identifier):
        return identifier
    if not isinstance(time, str):
        return None
    try:
        # Only the moment counts: records of one moment are then ordered by their bytes.
        return ids.derived_id(b"", datetime.fromisoformat(time))
    except (ValueError, OverflowError):
        return None


def _torn(line: bytes, whole: list[bytes]) -> bool:
    """Whether `line` is only the beginning of another; `whole` is sorted."""
    following = bisect.bisect_right(whole, line)
    return following < len(whole) and whole[following].startswith(line) and jsonl.decode(line) is None
