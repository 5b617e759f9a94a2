"""Write a folder whole or not at all, and bring one up to date without losing what a person wrote.

New content is written to a temporary folder, beside the folder or in it if it is there, and moved into place
at the end. `.mnemark-export.json` lists each file with a hash of what was written: a file that has another
content now was changed by somebody else, and stays. While files are moved, it lists the old and the new
hashes, so that an export that was interrupted is continued by the next one.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from mnemark.errors import UsageError
from mnemark.files import layout, platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark.hashes import blake2b
from mnemark.types import Problem

MANIFEST: Final = ".mnemark-export.json"
_BLOCK: Final = 1 << 20


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What an export did to a folder."""

    files: int
    bytes: int
    changed: int
    removed: int


class OutputFolder:
    """A folder that is being exported to. Use it in `with`; without `finish`, nothing of it changes."""

    def __init__(self, root: Path, target: Path, form: str) -> None:
        """Check the target.

        Raises:
            UsageError: it is a file, would be memory, or holds something else than an export of this form.
        """
        self.path = target.expanduser().absolute()
        self._form = form
        self._check_place(root)
        within = self.path if self.path.exists() else self.path.parent
        platform.sweep_folder(within)
        self._known = self._manifest()
        self._new: dict[str, list[str]] = {}
        """Hashes of what was written for each file, now or, where a person's file is kept, earlier."""
        self._bytes = 0
        self._moved: list[str] = []
        self.problems: list[Problem] = []
        """Files of a person's that were kept."""
        self._staging = platform.temporary_beside(within / self.path.name)

    def __enter__(self) -> Self:
        with translate_os_errors(self.path):
            platform.make_folder(self._staging)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)

    def _check_place(self, root: Path) -> None:
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_dir()):
            raise UsageError(f"{self.path} is no folder; give the name of a new one")
        inside = self.path.resolve()
        base = root.resolve()
        if inside == base or (
            inside.is_relative_to(base) and layout.place(f"{inside.relative_to(base).as_posix()}/x.md")
        ):
            raise UsageError(f"{self.path} would become part of the memory; choose a place outside of it")
        if not self.path.parent.is_dir():
            raise UsageError(f"{self.path.parent} does not exist; make it first, or choose another place")

    def _manifest(self) -> dict[str, list[str]]:
        """Return the hashes of what earlier exports wrote."""
        if not self.path.exists():
            return {}
        there = self.path / MANIFEST
        if not there.exists():
            with translate_os_errors(self.path):
                if _is_empty(self.path):
                    return {}
            raise UsageError(f"{self.path} is not empty, and no export; choose a new or empty folder")
        with translate_os_errors(there):
            found = _decoded(platform.content(there))
        if found is None:
            raise UsageError(f"{there} is damaged; choose a new folder")
        if found.get("format") != self._form:
            raise UsageError(
                f"{self.path} holds an export as {found.get('format')}; choose another folder for "
                f"{self._form}"
            )
        return {path: list(marks) for path, marks in found["files"].items()}

    def put(self, path: str, pieces: Iterable[bytes]) -> None:
        """Write a file of the folder."""
        staged = self._staging / path
        hashed, size = blake2b(digest_size=16), 0
        with translate_os_errors(staged):
            platform.make_folder(staged.parent)
            with platform.open_new(staged) as out:
                for piece in pieces:
                    hashed.update(piece)
                    size += len(piece)
                    out.write(piece)
        mark = hashed.hexdigest()
        self._new[path] = [mark]
        self._bytes += size
        now = self._now(path)
        if now == mark:
            platform.FS.unlink(staged)
        elif now is None or now in self._known.get(path, ()):
            self._moved.append(path)
        else:
            platform.FS.unlink(staged)
            if mark not in self._known.get(path, ()):
                self._tell(path, "was changed there and is kept: delete or rename it for the new content")
            self._new[path] = self._known.get(path, [])

    def _tell(self, path: str, reason: str) -> None:
        self.problems.append(Problem(path, reason, skipped=False))

    def _now(self, path: str) -> str | None:
        """Return the hash of the file that is there; None if none is, "" if it is none of ours."""
        full = self.path / path
        if not os.path.lexists(full):
            return None
        if not full.parent.resolve().is_relative_to(self.path.resolve()) or full.is_symlink():
            return ""
        try:
            hashed = blake2b(digest_size=16)
            with platform.opened(full) as file:
                while block := file.read(_BLOCK):
                    hashed.update(block)
            return hashed.hexdigest()
        except OSError:
            return ""

    def finish(self) -> Written:
        """Move what is new into place, and remove what is no longer part of the export."""
        gone = self._gone()
        with translate_os_errors(self.path):
            if not self.path.exists():
                self._write_manifest(self._staging, self._new)
                _to_disk()
                platform.FS.replace(self._staging, self.path)
            elif self._moved or gone or self._known != self._new:
                self._move(gone)
            platform.FS.sync_folder(self.path.parent)
        return Written(files=len(self._new), bytes=self._bytes, changed=len(self._moved), removed=len(gone))

    def _gone(self) -> list[str]:
        """Return the files of earlier exports that are to be removed; those that a person changed stay."""
        gone = []
        for path in sorted(self._known.keys() - self._new.keys()):
            now = self._now(path)
            if now is not None and now in self._known[path]:
                gone.append(path)
            elif now is not None:
                self._tell(path, "is no longer part of the export, was changed there and is kept")
        return gone

    def _move(self, gone: list[str]) -> None:
        claimed = {path: [*marks] for path, marks in self._known.items()}
        for path, marks in self._new.items():
            claimed[path] = [*dict.fromkeys([*claimed.get(path, ()), *marks])]
        self._write_manifest(self.path, claimed)
        for path in self._moved:
            platform.make_folder((self.path / path).parent)
            platform.FS.replace(self._staging / path, self.path / path)
        for path in gone:
            platform.FS.unlink(self.path / path)
            self._remove_empty((self.path / path).parent)
        _to_disk()
        self._write_manifest(self.path, self._new)

    def _remove_empty(self, folder: Path) -> None:
        while folder != self.path and _is_empty(folder):
            folder.rmdir()
            folder = folder.parent

    def _write_manifest(self, folder: Path, files: Mapping[str, list[str]]) -> None:
        record = {"mnemark": "export", "version": 1, "format": self._form,
                  "files": {path: files[path] for path in sorted(files)}}  # fmt: skip
        platform.write_private(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(record), indent=1))


def _decoded(data: bytes) -> dict[str, Any] | None:
    """Return the record in a manifest; None if it is none, or names files outside of the folder."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    files = found.get("files") if isinstance(found, dict) else None
    if not isinstance(files, dict) or not all(map(layout.is_name, files)):
        return None
    is_right = all(
        isinstance(marks, list) and all(isinstance(one, str) for one in marks) for marks in files.values()
    )
    return found if is_right else None


def _is_empty(folder: Path) -> bool:
    with os.scandir(folder) as entries:
        return not any(entries)


def _to_disk() -> None:
    """Flush what was written, all at once: of thousands of small files one by one it would take minutes."""
    if hasattr(os, "sync"):
        os.sync()
