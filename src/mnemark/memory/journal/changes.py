"""Read the journal as people see it: changes, groups of changes that one run made, and their words."""

import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import Journal, JournalEntry
from mnemark.types import Json, Origin

KINDS: Final = (
    "remember", "correct", "retract", "write", "move", "edit", "forget", "erased", "undo", "accept", "reject",
    "pin", "propose", "conflict", "otherwise", "consolidate", "import", "describe", "attach",
)  # fmt: skip
"""Kinds of entries that are changes to a person; others are bookkeeping."""
_NAMED: Final = ("title", "path", "session", "fact", "ref", "source", "note")
_COUNTED: Final = {"ids": "change", "turns": "turn", "lines": "place in notes", "edits": "edit"}


class NotedChange(NamedTuple):
    """A change, without its payload."""

    id: str
    kind: str
    time: datetime | None
    origin: Origin
    scope: str
    group: str
    file: str
    offset: int


def began(noted: NotedChange) -> datetime:
    """Return the time of a change; of one without, when its id was made."""
    if noted.time is not None:
        return noted.time
    return time_of(noted.id) if is_id(noted.id) else datetime.fromtimestamp(0, UTC)


class ChangeLog:
    """The changes of all machines. Thread-safe; reads only what was appended since it was last asked."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._feed = journal.feed(*KINDS)
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._groups: dict[str, list[NotedChange]] = {}
        self._undone: set[str] = set()
        self._sorted: list[tuple[str, str]] | None = None
        self._times: list[float] = []

    def refresh(self) -> None:
        """Read the entries appended since; all of them if a journal was rewritten."""
        with self._lock:
            if self._feed.pass_on(self._clear, self._read):
                self._sorted = None

    def _read(self, entry: JournalEntry) -> None:
        change = entry.change
        if change.kind == "undo":
            self._undone.update(change.ids)
        if change.kind == "write" and change.fields.get("step") == "undo":
            return  # a part of an undo, which has an entry of its own
        group = change.fields.get("group")
        group = group if isinstance(group, str) else ""
        noted = NotedChange(
            change.id, change.kind, change.time, change.origin, change.scope, group, entry.file, entry.offset
        )
        key = group or change.id
        if key not in self._groups:
            self._groups[key] = []
            self._times.append(began(noted).timestamp())
        self._groups[key].append(noted)

    def keys(self) -> list[tuple[str, str]]:
        """Return (id of the first change, key) of all groups, oldest first; a single change is its own."""
        with self._lock:
            if self._sorted is None:
                self._sorted = sorted((group[0].id, key) for key, group in self._groups.items())
            return self._sorted

    def times(self) -> list[float]:
        """Return when the groups began, in seconds since 1970, in no order."""
        with self._lock:
            return self._times.copy()

    def group(self, key: str) -> list[NotedChange]:
        """Return the changes of a group, oldest first; empty for an unknown key."""
        return list(self._groups.get(key, ()))

    def is_undone(self, identifier: str) -> bool:
        """Whether a change was undone."""
        return identifier in self._undone

    def payload(self, noted: NotedChange) -> Mapping[str, Json]:
        """Return the payload of a change, read from its journal; empty if its line is gone."""
        change = self._journal.again(noted.file, noted.offset, noted.id)
        return {} if change is None else change.fields


def payload_of(text: str) -> Mapping[str, Json]:
    """Return the payload of a change that was written as text; empty for other text."""
    try:
        fields = json.loads(text)
    except ValueError:
        return {}
    return fields if isinstance(fields, Mapping) else {}


def describe_payload(payload: str) -> str:
    """Describe the payload of a change in one line; return an unknown one unchanged."""
    fields = payload_of(payload)
    return _fact(fields) or _counts(fields) or _name(fields) or payload


def _fact(fields: Mapping[str, Any]) -> str:
    if not isinstance(fields.get("value"), str):
        return ""
    name = " ".join(str(fields[key]) for key in ("subject", "predicate") if fields.get(key))
    if fields.get("review") == "otherwise":
        return (
            f"{name}: {'over?' if fields.get('until') else fields['value'] + '?'} “{fields.get('quote', '')}”"
        )
    return f"{name}: {fields['value']}" if name else fields["value"]


def _name(fields: Mapping[str, Any]) -> str:
    found = next((fields[key] for key in _NAMED if isinstance(fields.get(key), str) and fields[key]), "")
    return f"{fields['step']}: {found}" if isinstance(fields.get("step"), str) else found


def _counts(fields: Mapping[str, Any]) -> str:
    """Return counts such as "5 changes" or "4 turns, 1 place in notes", summed over files."""
    found = []
    for key, name in _COUNTED.items():
        held = fields.get(key)
        groups = list(held.values()) if isinstance(held, Mapping) else [held]
        sizes = (len(one) if isinstance(one, list) else one for one in groups)
        count = sum(size for size in sizes if isinstance(size, int))
        first, _, rest = name.partition(" ")
        more = f" {rest}" if rest else ""
        if count or (key == "edits" and held == 0):
            found.append(f"{count:,} {first}{'' if count == 1 else 's'}{more}")
    return ", ".join(found)
