"""Recognize conflict copies of syncing tools by their names, and merge them where that is safe.

A trailing ` (1)` is no conflict: browsers and file managers name ordinary copies so.
"""

import bisect
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

import msgspec

from mnemark.files import ids, jsonl
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Json

Tool = Literal["syncthing", "mnemark", "dropbox", "nextcloud"]

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


class Copy(msgspec.Struct, frozen=True):
    """A conflict copy of the file `original`, which need not exist."""

    path: str
    original: str
    kind: Literal["jsonl", "markdown"]
    """`jsonl` is merged by `lacking`; `markdown` is for a person to merge."""
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


def plan_copies(paths: Iterable[str]) -> list[Copy]:
    """Return the conflict copies among relative paths, sorted by path."""
    plan = []
    for path in paths:
        folder, slash, name = path.rpartition("/")
        if (found := copy_of(name)) is not None:
            kind: Literal["jsonl", "markdown"] = "jsonl" if name.lower().endswith(".jsonl") else "markdown"
            plan.append(Copy(path, folder + slash + found[0], kind, found[1]))
    return sorted(plan, key=lambda copy: copy.path)


class Lacking(msgspec.Struct, frozen=True):
    """Lines of one copy of an append-only log that the other lacks."""

    lines: list[bytes]
    """Records to append, whose ids are missing, in order of their ids or times."""
    unclear: list[bytes]
    """Lines to merge by hand: other contents of a known id, and lines that are no records."""


def lacking(ours: bytes, theirs: bytes) -> Lacking:
    """Return the lines of `theirs` missing in `ours`; appending them keeps line refs to `ours` valid.

    A record that `ours` has erased stays erased; a torn line is left out where its whole is on either side.
    """
    have = dict(_records(ours))
    known = {_id(record) for record in have.values()} - {""}
    erased = {_id(record) for record in have.values() if "erased" in (record or {})} - {""}
    new = {line: record for line, record in _records(theirs) if line not in have}
    whole = sorted({*have, *new})
    found: list[bytes] = []
    unclear: list[bytes] = []
    for line, record in new.items():
        if _id(record) in erased or (record is None and _is_torn(line, whole)):
            continue
        (unclear if _id(record) in known or record is None else found).append(line)
    return Lacking(sorted(found, key=lambda line: _order(new[line])), unclear)


def _records(data: bytes) -> Iterator[tuple[bytes, dict[str, Json] | None]]:
    """Yield the lines without their ends, which git and editors change, and their records."""
    for line in data.split(b"\n"):
        if (clean := line.removesuffix(b"\r")).strip():
            yield clean, jsonl.decode(clean)


def _id(record: dict[str, Json] | None) -> str:
    identifier = (record or {}).get("id")
    return identifier if isinstance(identifier, str) else ""


def _order(record: dict[str, Json] | None) -> str:
    """Return the ULID of a record, or one made from its time."""
    if ids.is_id(identifier := _id(record)):
        return identifier
    time = (record or {}).get("time")
    try:
        return ids.derived_id(b"", datetime.fromisoformat(time)) if isinstance(time, str) else ""
    except (ValueError, OverflowError):
        return ""


def _is_torn(line: bytes, whole: list[bytes]) -> bool:
    """Whether `line` is only the beginning of another; `whole` is sorted."""
    following = bisect.bisect_right(whole, line)
    return following < len(whole) and whole[following].startswith(line)
