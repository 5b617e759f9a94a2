"""Implement the six commands of Anthropic's memory tool on a folder of notes, without the SDK.

Paths are as the model gives them (`/memories/…`). Every change is redacted and recorded in the journal
first, so that `mnemark undo` can revert it, deletions too.
"""

import os
import posixpath
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.errors import BusyError, NotFoundError, UsageError
from mnemark.files import jsonl, layout, listing, names, off_record, platform
from mnemark.files.edit import remove
from mnemark.files.ids import new_id
from mnemark.files.scopes import one_scope
from mnemark.memory import file_edits
from mnemark.text.redaction.redact import redact

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

ROOT: Final = "/memories"
_LEVELS: Final = 2
_MAX_LINES: Final = 999_999
_WIDTH: Final = len(str(_MAX_LINES))
_CONTEXT_LINES: Final = 2
_STEP: Final = "memory tool"
_RESERVED: Final = frozenset({"sessions", "journal", "users", "agents", "projects"})
"""Folders of a workspace with structured files, where the model must not write."""


class MemoryFiles:
    """A folder of the workspace as `/memories`. Each command returns a text for the model.

    Args:
        memory: the workspace, opened.
        folder: in it; created by the first command.
        scope: for example "users/ann"; the root by default.

    Raises (each command):
        UsageError: the command is invalid; the message is for the model.
        NotFoundError: there is no such file.
        BusyError: another program is saving the file.
    """

    def __init__(self, memory: "Memory", folder: str = "memories", *, scope: str = "") -> None:
        first = folder.split("/", 1)[0].casefold()
        if not first or first in _RESERVED or any(part.startswith(".") for part in folder.split("/")):
            raise UsageError(f'{folder!r} cannot be the folder of a memory tool; use one such as "memories"')
        self._memory = memory
        self._folder = layout.in_scope(one_scope(scope), folder)
        self._rules = memory.workspace.rules
        layout.safe_path(memory.root, self._folder)

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """List a folder two levels deep with sizes, or return a file's lines with numbers."""
        target = self._target(path)
        if target.is_dir():
            intro = f"Here're the files and directories up to {_LEVELS} levels deep in {path}, "
            rows = [f"{_size(target)}\t{path}", *(f"{size}\t{path}/{name}" for size, name in _below(target))]
            return "\n".join([f"{intro}excluding hidden items:", *rows])
        lines = self._memory.workspace.visible.text(self._name(target), self._text(target, path)).split("\n")
        if len(lines) > _MAX_LINES:
            raise UsageError(f"File {path} exceeds maximum line limit of {_MAX_LINES:,} lines.")
        first, last = 1, len(lines)
        if view_range is not None and len(view_range) == 2:
            first = max(1, view_range[0])
            last = view_range[1] if view_range[1] != -1 else last
        # A slice, so that a negative end counts from the last line, as in Anthropic's reference.
        shown = _numbered(lines[first - 1 : last], first)
        return "\n".join([f"Here's the content of {path} with line numbers:", *shown])

    def create(self, path: str, file_text: str) -> str:
        """Create a file."""
        name, target = self._place(path)
        if os.path.lexists(target):
            raise UsageError(f"File {path} already exists")
        text = self._clean(file_text)

        def fill(old: str) -> str:
            if old:
                raise UsageError(f"File {path} already exists")
            return text

        platform.make_folder(target.parent)
        if text:
            self._write(name, fill)
        else:  # not in the journal: an empty file has no text to restore
            with self._memory.workspace.truth.change() as files:
                files.wrote(name)
                jsonl.write_new(target, b"")
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace a text that occurs in the file exactly once."""
        name, target = self._existing_file(path)
        self._text(target, path)
        new, shown = self._clean(new_str), ""

        def replace(text: str) -> str:
            nonlocal shown
            if old_str not in text:
                raise UsageError(
                    f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
                )
            found = [at for at in range(len(text) + 1) if text.startswith(old_str, at)]
            if text.count(old_str) > 1:
                where = ", ".join(str(text.count("\n", 0, at) + 1) for at in found)
                raise UsageError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: "
                    f"{where}. Please ensure it is unique"
                )
            changed = text.replace(old_str, new)
            line = text.count("\n", 0, found[0])
            first = max(0, line - _CONTEXT_LINES)
            visible = self._memory.workspace.visible.text(name, changed).split("\n")
            shown = "\n".join(_numbered(visible[first : line + _CONTEXT_LINES + 1], first + 1))
            return changed

        self._write(name, replace)
        intro = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{intro}\n{shown}"

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Insert lines after the line of that number; 0 inserts at the top."""
        name, target = self._existing_file(path)
        self._text(target, path)
        added = self._clean(insert_text).rstrip("\n")

        def put(text: str) -> str:
            lines = text.split("\n")
            if not lines[-1]:
                lines.pop()
            if not 0 <= insert_line <= len(lines):
                raise UsageError(
                    f"Invalid `insert_line` parameter: {insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            changed = "\n".join([*lines[:insert_line], added, *lines[insert_line:]])
            return changed if changed.endswith("\n") else changed + "\n"

        self._write(name, put)
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Delete a file or a folder; `mnemark undo` restores its text from the journal."""
        name, target = self._place(path)
        if name == self._folder:
            raise UsageError(f"Cannot delete the {ROOT} directory itself")
        if not target.exists():
            raise NotFoundError(f"The path {path} does not exist")
        self._remove(target)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Rename a file or a folder without overwriting."""
        old, source = self._place(old_path)
        new, target = self._place(new_path)
        if target.exists():
            raise UsageError(f"The destination {new_path} already exists")
        if not source.exists():
            raise NotFoundError(f"The path {old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise UsageError(f"{old_path} cannot be moved into itself; name another destination")
        self._check_removable(source)
        group = new_id()
        if source.is_dir():
            platform.make_folder(target)
        for file in _files(source):
            inside = file.relative_to(source).as_posix()
            there = new if inside == "." else f"{new}/{inside}"
            done = file_edits.move(self._memory.workspace, self._name(file), there, step=_STEP, group=group)
            if done.status == "deferred":
                raise BusyError(f"{old_path} is being saved by someone; try again")
        for folder in _folders(source):
            platform.make_folder(target / folder.relative_to(source))
            folder.rmdir()
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        """Delete all files and folders."""
        for child in sorted(self._target(ROOT).iterdir()):
            self._remove(child)
        return "All memory cleared"

    def _place(self, path: str) -> tuple[str, Path]:
        """Return the path in the workspace and the real path; raise if it is hidden or outside the folder."""
        if path != ROOT and not path.startswith(f"{ROOT}/"):
            raise UsageError(f"Path must start with {ROOT}, got: {path}")
        plain = posixpath.normpath(f"{ROOT}/" + path[len(ROOT) :].lstrip("/"))
        if plain != ROOT and not plain.startswith(f"{ROOT}/"):
            raise UsageError(f"Path {path} would escape {ROOT} directory")
        parts = plain[len(ROOT) :].strip("/").split("/")
        if any(part.startswith(".") for part in parts):
            raise UsageError(f"Path {path} is hidden; use names without a leading dot")
        name = "/".join([self._folder, *parts]).rstrip("/")
        root = Path(os.path.realpath(self._memory.root))
        platform.make_folder(names.inside(root, self._folder))
        try:
            target = names.inside(root / self._folder, "/".join(parts))
        except UsageError as error:
            raise UsageError(f"Path {path} would escape {ROOT} directory") from error
        return name, target

    def _target(self, path: str) -> Path:
        target = self._place(path)[1]
        if not target.exists():
            raise NotFoundError(f"The path {path} does not exist. Please provide a valid path.")
        return target

    def _existing_file(self, path: str) -> tuple[str, Path]:
        target = self._target(path)
        if not target.is_file():
            raise UsageError(f"The path {path} is not a file.")
        return self._name(target), target

    def _name(self, target: Path) -> str:
        return target.relative_to(os.path.realpath(self._memory.root)).as_posix()

    def _text(self, target: Path, path: str) -> str:
        try:
            return platform.content(target).decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is no UTF-8; it can be renamed, not read or changed") from error

    def _clean(self, text: str) -> str:
        """Redact a text; lone surrogates, which no file can hold, become "?"."""
        return redact(text, self._rules).text.encode("utf-8", "replace").decode()

    def _write(self, name: str, change: Callable[[str], str], group: str = "") -> None:
        off_record.check(self._memory.root, "write")
        written = file_edits.write(self._memory.workspace, name, change, step=_STEP, group=group)
        if written.status == "deferred":
            raise BusyError(f"{name} is being saved by someone; try again")

    def _check_removable(self, target: Path) -> None:
        """Raise where an inner workspace, a pipe or an unreadable folder prevents removal or a move."""
        found = listing.walk(self._memory.root, self._name(target))
        left = [f"{path} is a workspace of its own" for path in found.inner]
        left += [f"{one.path} {one.reason}" for one in (*found.odd, *found.closed)]
        if left:
            raise UsageError(f"{left[0]}; nothing was changed, a person has to see to it")

    def _remove(self, target: Path) -> None:
        self._check_removable(target)
        group = new_id()
        for file in _files(target):
            name = self._name(file)
            self._write(name, lambda _: "", group)
            if remove(self._memory.workspace.truth, name, expected=b"") != "moved":
                raise BusyError(f"{name} was saved by someone just now; try again")
        for folder in _folders(target):
            folder.rmdir()


def _files(target: Path) -> list[Path]:
    """Return the files at and below a path, without symbolic links."""
    if target.is_file():
        return [target]
    return [path for path in sorted(target.rglob("*")) if path.is_file() and not path.is_symlink()]


def _folders(target: Path) -> list[Path]:
    """Return the folders at and below a path, the deepest first."""
    return [path for path in sorted([target, *target.rglob("*")], reverse=True) if path.is_dir()]


def _below(folder: Path, before: str = "", depth: int = 1) -> Iterator[tuple[str, str]]:
    """Yield size and name of entries, `_LEVELS` deep, without hidden ones and links."""
    for path in sorted(folder.iterdir(), key=lambda one: one.name):
        if path.name.startswith(".") or path.is_symlink() or not path.exists() or layout.is_workspace(path):
            continue
        if path.is_dir():
            yield _size(path), f"{before}{path.name}/"
            if depth < _LEVELS:
                yield from _below(path, f"{before}{path.name}/", depth + 1)
        elif path.is_file():
            yield _size(path), f"{before}{path.name}"


def _numbered(lines: Sequence[str], first: int) -> list[str]:
    return [f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first)]


def _size(path: Path) -> str:
    count = path.stat().st_size
    unit = min(max(0, count.bit_length() - 1) // 10, 3)
    value = count / 1024**unit
    return f"{value:.0f}{'BKMG'[unit]}" if value.is_integer() else f"{value:.1f}{'BKMG'[unit]}"
