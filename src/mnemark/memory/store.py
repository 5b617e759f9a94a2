"""`MemoryStore`: the methods that agents built on two Markdown files already call, on safe ground.

The old way was to read a file, change it and write it back: whatever a person saved in between was lost.
Here every write goes through `files.edit`.
"""

from datetime import datetime
from pathlib import Path
from typing import Final

from mnemark.errors import BusyError
from mnemark.files import platform
from mnemark.files.config import load
from mnemark.files.edit import EditResult, edit
from mnemark.files.merge import merge3
from mnemark.files.reading import read
from mnemark.memory.context import curated_files, read_context
from mnemark.memory.when import local_now
from mnemark.types import Problem

PATIENCE: Final = 10.0
"""Seconds to wait for a file that someone is saving."""
_LONG_TERM: Final = "MEMORY.md"


class MemoryStore:
    """Long-term memory and daily notes of a workspace, for code that knows no more than these.

    Nothing is opened or kept open; the folder is made with the first write.
    """

    def __init__(self, workspace: str | Path) -> None:
        self.workspace = Path(workspace).expanduser().absolute()
        self._timezone = load(self.workspace).timezone
        self._last_read: bytes | None = None

    @property
    def memory_dir(self) -> Path:
        """Where daily notes are."""
        return self.workspace / "memory"

    @property
    def memory_file(self) -> Path:
        """The long-term memory: the one there is, `MEMORY.md` before `memory/MEMORY.md`."""
        found = curated_files(self.workspace, "")
        return self.workspace / (found[0] if found else _LONG_TERM)

    def get_today_file(self) -> Path:
        """The path of today's note, which need not exist."""
        return self.memory_dir / f"{self._now():%Y-%m-%d}.md"

    def read_today(self) -> str:
        """Today's note; empty where there is none."""
        return self._text(self.get_today_file())

    def append_today(self, content: str) -> None:
        """Add a paragraph to today's note, which begins with its date.

        Raises:
            BusyError: someone has been saving the note for ten seconds; nothing was written.
            ReadOnlyError, MnemarkError: it cannot be written.
        """
        path = self.get_today_file()
        added = content.strip("\n").encode("utf-8", "replace") + b"\n"

        def change(old: bytes) -> bytes:
            start = old or f"# {path.stem}\n".encode()
            return start + (b"\n" if start.endswith(b"\n") else b"\n\n") + added

        self._done(edit(self.workspace, self._name(path), change, timeout=PATIENCE))

    def read_long_term(self) -> str:
        """The long-term memory; empty where there is none."""
        path = self.memory_file
        self._last_read = platform.content(path) if path.is_file() else b""
        return self._text(path)

    def write_long_term(self, content: str) -> None:
        """Write the long-term memory anew.

        What a person changed since it was last read is merged in; where both changed the same lines, or it
        was never read and holds other lines, that version is first kept as `MEMORY.conflict-….md`.

        Raises:
            BusyError: someone has been saving the file for ten seconds; nothing was written.
            ReadOnlyError, MnemarkError: it cannot be written.
        """
        path = self.memory_file
        wanted = content.encode("utf-8", "replace")
        kept: list[bytes] = []

        def change(old: bytes) -> bytes:
            if old in kept or _holds(wanted, old):
                return wanted
            merged = None if self._last_read is None else merge3(self._last_read, wanted, old)
            if merged is None:
                raise _Unkept(old)
            return merged

        while True:
            try:
                result = edit(self.workspace, self._name(path), change, timeout=PATIENCE)
            except _Unkept as found:
                self._keep(path, found.version)
                kept.append(found.version)
            else:
                self._done(result)
                self._last_read = result.content
                return

    def get_memory_context(self) -> str:
        """Long-term memory and today's notes for a prompt; never what a recall found."""
        self.read_long_term()
        return read_context(self.workspace, self._now().date())

    def _keep(self, path: Path, data: bytes) -> None:
        copy = path.with_name(f"{path.stem}.conflict-{self._now():%Y%m%d-%H%M%S}{path.suffix}")
        self._done(edit(self.workspace, self._name(copy), lambda old: old or data, timeout=PATIENCE))

    def _done(self, result: EditResult) -> None:
        if result.status == "deferred":
            raise BusyError(f"{result.path.name} is being saved by someone else; try again in a moment")

    def _text(self, path: Path) -> str:
        found = read(self.workspace, self._name(path))
        return "" if isinstance(found, Problem) else found.text

    def _name(self, path: Path) -> str:
        return path.relative_to(self.workspace).as_posix()

    def _now(self) -> datetime:
        return local_now(self._timezone)


class _Unkept(Exception):  # noqa: N818 - a way out of a callback, not an error
    """A version that nobody has seen yet would be overwritten."""

    def __init__(self, version: bytes) -> None:
        super().__init__()
        self.version = version


def _holds(wanted: bytes, old: bytes) -> bool:
    """Whether every line of the old version is in the new one."""
    return {line.strip() for line in old.split(b"\n")} <= {line.strip() for line in wanted.split(b"\n")} | {
        b""
    }
