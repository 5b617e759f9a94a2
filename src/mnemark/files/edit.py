"""Edit shared files: Markdown that people and programs save at any time, by rename or in place.

An edit waits until nobody has saved for a second, then writes a new file beside, checks that the file still
is what was read, exchanges the two, and keeps the displaced one for a minute in case a save was under way;
`displaced` says what is looked for. A person's bytes are never overwritten unseen: what cannot be merged is
kept as `name.conflict-<time>-<id>.md` and reported.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from mnemark.errors import BusyError, ReadOnlyError, UsageError
from mnemark.files import jsonl, names, platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.edit_records import FOLDER, Edit, EditRecords, Findings, Texts, copy_name, mark_of
from mnemark.files.ids import new_id
from mnemark.files.listing import walk
from mnemark.files.locks import workspace_lock
from mnemark.types import Problem

QUIET = 1.0
"""Seconds without a save after which a file counts as free."""
KEEP = 60.0
"""Seconds a displaced file is kept."""
PATIENCE = 3.0
"""Seconds to wait for a file to become free, and for the workspace's lock."""

_NEVER_LOOKED_AT = platform.Identity(0, 0, 0, 0)
_SKIPPED_FOLDERS = frozenset({".git", "node_modules", ".venv"})


class EditResult(NamedTuple):
    """What became of an edit. `deferred`: the file was busy, nothing was written, try again later."""

    status: Literal["written", "unchanged", "deferred"]
    path: Path
    content: bytes
    """What the file holds now, as far as known; empty where deferred."""
    problems: tuple[Problem, ...] = ()
    """Conflict copies that were made."""


class _Task(NamedTuple):
    root: Path
    target: Path
    change: Callable[[bytes], bytes]
    quiet: float
    keep: float

    @property
    def name(self) -> str:
        return self.target.relative_to(self.root).as_posix()

    @property
    def displaced(self) -> EditRecords:
        return EditRecords(self.root)


def edit(
    root: Path,
    path: str | Path,
    change: Callable[[bytes], bytes],
    *,
    quiet: float = QUIET,
    timeout: float = PATIENCE,
    keep: float = KEEP,
) -> EditResult:
    """Change a shared file of the workspace `root`; `change` gets its bytes (none where it is new).

    `change` may be called again where someone saved in between; what it raises is passed on, and nothing is
    written. `keep=0` leaves no displaced file behind, for erasing. Raises UsageError for a path that leaves
    the workspace, ReadOnlyError, MnemarkError (disk full).
    """
    base = Path(os.path.realpath(root))
    task = _Task(base, names.inside(base, path), change, quiet, keep)
    deadline = time.monotonic() + timeout
    while True:
        with translate_os_errors(task.target):
            state = _wait_until_quiet(task, deadline)
        if state == "busy":
            return EditResult("deferred", task.target, b"")
        try:
            with workspace_lock(base, max(0.0, deadline - time.monotonic())):
                result = _attempt(task, state)
        except BusyError:
            return EditResult("deferred", task.target, b"")
        if result is not None:
            return result


def append_text(
    root: Path,
    path: str | Path,
    text: str,
    *,
    quiet: float = QUIET,
    timeout: float = PATIENCE,
) -> EditResult:
    """Append lines to a note, on a line of their own; see `edit`."""
    added = text.encode("utf-8", "replace")

    def change(content: bytes) -> bytes:
        between = b"\n" if content and not content.endswith(b"\n") else b""
        return content + between + added + (b"" if added.endswith(b"\n") else b"\n")

    return edit(root, path, change, quiet=quiet, timeout=timeout)


def settle(root: Path, *, quiet: float = QUIET, timeout: float = 0.0) -> list[Problem]:
    """Look again at what edits displaced: merge late saves, put lost edits back.

    What is over its minute is removed. Call it now and then while a workspace is open, and before closing it;
    a file or workspace that is busy is left for the next time. Returns the conflict copies that were made.
    """
    base = Path(os.path.realpath(root))
    if not (base / FOLDER).is_dir():
        return []
    try:
        with translate_os_errors(base), workspace_lock(base, timeout):
            paths = dict.fromkeys(record.path for record in EditRecords(base).all())
    except BusyError:
        return []
    problems: list[Problem] = []
    for path in paths:
        try:
            problems += edit(base, path, lambda content: content, quiet=quiet, timeout=timeout).problems
        except (ReadOnlyError, UsageError) as error:  # no file any more, or closed: the others are looked at
            problems.append(Problem(path, f"an earlier edit could not be checked: {error}"))
    return problems


def sweep(root: Path, *, quiet: float = QUIET, timeout: float = PATIENCE) -> list[Problem]:
    """At start: remove stale temporary files, finish or take back what a crash left half done, and settle.

    Returns what could not be removed, and the conflict copies that were made.
    """
    base = Path(os.path.realpath(root))
    problems: list[Problem] = []
    with translate_os_errors(base), workspace_lock(base, timeout):
        displaced = EditRecords(base)
        displaced.all()
        displaced.clear()
        for path in walk(base, skip=_SKIPPED_FOLDERS).files:
            if path.rpartition("/")[2].startswith(jsonl.TEMPORARY):
                try:
                    platform.FS.unlink(base / path)
                except PermissionError:
                    problems.append(Problem(path, "a file left by a crash cannot be removed"))
    return [*problems, *settle(base, quiet=quiet)]


def _wait_until_quiet(task: _Task, deadline: float) -> platform.Identity | Literal["busy"] | None:
    """The state of the file once it is free (None: there is none); "busy" where it is not by the deadline."""
    before = None
    while True:
        state = platform.identity(task.target)
        if state is None or state == before:
            return state
        age = time.time() - state.mtime_ns / 1e9
        # A time in the future (another clock) says nothing: see for ourselves that nobody saves.
        wait = task.quiet - age if age >= 0 else task.quiet
        if wait <= 0 or _is_ours(task):
            return state
        if time.monotonic() + wait > deadline:
            return "busy"
        time.sleep(wait)
        before = state if age < 0 else None


def _is_ours(task: _Task) -> bool:
    """Whether the file holds what our last edit wrote: then nobody is saving."""
    with suppress(BusyError), workspace_lock(task.root, 0.0):
        last = task.displaced.last(task.name)
        with suppress(FileNotFoundError):
            return last is not None and last.mark == mark_of(platform.read_file(task.target)[0])
    return False


def _attempt(task: _Task, state: platform.Identity | None) -> EditResult | None:
    """One edit under the lock; None where someone saved in between and it is to be tried again."""
    with translate_os_errors(task.target):
        current, status = _read(task.target)
        if platform.identity(task.target) != state:
            return None
        found = task.displaced.look(task.name, current, task.quiet)
    new = task.change(found.content)
    with translate_os_errors(task.target):
        problems = [_keep_copy(task, data) for data in found.copies]
        changed = new != (current or b"")
        if changed and not _put(task, new, found, current, status):
            return None
        _note(task, found)
    return EditResult("written" if changed else "unchanged", task.target, new, tuple(filter(None, problems)))


def _read(path: Path) -> tuple[bytes | None, os.stat_result | None]:
    try:
        return platform.read_file(path)
    except FileNotFoundError:
        return None, None


def _note(task: _Task, found: Findings) -> None:
    """Bring the records up to date after the file was."""
    displaced, at_once = task.displaced, task.keep <= 0
    displaced.note(found)
    # What this edit displaced is only dropped where all is.
    edits = displaced.of(task.name) if at_once else [found.updates.get(one.id, one) for one in found.edits]
    displaced.drop_expired(edits, at_once=at_once)


def _keep_copy(task: _Task, data: bytes) -> Problem | None:
    copy = copy_name(task.target, new_id(), data)
    mark = copy.stem.rpartition("-")[2]
    if any(task.target.parent.glob(f"*.conflict-*-{mark}{copy.suffix}")):
        return None
    platform.make_folder(copy.parent)
    temporary = copy.with_name(jsonl.TEMPORARY + mark)
    platform.FS.unlink(temporary)
    jsonl.write_new(temporary, data)
    platform.FS.replace(temporary, copy)
    platform.FS.sync_folder(copy.parent)
    reason = (
        f"another program changed the same lines of {task.name}; this is its version: compare, then delete it"
    )
    return Problem(copy.relative_to(task.root).as_posix(), reason)


def _put(
    task: _Task,
    new: bytes,
    found: Findings,
    current: bytes | None,
    status: os.stat_result | None,
) -> bool:
    """Write `new` in place of `current`; False where the file was no longer that."""
    displaced = task.displaced
    identifier = new_id()
    temporary = task.target.with_name(jsonl.TEMPORARY + identifier)
    platform.make_folder(task.target.parent)
    inode = jsonl.write_new(temporary, new, status)
    record = Edit(
        id=identifier,
        path=task.name,
        time=time.time(),
        keep=task.keep,
        inode=inode,
        mark=mark_of(new),
        old_state=None if status is None else platform.identity_of(status),
        tries=found.tries,
    )
    texts = Texts(base=current or b"", new=new, held=current or b"")
    try:
        displaced.save(record, texts)
        if status is None:
            platform.FS.rename_new(temporary, task.target)
        elif not _exchanged(task, record, texts, status):
            return False
    except FileExistsError:
        _take_back(displaced, record)
        return False
    except OSError:
        with suppress(OSError):  # what is left half done is settled by the next look
            displaced.of(task.name)
            if (left := platform.identity(temporary)) is not None and left.inode == inode:
                platform.FS.unlink(temporary)
        raise
    platform.FS.sync_folder(task.target.parent)
    if temporary.exists():
        displaced.store(record)
    displaced.save(msgspec.structs.replace(record, applied=True))
    return True


def _take_back(displaced: EditRecords, record: Edit) -> None:
    """The new file was not put in place; its temporary name still is its own."""
    platform.FS.unlink(displaced.temporary(record))
    displaced.drop(record)


def _exchanged(task: _Task, record: Edit, texts: Texts, status: os.stat_result) -> bool:
    """Put the new file in the old one's place and check what came out; back again where it was not `held`."""
    displaced, temporary = task.displaced, task.displaced.temporary(record)
    if not _is_still(task.target, status):
        _take_back(displaced, record)
        return False
    if not platform.FS.exchange(temporary, task.target):
        return _replaced(task, record, status)
    if platform.read_file(temporary)[0] == texts.held:
        return True
    platform.FS.exchange(temporary, task.target)
    left = platform.read_file(temporary)[0]
    if left == texts.new:
        _take_back(displaced, record)
        return False
    # Someone saved over the new file in the moment it was there: a late save like any other.
    displaced.store(record)
    displaced.save(
        msgspec.structs.replace(record, old_state=_NEVER_LOOKED_AT, seen=True, applied=True),
        msgspec.structs.replace(texts, held=texts.new),
    )
    return False


def _replaced(task: _Task, record: Edit, status: os.stat_result) -> bool:
    """Where files cannot be exchanged: a second name keeps the old one while the new one takes its place."""
    displaced = task.displaced
    with suppress(OSError):  # file systems without links: late saves cannot be seen there
        platform.FS.link(task.target, displaced.old(record))
    if not _is_still(task.target, status):
        _take_back(displaced, record)
        return False
    platform.FS.replace(displaced.temporary(record), task.target)
    return True


def _is_still(path: Path, status: os.stat_result) -> bool:
    return platform.identity(path) == platform.identity_of(status)
