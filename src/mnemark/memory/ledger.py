"""The ledger of automatic edits: each is written down before it is made, can be shown, and taken back.

An edit of a Markdown file stands in the journal as a change of kind "write" with what it took away and what
it put in (its undo image); "done" follows when the file holds it. A kill in between leaves an edit that the
next `finish` completes. "drop" ends one that no longer fits, "undo" one that was taken back.
"""

import threading
from collections.abc import Callable, Container, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from mnemark.errors import NotFoundError, ReadOnlyError, UsageError
from mnemark.files import layout, moving, platform
from mnemark.files.edit import PATIENCE, EditResult, edit
from mnemark.files.ids import new_id
from mnemark.files.journal import FOLDER, Change, Journal, JournalEntry
from mnemark.text.hunks import Hunk, apply, diff, hunks, take_back
from mnemark.types import Json, Origin, Problem

if TYPE_CHECKING:
    from mnemark.memory.core import Memory

Status = Literal["written", "unchanged", "deferred"]
State = Literal["open", "done", "dropped", "undone"]
_BUSY: Final = 0.5


class Written(NamedTuple):
    """What became of an edit. `deferred`: someone is saving the file; nothing was noted, try later."""

    id: str
    """Of the change in the journal; empty where nothing was changed."""
    path: str
    status: Status
    diff: str
    """Unified diff for people."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One automatic edit as the journal has it."""

    id: str
    time: datetime | None
    step: str
    """What did it, for example "session end"."""
    path: str
    to: str = ""
    """Where the file went, for a move."""
    origin: Origin
    session: str = ""
    group: str = ""
    """Ties the edits of one run together."""
    hunks: tuple[Hunk, ...] = ()
    """Of one that is open; what ended one changed stays in the journal, see `Edits.hunks`."""
    created: bool = False
    """The file was new."""
    machine: str = ""
    state: State = "open"


class Run(NamedTuple):
    """A consolidation: the group of its edits, when it was, and the journal of the machine that did it."""

    group: str
    time: datetime | None
    machine: str


class Edits:
    """The ledger as the journal says; `refresh` reads on from where it stopped."""

    def __init__(self, root: Path) -> None:
        self.journal = Journal(root)
        self.lock = threading.RLock()
        self._clear()

    def _clear(self) -> None:
        self._offsets: dict[str, int] = {}
        self._inodes: dict[str, int] = {}
        self.entries: dict[str, Entry] = {}
        self._ends: dict[str, State] = {}
        self.runs: list[Run] = []
        """Consolidations, oldest first."""

    def refresh(self) -> None:
        """Read what was appended; all of it where a journal was rewritten."""
        folder = self.journal.root / FOLDER
        paths = folder.glob("*.jsonl") if folder.is_dir() else ()
        states = {path.name: state for path in paths if (state := platform.identity(path)) is not None}
        for name, offset in self._offsets.items():
            state = states.get(name)
            if state is None or state.inode != self._inodes[name] or state.size < offset:
                self._clear()
                break
        if all(state.size == self._offsets.get(name, 0) for name, state in states.items()):
            return
        for entry in self.journal.read(self._offsets):
            self._read(entry)
            if entry.end > self._offsets.get(entry.file, 0):
                self._offsets[entry.file] = entry.end
                self._inodes[entry.file] = states[entry.file].inode if entry.file in states else 0

    def _read(self, entry: JournalEntry) -> None:
        change = entry.change
        payload = change.payload if isinstance(change.payload, Mapping) else {}
        match change.kind:
            case "write" | "move":
                found = _entry(change, entry.file)
                if found is not None:
                    self.entries[found.id] = found
                    if found.id in self._ends:
                        self._end({"ids": [found.id]}, self._ends[found.id])
            case "done":
                self._end(payload, "done")
            case "drop":
                self._end(payload, "dropped")
            case "undo":
                self._end(payload, "undone")
            case "consolidate":
                self.runs.append(Run(str(payload.get("group", "")), change.time, entry.file))

    def _end(self, payload: Mapping[str, Json], state: State) -> None:
        ids = payload.get("ids")
        for identifier in ids if isinstance(ids, list) else ():
            self._ends[identifier] = state
            if identifier in self.entries:
                ended = msgspec.structs.replace(self.entries[identifier], state=state, hunks=())
                self.entries[identifier] = ended

    def hunks(self, ids: Container[str]) -> dict[str, tuple[Hunk, ...]]:
        """What these edits changed, by id, from the journal: a process that runs long keeps none of it."""
        found = (_entry(entry.change, entry.file) for entry in self.journal.read() if entry.change.id in ids)
        return {one.id: one.hunks for one in found if one is not None}

    def append(self, change: Change) -> Change:
        """Acknowledge a change, and know it."""
        kept = self.journal.append(change)
        self.refresh()
        return kept

    def open(self) -> list[Entry]:
        """This machine's edits that are acknowledged and not known to be in their files, oldest first."""
        own = self.journal.file
        return [one for _, one in sorted(self.entries.items()) if one.state == "open" and one.machine == own]


def _entry(change: Change, machine: str) -> Entry | None:
    payload = change.payload if isinstance(change.payload, Mapping) else {}
    known = {
        "id": change.id, "time": change.time, "origin": change.origin, "machine": machine,
        **{name: payload[name] for name in ("step", "path", "to", "session", "group", "hunks", "created")
           if name in payload},
    }  # fmt: skip
    try:
        return msgspec.convert(known, Entry)
    except msgspec.ValidationError:  # a line of another version
        return None


_kept: "WeakKeyDictionary[Memory, Edits]" = WeakKeyDictionary()
_making = threading.Lock()


def edits_of(memory: "Memory") -> Edits:
    """The ledger kept for a memory."""
    with _making:
        found = _kept.get(memory)
        if found is None:
            found = _kept[memory] = Edits(memory.root)
        return found


class _Done(Exception):  # noqa: N818 - a way out of a callback, not an error
    """There is nothing to write."""


def write(
    memory: "Memory",
    path: str,
    change: Callable[[str], str],
    *,
    step: str,
    origin: Origin = "agent",
    session: str = "",
    group: str = "",
    dry_run: bool = False,
    timeout: float = PATIENCE,
) -> Written:
    """Edit a Markdown file of the workspace as a machine may: noted first, shown as a diff, taken back by id.

    Args:
        memory: whose.
        path: relative to the workspace; the file is made if missing.
        change: from the file's text (empty where it is new) to the new text; called again where someone saved
            meanwhile. Line ends are as in the file.
        step: what does it, for people: "session end", "consolidate: refresh".
        origin: who is behind it.
        session: the session it comes from.
        group: ties the edits of one run together, so that one `undo` takes all back.
        dry_run: only say what would change.
        timeout: seconds to wait for a file that someone is saving.

    Raises:
        UsageError: the path leaves the workspace, or the file is no UTF-8.
        ReadOnlyError, MnemarkError: it cannot be written; nothing was changed.
    """
    target = layout.safe_path(memory.root, path)
    if dry_run:
        old = _text(target.read_bytes() if target.is_file() else b"", path)
        shown = diff(path, old, change(old))
        return Written("", path, "written" if shown else "unchanged", shown)
    if memory.readonly:
        raise ReadOnlyError("this memory is open for reading only; open it for writing to change its notes")
    ledger = edits_of(memory)
    noted: list[str] = []
    made: tuple[Hunk, ...] = ()
    shown = ""

    def noting(data: bytes) -> bytes:
        nonlocal shown, made
        old = _text(data, path)
        if noted and apply(old, made) == old:  # before this second try another process completed the first
            return data
        new = change(old)
        _drop(ledger, noted)
        if new == old:
            raise _Done
        made = hunks(old, new)
        payload = {
            "step": step, "path": path, "session": session, "group": group,
            "hunks": made, "created": not data and not target.exists(),
        }  # fmt: skip
        payload = {name: value for name, value in payload.items() if value}
        line = Change(kind="write", payload=payload, origin=origin, scope=layout.scope_of(path), id=new_id())
        noted.append(ledger.append(line).id)
        shown = diff(path, old, new)
        return new.encode()

    with ledger.lock:
        try:
            result = edit(memory.root, path, noting, timeout=timeout)
        except _Done:
            return Written("", path, "unchanged", "")
        if result.status == "deferred":
            _drop(ledger, noted)
            return Written("", path, "deferred", "")
        ledger.append(Change(kind="done", payload={"ids": noted}, scope=layout.scope_of(path)))
    return Written(noted[-1], path, "written", shown)


def _drop(ledger: Edits, noted: list[str]) -> None:
    """What was noted and then not written, because someone saved in between."""
    if noted:
        ledger.append(Change(kind="drop", payload={"ids": list(noted)}))
        noted.clear()


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8; save it as UTF-8 and try again") from error


def move(
    memory: "Memory", path: str, to: str, *, step: str, origin: Origin = "agent", group: str = ""
) -> Written:
    """Give a file another name in the workspace, for example in the archive; noted first, taken back by id.

    Raises:
        UsageError: another file stands there, or a path leaves the workspace.
        NotFoundError: there is no such file.
    """
    if memory.readonly:
        raise ReadOnlyError("this memory is open for reading only; open it for writing to move files")
    ledger = edits_of(memory)
    source, target = layout.safe_path(memory.root, path), layout.safe_path(memory.root, to)
    if not source.is_file():
        raise NotFoundError(f"there is no file {path}")
    if target.exists():
        raise UsageError(f"{to} is there already; move it away first")
    payload = {"step": step, "path": path, "to": to, "group": group}
    payload = {name: value for name, value in payload.items() if value}
    with ledger.lock:
        made = ledger.append(Change(kind="move", payload=payload, origin=origin, scope=layout.scope_of(path)))
        done = moving.move(memory.root, path, to)
        if done == "moved":
            ledger.append(Change(kind="done", payload={"ids": [made.id]}))
            return Written(made.id, path, "written", f"{path} → {to}")
        ledger.append(Change(kind="drop", payload={"ids": [made.id]}))
    return Written("", path, "deferred", "")


def finish(memory: "Memory") -> list[Problem]:
    """Complete what was noted and then cut off by a kill; call it after opening and with each sync.

    What no longer fits, because the file was changed since, is dropped and told.
    """
    if memory.readonly:
        return []
    ledger = edits_of(memory)
    problems: list[Problem] = []
    with ledger.lock:
        ledger.refresh()
        for entry in ledger.open():
            state = _redo(memory, entry)
            if state == "deferred":
                continue
            kind = "done" if state == "written" else "drop"
            ledger.append(Change(kind=kind, payload={"ids": [entry.id]}))
            if kind == "drop":
                reason = f"an edit by {entry.step} was cut off and no longer fits; it was left out"
                problems.append(Problem(entry.path, reason, skipped=False))
    return problems


def _redo(memory: "Memory", entry: Entry) -> Literal["written", "deferred", "lost"]:
    if entry.to:
        done = moving.move(memory.root, entry.path, entry.to, timeout=_BUSY)
        return "deferred" if done == "deferred" else "written" if done == "moved" else "lost"
    result = _patched(memory, entry.path, lambda old: apply(old, entry.hunks), timeout=_BUSY)
    return "lost" if result is None else "deferred" if result.status == "deferred" else "written"


def _patched(
    memory: "Memory", path: str, change: Callable[[str], str | None], *, timeout: float
) -> EditResult | None:
    """The file edited; None where the change does not fit."""

    def patched(data: bytes) -> bytes:
        new = change(_text(data, path))
        if new is None:
            raise _Done
        return new.encode()

    try:
        return edit(memory.root, path, patched, timeout=timeout)
    except _Done:
        return None


def entries(memory: "Memory") -> Iterator[Entry]:
    """All automatic edits, oldest first."""
    ledger = edits_of(memory)
    with ledger.lock:
        ledger.refresh()
        found = [one for _, one in sorted(ledger.entries.items())]
    return iter(found)


def reverse(memory: "Memory", identifier: str) -> Written:
    """Take back one edit: its lines only, whatever else the file holds by now.

    Raises:
        NotFoundError: there is no such edit, or it was taken back before.
        UsageError: what it wrote was changed since; the message names the file.
    """
    ledger = edits_of(memory)
    with ledger.lock:
        ledger.refresh()
        entry = ledger.entries.get(identifier)
        if entry is None or entry.state in {"undone", "dropped"}:
            raise NotFoundError(f"there is no automatic edit {identifier!r} to take back")
        shown = _reverse_move(memory, entry) if entry.to else _reverse_write(memory, entry)
        if shown is None:
            return Written("", entry.path, "deferred", "")
        made = ledger.append(
            Change(kind="undo", payload={"ids": [identifier]}, scope=layout.scope_of(entry.path))
        )
    return Written(made.id, entry.path, "written", shown)


def _reverse_move(memory: "Memory", entry: Entry) -> str | None:
    done = moving.move(memory.root, entry.to, entry.path)
    if done == "deferred":
        return None
    if done != "moved":
        raise UsageError(f"{entry.to} cannot go back to {entry.path}: it is gone, or another file is there")
    return f"{entry.to} → {entry.path}"


def _reverse_write(memory: "Memory", entry: Entry) -> str | None:
    target = layout.safe_path(memory.root, entry.path)
    before = target.read_bytes() if target.is_file() else b""
    made = edits_of(memory).hunks({entry.id}).get(entry.id, ())
    result = _patched(memory, entry.path, lambda old: take_back(old, made), timeout=PATIENCE)
    if result is None:
        raise UsageError(f"{entry.path} was changed since where this edit was; change it by hand")
    if result.status == "deferred":
        return None
    if entry.created and not result.content:
        moving.remove(memory.root, entry.path, expected=b"")
    return diff(entry.path, _text(before, entry.path), _text(result.content, entry.path))
