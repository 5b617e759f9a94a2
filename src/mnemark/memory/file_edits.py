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
from mnemark.memory.journal.edits import EditJournal, Entry, all_ended
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
    ws: "OpenWorkspace",
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
        dry_run: only return what would change.
        timeout: seconds to wait for a file that another program is saving.

    Raises:
        UsageError: the path leaves the workspace, or the file is not UTF-8.
        ReadOnlyError, MnemarkError: the file cannot be written; nothing was changed.
    """
    target = layout.safe_path(ws.root, path)
    if dry_run:
        old = _text(platform.content(target) if target.is_file() else b"", path)
        shown = shown_diff(ws, path, old, change(old))
        return Written("", path, "written" if shown else "unchanged", shown)
    ws.check_writable("change its notes")
    edit_journal = ws.edits
    noted: list[str] = []
    made: tuple[Hunk, ...] = ()
    shown = ""

    def record_and_change(data: bytes) -> bytes:
        nonlocal shown, made
        old = _text(data, path)
        if noted and apply(old, made) == old:  # another process has completed the first attempt meanwhile
            return data
        new = change(old)
        _drop(edit_journal, noted)
        if new == old:
            raise _NothingToWrite
        made = without_context(hunks(old, new), ws.visible.hidden_lines(old))
        payload = {
            "step": step, "path": path, "session": session, "group": group,
            "hunks": made, "created": not data and not target.exists(),
        }  # fmt: skip
        noted.append(_append(edit_journal, "write", payload, origin).id)
        shown = shown_diff(ws, path, old, new)
        return new.encode()

    with edit_journal.lock:
        try:
            result = edit(ws.truth, path, record_and_change, timeout=timeout)
        except _NothingToWrite:
            return Written("", path, "unchanged", "")
        except IncompleteError:  # the file is written
            pass
        except (MnemarkError, OSError) as error:
            _take_back(edit_journal, noted, error)
            raise
        else:
            if result.status == "deferred":
                _drop(edit_journal, noted)
                return Written("", path, "deferred", "")
        with suppress(MnemarkError, OSError):  # the next sync finds that it is done
            edit_journal.journal.append(
                Change(kind="done", payload={"ids": noted}, scope=layout.scope_of(path))
            )
    return Written(noted[-1], path, "written", shown)


def write_or_wait(
    ws: "OpenWorkspace", path: str, change: Callable[[str], str], *, step: str, origin: Origin = "agent",
    session: str = "", group: str = "", timeout: float = PATIENCE,
) -> Written:  # fmt: skip
    """Edit like `write`, but also defer if the path is not writable or no file, which the sync reports."""
    try:
        return write(
            ws, path, change, step=step, origin=origin, session=session, group=group, timeout=timeout
        )
    except (ReadOnlyError, UsageError):
        if ws.readonly:
            raise
        return Written("", path, "deferred", "")


def shown_diff(ws: "OpenWorkspace", path: str, old: str, new: str) -> str:
    """Return a unified diff of both texts after redaction, for people."""
    return diff(path, ws.visible.redacted(old), ws.visible.redacted(new))


def _take_back(edit_journal: EditJournal, noted: list[str], error: Exception) -> None:
    """Drop an edit that failed, so that no later sync makes it; say so where the journal keeps it."""
    try:
        _drop(edit_journal, noted)
    except (MnemarkError, OSError):
        raise IncompleteError(f"{error}; the edit is in the journal, and the next sync makes it") from error


def _drop(edit_journal: EditJournal, noted: list[str]) -> None:
    """Mark an edit as dropped that was recorded but not written, as the file was saved in between."""
    if noted:
        edit_journal.journal.append(Change(kind="drop", payload={"ids": list(noted)}))
        noted.clear()


def _append(edit_journal: EditJournal, kind: str, payload: Mapping[str, Json], origin: Origin) -> Change:
    return edit_journal.journal.append(_begun(kind, payload, origin))


def _begun(kind: str, payload: Mapping[str, Json], origin: Origin) -> Change:
    kept = {name: value for name, value in payload.items() if value}
    scope = layout.scope_of(str(payload["path"]))
    return Change(kind=kind, payload=kept, origin=origin, scope=scope, id=new_id())


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8 and try again") from error


def move(
    ws: "OpenWorkspace", path: str, to: str, *, step: str, origin: Origin = "agent", group: str = ""
) -> Written:
    """Move a file in the workspace, for example to the archive; the move can be undone by its id.

    Raises:
        UsageError: the target exists, or a path leaves the workspace.
        NotFoundError: there is no such file.
    """
    ws.check_writable("move files")
    edit_journal = ws.edits
    source, target = layout.safe_path(ws.root, path), layout.safe_path(ws.root, to)
    if not source.is_file():
        raise NotFoundError(f"there is no file {path}")
    if target.exists():
        raise UsageError(f"{to} exists already; move it away first")
    with edit_journal.lock:
        made = _append(edit_journal, "move", {"step": step, "path": path, "to": to, "group": group}, origin)
        moved = editing.move(ws.truth, path, to) == "moved"
        edit_journal.journal.append(Change(kind="done" if moved else "drop", payload={"ids": [made.id]}))
    return Written(made.id, path, "written", f"{path} → {to}") if moved else Written("", path, "deferred", "")


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
            ws.edits.journal.append(Change(kind=kind, payload={"ids": [entry.id]}))
            if kind == "drop":
                reason = (
                    f"an edit by {entry.step} was interrupted; the file has changed since, so it was dropped"
                )
                problems.append(Problem(entry.path, reason, skipped=False))
    return problems


def _redo(ws: "OpenWorkspace", entry: Entry) -> Literal["written", "deferred", "lost"]:
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
    edit_journal = ws.edits
    with edit_journal.lock:
        entry = next(iter(edit_journal.entries([identifier])), None)
        if entry is None or entry.state in {"undone", "dropped"}:
            raise NotFoundError(f"there is no automatic edit {identifier!r} to undo")
        shown = _reversed_now(ws, entry)
        undone = Change(kind="undo", payload={"ids": [identifier]}, scope=layout.scope_of(entry.path))
        begun = [_begun_reverse(ws, entry)] if shown is None else []  # each sync tries to make it
        try:
            *_, made = edit_journal.journal.append_many([*begun, undone])
        except (MnemarkError, OSError) as error:
            if shown is None:
                raise
            raise IncompleteError(
                f"{entry.path} is changed back, but not noted as undone: {error}"
            ) from error
    return Written(made.id, entry.path, "deferred" if shown is None else "written", shown or "")


def _reversed_now(ws: "OpenWorkspace", entry: Entry) -> str | None:
    """Reverse an edit and return the change for people; None where its file cannot be changed now."""
    try:
        return _reverse_move(ws, entry) if entry.to else _reverse_write(ws, entry)
    except UsageError:
        raise
    except IncompleteError:  # the file is written
        return ""
    except (MnemarkError, OSError):
        return None


def _begun_reverse(ws: "OpenWorkspace", entry: Entry) -> Change:
    """Return the line of an edit that reverses another."""
    if entry.to:
        return _begun("move", {"step": "undo", "path": entry.to, "to": entry.path}, "agent")
    payload: dict[str, Json] = {"step": "undo", "path": entry.path}
    return _begun("write", {**payload, "hunks": turned(ws.edits.hunks(entry))}, "agent")


def _reverse_move(ws: "OpenWorkspace", entry: Entry) -> str | None:
    done = editing.move(ws.truth, entry.to, entry.path)
    if done == "deferred":
        return None
    if done != "moved":
        raise UsageError(
            f"{entry.to} cannot be moved back to {entry.path}: it is gone, or another file is there"
        )
    return f"{entry.to} → {entry.path}"


def _reverse_write(ws: "OpenWorkspace", entry: Entry) -> str | None:
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
