"""The one door to the truth of a workspace: what changes one of its files passes here.

Truth is every file of the folder but `.mnemark/`, which is derived or bookkeeping. Reads open files directly;
they write nothing. `Folder` is the door of one machine; on several, what `append` and `change` name is what
others have to get, and `catch_up` gets what others wrote.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal, Protocol

from mnemark.files import jsonl, names
from mnemark.files.locks import LOCK_SECONDS, workspace_lock


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


class Log(Protocol):
    """Where the truth of a workspace is written."""

    @property
    def root(self) -> Path:
        """The folder."""

    def append(self, path: str, lines: Sequence[bytes], *, header: bytes = b"") -> list[int]:
        """Append all lines or none to a log, durably; see `jsonl.append_many`.

        Raises UsageError for a path that leaves the workspace.
        """

    def change(self, timeout: float = LOCK_SECONDS) -> AbstractContextManager[ChangedFiles]:
        """Be the one writer of files, and name those that were changed; within another change, join it.

        Raises BusyError naming the holder after `timeout` seconds, ReadOnlyError.
        """


class Follower(Protocol):
    """Where a read learns what others wrote."""

    def catch_up(self, seq: int | None = None) -> Sequence[tuple[str, int]]:
        """Get what was acknowledged, up to `seq` at least; return (path, size) of each file that is new."""


class Folder:
    """The `Log` and `Follower` of a folder on one machine. Safe to use from several threads."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.appended: Callable[[str, int], None] = _ignore
        """Called with the path and the new size of a log that was appended to."""
        self.changed: Callable[[ChangedFiles], None] = _ignore
        """Called after each change that named files."""
        self._open = threading.local()

    def append(self, path: str, lines: Sequence[bytes], *, header: bytes = b"") -> list[int]:
        """Append all lines or none, durably; see `Log.append`."""
        offsets = jsonl.append_many(names.inside(self.root, path), lines, header=header)
        if offsets:
            self.appended(path, offsets[-1] + len(lines[-1]) + 1)
        return offsets

    @contextmanager
    def change(self, timeout: float = LOCK_SECONDS) -> Iterator[ChangedFiles]:
        """Hold the lock of the workspace; see `Log.change`."""
        outer: ChangedFiles | None = getattr(self._open, "files", None)
        files = ChangedFiles() if outer is None else outer
        try:
            with workspace_lock(self.root, timeout):
                self._open.files = files
                yield files
        finally:
            self._open.files = outer
            if outer is None and files.paths:  # even where the block failed: what it named is written
                self.changed(files)

    def catch_up(self, seq: int | None = None) -> Sequence[tuple[str, int]]:  # noqa: ARG002 - nothing to wait for
        """Return nothing: who writes on this machine writes the same folder."""
        return ()


def rewrite(truth: Log, path: str, change: Callable[[jsonl.Line], bytes | None]) -> None:
    """Change lines of a log, for erasing; see `jsonl.rewrite`."""
    with truth.change() as files:
        files.wrote(path)
        jsonl.rewrite(truth.root / path, change)


def _ignore(*_: object) -> None:
    return
