"""Read the journal as people see it: changes, and groups of changes that one run made."""

import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import Journal, JournalEntry
from mnemark.types import Json, Origin

KINDS: Final = (
    "remember", "correct", "retract", "write", "move", "edit", "forget", "erased", "undo", "accept", "reject",
    "pin", "propose", "conflict", "otherwise", "consolidate", "import", "describe", "attach",
)  # fmt: skip
"""Kinds of entries that are changes to a person; others are bookkeeping."""


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
