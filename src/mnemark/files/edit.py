"""Edit, move and remove shared Markdown files that people and programs may save at any time.

An edit waits until nobody has saved for a second, writes a new file beside, checks that the file still is
what was read, exchanges the two, and keeps the displaced one for a minute in case a save was under way (see
`edit_records`). A person's bytes are never overwritten unseen: what cannot be merged is kept as
`name.conflict-<time>-<hash>.md` and reported.
"""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from mnemark.errors import BusyError, IncompleteError, MnemarkError
from mnemark.files import jsonl, names, platform
from mnemark.files.disk_errors import raise_translated, translate_os_errors
from mnemark.files.edit_records import FOLDER, EditRecord, EditRecords, Findings, Texts, copy_name, mark_of
from mnemark.files.ids import is_id, new_id
from mnemark.files.listing import walk
from mnemark.files.private import private
from mnemark.files.truth import ChangedFiles, Folder
from mnemark.types import Problem

QUIET = 1.0
"""Seconds without a save after which a file counts as free."""
KEEP = 60.0
"""Seconds a displaced file is kept."""
PATIENCE = 3.0
"""Seconds to wait for a file to become free, and for the workspace's lock."""

_NEVER_LOOKED_AT = platform.Identity(0, 0, 0, 0)
_SKIPPED_FOLDERS = frozenset({".git", "node_modules", ".venv"})

Moved = Literal["moved", "missing", "changed", "occupied", "deferred"]
"""Result of a move. `changed`: the file is not as expected; `occupied`: the target exists."""


class EditResult(NamedTuple):
    """Result of an edit. `deferred`: the file was busy, nothing was written, try again later."""

    status: Literal["written", "unchanged", "deferred"]
    path: Path
    content: bytes
    """The new content of the file; empty if deferred."""
    problems: tuple[Problem, ...] = ()
    """Conflict copies that were written."""


class _Task(NamedTuple):
    truth: Folder
    root: Path
    target: Path
    name: str
    """The target, relative to the workspace."""
    records: EditRecords
    change: Callable[[bytes], bytes]
    quiet: float
    keep: float


def edit(
    truth: Folder,
    path: str | Path,
    change: Callable[[bytes], bytes],
    *,
    quiet: float = QUIET,
    timeout: float = PATIENCE,
    keep: float = KEEP,
) -> EditResult:
    """Change a shared file of a workspace; `change` maps its bytes (none if it is new) to new ones.

    `change` is called again where someone saved in between; what it raises is passed on, and nothing is
    written. `keep=0` leaves no displaced file behind, for erasing. Raises UsageError for a path that leaves
    the workspace, ReadOnlyError, MnemarkError (disk full): nothing was written then; IncompleteError: it was,
    and the disk failed after that.
    """
    base = Path(os.path.realpath(truth.root))
    target = names.inside(base, path)
    name = target.relative_to(base).as_posix()
    if truth.only_door:  # nobody saves beside it, and what a record puts back may have been erased elsewhere
        quiet = keep = 0.0
    task = _Task(truth, base, target, name, EditRecords(base), change, quiet, keep)
    deadline = time.monotonic() + timeout
    seen: platform.Identity | None = None
    while True:
        state, wait = _until_quiet(task, seen)
        result = None
        try:
            # Where it is not quiet, the last save may be our own: then nobody else is saving.
            with truth.change(max(0.0, deadline - time.monotonic()) if wait <= 0 else 0.0) as files:
                result = _attempt(task, state, files, ours=wait > 0)
        except BusyError:
            if result is not None:  # it was made, and the door did not take it
                raise
            if wait <= 0:
                return EditResult("deferred", target, b"")
        if result is not None:
            return result
        if wait > 0:
            if time.monotonic() + wait > deadline:
                return EditResult("deferred", target, b"")
            time.sleep(wait)
        seen = state if wait > 0 else None


def settle(truth: Folder, *, quiet: float = QUIET, timeout: float = 0.0) -> list[Problem]:
    """Merge late saves into edited files, put lost edits back, and remove expired displaced files.

    Call it now and then while a workspace is open, and before closing it; busy files are left for the next
    time. Returns the conflict copies that were made.
    """
    base = Path(os.path.realpath(truth.root))
    if not (private(base) / FOLDER).is_dir():
        return []
    try:
        with translate_os_errors(base), truth.change(timeout):
            paths = dict.fromkeys(record.path for record in EditRecords(base).all())
    except BusyError:
        return []
    problems: list[Problem] = []
    for path in paths:
        try:
            problems += edit(truth, path, lambda content: content, quiet=quiet, timeout=timeout).problems
        except MnemarkError as error:  # no file any more, closed, a full disk: the others are looked at
            problems.append(Problem(path, f"an earlier edit could not be checked: {error}"))
    return problems


def drop_expired(truth: Folder) -> None:
    """Drop what edits replaced a minute ago; where another process edits, a later call does it."""
    base = Path(os.path.realpath(truth.root))
    with suppress(BusyError), translate_os_errors(base), truth.change(0.0):
        records = EditRecords(base)
        records.drop_expired(records.all(), at_once=False)


def drop_displaced(truth: Folder) -> None:
    """Drop what edits replaced, for erasing, but for late saves that are still to be merged."""
    base = Path(os.path.realpath(truth.root))
    with translate_os_errors(base), truth.change():
        records = EditRecords(base)
        records.drop_expired(records.all(), at_once=True)


def sweep(truth: Folder, *, quiet: float = QUIET, timeout: float = PATIENCE) -> list[Problem]:
    """At start: remove stale temporary files, complete or undo what a crash interrupted, and settle.

    Returns what could not be removed, and the conflict copies that were made.
    """
    base = Path(os.path.realpath(truth.root))
    problems: list[Problem] = []
    with translate_os_errors(base), truth.change(timeout):
        records = EditRecords(base)
        records.all()
        records.clear()
        for path in walk(base, skip=_SKIPPED_FOLDERS).files:
            if path.rpartition("/")[2].startswith(jsonl.TEMPORARY):
                try:
                    platform.FS.unlink(base / path)
                except PermissionError:
                    problems.append(Problem(path, "a file left by a crash cannot be removed"))
    return [*problems, *settle(truth, quiet=quiet)]


def sweep_temporary(truth: Folder, paths: Iterable[str]) -> None:
    """Delete those of the temporary files at relative paths that no edit and no running process needs."""
    base = Path(os.path.realpath(truth.root))
    with suppress(MnemarkError), truth.change(0.0):  # else the next sync
        wanted = {jsonl.TEMPORARY + edit.id for edit in EditRecords(base).all()}
        for path in paths:
            name = path.rpartition("/")[2]
            with suppress(OSError):  # gone, or closed to us: `doctor --fix` says so
                of_edit = is_id(name.removeprefix(jsonl.TEMPORARY))  # written under this lock only
                left_over = platform.is_left_over(name, (base / path).lstat().st_mtime)
                if left_over or (of_edit and name not in wanted):
                    platform.FS.unlink(base / path)


def move(
    truth: Folder, path: str, to: str, *, expected: bytes | None = None, timeout: float = PATIENCE
) -> Moved:
    """Move a file within the workspace, making folders; with `expected`, only if it holds exactly that.

    A move that was made before is `moved`, too. Raises UsageError for a path that leaves the workspace,
    ReadOnlyError, MnemarkError.
    """
    base = Path(os.path.realpath(truth.root))
    source, target = names.inside(base, path), names.inside(base, to)
    try:
        with translate_os_errors(source), truth.change(timeout) as files:
            here, there = _read(source)[0], _read(target)[0]
            if here is None:
                return "moved" if there is not None and expected in (None, there) else "missing"
            if expected is not None and here != expected:
                return "changed"
            if there is None:
                platform.make_folder(target.parent)
                platform.FS.rename_new(source, target)
                platform.FS.sync_folder(target.parent)
            elif there == here:
                platform.FS.unlink(source)  # the copy is there: the move was half done
            else:
                return "occupied"
            files.removed(path)
            files.wrote(to)
            platform.FS.sync_folder(source.parent)
    except FileExistsError:
        return "occupied"
    except BusyError:
        return "deferred"
    return "moved"


def remove(truth: Folder, path: str, *, expected: bytes, timeout: float = PATIENCE) -> Moved:
    """Remove a file that holds exactly `expected`; "moved" when it is gone."""
    target = names.inside(truth.root, path)
    try:
        with translate_os_errors(target), truth.change(timeout) as files:
            here, _ = _read(target)
            if here not in (None, expected):
                return "changed"
            if here is not None:
                platform.FS.unlink(target)
                files.removed(path)
                platform.FS.sync_folder(target.parent)
    except BusyError:
        return "deferred"
    return "moved"


def _until_quiet(task: _Task, seen: platform.Identity | None) -> tuple[platform.Identity | None, float]:
    """Return the identity of a file (None: no file), and for how many seconds it is to be left alone.

    `seen` is its identity a while ago.
    """
    try:
        state = platform.identity(task.target)
    except OSError as error:
        raise_translated(error, task.target)
    if state is None or state == seen:
        return state, 0.0
    age = time.time() - state.mtime_ns / 1e9
    # A time in the future (another clock) says nothing: see for ourselves that nobody saves.
    return state, task.quiet - age if age >= 0 else task.quiet


def _attempt(
    task: _Task, state: platform.Identity | None, files: ChangedFiles, *, ours: bool
) -> EditResult | None:
    """Edit once, under the lock; return None if someone saved in between, to be retried.

    With `ours`, edit only if the file is as our last edit wrote it.
    """
    try:
        current, status = _read(task.target)
        if platform.identity(task.target) != state:
            return None
        edits = task.records.of(task.name)
        if ours and not (edits and current is not None and edits[-1].mark == mark_of(current)):
            return None
        found = task.records.look(edits, current, task.quiet)
    except OSError as error:
        raise_translated(error, task.target)
    new = task.change(found.content)
    try:
        return _put(task, Texts(base=current or b"", new=new, held=current or b""), found, status, files)
    except OSError as error:
        raise_translated(error, task.target)


def _put(
    task: _Task, texts: Texts, found: Findings, status: os.stat_result | None, files: ChangedFiles
) -> EditResult | None:
    """Put the new text in place, and what was found beside it; return None if someone saved in between."""
    problems = [_keep_copy(task, data, files) for data in found.copies]
    changed = texts.new != texts.base
    if changed:
        files.wrote(task.name)
        if not _install(task, texts, found, status):
            return None
    try:
        task.records.note(found)
        # What this edit displaced is only dropped where all is.
        edits = [found.updates.get(one.id, one) for one in found.edits]
        at_once = task.keep <= 0
        task.records.drop_expired(task.records.of(task.name) if at_once else edits, at_once=at_once)
    except OSError as error:
        if changed:
            raise _written_but(task, error) from error
        raise
    return EditResult(
        "written" if changed else "unchanged", task.target, texts.new, tuple(filter(None, problems))
    )


def _read(path: Path) -> tuple[bytes | None, os.stat_result | None]:
    try:
        return platform.read_file(path)
    except FileNotFoundError:
        return None, None


def _keep_copy(task: _Task, data: bytes, files: ChangedFiles) -> Problem | None:
    copy = copy_name(task.target, new_id(), data)
    mark = copy.stem.rpartition("-")[2]
    if any(task.target.parent.glob(f"*.conflict-*-{mark}{copy.suffix}")):
        return None
    platform.make_folder(copy.parent)
    name = copy.relative_to(task.root).as_posix()
    files.wrote(name)
    jsonl.replace_file(copy, data)
    platform.FS.sync_folder(copy.parent)
    reason = (
        f"another program changed the same lines of {task.name}; this is its version: compare, then delete it"
    )
    return Problem(name, reason)


def _install(task: _Task, texts: Texts, found: Findings, status: os.stat_result | None) -> bool:
    """Replace the old text by the new; return False if the file had changed."""
    records = task.records
    identifier = new_id()
    temporary = task.target.with_name(jsonl.TEMPORARY + identifier)
    if status is None:
        platform.make_folder(task.target.parent)
    record = EditRecord(
        id=identifier,
        path=task.name,
        time=time.time(),
        keep=task.keep,
        inode=jsonl.write_new(temporary, texts.new, status),
        mark=mark_of(texts.new),
        old_state=None if status is None else platform.identity_of(status),
        tries=found.tries,
    )
    try:
        records.save(record, texts)
        if status is None:
            platform.FS.rename_new(temporary, task.target)
        elif not _exchanged(task, record, texts, temporary):
            return False
        platform.FS.sync_folder(task.target.parent)
        if temporary.exists():
            records.store(record)
        records.save(msgspec.structs.replace(record, applied=True))
    except FileExistsError:
        return _undo(records, record)
    except OSError as error:
        with suppress(OSError):  # what is left half done is settled by the next look
            records.of(task.name)
            if (left := platform.identity(temporary)) is not None and left.inode == record.inode:
                platform.FS.unlink(temporary)
        if (there := platform.identity(task.target)) is not None and there.inode == record.inode:
            raise _written_but(task, error) from error
        raise
    return True


def _written_but(task: _Task, error: OSError) -> IncompleteError:
    """Return the error that a file was written, and what failed after that."""
    return IncompleteError(f"{task.target}: was written, but then {error.strerror or error}; check its disk")


def _undo(records: EditRecords, record: EditRecord) -> Literal[False]:
    """Undo an edit whose new file still has its temporary name."""
    platform.FS.unlink(records.temporary(record))
    records.drop(record)
    return False


def _exchanged(task: _Task, record: EditRecord, texts: Texts, temporary: Path) -> bool:
    """Exchange the new file and the old one; undo it if the old one is not `texts.held`."""
    records = task.records
    if platform.identity(task.target) != record.old_state:
        return _undo(records, record)
    if not platform.FS.exchange(temporary, task.target):
        return _replaced(task, record)
    if platform.read_file(temporary)[0] == texts.held:
        return True
    platform.FS.exchange(temporary, task.target)
    if platform.read_file(temporary)[0] == texts.new:
        return _undo(records, record)
    # Someone saved over the new file in the moment it was there: a late save like any other.
    records.store(record)
    records.save(
        msgspec.structs.replace(record, old_state=_NEVER_LOOKED_AT, seen=True, applied=True),
        msgspec.structs.replace(texts, held=texts.new),
    )
    return False


def _replaced(task: _Task, record: EditRecord) -> bool:
    """Replace the file on systems that cannot exchange files; a hard link keeps the old one."""
    with suppress(OSError):  # file systems without links: late saves cannot be seen there
        platform.FS.link(task.target, task.records.old(record))
    if platform.identity(task.target) != record.old_state:
        return _undo(task.records, record)
    platform.FS.replace(task.records.temporary(record), task.target)
    return True
