"""Keep the versions of texts that machines had in common, so that a later merge knows what each changed.

`.mnemark/bases/` holds the last versions of each text after a merge, by their hash, and a list of the hashes
by path, with those of each consolidation, whose texts are not kept: they tell an older version from a change.
It can be deleted: then a merge keeps the lines of both sides, and nothing counts as deleted.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from mnemark.files import jsonl, platform
from mnemark.hashes import blake2b

FOLDER: Final = "bases"
_LIST: Final = "list.msgpack"
_KEPT: Final = 12
"""Versions known of each text: machines that merge now and then are not all of the same day."""


def mark_of(data: bytes) -> str:
    """Return the name of a version."""
    return blake2b(data, digest_size=16).hexdigest()


class Bases:
    """The versions that a machine had; `save` writes what was noted."""

    def __init__(self, private_folder: Path) -> None:
        """`private_folder` is a `.mnemark`, of this workspace or of another."""
        self._folder = private_folder / FOLDER
        self._versions: dict[str, list[str]] = {}
        with suppress(OSError, msgspec.DecodeError):  # lost: without a base nothing counts as deleted
            data = platform.content(self._folder / _LIST)
            self._versions = msgspec.msgpack.decode(data, type=dict[str, list[str]])
        self._new: dict[str, bytes] = {}

    def paths(self) -> set[str]:
        """Return the paths of the texts that a merge has seen."""
        return set(self._versions)

    def knows(self, path: str, data: bytes) -> bool:
        """Whether this machine had that version of a text."""
        return mark_of(data) in self._versions.get(path, ())

    def common(self, path: str, ours: bytes, other: "Bases", theirs: bytes) -> bytes | None:
        """Return the last version that both machines had; None where none is known.

        A machine whose version the other knows has nothing new: that version is the base.
        """
        mine = [*self.versions(path), mark_of(ours)]
        yours = [*other.versions(path), mark_of(theirs)]
        shared = {mark: at + yours.index(mark) for at, mark in enumerate(mine) if mark in yours}
        for mark in sorted(shared, key=lambda one: (shared[one], one), reverse=True):
            if mark in (mine[-1], yours[-1]):
                return ours if mark == mine[-1] else theirs
            if (data := self.content(mark)) is not None or (data := other.content(mark)) is not None:
                return data
        return None

    def versions(self, path: str) -> list[str]:
        """Return the names of the versions of a text, the last one last."""
        return self._versions.get(path, [])

    def content(self, mark: str) -> bytes | None:
        """Return a version; None where it was not kept, or is erased."""
        try:
            return platform.content(self._folder / f"{mark}.txt")
        except OSError:
            return None

    def note(self, path: str, data: bytes, *others: bytes) -> None:
        """Note that this machine has a version now, which holds all that is in `others`."""
        known = self._versions.get(path, [])
        new = [mark for mark in (*map(mark_of, others), mark_of(data)) if mark not in known]
        if mark_of(data) in known:
            known = [*(mark for mark in known if mark != mark_of(data)), mark_of(data)]
        self._versions[path] = [*known, *dict.fromkeys(new)][-_KEPT:]
        self._new[mark_of(data)] = data

    def note_seen(self, marks: Mapping[str, str]) -> bool:
        """Note which versions there are now, by path, without their texts; return whether any was new."""
        new = {path: mark for path, mark in marks.items() if mark not in self._versions.get(path, ())}
        for path, mark in new.items():
            self._versions[path] = [*self._versions.get(path, ()), mark][-_KEPT:]
        return bool(new)

    def save(self) -> None:
        """Write what was noted, and drop versions that no text has any more."""
        folder = self._folder
        platform.make_folder(folder)
        for mark, data in self._new.items():
            if not (folder / f"{mark}.txt").exists():
                jsonl.replace_file(folder / f"{mark}.txt", data, durable=False)
        self._new.clear()
        jsonl.replace_file(folder / _LIST, msgspec.msgpack.encode(self._versions), durable=False)
        kept = {mark for marks in self._versions.values() for mark in marks}
        for file in folder.glob("*.txt"):
            if file.stem not in kept:
                platform.FS.unlink(file)
