"""Locate, open and sync the workspace of a command."""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mnemark.errors import (
    BusyError,
    MnemarkError,
    NewerFormatError,
    NotFoundError,
    ReadOnlyError,
    UsageError,
)
from mnemark.files import links, listing, trust
from mnemark.files.layout import CONFIG, PRIVATE, find_root
from mnemark.files.private import private
from mnemark.files.projects import Project
from mnemark.files.scan import scan
from mnemark.files.scopes import check_known
from mnemark_agents import daemon
from mnemark_interfaces import render, speech
from mnemark_interfaces.output import Progress, is_terminal, safe, say, stderr
from mnemark_interfaces.trusting import check_trust

if TYPE_CHECKING:
    from collections.abc import Callable

    from mnemark.index.sync import SyncReport
    from mnemark.memory.memory import Memory
    from mnemark.memory.sessions.session import Session

_EMBED_SECONDS = 2.0
"""Seconds that a read waits for a model to embed new texts; the rest follows in the next ones."""
_HEAL_SECONDS = 1.0
_MARK_SECONDS = 3_600.0
WAIT_SECONDS = 2.0
"""Seconds that a search waits for another process to sync before it uses the index as it is."""


class Subject(msgspec.Struct, frozen=True):
    """What a command is about."""

    root: Path
    """The workspace."""
    project: Project | None = None
    """The project of the current folder, where the workspace is the memory that agents use there."""

    def scope(self, given: str = "") -> str:
        """Return the scope to ask, as for `scopes`; empty for the shared memory alone."""
        return next(iter(self.scopes([given] if given else None) or ()), "")

    def scopes(self, given: Sequence[str] | None) -> Sequence[str] | None:
        """Return the scopes to ask: as given, else the project's; None for the shared memory alone.

        Raises:
            UsageError: one does not exist.
        """
        if given:
            check_known(listing.scopes(self.root), given)
        return given or ([self.project.scope] if self.project and self.project.scope else None)

    def scope_of(self, *said: str, dry_run: bool = False) -> str:
        """Return the scope to write a `StatedFact` to that names none, as the tools of models do.

        A project that has no memory yet gets one, unless `dry_run`.
        """
        from mnemark_agents.hook.project import scope_of_statement

        project = Project(self.project.scope) if self.project and dry_run else self.project
        return scope_of_statement(self.root, project, *said)


def locate(workspace: Path | None, *, any_folder: bool = False) -> Path:
    """Return the workspace folder of a command; see `place`."""
    return place(workspace, any_folder=any_folder).root


def place(workspace: Path | None, *, any_folder: bool = False, current: Path | None = None) -> Subject:
    """Return the workspace of a command, checked for links that lead out of it, and its project.

    Args:
        workspace: as given with -w or MNEMARK_WORKSPACE: exactly that folder.
        any_folder: where none is given and the current folder is in no workspace, return that folder.
        current: the current folder, where it is not that of this process.

    Raises:
        NotFoundError: there is no workspace.
        UsageError: it is a file, or has such a link.
    """
    found = _around(current, any_folder=any_folder) if workspace is None else Subject(_existing(workspace))
    links.check(found.root)
    if not trust.now(found.root).trusted:
        check_trust(found.root)
    return found


def _existing(given: Path) -> Path:
    root = given.expanduser().absolute()
    if root.is_file():
        raise UsageError(f"{root} is a file; give the folder that contains it")
    if not root.is_dir():
        raise NotFoundError(f"the folder {root} does not exist; create it with `mnemark init {root}`")
    return root


def _around(current: Path | None, *, any_folder: bool) -> Subject:
    try:
        current = current or Path.cwd()
    except FileNotFoundError:
        raise NotFoundError(
            "the current folder no longer exists; change to another folder, or choose one with -w"
        ) from None
    try:
        root = find_root(current)
    except NotFoundError:
        if found := _of_agents(current):
            return found
        if any_folder:
            return Subject(current)
        agents = Path.home() / "mnemark"
        choose = f"choose one with -w, as -w {agents}," if agents.is_dir() else "choose one with -w,"
        raise NotFoundError(
            f"{current} is not in a workspace; {choose} or create one here with `mnemark init`"
        ) from None
    if root != current and is_terminal(stderr()):
        say("Workspace: {path}", path=safe(str(root)))
    return Subject(root)


def _of_agents(current: Path) -> Subject | None:
    """Return the memory that agents use in a folder, and its project; None where there is none.

    Raises:
        NotFoundError: they use several.
    """
    from mnemark_agents.connect.used import memory_used_in
    from mnemark_agents.hook.project import project_of

    if (root := memory_used_in(current)) is None:
        return None

    project = project_of(root, "", str(current))
    if project.scope:
        text = "Memory of your agents: {path} with {scope} (-w chooses another)"
    else:
        text = "Memory of your agents: {path} (-w chooses another)"
    say(text, path=safe(str(root)), scope=safe(project.scope))
    return Subject(root, project)


def session_in(memory: "Memory", identifier: str, scope: str) -> "Session":
    """Return the session of that id in a scope, or the root's."""
    kind, _, name = scope.partition("/")
    return memory.session(identifier, **({kind.removesuffix("s"): name} if name else {}))


def say_nothing_in(root: Path, *, unread: bool = True) -> None:
    """Say of a folder that it `is_empty`, and if `unread` what files in it are not read."""
    say("No Markdown, text or session files in {path}; choose another folder with -w.", path=safe(str(root)))
    if unread and (counts := scan(root).unread):
        say("Not read: {what}", what=render.not_read(counts))


def is_empty(root: Path) -> bool:
    """Return whether a folder has neither settings, nor an index, nor files to index."""
    if any((root / name).exists() for name in (CONFIG, PRIVATE)):
        return False
    try:
        return not scan(root).entries
    except OSError as error:
        raise NotFoundError(f"{root} cannot be read: {error.strerror}") from error


@contextlib.contextmanager
def opened(root: Path, *, readonly: bool = False, finishing: bool = True) -> Iterator["Memory"]:
    """Open the workspace at `root`; unless `readonly`, finish at the end what waits there, if `finishing`.

    Raises:
        ReadOnlyError: the block writes to a folder that cannot be written.
    """
    from mnemark.memory.memory import Memory

    with (
        Memory.open(root, readonly=readonly) as memory,
        contextlib.nullcontext() if readonly else writing(root, memory),
    ):
        yield memory
        if finishing and not memory.readonly:
            from mnemark.memory.maintenance import finish

            with contextlib.suppress(BusyError):  # another process does it
                finish(memory.workspace)  # what fails is left to the next sync
        _keep_up(memory)


@contextlib.contextmanager
def writing(root: Path, memory: "Memory | None" = None) -> Iterator[None]:
    """Say what to do where a block writes to a workspace that cannot be written.

    Raises:
        ReadOnlyError: with that; as it is where one file alone cannot be written.
    """
    try:
        yield
    except ReadOnlyError as error:
        folders = [folder for folder in (root, private(root)) if folder.is_dir()]
        if all(os.access(folder, os.W_OK) for folder in folders) and not (memory and memory.readonly):
            raise
        raise ReadOnlyError(
            f"{root} cannot be written, so nothing was changed; make the folder and its .mnemark "
            "writable, or work on a copy"
        ) from error


def _keep_up(memory: "Memory") -> None:
    """Leave the daily upkeep to the background where it may be due; a mark of the last hour says no."""
    mark = private(memory.root) / "upkeep"
    if memory.readonly or not (memory.root / "journal").is_dir():
        return
    if mark.exists() and 0 <= time.time() - mark.stat().st_mtime < _MARK_SECONDS:  # else of a wrong clock
        return
    from mnemark_agents.upkeep import start_if_due

    start_if_due(memory.workspace)


@contextlib.contextmanager
def as_it_is(root: Path) -> Iterator[tuple["Memory", tuple[str, ...]]]:
    """Open a folder that `is_empty`, likely the wrong one, as `followed` does; make nothing there."""
    say_nothing_in(root)
    with opened(root, readonly=True) as memory:
        yield memory, ()


@contextlib.contextmanager
def followed(root: Path) -> Iterator[tuple["Memory", tuple[str, ...]]]:
    """Open a workspace to read it, with its index updated; yield it with the reasons why it could not be.

    No file but those of the index is written.
    A folder that cannot be written is opened with its existing index, or a temporary one. A damaged index is
    not waited for: searches read the files, and a process in the background makes it anew.
    """
    new = not private(root).exists()
    with contextlib.ExitStack() as stack:
        try:
            memory = stack.enter_context(opened(root, finishing=False))
            late: tuple[str, ...] = ()
            try:
                if not memory.workspace.index.is_damaged():
                    synced(memory.workspace.searcher.sync, memory, wait=WAIT_SECONDS, reads=True)
            except BusyError:
                late = ("sync: another process is updating the index; the latest changes may be missing",)
            except (NewerFormatError, ReadOnlyError, UsageError):
                raise
            except (MnemarkError, OSError) as error:  # a full disk: the answer comes from what is there
                late = (f"sync: {error}",)
        except ReadOnlyError:
            stack.close()
            memory = stack.enter_context(opened(root, readonly=True))
            late = _why_stale(memory)
        if new and memory.workspace.index.exists():
            where = f"{safe(str(private(root)))}{os.sep}"
            say("Created an index in {path} (safe to delete: it is rebuilt).", path=where)
        yield memory, late
        if not memory.readonly and memory.workspace.index.is_damaged():
            _heal(memory)


def _heal(memory: "Memory") -> None:
    """Wait for a damaged index that is soon made anew; let a process in the background make another one."""
    memory.workspace.searcher.refresher.wait(time.monotonic() + _HEAL_SECONDS)
    if memory.workspace.index.is_damaged():
        daemon.spawn(["-P", "-m", "mnemark_agents.hook.background", str(memory.root), ""])


def _why_stale(memory: "Memory") -> tuple[str, ...]:
    """Return the reason why the index of a read-only workspace is out of date, if it is."""
    index = memory.workspace.index
    if not index.exists() or index.is_damaged():  # of damage the search tells
        return ()
    if reason := index.stale_reason():
        return (f"sync: the folder cannot be written and its index cannot be used: {reason}",)
    from mnemark.index.check import ahead

    if behind := ahead(index, memory.config.ignore).outdated:
        return (f"sync: the folder cannot be written, and {behind} files have changed since it was indexed",)
    return ()


def synced(
    sync: "Callable[..., SyncReport]", memory: "Memory", *, wait: float = 10.0, reads: bool = False
) -> tuple["SyncReport", str]:
    """Sync and embed with progress; return the report, and why embedding failed (empty on success).

    `sync` is that of the memory, or for a read that of its searcher, which writes to the index only. A read
    waits for a model no longer than `_EMBED_SECONDS`, and sends a server no more than the budget of the day.
    """
    words = speech.words()
    with Progress() as progress:
        report = sync(
            progress=lambda done, total, passages: progress.tell(
                "Indexing", done, total, words(" files, {n} passages", n=passages)
            ),
            wait=wait,
            embed=False,
        )
    with Progress() as progress:
        problem = memory.workspace.searcher.embeddings.embed(
            memory.workspace.index,
            progress=lambda done, total: progress.tell("Embedding", done, total, words(" passages")),
            unasked=reads,
            seconds=_EMBED_SECONDS if reads else None,
        )
    return report, problem
