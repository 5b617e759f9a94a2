"""Keep the versions of files that machines had, so that a merge knows what each changed since they last met.

`.mnemark/bases/` holds a list of the hashes of versions by path, oldest first: those before and after each
merge, and those of each consolidation. The texts of the first are kept beside it. The folder can be deleted:
then a merge keeps the lines of both sides, and nothing counts as deleted.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from mnemark.files import jsonl, platform
from mnemark.files.reading import digest

FOLDER: Final = "bases"
LIST: Final = "list.msgpack"
_KEPT: Final = 32
"""Versions known of each file: machines that merge now and then are not all of the same day."""
_DELETED: Final = "-"
"""Stands in the list where a file was deleted."""
_BACK: Final = "*"
"""Follows the mark of a version that a person went back to: it comes after what was there between."""


class _Noted(msgspec.Struct):
    versions: dict[str, list[str]] = {}
    last: dict[str, dict[str, str]] = {}
    """The versions that the other side of a merge had, by its name and the path."""


class Bases:
    """The versions that a machine had; `save` writes what was noted."""

    def __init__(self, private_folder: Path) -> None:
        """`private_folder` is a `.mnemark`, of this workspace or of another."""
        self._folder = private_folder / FOLDER
        self._noted = _Noted()
        with suppress(OSError, msgspec.DecodeError):  # lost: without a base nothing counts as deleted
            self._noted = msgspec.msgpack.decode(platform.content(self._folder / LIST), type=_Noted)
        self._new: dict[str, bytes] = {}

    def paths(self) -> set[str]:
        """Return the paths of the files that are known, and were not deleted."""
        return {path for path, marks in self._noted.versions.items() if marks[-1:] != [_DELETED]}

    def knows(self, path: str, data: bytes) -> bool:
        """Whether this machine had that version of a file."""
        return digest(data) in self._noted.versions.get(path, ())

    def common(self, path: str, ours: bytes, other: "Bases", theirs: bytes, source: str) -> bytes | None:
        """Return the last version that both machines had; None where none is known.

        Args:
            path: of the file.
            ours: what it is here.
            other: the versions of the other machine.
            theirs: what it is there.
            source: name of the other side: what it had at the last merge is in ours.
        """
        mine, yours = self._history(path, ours), other._history(path, theirs)  # noqa: SLF001 - of its own kind
        last = self._noted.last.get(source, {}).get(path, "")
        shared = {mark: (at, yours.index(mark)) for at, mark in enumerate(mine) if mark in yours}
        shared.pop(_DELETED, None)
        if last in mine and (last not in shared or last == yours[-1]):
            shared[last] = mine.index(last), len(yours) - 1 if last == yours[-1] else -1
        for mark in sorted(shared, key=lambda one: (*shared[one], one), reverse=True):
            if mark in (mine[-1], yours[-1]):
                return ours if mark == mine[-1] else theirs
            if (data := self.content(mark)) is not None or (data := other.content(mark)) is not None:
                return data
        return None

    def _history(self, path: str, now: bytes) -> list[str]:
        """Return the versions of a file with the present one as the last."""
        known, mark = self._noted.versions.get(path, []), digest(now)
        if mark not in known:
            return [*known, mark]
        return known if known[-1] == mark else [*known, mark + _BACK]

    def content(self, mark: str) -> bytes | None:
        """Return a version; None where it was not kept, or is erased."""
        if not mark.isalnum():  # the list of another machine may hold a path
            return None
        try:
            return platform.content(self._folder / f"{mark}.txt")
        except OSError:
            return None

    def note(
        self, path: str, joined: bytes, sides: tuple[bytes | None, bytes | None], other: "Bases",
        source: str, *, keep: bool,
    ) -> None:  # fmt: skip
        """Note that a merge made one version of the `sides`, ours and theirs; one of them may have none.

        With them come the versions that are in that: a third machine may have one of these. `keep`: keep the
        texts of the versions, too.
        """
        known = self._noted.versions.setdefault(path, [])
        known += [mark for mark in other._noted.versions.get(path, ()) if mark not in known]  # noqa: SLF001
        for data in (*sides, joined):
            if data is not None:
                self._add(path, digest(data))
                if keep:
                    self._new[digest(data)] = data
        last = self._noted.last.setdefault(source, {})
        if (theirs := sides[1]) is None:
            last.pop(path, None)
        else:
            last[path] = digest(theirs)

    def note_seen(self, marks: Mapping[str, str]) -> bool:
        """Note which versions there are now, by path, without their texts; return whether any was new."""
        new = {path: mark for path, mark in marks.items() if self._noted.versions.get(path, [""])[-1] != mark}
        for path, mark in new.items():
            self._add(path, mark)
        return bool(new)

    def _add(self, path: str, mark: str) -> None:
        known = [one for one in self._noted.versions.get(path, ()) if one != mark]
        self._noted.versions[path] = [*known, mark][-_KEPT:]

    def note_deleted(self, path: str) -> None:
        """Note that a file is gone: whoever has a version from before deletes it, too."""
        self._add(path, _DELETED)

    def came_back(self, path: str, now: bytes) -> bool:
        """Whether a file that is there had been deleted since this version was first had."""
        known, mark = self._noted.versions.get(path, []), digest(now)
        if _DELETED not in known:
            return False
        return known[-1] == _DELETED or mark not in known or known.index(_DELETED) < known.index(mark)

    def save(self) -> None:
        """Write what was noted, and drop versions that no file has any more."""
        folder = self._folder
        platform.make_folder(folder)
        for mark, data in self._new.items():
            if not (folder / f"{mark}.txt").exists():
                jsonl.replace_file(folder / f"{mark}.txt", data, durable=False)
        self._new.clear()
        jsonl.replace_file(folder / LIST, msgspec.msgpack.encode(self._noted), durable=False)
        kept = {mark for marks in self._noted.versions.values() for mark in marks}
        for file in folder.glob("*.txt"):
            if file.stem not in kept:
                platform.FS.unlink(file)
