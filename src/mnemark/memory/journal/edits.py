"""Read journal entries about automatic edits, which `mnemark.memory.file_edits` makes, and about pins."""

import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final, Literal

import msgspec

from mnemark.errors import MnemarkError
from mnemark.files.journal import FOLDER, Change, Journal, JournalEntry, decode_change
from mnemark.files.jsonl import records
from mnemark.index.state import State
from mnemark.text.markdown.hunks import Hunk
from mnemark.types import Json, Origin

EditState = Literal["open", "done", "dropped", "undone"]
_ENDS: Final[Mapping[str, EditState]] = {"done": "done", "drop": "dropped", "undo": "undone"}
"""States of edits after the kinds of lines that end them."""
_SETTLED: Final = "edits"
"""Name of the position in `state.db` up to which all edits of this machine's journal have ended."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An automatic edit in the journal."""

    id: str
    time: datetime | None
    step: str
    """The operation that made it, for example "session end"."""
    path: str
    to: str = ""
    """The new path, for a move."""
    origin: Origin
    session: str = ""
    group: str = ""
    """Id shared by the edits of one run."""
    hunks: tuple[Hunk, ...] = ()
    """Empty once it has ended; `EditJournal.hunks` reads them again."""
    created: bool = False
    """The file was new."""
    machine: str = ""
    offset: int = 0
    """Byte offset of its line in that machine's journal."""
    state: EditState = "open"


class Run(msgspec.Struct, frozen=True):
    """A consolidation: the group id of its edits, its time, and the journal file of its machine."""

    group: str
    time: datetime | None
    machine: str


class EditJournal:
    """The automatic edits in the journal; `refresh` reads the entries appended since."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._feed = journal.feed("write", "move", *_ENDS, "consolidate")
        self.lock = threading.RLock()
        self._clear()

    def _clear(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._open: set[str] = set()
        self._ends: dict[str, EditState] = {}
        self.runs: list[Run] = []
        """Consolidations, oldest first."""

    def refresh(self) -> None:
        """Read the entries appended since; all of them if a journal was rewritten."""
        rewritten, entries = self._feed.take()
        if rewritten:
            self._clear()
        for entry in entries:
            self._read(entry)

    def _read(self, entry: JournalEntry) -> None:
        change = entry.change
        payload = change.payload if isinstance(change.payload, Mapping) else {}
        match change.kind:
            case "write" | "move":
                found = _entry(change, entry.file, entry.offset)
                if found is not None:
                    state = self._ends.get(found.id)
                    self.entries[found.id] = found if state is None else _ended(found, state)
                    if state is None:
                        self._open.add(found.id)
            case "done" | "drop" | "undo":
                self._end(payload, _ENDS[change.kind])
            case "consolidate":
                self.runs.append(Run(str(payload.get("group", "")), change.time, entry.file))

    def _end(self, payload: Mapping[str, Json], state: EditState) -> None:
        for identifier in _ids(payload):
            self._ends[identifier] = state
            self._open.discard(identifier)
            if identifier in self.entries:
                self.entries[identifier] = _ended(self.entries[identifier], state)

    def hunks(self, known: Entry) -> tuple[Hunk, ...]:
        """Return the hunks of an edit, read from the journal to save memory; none if its line is gone."""
        path = self.journal.root / FOLDER / known.machine
        change = next(
            (decode_change(record) for _, record in records(path, known.offset, start_line=1)), None
        )
        found = _entry(change, known.machine, 0) if change is not None and change.id == known.id else None
        return () if found is None else found.hunks

    def settled(self, mark: str) -> str | None:
        """Return a mark up to which all edits of this machine have ended, by the lines since an earlier one.

        None where they do not tell: an edit is open, or the journal was rewritten since.
        """
        found = self.journal.own_since(mark, "write", "move", *_ENDS)
        if found is None:
            return None
        open_ids = set[str]()
        for entry in found[0]:
            payload = entry.change.payload
            if entry.change.kind not in _ENDS:
                open_ids.add(entry.change.id)
            elif isinstance(payload, Mapping):
                open_ids.difference_update(_ids(payload))
        return None if open_ids else found[1]

    def open(self) -> list[Entry]:
        """Return this machine's edits that are recorded and neither done nor dropped, oldest first."""
        own = self.journal.file
        found = (self.entries[identifier] for identifier in sorted(self._open))
        return [one for one in found if one.machine == own]


def all_ended(edits: EditJournal, state: State) -> bool:
    """Return whether all edits of this machine have ended, by the lines since this was last asked and so."""
    with suppress(MnemarkError), edits.lock:  # the bookkeeping cannot be read: the journal can
        before = state.position(_SETTLED)
        after = edits.settled(before)
        if after is not None and after != before:
            state.note({_SETTLED: after})
        return after is not None
    return False


def _ids(payload: Mapping[str, Json]) -> list[str]:
    ids = payload.get("ids")
    return [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []


def _ended(entry: Entry, state: EditState) -> Entry:
    return msgspec.structs.replace(entry, state=state, hunks=())


def _entry(change: Change, machine: str, offset: int) -> Entry | None:
    payload = change.payload if isinstance(change.payload, Mapping) else {}
    known = {
        "id": change.id, "time": change.time, "origin": change.origin, "machine": machine,
        "offset": offset,
        **{name: payload[name] for name in ("step", "path", "to", "session", "group", "hunks", "created")
           if name in payload},
    }  # fmt: skip
    try:
        return msgspec.convert(known, Entry)
    except msgspec.ValidationError:  # a line of another version
        return None


class PinJournal:
    """The pins in effect. Thread-safe; each `OpenWorkspace` has one."""

    def __init__(self, journal: Journal) -> None:
        self._feed = journal.feed("pin", "undo")
        self._lock = threading.Lock()
        self._lines: dict[str, Mapping[str, Json]] = {}

    def lines(self) -> dict[str, Mapping[str, Json]]:
        """Return the payloads of the pins in effect, by the id of their journal entry."""
        with self._lock:
            rewritten, entries = self._feed.take()
            if rewritten:
                self._lines = {}
            for entry in entries:
                change = entry.change
                payload = change.payload if isinstance(change.payload, Mapping) else {}
                if change.kind == "pin":
                    self._lines[change.id] = payload
                ids = payload.get("ids") if change.kind == "undo" else ()
                for one in ids if isinstance(ids, list) else ():
                    self._lines.pop(one, None)
            return dict(self._lines)
