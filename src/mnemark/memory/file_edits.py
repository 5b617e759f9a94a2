"""Edit Markdown files automatically, with a write-ahead journal for diffs, crash recovery and undo.

An edit is first appended to the journal as a change of kind "write" with its hunks (removed and added lines);
"done" follows once the file is written. After a crash in between, the next `finish` completes the edit.
"drop" marks an edit that no longer applies, "undo" one that was undone.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mnemark.errors import IncompleteError, MnemarkError, NotFoundError, ReadOnlyError, UsageError
from mnemark.files import edit as editing
from mnemark.files import layout, platform
from mnemark.files.edit import PATIENCE, EditResult, edit
from mnemark.files.ids import new_id
from mnemark.files.journal import Change
from mnemark.memory.journal.edits import AutomaticEdit, all_ended
from mnemark.text.markdown.hunks import Hunk, apply, diff, hunks, take_back, turned, without_context
from mnemark.types import Json, Origin, Problem

if TYPE_CHECKING:
    from mnemark.memory.open_workspace import OpenWorkspace

Status = Literal["written", "unchanged", "deferred"]
_RECOVERY_TIMEOUT: Final = 0.5


class Written(NamedTuple):
    """The result of an edit. `deferred`: another program is saving the file; nothing was changed."""

    id: str
    """Id of the change in the journal; empty where nothing was changed."""
    path: str
    status: Status
    diff: str


class _NothingToWrite(Exception):  # noqa: N818 - leaves a callback, is no error
    """Abort an edit that has nothing to write."""


def write(
    ws: "OpenWorkspace", path: str, change: Callable[[str], str], *, step: str, origin: Origin = "agent",
    session: str = "", group: str = "", timeout: float = PATIENCE, waits: bool = False,
) -> Written:  # fmt: skip
    """Edit a Markdown file of the workspace; the edit is in the journal and can be undone by its id.

    Args:
        ws: the workspace.
        path: relative to the workspace; the file is created if missing.
        change: maps the file's text (empty if it is new) to the new text; called again if another program
            saved the file meanwhile. Line ends are as in the file.
        step: the operation that makes the edit, for people: "session end", "consolidate: refresh".
        origin: the origin of the edit.
        session: the session it comes from.
        group: id shared by the edits of one run, so that one `undo` reverts them all.
        timeout: seconds to wait for a file that another program is saving.
        waits: also defer where the path cannot be written, or is no file of text: the sync reports that.

    Raises:
        UsageError: the path leaves the workspace, or the file is not UTF-8.
        ReadOnlyError, MnemarkError: the file cannot be written; nothing was changed.
    """
    ws.check_writable("change its notes")
    said = {"step": step, "path": path, "session": session, "group": group}
    try:
        return _Writing(ws, path, change, said, origin).run(timeout)
    except (ReadOnlyError, UsageError):
        if not waits:
            raise
        return Written("", path, "deferred", "")


class _Writing:
    """An edit under way: each attempt is in the journal before the file is written."""

    def __init__(
        self, ws: "OpenWorkspace", path: str, change: Callable[[str], str], said: Mapping[str, Json],
        origin: Origin,
    ) -> None:  # fmt: skip
        self._ws = ws
        self._path = path
        self._target = layout.safe_path(ws.root, path)
        self._change = change
        self._said = said
        self._origin = origin
        self._id = ""
        """Of the attempt in the journal."""
        self._hunks: tuple[Hunk, ...] = ()
        self._diff = ""

    def run(self, timeout: float) -> Written:
        with self._ws.edits.lock:
            try:
                status = edit(self._ws.truth, self._path, self._attempt, timeout=timeout).status
            except _NothingToWrite:
                return Written("", self._path, "unchanged", "")
            except IncompleteError:  # the file is written
                status = "written"
            except (MnemarkError, OSError) as error:
                self._take_back(error)
                raise
            if status == "deferred":
                self._drop()
                return Written("", self._path, "deferred", "")
            with suppress(MnemarkError, OSError):  # the next sync finds that it is done
                self._append("done", layout.scope_of(self._path))
        return Written(self._id, self._path, "written", self._diff)

    def _attempt(self, data: bytes) -> bytes:
        old = _text(data, self._path)
        if self._id and apply(old, self._hunks) == old:  # another process has completed the first attempt
            return data
        new = self._change(old)
        self._drop()
        if new == old:
            raise _NothingToWrite
        self._hunks = without_context(hunks(old, new), self._ws.visible.hidden_lines(old))
        created = not data and not self._target.exists()
        begun = _begun("write", {**self._said, "hunks": self._hunks, "created": created}, self._origin)
        self._id = self._ws.journal.append(begun).id
        self._diff = shown_diff(self._ws, self._path, old, new)
        return new.encode()

    def _take_back(self, error: Exception) -> None:
        """Drop an edit that failed, so that no later sync makes it; say so where the journal keeps it."""
        try:
            self._drop()
        except (MnemarkError, OSError):
            raise IncompleteError(
                f"{error}; the edit is in the journal, and the next sync makes it"
            ) from error

    def _drop(self) -> None:
        """Mark the attempt as dropped: it was recorded and not written, as the file was saved in between."""
        if self._id:
            self._append("drop")
            self._id = ""

    def _append(self, kind: str, scope: str = "") -> None:
        self._ws.journal.append(Change(kind=kind, payload={"ids": [self._id]}, scope=scope))


def shown_diff(ws: "OpenWorkspace", path: str, old: str, new: str) -> str:
    """Return a unified diff of both texts after redaction, for people."""
    return diff(path, ws.visible.redacted(old), ws.visible.redacted(new))


def _begun(kind: str, said: Mapping[str, Json], origin: Origin = "agent") -> Change:
    payload = {name: value for name, value in said.items() if value}
    scope = layout.scope_of(str(payload["path"]))
    return Change(kind=kind, payload=payload, origin=origin, scope=scope, id=new_id())


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8 and try again") from error


def move(ws: "OpenWorkspace", path: str, to: str, *, step: str, group: str = "") -> Written:
    """Move a file in the workspace, for example to the archive; the move can be undone by its id.

    Raises:
        UsageError: the target exists, or a path leaves the workspace.
        NotFoundError: there is no such file.
    """
    ws.check_writable("move files")
    source, target = layout.safe_path(ws.root, path), layout.safe_path(ws.root, to)
    if not source.is_file():
        raise NotFoundError(f"there is no file {path}")
    if target.exists():
        raise UsageError(f"{to} exists already; move it away first")
    with ws.edits.lock:
        begun = ws.journal.append(_begun("move", {"step": step, "path": path, "to": to, "group": group}))
        moved = editing.move(ws.truth, path, to) == "moved"
        ws.journal.append(Change(kind="done" if moved else "drop", payload={"ids": [begun.id]}))
    return (
        Written(begun.id, path, "written", f"{path} → {to}") if moved else Written("", path, "deferred", "")
    )


def finish(ws: "OpenWorkspace") -> list[Problem]:
    """Complete edits that a crash interrupted; return a problem for each that no longer applies.

    Where no edit is open, only the journal's lines since this was last the case are read: it grows for years,
    and this is asked at each end of a session and each sync.
    """
    if ws.readonly or all_ended(ws.edits, ws.state):
        return []
    problems: list[Problem] = []
    with ws.edits.lock:
        for entry in ws.edits.open():
            try:
                state = _redo(ws, entry)
            except (ReadOnlyError, UsageError):  # not writable, or no file any more: only this edit waits
                continue
            if state == "deferred":
                continue
            kind = "done" if state == "written" else "drop"
            ws.journal.append(Change(kind=kind, payload={"ids": [entry.id]}))
            if kind == "drop":
                reason = (
                    f"an edit by {entry.step} was interrupted; the file has changed since, so it was dropped"
                )
                problems.append(Problem(entry.path, reason, skipped=False))
    return problems


def _redo(ws: "OpenWorkspace", entry: AutomaticEdit) -> Literal["written", "deferred", "lost"]:
    if entry.to:
        done = editing.move(ws.truth, entry.path, entry.to, timeout=_RECOVERY_TIMEOUT)
        return "deferred" if done == "deferred" else "written" if done == "moved" else "lost"
    result = _patch(ws, entry.path, lambda old: apply(old, entry.hunks), timeout=_RECOVERY_TIMEOUT)
    return "lost" if result is None else "deferred" if result.status == "deferred" else "written"


def _patch(
    ws: "OpenWorkspace", path: str, change: Callable[[str], str | None], *, timeout: float
) -> EditResult | None:
    def patched(data: bytes) -> bytes:
        new = change(_text(data, path))
        if new is None:
            raise _NothingToWrite
        return new.encode()

    try:
        return edit(ws.truth, path, patched, timeout=timeout)
    except _NothingToWrite:
        return None


def reverse(ws: "OpenWorkspace", identifier: str) -> Written:
    """Undo an edit: revert its lines only, and keep later changes elsewhere in the file.

    Raises:
        NotFoundError: there is no such edit, or it was undone before.
        UsageError: the lines that it wrote were changed since; the message names the file.
    """
    with ws.edits.lock:
        entry = next(iter(ws.edits.entries([identifier])), None)
        if entry is None or entry.state in {"undone", "dropped"}:
            raise NotFoundError(f"there is no automatic edit {identifier!r} to undo")
        shown = _reversed_now(ws, entry)
        undone = Change(kind="undo", payload={"ids": [identifier]}, scope=layout.scope_of(entry.path))
        begun = [_begun_reverse(ws, entry)] if shown is None else []  # each sync tries to make it
        try:
            *_, made = ws.journal.append_many([*begun, undone])
        except (MnemarkError, OSError) as error:
            if shown is None:
                raise
            raise IncompleteError(
                f"{entry.path} is changed back, but not noted as undone: {error}"
            ) from error
    return Written(made.id, entry.path, "deferred" if shown is None else "written", shown or "")


def _reversed_now(ws: "OpenWorkspace", entry: AutomaticEdit) -> str | None:
    """Reverse an edit and return the change for people; None where its file cannot be changed now."""
    try:
        return _reverse_move(ws, entry) if entry.to else _reverse_write(ws, entry)
    except UsageError:
        raise
    except IncompleteError:  # the file is written
        return ""
    except (MnemarkError, OSError):
        return None


def _begun_reverse(ws: "OpenWorkspace", entry: AutomaticEdit) -> Change:
    """Return the line of an edit that reverses another."""
    if entry.to:
        return _begun("move", {"step": "undo", "path": entry.to, "to": entry.path})
    hunks = turned(ws.edits.hunks(entry))
    return _begun("write", {"step": "undo", "path": entry.path, "hunks": hunks})


def _reverse_move(ws: "OpenWorkspace", entry: AutomaticEdit) -> str | None:
    done = editing.move(ws.truth, entry.to, entry.path)
    if done == "deferred":
        return None
    if done != "moved":
        raise UsageError(
            f"{entry.to} cannot be moved back to {entry.path}: it is gone, or another file is there"
        )
    return f"{entry.to} → {entry.path}"


def _reverse_write(ws: "OpenWorkspace", entry: AutomaticEdit) -> str | None:
    target = layout.safe_path(ws.root, entry.path)
    before = platform.content(target) if target.is_file() else b""
    made = ws.edits.hunks(entry)
    if not made:
        raise UsageError(f"the journal no longer has what {entry.id} changed; edit {entry.path} by hand")
    result = _patch(ws, entry.path, lambda old: take_back(old, made), timeout=PATIENCE)
    if result is None:
        raise UsageError(f"{entry.path} has changed since at the same place; edit it by hand")
    if result.status == "deferred":
        return None
    if entry.created and not result.content:
        with suppress(MnemarkError, OSError):  # an empty file is left
            editing.remove(ws.truth, entry.path, expected=b"")
    return shown_diff(ws, entry.path, _text(before, entry.path), _text(result.content, entry.path))
