"""Read journal entries about automatic edits, which `mnemark.memory.file_edits` makes, and about pins."""

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, Literal

import msgspec

from mnemark.errors import MnemarkError
from mnemark.files.journal import Change, Journal, JournalEntry
from mnemark.files.tombstones import strings
from mnemark.index.state import State
from mnemark.text.markdown.hunks import Hunk
from mnemark.types import Json, Origin

EditState = Literal["open", "done", "dropped", "undone"]
_ENDS: Final[Mapping[str, EditState]] = {"done": "done", "drop": "dropped", "undo": "undone"}
"""States of edits after the kinds of lines that end them."""
_SAID: Final = frozenset({"step", "path", "to", "session", "group", "hunks", "created"})
"""Fields of an edit that its payload has."""
_SETTLED: Final = "edits"
"""Name of the position in `state.db` up to which all edits of this machine's journal have ended."""


class AutomaticEdit(msgspec.Struct, frozen=True, kw_only=True):
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


class ConsolidationRun(msgspec.Struct, frozen=True):
    """A consolidation in the journal."""

    id: str
    group: str
    """Group id of its edits."""
    time: datetime | None
    machine: str
    """Name of the journal's file."""
    facts: Sequence[str]
    """Ids of the facts that it learned."""


class EditJournal:
    """The automatic edits in the journal. Thread-safe; reads only what was appended since."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._feed = journal.feed("write", "move", *_ENDS, "consolidate")
        self.lock = threading.RLock()
        """Held while an edit is made, so that no other thread finishes it meanwhile."""
        self._clear()

    def _clear(self) -> None:
        self._entries: dict[str, AutomaticEdit] = {}
        self._open: set[str] = set()
        self._ends: dict[str, EditState] = {}
        self._runs: list[ConsolidationRun] = []

    def _refresh(self) -> None:
        """Read the entries appended since; all of them if a journal was rewritten."""
        self._feed.pass_on(self._clear, self._read)

    def entries(self, among: Collection[str] | None = None) -> list[AutomaticEdit]:
        """Return the edits of these ids, oldest first; all of them by default."""
        with self.lock:
            self._refresh()
            ids = self._entries.keys() if among is None else self._entries.keys() & frozenset(among)
            return [self._entries[identifier] for identifier in sorted(ids)]

    def open(self) -> list[AutomaticEdit]:
        """Return this machine's edits that are recorded and neither done nor dropped, oldest first."""
        with self.lock:
            self._refresh()
            begun = [self._entries[identifier] for identifier in sorted(self._open)]
            return [edit for edit in begun if edit.machine == self.journal.file]

    def runs(self) -> list[ConsolidationRun]:
        """Return the consolidations, oldest first."""
        with self.lock:
            self._refresh()
            return self._runs.copy()

    def _read(self, entry: JournalEntry) -> None:
        change = entry.change
        match change.kind:
            case "write" | "move":
                edit = _entry(change, entry.file, entry.offset)
                if edit is not None:
                    state = self._ends.get(edit.id)
                    self._entries[edit.id] = edit if state is None else _ended(edit, state)
                    if state is None:
                        self._open.add(edit.id)
            case "consolidate":
                group, facts = str(change.fields.get("group", "")), strings(change.fields.get("facts"))
                self._runs.append(ConsolidationRun(change.id, group, change.time, entry.file, facts))
            case kind:
                self._end(change.ids, _ENDS[kind])

    def _end(self, ids: Iterable[str], state: EditState) -> None:
        for identifier in ids:
            self._ends[identifier] = state
            self._open.discard(identifier)
            if identifier in self._entries:
                self._entries[identifier] = _ended(self._entries[identifier], state)

    def hunks(self, edit: AutomaticEdit) -> tuple[Hunk, ...]:
        """Return what an edit changed, read from the journal again; nothing if its line is gone."""
        change = self.journal.again(edit.machine, edit.offset, edit.id)
        whole = None if change is None else _entry(change, edit.machine, edit.offset)
        return () if whole is None else whole.hunks

    def settled(self, mark: str) -> str | None:
        """Return a mark up to which all edits of this machine have ended, by the lines since an earlier one.

        None where they do not tell: an edit is open, or the journal was rewritten since.
        """
        since = self.journal.own_since(mark, "write", "move", *_ENDS)
        if since is None:
            return None
        lines, end = since
        begun = {entry.change.id for entry in lines if entry.change.kind not in _ENDS}
        ended = {one for entry in lines if entry.change.kind in _ENDS for one in entry.change.ids}
        return end if begun <= ended else None


def all_ended(edits: EditJournal, state: State) -> bool:
    """Return whether all edits of this machine have ended, by the lines since this was last asked and so."""
    with suppress(MnemarkError), edits.lock:  # the bookkeeping cannot be read: the journal can
        before = state.position(_SETTLED)
        after = edits.settled(before)
        if after is not None and after != before:
            state.note({_SETTLED: after})
        return after is not None
    return False


def _ended(entry: AutomaticEdit, state: EditState) -> AutomaticEdit:
    return msgspec.structs.replace(entry, state=state, hunks=())


def _entry(change: Change, machine: str, offset: int) -> AutomaticEdit | None:
    own = {
        "id": change.id,
        "time": change.time,
        "origin": change.origin,
        "machine": machine,
        "offset": offset,
    }
    said = {name: value for name, value in change.fields.items() if name in _SAID}
    try:
        return msgspec.convert({**said, **own}, AutomaticEdit)
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
            self._feed.pass_on(self._lines.clear, self._read)
            return self._lines.copy()

    def _read(self, entry: JournalEntry) -> None:
        if entry.change.kind == "pin":
            self._lines[entry.change.id] = entry.change.fields
        for identifier in entry.change.ids:
            self._lines.pop(identifier, None)
