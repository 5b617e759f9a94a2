"""Make automatic edits of files: noted before they are made, shown, completed after a kill, undone.

An edit of a Markdown file stands in the journal as a change of kind "write" with what it took away and what
it put in (its undo image); "done" follows when the file holds it. A kill in between leaves an edit that the
next `finish` completes. "drop" ends one that no longer fits, "undo" one that was taken back.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from mnemark.errors import NotFoundError, ReadOnlyError, UsageError
from mnemark.files import edit as editing
from mnemark.files import layout, platform
from mnemark.files.edit import PATIENCE, EditResult, edit
from mnemark.files.ids import new_id
from mnemark.files.journal import Change
from mnemark.memory.journal.edits import EditJournal, Entry
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.markdown.hunks import Hunk, apply, diff, hunks, take_back, without_context
from mnemark.types import Json, Origin, Problem

Status = Literal["written", "unchanged", "deferred"]
_BUSY: Final = 0.5


class Written(NamedTuple):
    """The result of an edit. `deferred`: someone is saving the file; nothing was noted, try later."""

    id: str
    """Of the change in the journal; empty where nothing was changed."""
    path: str
    status: Status
    diff: str


class _Done(Exception):  # noqa: N818 - a way out of a callback, not an error
    """There is nothing to write."""


def write(
    ws: OpenWorkspace,
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
    """Edit a Markdown file of the workspace: noted first, shown as a diff, undone by id.

    Args:
        ws: the workspace.
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
    target = layout.safe_path(ws.root, path)
    if dry_run:
        old = _text(platform.content(target) if target.is_file() else b"", path)
        shown = shown_diff(ws, path, old, change(old))
        return Written("", path, "written" if shown else "unchanged", shown)
    ws.check_writable("change its notes")
    ledger = ws.edits
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
        made = without_context(hunks(old, new), ws.visible.hidden_lines(old))
        payload = {
            "step": step, "path": path, "session": session, "group": group,
            "hunks": made, "created": not data and not target.exists(),
        }  # fmt: skip
        noted.append(_note(ledger, "write", payload, origin).id)
        shown = shown_diff(ws, path, old, new)
        return new.encode()

    with ledger.lock:
        try:
            result = edit(ws.root, path, noting, timeout=timeout)
        except _Done:
            return Written("", path, "unchanged", "")
        if result.status == "deferred":
            _drop(ledger, noted)
            return Written("", path, "deferred", "")
        ledger.append(Change(kind="done", payload={"ids": noted}, scope=layout.scope_of(path)))
    ws.changed()
    return Written(noted[-1], path, "written", shown)


def write_or_wait(
    ws: OpenWorkspace, path: str, change: Callable[[str], str], *, step: str, origin: Origin = "agent",
    session: str = "", group: str = "", timeout: float = PATIENCE,
) -> Written:  # fmt: skip
    """Edit like `write`, but defer also where the file is closed or no file, which the sync reports."""
    try:
        return write(
            ws, path, change, step=step, origin=origin, session=session, group=group, timeout=timeout
        )
    except (ReadOnlyError, UsageError):
        if ws.readonly:
            raise
        return Written("", path, "deferred", "")


def shown_diff(ws: OpenWorkspace, path: str, old: str, new: str) -> str:
    """Return a unified diff for people, of the visible parts of both texts."""
    return diff(path, ws.visible.redacted(old), ws.visible.redacted(new))


def _drop(ledger: EditJournal, noted: list[str]) -> None:
    """End an edit that was noted and not written, because someone saved in between."""
    if noted:
        ledger.append(Change(kind="drop", payload={"ids": list(noted)}))
        noted.clear()


def _note(ledger: EditJournal, kind: str, payload: Mapping[str, Json], origin: Origin) -> Change:
    kept = {name: value for name, value in payload.items() if value}
    scope = layout.scope_of(str(payload["path"]))
    return ledger.append(Change(kind=kind, payload=kept, origin=origin, scope=scope, id=new_id()))


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8 and try again") from error


def move(
    ws: OpenWorkspace, path: str, to: str, *, step: str, origin: Origin = "agent", group: str = ""
) -> Written:
    """Move a file in the workspace, for example to the archive; noted first, undone by id.

    Raises:
        UsageError: another file stands there, or a path leaves the workspace.
        NotFoundError: there is no such file.
    """
    ws.check_writable("move files")
    ledger = ws.edits
    source, target = layout.safe_path(ws.root, path), layout.safe_path(ws.root, to)
    if not source.is_file():
        raise NotFoundError(f"there is no file {path}")
    if target.exists():
        raise UsageError(f"{to} exists already; move it away first")
    with ledger.lock:
        made = _note(ledger, "move", {"step": step, "path": path, "to": to, "group": group}, origin)
        moved = editing.move(ws.root, path, to) == "moved"
        ledger.append(Change(kind="done" if moved else "drop", payload={"ids": [made.id]}))
    ws.changed()
    return Written(made.id, path, "written", f"{path} → {to}") if moved else Written("", path, "deferred", "")


def finish(ws: OpenWorkspace) -> list[Problem]:
    """Complete edits that were noted and then cut off by a kill; return those that no longer fit."""
    if ws.readonly:
        return []
    ledger = ws.edits
    problems: list[Problem] = []
    with ledger.lock:
        ledger.refresh()
        for entry in ledger.open():
            try:
                state = _redo(ws, entry)
            except (ReadOnlyError, UsageError):  # it is closed, or no file any more: it alone waits
                continue
            if state == "deferred":
                continue
            kind = "done" if state == "written" else "drop"
            ledger.append(Change(kind=kind, payload={"ids": [entry.id]}))
            if kind == "drop":
                reason = (
                    f"an edit by {entry.step} was interrupted; the file has changed since, so it was dropped"
                )
                problems.append(Problem(entry.path, reason, skipped=False))
    return problems


def _redo(ws: OpenWorkspace, entry: Entry) -> Literal["written", "deferred", "lost"]:
    if entry.to:
        done = editing.move(ws.root, entry.path, entry.to, timeout=_BUSY)
        return "deferred" if done == "deferred" else "written" if done == "moved" else "lost"
    result = _patch(ws, entry.path, lambda old: apply(old, entry.hunks), timeout=_BUSY)
    return "lost" if result is None else "deferred" if result.status == "deferred" else "written"


def _patch(
    ws: OpenWorkspace, path: str, change: Callable[[str], str | None], *, timeout: float
) -> EditResult | None:
    def patched(data: bytes) -> bytes:
        new = change(_text(data, path))
        if new is None:
            raise _Done
        return new.encode()

    try:
        return edit(ws.root, path, patched, timeout=timeout)
    except _Done:
        return None


def entries(ws: OpenWorkspace) -> list[Entry]:
    """Return all automatic edits, oldest first."""
    ledger = ws.edits
    with ledger.lock:
        ledger.refresh()
        return [one for _, one in sorted(ledger.entries.items())]


def reverse(ws: OpenWorkspace, identifier: str) -> Written:
    """Undo an edit: its lines only, whatever else the file holds by now.

    Raises:
        NotFoundError: there is no such edit, or it was undone before.
        UsageError: what it wrote was changed since; the message names the file.
    """
    ledger = ws.edits
    with ledger.lock:
        ledger.refresh()
        entry = ledger.entries.get(identifier)
        if entry is None or entry.state in {"undone", "dropped"}:
            raise NotFoundError(f"there is no automatic edit {identifier!r} to undo")
        shown = _reverse_move(ws, entry) if entry.to else _reverse_write(ws, entry)
        if shown is None:
            return Written("", entry.path, "deferred", "")
        undone = Change(kind="undo", payload={"ids": [identifier]}, scope=layout.scope_of(entry.path))
        made = ledger.append(undone)
    return Written(made.id, entry.path, "written", shown)


def _reverse_move(ws: OpenWorkspace, entry: Entry) -> str | None:
    done = editing.move(ws.root, entry.to, entry.path)
    if done == "deferred":
        return None
    if done != "moved":
        raise UsageError(
            f"{entry.to} cannot be moved back to {entry.path}: it is gone, or another file is there"
        )
    return f"{entry.to} → {entry.path}"


def _reverse_write(ws: OpenWorkspace, entry: Entry) -> str | None:
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
        editing.remove(ws.root, entry.path, expected=b"")
    return shown_diff(ws, entry.path, _text(before, entry.path), _text(result.content, entry.path))
