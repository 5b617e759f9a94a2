"""The one door to the truth of a workspace: what changes one of its files passes here.

Truth is every file of the folder but `.mnemark/`, which is derived or bookkeeping. Reads open files directly
and write nothing.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

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


class Folder:
    """The door of a folder that one machine writes. Safe to use from several threads.

    A folder that follows others is a class of this one: it also sends what `append` and `change` wrote before
    they return, and gets what others wrote in `catch_up`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.appended: Callable[[str, int], None] = _ignore
        """Called with the path and the new size of a log that was appended to."""
        self.changed: Callable[[ChangedFiles], None] = _ignore
        """Called after each change that named files."""
        self._open = threading.local()

    def append(self, path: str, lines: Sequence[bytes], *, header: bytes = b"") -> list[int]:
        """Append all lines or none to a log, durably; see `jsonl.append`.

        Raises UsageError for a path that leaves the workspace.
        """
        offsets = jsonl.append(names.inside(self.root, path), lines, header=header)
        if offsets:
            self.appended(path, offsets[-1] + len(lines[-1]) + 1)
        return offsets

    @contextmanager
    def change(self, timeout: float = LOCK_SECONDS) -> Iterator[ChangedFiles]:
        """Be the one writer of files, which the block names; within another change of this thread, join it.

        Raises BusyError naming the holder after `timeout` seconds, ReadOnlyError.
        """
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
