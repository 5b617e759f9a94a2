"""The one door to the truth of a workspace: what changes one of its files passes here.

Truth is every file of the folder but `.mnemark/`, which is derived or bookkeeping. Reads open files directly
and write nothing.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from mnemark.errors import BusyError
from mnemark.files import jsonl, layout, names, platform
from mnemark.files.disk_errors import raise_translated
from mnemark.files.private import check_private, private

LOCK_SECONDS: Final = 10.0
_held = threading.local()


def workspace_lock(root: Path, timeout: float = LOCK_SECONDS) -> AbstractContextManager[None]:
    """Hold the lock for writing shared files; a thread that holds it may take it again.

    Raises BusyError naming the holder after `timeout` seconds, ReadOnlyError.
    """
    return _hold(root, "lock", timeout)


def sync_lock(root: Path, timeout: float = 0.0) -> AbstractContextManager[None]:
    """Hold the lock for syncing the index; otherwise like `workspace_lock`."""
    return _hold(root, "sync.lock", timeout)


def ending_lock(root: Path, timeout: float = LOCK_SECONDS) -> AbstractContextManager[None]:
    """Hold the lock for writing down ended sessions; otherwise like `workspace_lock`."""
    return _hold(root, "ending.lock", timeout)


@contextmanager
def _hold(root: Path, name: str, timeout: float) -> Iterator[None]:
    check_private(root)
    path = private(Path(os.path.realpath(root))) / name
    counts: dict[Path, int] = _held.__dict__.setdefault("counts", {})
    if counts.get(path):
        counts[path] += 1
        try:
            yield
        finally:
            counts[path] -= 1
        return
    lock = platform.locked(path, os.O_RDWR | os.O_CREAT, timeout=timeout, make_parent=True)
    try:
        fd = lock.__enter__()
    except BusyError:
        raise BusyError(
            f"{_holder(path)} is using {layout.PRIVATE}/{name}; wait until it has finished, or stop it"
        ) from None
    except OSError as error:
        raise_translated(error, path)
    try:
        with suppress(OSError):  # the name is for people; a full disk must not keep anyone from freeing some
            _put_name(fd)
        counts[path] = 1
        yield
    finally:
        counts.pop(path, None)
        lock.__exit__(None, None, None)


def _put_name(fd: int) -> None:
    """Write this process into a lock that it holds; who held it last finds its name there already."""
    name = f"{os.getpid()} {platform.machine_name()}\n".encode()
    os.lseek(fd, 0, os.SEEK_SET)
    if os.read(fd, len(name) + 1) != name:
        platform.FS.truncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        platform.FS.write(fd, memoryview(name))


def _holder(path: Path) -> str:
    try:
        pid, machine = platform.content(path).decode().split()
    except (OSError, ValueError):
        return "another process"
    return f"process {pid}" if machine == platform.machine_name() else f"process {pid} on {machine}"


class ChangedFiles:
    """The files that one change wrote or removed: paths relative to the workspace, with `/`."""

    def __init__(self) -> None:
        self.paths: dict[str, Literal["written", "removed"]] = {}

    def wrote(self, path: str) -> None:
        """Name a file that was made or changed."""
        self.paths[path] = "written"

    def removed(self, path: str) -> None:
        """Name a file that was removed, or moved away."""
        self.paths[path] = "removed"


class Folder:
    """The door of a folder that one machine writes. Safe to use from several threads.

    A folder that follows others is a class of this one: it also sends what `append` and `change` wrote before
    they return, and gets what others wrote in `catch_up`.
    """

    still: Sequence[str] = ()
    """What may hold a text for some time after it was erased here: for the receipt."""
    only_door = False
    """Whether nobody changes files here but by this object: no editor, no sync, no other process."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = str(root)
        """What people are told of where this is."""
        self.appended: Callable[[str, int], None] = _ignore
        """Called with the path and the new size of a log that was appended to."""
        self.changed: Callable[[ChangedFiles], None] = _ignore
        """Called after each change that named files."""
        self.erased = False
        """Whether others erased text, since the index here was last asked to let go of it."""
        self._open = threading.local()

    def append(self, path: str, lines: Sequence[bytes], *, header: bytes = b"") -> list[int]:
        """Append all lines or none to a log, durably; see `jsonl.append`.

        Raises UsageError for a path that leaves the workspace.
        """
        offsets = jsonl.append(names.inside(self.root, path), lines, header=header)
        if offsets:
            self.appended(path, offsets[-1] + len(lines[-1]) + 1)
        return offsets

    def once(self) -> AbstractContextManager[object]:
        """Have nobody append lines of the same ids while the block looks for them and appends what lacks."""
        return self.change()

    @contextmanager
    def change(self, timeout: float = LOCK_SECONDS) -> Iterator[ChangedFiles]:
        """Be the one writer of files, which the block names; within another change of this thread, join it.

        Raises BusyError naming the holder after `timeout` seconds, ReadOnlyError.
        """
        outer: ChangedFiles | None = getattr(self._open, "files", None)
        if outer is not None:  # its block holds the lock
            yield outer
            return
        files = ChangedFiles()
        try:
            with workspace_lock(self.root, timeout):
                self._open.files = files
                yield files
        finally:
            self._open.files = None
            if files.paths:  # even where the block failed: what it named is written
                self.changed(files)

    def catch_up(self, seq: int | None = None) -> Sequence[tuple[str, int]]:  # noqa: ARG002 - nothing to wait for
        """Get what others acknowledged, up to `seq` at least, and return (path, size) of each new file.

        Here that is nothing: who writes on this machine writes the same folder.
        """
        return ()


def rewrite(truth: Folder, path: str, change: Callable[[jsonl.Line], bytes | None]) -> None:
    """Change lines of a log, for erasing; see `jsonl.rewrite`."""
    with truth.change() as files:
        files.wrote(path)
        jsonl.rewrite(truth.root / path, change)


def _ignore(*_: object) -> None:
    return
