"""Prepare the files of a merge beside the workspace, put them in place, and take them out again.

`.mnemark/merges/<id>/` has what each file was before, and, until all is in place, what it becomes. Once
`merge.json` says "ready", a merge that was killed goes on from there.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

from mnemark.errors import MnemarkError, NotFoundError, UsageError
from mnemark.files import jsonl, layout, platform
from mnemark.files.edit import edit, remove
from mnemark.files.ids import is_id, new_id
from mnemark.files.join import join_logs, join_texts
from mnemark.files.private import private, private_folder
from mnemark.files.truth import Folder
from mnemark.memory.merging import bases
from mnemark.memory.merging.join import kind_of

FOLDER: Final = "merges"
_PLAN: Final = "merge.json"
_BASES: Final = "bases.before"
_KEPT: Final = 3
"""Merges that can be undone."""


class FileChange(msgspec.Struct, frozen=True):
    """A file that a merge changes, and whether there is one before and after."""

    path: str
    before: bool
    after: bool


class MergePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge changes, and how far it is."""

    id: str
    source: str
    state: Literal["begun", "ready", "done", "undone"]
    """`begun`: the journals are joined, and the other files are still to be prepared."""
    changes: tuple[FileChange, ...] = ()
    waiting: tuple[str, ...] = ()
    """Files that another program was saving."""


class Steps:
    """The prepared changes of one merge."""

    def __init__(self, truth: Folder, source: str) -> None:
        self.truth = truth
        self.id = new_id()
        self.source = source
        self._folder = private_folder(truth.root) / FOLDER / self.id
        self._changes: list[FileChange] = []
        self._bases = b""

    def change(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Prepare that a file gets other bytes; None: there is none."""
        if before == after:
            return
        number = len(self._changes)
        for name, data in (("before", before), ("after", after)):
            if data is not None:
                platform.make_folder(self._folder)
                jsonl.write_new(self._folder / f"{number}.{name}", data, durable=name == "after")
        self._changes.append(FileChange(path, before is not None, after is not None))

    def keep_bases(self) -> None:
        """Keep what is known of versions now, so that an undo knows it again."""
        with suppress(OSError):  # there is none yet
            self._bases = platform.content(private(self.truth.root) / bases.FOLDER / bases.LIST)

    def carry_out(self, *, begun: bool = False) -> MergePlan:
        """Put all in place, and return what was done; `begun`: more is to come."""
        if not self._changes:
            return MergePlan(id="", source=self.source, state="done")
        plan = MergePlan(id=self.id, source=self.source, state="ready", changes=tuple(self._changes))
        _save(self._folder, plan)
        jsonl.replace_file(self._folder / _BASES, self._bases)
        return _put_in_place(self.truth, self._folder, plan, "begun" if begun else "done")


def finish(truth: Folder) -> list[str]:
    """Go on with merges that were killed, or met a busy file; return the files that still wait."""
    waiting: list[str] = []
    for folder, plan in _plans(truth.root):
        if plan is None:  # killed while it was prepared: nothing was changed
            shutil.rmtree(folder, ignore_errors=True)
        elif plan.state == "ready":
            waiting += _put_in_place(truth, folder, plan, "done").waiting
    return waiting


def cut_off(root: Path) -> list[str]:
    """Return the other sides of merges that were killed before all was prepared."""
    return [plan.source for _, plan in _plans(root) if plan is not None and plan.state == "begun"]


def drop_begun(truth: Folder) -> None:
    """Take back the journals of merges that were killed before all was prepared; what was erased stays so."""
    for plan in plans(truth.root):
        if plan.state == "begun":
            take_back(truth, plan.id)


def plans(root: Path) -> list[MergePlan]:
    """Return the merges that are remembered, oldest first."""
    return [plan for _, plan in _plans(root) if plan is not None]


def is_merge(root: Path, identifier: str) -> bool:
    """Whether an id is that of a merge."""
    return is_id(identifier) and (private(root) / FOLDER / identifier / _PLAN).is_file()


def take_back(truth: Folder, identifier: str) -> tuple[list[str], list[str]]:
    """Undo a merge; return the files changed back, and those that cannot be, with the reason.

    What was written since stays, and so does what was erased.

    Raises:
        NotFoundError: there is no such merge.
        UsageError: it was undone before.
    """
    folder = private(truth.root) / FOLDER / identifier
    plan = _load(folder)
    if plan is None:
        raise NotFoundError(f"there is no merge {identifier!r} to undo")
    if plan.state == "undone":
        raise UsageError("this merge was undone before; merge again to have it back")
    done: list[str] = []
    left: list[str] = []
    for number, change in reversed(list(enumerate(plan.changes))):
        before = _content(folder / f"{number}.before")
        after = _content(folder / f"{number}.after")
        if (change.before and before is None) or (change.after and after is None):
            left.append(f"{change.path}: what it was holds erased text, and is gone")
            continue
        if _put(truth, change.path, after, before, undo=True):
            done.append(change.path)
        else:
            left.append(f"{change.path}: another program is saving it; undo again in a moment")
    known = private(truth.root) / bases.FOLDER / bases.LIST
    if (before := _content(folder / _BASES)) is not None and known.parent.is_dir():
        jsonl.replace_file(known, before)
    if not left:
        _save(folder, msgspec.structs.replace(plan, state="undone"))
    return done, left


def _put_in_place(truth: Folder, folder: Path, plan: MergePlan, then: Literal["begun", "done"]) -> MergePlan:
    waiting = []
    for number, change in enumerate(plan.changes):
        before, after = (_content(folder / f"{number}.{name}") for name in ("before", "after"))
        if change.after and after is None:
            continue  # erased meanwhile
        if not _put(truth, change.path, before, after):
            waiting.append(change.path)
    plan = msgspec.structs.replace(plan, state="ready" if waiting else then, waiting=tuple(waiting))
    _save(folder, plan)
    for old, _ in list(_plans(truth.root))[:-_KEPT] if then == "done" else ():
        shutil.rmtree(old, ignore_errors=True)
    return plan


def _put(truth: Folder, path: str, before: bytes | None, after: bytes | None, *, undo: bool = False) -> bool:
    """Change a file from `before` to `after`, keeping what others wrote meanwhile; False if it is busy."""
    full = layout.safe_path(truth.root, path)
    current = _content(full)
    if current == after:
        return True
    if after is None:
        return current != before or remove(truth, path, expected=current or b"") != "deferred"
    if current is None and before is None:
        platform.make_folder(full.parent)
        with truth.change() as files:
            files.wrote(path)
            jsonl.replace_file(full, after)
            platform.FS.sync_folder(full.parent)
        return True
    if current is None and not undo:
        return True  # deleted meanwhile

    def change(now: bytes) -> bytes:
        return _without(path, after, before, now) if undo else _with(path, before, after, now)

    if kind_of(path) == "log":
        put_log(truth, path, change)
        return True
    # Nothing is kept to put the edit back: who saves the version before, as to settle marks, means it.
    result = edit(truth, path, change, keep=0)
    return result.status != "deferred"


def put_log(truth: Folder, path: str, change: Callable[[bytes], bytes]) -> None:
    """Rewrite a log as a whole, which is made if missing."""
    full = truth.root / path
    with truth.change() as files:
        if not full.exists():
            platform.make_file(full)
        files.wrote(path)
        jsonl.transform(full, change)


def _with(path: str, before: bytes | None, after: bytes, now: bytes) -> bytes:
    """Return what a file becomes: `after`, with what was written since it was prepared."""
    if now == before or (before is None and not now):
        return after
    if kind_of(path) == "log":
        return join_logs(now, after).data
    return join_texts(before, now, after).data


def _without(path: str, before: bytes | None, after: bytes | None, now: bytes) -> bytes:
    """Return what a file becomes without what a merge brought; a log keeps what was erased since."""
    if kind_of(path) == "log":
        came = set((after or b"").split(b"\n")) - set((before or b"").split(b"\n"))
        kept = b"\n".join(line for line in now.split(b"\n") if line not in came or _erases(line))
        return join_logs(kept, before or b"").data if before else kept
    return before or b"" if now == after else join_texts(after or b"", now, before or b"").data


def _erases(line: bytes) -> bool:
    record = jsonl.decode(line) or {}
    payload = record.get("payload")
    return (
        record.get("kind") == "erased"
        or "erased" in record
        or (record.get("kind") == "forget" and isinstance(payload, dict) and bool(payload.get("erase")))
    )


def _plans(root: Path) -> Iterator[tuple[Path, MergePlan | None]]:
    with suppress(OSError):
        for folder in sorted((private(root) / FOLDER).iterdir()):
            if is_id(folder.name):
                yield folder, _load(folder)


def _load(folder: Path) -> MergePlan | None:
    try:
        return msgspec.json.decode(platform.content(folder / _PLAN), type=MergePlan)
    except (OSError, msgspec.DecodeError):
        return None


def _save(folder: Path, plan: MergePlan) -> None:
    platform.make_folder(folder)
    jsonl.replace_file(folder / _PLAN, msgspec.json.encode(plan))
    platform.FS.sync_folder(folder)


def _content(path: Path) -> bytes | None:
    try:
        return platform.content(path)
    except FileNotFoundError:
        return None
    except IsADirectoryError as error:
        raise MnemarkError(f"{path} is a folder here and a file there; rename one of them") from error
