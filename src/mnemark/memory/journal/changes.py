"""Read the journal as people see it: changes, and groups of changes that one run made."""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import FOLDER, Change, Journal, JournalEntry, decode_change
from mnemark.files.jsonl import records
from mnemark.types import Json, Origin

KINDS: Final = (
    "remember", "retract", "write", "move", "edit", "forget", "erased", "undo", "accept", "reject", "pin",
    "propose", "conflict", "consolidate", "import", "describe", "attach",
)  # fmt: skip
"""Kinds of entries that are changes to a person; others are bookkeeping."""


class Noted(NamedTuple):
    """A change, without its payload."""

    id: str
    kind: str
    time: datetime | None
    origin: Origin
    scope: str
    group: str
    file: str
    offset: int


def began(noted: Noted) -> datetime:
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
        self._groups: dict[str, list[Noted]] = {}
        self._undone: set[str] = set()
        self._sorted: list[tuple[str, str]] | None = None
        self._times: list[float] = []

    def refresh(self) -> None:
        """Read the entries appended since; all of them if a journal was rewritten."""
        with self._lock:
            rewritten, entries = self._feed.take()
            if rewritten:
                self._clear()
            if entries:
                self._sorted = None
            for entry in entries:
                self._read(entry)

    def _read(self, entry: JournalEntry) -> None:
        change = entry.change
        payload = change.payload if isinstance(change.payload, Mapping) else {}
        if change.kind == "undo":
            ids = payload.get("ids")
            self._undone.update(one for one in ids or () if isinstance(one, str))
        if change.kind == "write" and payload.get("step") == "undo":
            return  # a part of an undo, which has an entry of its own
        group = payload.get("group")
        group = group if isinstance(group, str) else ""
        found = Noted(
            change.id, change.kind, change.time, change.origin, change.scope, group, entry.file, entry.offset
        )
        key = group or change.id
        if key not in self._groups:
            self._groups[key] = []
            self._times.append(began(found).timestamp())
        self._groups[key].append(found)

    def keys(self) -> list[tuple[str, str]]:
        """Return (id of the first change, key) of all groups, oldest first; a single change is its own."""
        with self._lock:
            if self._sorted is None:
                self._sorted = sorted((group[0].id, key) for key, group in self._groups.items())
            return self._sorted

    def times(self) -> npt.NDArray[np.float64]:
        """Return when the groups began, in seconds since 1970, in no order."""
        with self._lock:
            return np.array(self._times, np.float64)

    def group(self, key: str) -> list[Noted]:
        """Return the changes of a group, oldest first; empty for an unknown key."""
        return list(self._groups.get(key, ()))

    def is_undone(self, identifier: str) -> bool:
        """Whether a change was undone."""
        return identifier in self._undone

    def payload(self, noted: Noted) -> Mapping[str, Json]:
        """Return the payload of a change, read from its journal; empty if its line is gone."""
        found = self._line(noted)
        payload = found.payload if found is not None and found.id == noted.id else None
        return payload if isinstance(payload, Mapping) else {}

    def _line(self, noted: Noted) -> Change | None:
        path = self._journal.root / FOLDER / noted.file
        return next((decode_change(record) for _, record in records(path, noted.offset, start_line=1)), None)
