"""Locate the folder that a command is about, and open it."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mnemark.errors import BusyError, NotFoundError, ReadOnlyError, UsageError
from mnemark.interfaces.output import Progress, is_terminal, safe, say

if TYPE_CHECKING:
    from mnemark.index.sync import SyncReport
    from mnemark.memory.memory import Memory
    from mnemark.types import Problem

WAIT_SECONDS = 2.0
"""How long a question waits for another process that is syncing, before it is asked of the index as it is."""


def locate(workspace: Path | None, *, any_folder: bool = False) -> Path:
    """The folder a command is about, without links that lead mnemark out of it.

    Args:
        workspace: as given with -w or MNEMARK_WORKSPACE: exactly that folder.
        any_folder: where none is given and the current folder lies in no workspace, take it as it is.

    Raises:
        NotFoundError: there is none.
        UsageError: it is a file, or has such a link.
    """
    from mnemark.files import links

    root = _named(workspace, any_folder=any_folder)
    links.check(root)
    return root


def _named(workspace: Path | None, *, any_folder: bool) -> Path:
    from mnemark.files.layout import find_root

    if workspace is not None:
        root = workspace.expanduser().absolute()
        if root.is_file():
            raise UsageError(f"{root} is a file; give the folder that contains it")
        if not root.is_dir():
            raise NotFoundError(f"the folder {root} does not exist; create it with `mnemark init {root}`")
        return root
    current = _current()
    try:
        root = find_root(current)
    except NotFoundError:
        if any_folder:
            return current
        raise NotFoundError(
            f"{current} is not in a workspace; choose one with -w, or create one here with `mnemark init`"
        ) from None
    if root != current and is_terminal(sys.stderr):
        say(f"Workspace: {safe(str(root))}")
    return root


def _current() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise NotFoundError(
            "the current folder no longer exists; change to another folder, or choose one with -w"
        ) from None


def is_empty(root: Path) -> bool:
    """Whether there is neither an index nor anything that could be in one."""
    from mnemark.files.layout import CONFIG, PRIVATE
    from mnemark.files.scan import scan

    if any((root / name).exists() for name in (CONFIG, PRIVATE)):
        return False
    try:
        return not scan(root).entries
    except OSError as error:
        raise NotFoundError(f"{root} cannot be read: {error.strerror}") from error


@contextlib.contextmanager
def opened(root: Path, *, readonly: bool = False) -> Iterator["Memory"]:
    """The workspace at `root`, open.

    Raises:
        ReadOnlyError: something is to be written where it cannot be; the message says what to do.
    """
    from mnemark.memory.memory import Memory

    with Memory.open(root, readonly=readonly) as memory:
        try:
            yield memory
        except ReadOnlyError as error:
            if readonly or not memory.readonly:
                raise
            raise ReadOnlyError(
                f"{root} cannot be written, so nothing was changed; make the folder and its .mnemark "
                "writable, or work on a copy"
            ) from error


@contextlib.contextmanager
def followed(root: Path) -> Iterator[tuple["Memory", tuple[str, ...]]]:
    """The workspace open and its index brought up to date; with the reasons where that could not be done.

    A folder that cannot be written is answered for from the index it has, or from one made in passing.
    """
    from mnemark.files.layout import PRIVATE

    new = not (root / PRIVATE).exists()
    with contextlib.ExitStack() as stack:
        try:
            memory = stack.enter_context(opened(root))
            late = follow(memory)
        except ReadOnlyError:
            stack.close()
            memory = stack.enter_context(opened(root, readonly=True))
            late = frozen(memory)
        if new and memory.index.exists():
            say(f"Created an index in {safe(str(root / PRIVATE))}{os.sep} (safe to delete: it is rebuilt).")
            tell_of_outer(root)
        yield memory, late


def tell_of_outer(root: Path) -> None:
    """Say which workspace a folder belongs to no more, now that it is one of its own."""
    from mnemark.files.layout import workspace_around

    outer = workspace_around(root)
    if outer is not None:
        name, around = safe(str(root)), safe(str(outer))
        say(f"{name} is now a separate workspace; searches in {around} no longer include it.")


def frozen(memory: "Memory") -> tuple[str, ...]:
    """What has to be said about an index that cannot follow its files."""
    if not memory.index.exists():
        return ()
    reason = memory.index.stale_reason()
    if reason:
        return (f"sync: the folder cannot be written and its index cannot be used: {reason}",)
    behind = look(memory).outdated
    if not behind:
        return ()
    return (f"sync: the folder cannot be written, and {behind} files have changed since it was indexed",)


class Look(NamedTuple):
    """The files against the index: how many the next sync would read, and what is no memory of it."""

    outdated: int
    problems: "tuple[Problem, ...]"
    """Files that cannot be read."""
    inner: tuple[str, ...]
    """Folders that are workspaces of their own."""


def look(memory: "Memory") -> Look:
    """Compare files and index; nothing is written."""
    from mnemark.files import layout
    from mnemark.files.scan import scan
    from mnemark.index import schema
    from mnemark.index.plan import plan

    index = memory.index
    found = scan(memory.root, ignore=memory.config.ignore)
    entries = []
    for entry in found.entries:
        place = layout.place(entry.path)
        if place is not None and place.searchable:
            entries.append(entry)
    if not index.exists():
        return Look(len(entries), tuple(found.problems), tuple(found.inner))
    with schema.translated(index.path):
        return Look(len(plan(entries, index.known())), tuple(found.problems), tuple(found.inner))


def follow(memory: "Memory") -> tuple[str, ...]:
    """Sync with progress; where another process is at it for too long, say so and go on."""
    try:
        synced(memory, wait=WAIT_SECONDS)
    except BusyError:
        return ("sync: another process is updating the index; the latest changes may be missing",)
    return ()


def synced(memory: "Memory", *, wait: float = 10.0) -> tuple["SyncReport", str]:
    """Sync and embed with progress; the report, and the reason where embedding could not be done."""
    with Progress() as progress:
        report = memory.sync(
            progress=lambda done, total, passages: progress.tell(
                "Indexing", done, total, f" files, {passages:,} passages"
            ),
            wait=wait,
            embed=False,
        )
    with Progress() as progress:
        problem = memory.searcher.embeddings.embed(
            memory.index, progress=lambda done, total: progress.tell("Embedding", done, total, " passages")
        )
    return report, problem
