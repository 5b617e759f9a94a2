"""Tell what was imported: talks, dates and people, by the program it came from."""

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from mnemark.files.journal import Journal, JournalEntry


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """All that was imported in one format."""

    format: str
    sessions: int = 0
    """Conversations; one that gained turns later counts again."""
    turns: int = 0
    notes: int = 0
    began: str = ""
    """Day of the first turn, as 2026-02-13; empty if none has a date."""
    ended: str = ""
    people: Mapping[str, int] = {}
    """Who spoke, where the source names them; most heard first."""
    last: str = ""
    """Day of the last import."""


class ImportLog:
    """The imports in a journal; reads only what was appended since it was last asked."""

    def __init__(self, journal: Journal) -> None:
        self._feed = journal.feed("import")
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._found: dict[str, Brought] = {}

    def _read(self, entry: JournalEntry) -> None:
        change = entry.change
        kind = str(change.fields.get("format", ""))
        before = self._found.pop(kind, Brought(format=kind))
        self._found[kind] = _with(before, change.fields, change.time)

    def brought(self) -> list[Brought]:
        """Return what was imported, by format, the last one first."""
        with self._lock:
            self._feed.pass_on(self._clear, self._read)
            return [one for one in reversed(self._found.values()) if one.turns or one.notes]


def _with(before: Brought, fields: Mapping[str, Any], time: Any) -> Brought:
    came = fields.get("came")
    counts = {name: int(count) for name, count in came.items()} if isinstance(came, Mapping) else {}
    people = Counter(before.people)
    # Each line of one import has all that were heard so far: the greater count, not the sum.
    for name, count in (fields.get("people") or {}).items():
        people[name] = max(people[name], int(count))
    days = [day for day in (before.began, str(fields.get("began") or "")) if day]
    return Brought(
        format=before.format, sessions=before.sessions + counts.get("sessions", 0),
        turns=before.turns + counts.get("turns", 0), notes=before.notes + counts.get("notes", 0),
        began=min(days, default=""), ended=max(before.ended, str(fields.get("ended") or "")),
        people=dict(people.most_common()), last=time.date().isoformat() if time else before.last,
    )  # fmt: skip
