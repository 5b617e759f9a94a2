"""Provide `MemoryStore`, the methods of agents with memory in two Markdown files.

Writes go through `files.edit`, so that concurrent edits by a person are not lost.
"""

from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.errors import BusyError
from mnemark.facts.visible import PlainWorkspace, restored
from mnemark.files import platform
from mnemark.files.config import load
from mnemark.files.edit import EditResult, edit
from mnemark.files.merge import merge3
from mnemark.memory.curation.context import read_context
from mnemark.memory.curation.files import curated_files
from mnemark.text.decoding import decode
from mnemark.text.redaction.private import PLACEHOLDER
from mnemark.text.redaction.redact import NO_HASH, Rules, redact
from mnemark.types import Problem

PATIENCE: Final = 10.0
"""Seconds to wait for a file that another program is saving."""
_LONG_TERM: Final = "MEMORY.md"


class MemoryStore:
    """Long-term memory and daily notes of a folder, which is created by the first write."""

    def __init__(self, workspace: str | Path) -> None:
        self.workspace = Path(workspace).expanduser().absolute()
        self._ws = PlainWorkspace(self.workspace, load(self.workspace))
        self._last_read: _View | None = None

    @property
    def memory_dir(self) -> Path:
        """The folder of daily notes."""
        return self.workspace / "memory"

    @property
    def memory_file(self) -> Path:
        """The long-term memory: `MEMORY.md`, or `memory/MEMORY.md` if it alone exists."""
        found = curated_files(self.workspace, "")
        return self.workspace / (found[0] if found else _LONG_TERM)

    def get_today_file(self) -> Path:
        """Return the path of today's note, which need not exist."""
        return self.memory_dir / f"{self._now():%Y-%m-%d}.md"

    def read_today(self) -> str:
        """Return today's note, or an empty string."""
        return self._text(self.get_today_file())

    def append_today(self, content: str) -> None:
        """Add a paragraph to today's note, which starts with its date.

        Raises:
            BusyError: someone has been saving the note for ten seconds; nothing was written.
            ReadOnlyError, MnemarkError: it cannot be written.
        """
        path = self.get_today_file()
        added = redact(content, self._rules).text.strip("\n").encode("utf-8", "replace") + b"\n"

        def change(old: bytes) -> bytes:
            start = old or f"# {path.stem}\n".encode()
            return start + (b"\n" if start.endswith(b"\n") else b"\n\n") + added

        self._check_written(edit(self._ws.truth, self._name(path), change, timeout=PATIENCE))

    def read_long_term(self) -> str:
        """Return the long-term memory, or an empty string."""
        path = self.memory_file
        self._last_read = self._view(path, platform.content(path) if path.is_file() else b"")
        return self._last_read.shown

    def write_long_term(self, content: str) -> None:
        """Replace the long-term memory.

        Changes by a person since the last read are merged, and lines that were shown redacted keep the file's
        text. Where both changed the same lines, a redacted line was changed, or the file was never read and
        has other lines, that version is first saved as `MEMORY.conflict-….md`.

        Raises:
            BusyError: someone has been saving the file for ten seconds; nothing was written.
            ReadOnlyError, MnemarkError: it cannot be written.
        """
        path = self.memory_file
        clean = redact(content, self._rules).text
        kept: list[bytes] = []

        def change(old: bytes) -> bytes:
            view = self._last_read or self._view(path, old)
            base, wanted = view.restored(view.shown), view.restored(clean)
            lost = view.marks(wanted) > view.marks(base)
            if old in kept or (_contains_lines(wanted, old) and not lost):
                return wanted
            merged = None if self._last_read is None or lost else merge3(base, wanted, old)
            if merged is None:
                raise _UnsavedVersion(old)
            return merged

        while True:
            try:
                result = edit(self._ws.truth, self._name(path), change, timeout=PATIENCE)
            except _UnsavedVersion as found:
                self._save_conflict(path, found.version)
                kept.append(found.version)
            else:
                self._check_written(result)
                self._last_read = self._view(path, result.content)
                return

    @cached_property
    def _rules(self) -> Rules:
        return self._ws.rules

    def _view(self, path: Path, data: bytes) -> "_View":
        found = decode(data)
        raw = found[0] if found else ""
        return _View(data, raw, self._ws.visible.text(self._name(path), raw))

    def get_memory_context(self) -> str:
        """Return long-term memory and today's notes for a prompt, without a recall."""
        self.read_long_term()
        return read_context(self._ws, self._now().date())

    def _save_conflict(self, path: Path, data: bytes) -> None:
        copy = path.with_name(f"{path.stem}.conflict-{self._now():%Y%m%d-%H%M%S}{path.suffix}")
        self._check_written(edit(self._ws.truth, self._name(copy), lambda old: old or data, timeout=PATIENCE))

    def _check_written(self, result: EditResult) -> None:
        if result.status == "deferred":
            raise BusyError(f"{result.path.name} is being saved by someone else; try again in a moment")

    def _text(self, path: Path) -> str:
        found = self._ws.visible.read(self._name(path))
        return "" if isinstance(found, Problem) else found.text

    def _name(self, path: Path) -> str:
        return path.relative_to(self.workspace).as_posix()

    def _now(self) -> datetime:
        return self._ws.now()


class _View(NamedTuple):
    """The content of a file, and its redacted text as shown."""

    data: bytes
    raw: str
    shown: str

    def restored(self, text: str) -> bytes:
        """Return an edited text with redacted lines replaced by the file's own."""
        if self.shown == self.raw == text:
            return self.data
        return restored(text, self.raw, self.shown).encode("utf-8", "replace")

    @staticmethod
    def marks(data: bytes) -> int:
        """Count the placeholders of redacted text."""
        return data.count(PLACEHOLDER.encode()) + data.count(f":{NO_HASH}]".encode())


class _UnsavedVersion(Exception):  # noqa: N818 - leaves a callback, not an error
    """The edit would overwrite a version that was neither read nor saved."""

    def __init__(self, version: bytes) -> None:
        super().__init__()
        self.version = version


def _contains_lines(wanted: bytes, old: bytes) -> bool:
    """Tell whether the new version contains every line of the old one."""
    return set(map(bytes.strip, old.split(b"\n"))) <= {b"", *map(bytes.strip, wanted.split(b"\n"))}
