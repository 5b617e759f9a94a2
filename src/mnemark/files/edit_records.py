"""Keep the files displaced by edits for a minute, to recover saves that were in progress.

An edit of a shared file leaves a record `.mnemark/displaced/<path hash>/<id>.edit`, the text before and after
it as `….text`, and the displaced file itself as `….old`. While they are kept, two things are looked for:

- *A late save*: a program that had the file open wrote into the displaced one. It is merged into the file.
- *A lost edit*: a program that had read the file before the edit saved its own version over it. The edit is
  put back. If it is lost again and again, that is meant, and it is kept as a conflict copy.

Everything here is called with the workspace's lock held.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from mnemark.errors import UsageError
from mnemark.files import jsonl, layout, names, platform
from mnemark.files.ids import is_id, time_of
from mnemark.files.merge import lacks, merge3
from mnemark.files.private import private
from mnemark.hashes import blake2b

FOLDER = "displaced"
"""Folder of the records in `.mnemark`."""
MOST_TRIES = 3
"""Maximum number of times a lost edit is restored."""


class EditRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The record of an edit of `path` (relative to the workspace, with `/`)."""

    id: str
    path: str
    time: float
    """Seconds since 1970 from which it is kept; later after a late save."""
    keep: float
    """Seconds to keep it."""
    inode: int
    """Inode of the new file, to distinguish it from the displaced one under the same temporary name."""
    mark: bytes
    """Hash of the text after the edit."""
    old_state: platform.Identity | None
    """Identity of the displaced file when last checked; None if the edit created the file."""
    applied: bool = False
    seen: bool = False
    """Whether a saved version contains this edit, or its loss was handled: no further checks."""
    tries: int = 0


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of an edit, loaded only when needed."""

    base: bytes
    new: bytes
    held: bytes
    """Content of the displaced file when last checked."""


class Findings(NamedTuple):
    """The text that a file should have, and record updates to make once it has."""

    content: bytes
    updates: dict[str, EditRecord]
    held: dict[str, bytes]
    """Current content of displaced files, by id of the edit."""
    copies: list[bytes]
    """Versions that could not be merged, to be written as conflict copies."""
    tries: int
    edits: Sequence[EditRecord] = ()
    """The records of the file, oldest first, as they were before."""


class EditRecords:
    """The records of the workspace at `root` (its real path)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = private(root) / FOLDER

    def of(self, path: str) -> list[EditRecord]:
        """Load the records of one file, oldest first; interrupted edits are settled on the way."""
        return list(self._load(self._records(self.folder / _key(path))))

    def all(self) -> list[EditRecord]:
        """Load all records, oldest first."""
        files = [file for folder in self.folder.glob("*") for file in self._records(folder)]
        return list(self._load(sorted(files, key=os.path.basename)))

    def _records(self, folder: Path) -> list[str]:
        """Return the paths of the records in a folder, oldest first."""
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            names = os.listdir(folder)  # noqa: PTH208 - a path for each file takes more than all the rest
            return [f"{folder}{os.sep}{name}" for name in sorted(names) if name.endswith(".edit")]
        return []

    def _load(self, files: Iterable[str]) -> Iterator[EditRecord]:
        for file in files:
            try:
                state = platform.identity(file)
                edit = None if state is None else _read(file, state)
            except OSError:  # locked by another process, or unreadable: leave it
                continue
            except msgspec.DecodeError:  # no record of ours, or cut off, so before anything was displaced
                platform.FS.unlink(Path(file))
                continue
            if edit and (settled := edit if edit.applied else self._recovered(edit)):
                yield settled

    def _recovered(self, edit: EditRecord) -> EditRecord | None:
        """Complete or undo an interrupted edit; return None if it had changed nothing."""
        try:
            names.inside(self.root, edit.path)
        except UsageError:  # a link leads out
            self.drop(edit)
            return None
        left = platform.identity(self.temporary(edit))
        if left is not None and left.inode == edit.inode:  # not exchanged, or exchanged back
            platform.FS.unlink(self.temporary(edit))
            self.drop(edit)
            return None
        target = platform.identity(self.root / edit.path)
        made = edit.old_state is None and target is not None and target.inode == edit.inode
        if left is not None:
            self.store(edit)
        elif not made and not self.old(edit).exists():
            self.drop(edit)
            return None
        edit = msgspec.structs.replace(edit, applied=True)
        self.save(edit)
        return edit

    def temporary(self, edit: EditRecord) -> Path:
        """Return the path beside the target: of the new text, after the exchange of the displaced file."""
        return (self.root / edit.path).with_name(jsonl.TEMPORARY + edit.id)

    def old(self, edit: EditRecord) -> Path:
        """Return the path at which the displaced file is kept."""
        return self._file(edit, "old")

    def _file(self, edit: EditRecord, extension: str) -> Path:
        return Path(self._name(edit, extension))

    def _name(self, edit: EditRecord, extension: str) -> str:
        return f"{self.folder}{os.sep}{_key(edit.path)}{os.sep}{edit.id}.{extension}"

    def store(self, edit: EditRecord) -> None:
        """Move the displaced file out of the workspace folder."""
        platform.FS.replace(self.temporary(edit), self.old(edit))

    def save(self, edit: EditRecord, texts: Texts | None = None) -> None:
        """Write or replace a record. It is not flushed: a power cut ends saves under way, too."""
        if texts is not None:  # a record that has its texts has its folder
            folder = self._file(edit, "text").parent
            if not folder.is_dir():
                platform.make_folder(self.folder)
                platform.FS.mkdir(folder)
            self._write(self._file(edit, "text"), texts)
        self._write(self._file(edit, "edit"), edit)

    @staticmethod
    def _write(file: Path, value: msgspec.Struct) -> None:
        part, data = file.with_suffix(".part"), msgspec.msgpack.encode(value)
        try:
            jsonl.write_new(part, data, durable=False)
        except FileExistsError:  # a crash left it
            platform.FS.unlink(part)
            jsonl.write_new(part, data, durable=False)
        platform.FS.replace(part, file)

    def texts(self, edit: EditRecord) -> Texts | None:
        """Load the texts of a record; return None if they are lost or unreadable."""
        try:
            return msgspec.msgpack.decode(platform.content(self._file(edit, "text")), type=Texts)
        except (OSError, msgspec.DecodeError):
            return None

    def drop(self, edit: EditRecord) -> None:
        """Remove a record and its displaced file."""
        for extension in ("old", "edit", "text"):
            platform.FS.unlink(self._file(edit, extension))
        with suppress(OSError):  # others of the same file are left
            self._file(edit, "edit").parent.rmdir()

    def look(self, edits: Sequence[EditRecord], current: bytes | None, quiet: float) -> Findings:
        """Compare the records of a file with its content (None: missing), without changes on disk."""
        unseen = [edit for edit in edits if not edit.seen]
        found = Findings(current or b"", {}, {}, [], 0, edits)
        if unseen and (current is None or mark_of(current) != unseen[-1].mark):
            found.updates.update({edit.id: msgspec.structs.replace(edit, seen=True) for edit in unseen})
            if current is not None:
                found = self._with_lost(found, unseen)
        for edit in edits:
            if (late := self._late(edit, quiet)) is not None:
                state, data = late
                found.updates[edit.id] = msgspec.structs.replace(
                    found.updates.get(edit.id, edit), old_state=state, time=time.time()
                )
                earlier = [other for other in unseen if other.id < edit.id]
                found = self._with_late(found, edit, data, earlier, gone=current is None)
        return found

    def _with_lost(self, found: Findings, unseen: Sequence[EditRecord]) -> Findings:
        """Restore an edit lost by a save, or keep it as a copy if saves lose it repeatedly."""
        lost = self._lost(unseen, found.content)
        if lost is None:
            return found
        tries = 1 + max(edit.tries for edit in unseen)
        merged = merge3(lost.base, lost.new, found.content) if tries <= MOST_TRIES else None
        if merged is None:
            found.copies.append(lost.new)
            return found
        return found._replace(content=merged, tries=tries)

    def _with_late(
        self, found: Findings, edit: EditRecord, late: bytes, earlier: Sequence[EditRecord], *, gone: bool
    ) -> Findings:
        """Merge a late save, or keep it as a copy. The saver may not have known the `earlier` edits."""
        texts = self.texts(edit)
        # An empty file is a save interrupted after its truncate: it has no content to lose.
        if not late or (texts is not None and late == texts.held):
            return found
        found.held[edit.id] = late
        lost = self._lost(earlier, late)
        whole = merge3(lost.base, lost.new, late) if lost else late
        merged = None
        if not (gone or whole is None or texts is None):
            merged = merge3(texts.held, found.content, whole)
        if merged is None:
            found.copies.append(late)
            return found
        return found._replace(content=merged)

    def note(self, found: Findings) -> None:
        """Update the records once the file has the merged text."""
        for edit in found.updates.values():
            texts = self.texts(edit) if edit.id in found.held else None
            self.save(edit, texts and msgspec.structs.replace(texts, held=found.held[edit.id]))

    def _late(self, edit: EditRecord, quiet: float) -> tuple[platform.Identity, bytes] | None:
        """Return state and content of a displaced file that was saved since, and is not being saved now."""
        state = platform.identity(self._name(edit, "old"))
        if state is None or state == edit.old_state or 0 <= time.time() - state.mtime_ns / 1e9 < quiet:
            return None
        try:
            return state, platform.content(self.old(edit))
        except OSError:  # keep it until it is readable
            return None

    def _lost(self, edits: Sequence[EditRecord], version: bytes) -> Texts | None:
        """Join the last edits that `version` lacks: it was made from the text before them."""
        lost: Texts | None = None
        for edit in reversed(edits):
            texts = self.texts(edit)
            if texts is None or not lacks(version, texts.base, texts.new):
                break
            lost = Texts(base=texts.base, new=lost.new if lost else texts.new, held=b"")
        return lost

    def drop_expired(self, edits: Iterable[EditRecord], *, at_once: bool) -> None:
        """Delete expired records, or all, except those with an unhandled late save."""
        for edit in edits:
            over = not 0 <= time.time() - edit.time < edit.keep
            if (over or at_once) and platform.identity(self.old(edit)) in {None, edit.old_state}:
                self.drop(edit)

    def clear(self) -> None:
        """Remove files that belong to no record, as a crash or a full disk leaves them."""
        records = {file.with_suffix("") for file in self.folder.glob("*/*.edit")}
        for file in [*self.folder.glob("*/*"), *self.folder.glob("*")]:  # folders after what is in them
            if file.is_dir():
                with suppress(OSError):  # it holds records
                    file.rmdir()
            elif file.suffix == ".part" or file.with_suffix("") not in records:
                platform.FS.unlink(file)


@lru_cache(maxsize=1_024)
def _read(file: str, state: platform.Identity) -> EditRecord:  # noqa: ARG001 - a record of another state is read anew
    """Read a record; remembered, since each edit of a file looks at those of the minute before it.

    Raises:
        OSError, msgspec.DecodeError: it cannot be read, or does not lie where its names say.
    """
    edit = msgspec.msgpack.decode(platform.content(Path(file)), type=EditRecord)
    folder, _, name = file.rpartition(os.sep)
    lies = folder.endswith(_key(edit.path)) and name == f"{edit.id}.edit"
    if not (
        lies and is_id(edit.id) and layout.is_inside(edit.path)
    ):  # a folder's author may have put it there
        raise msgspec.ValidationError("the record is of another file")
    return edit


def mark_of(text: bytes) -> bytes:
    """Hash a version to compare it."""
    return blake2b(text, digest_size=16).digest()


def copy_name(path: Path, edit_id: str, data: bytes) -> Path:
    """Return `name.conflict-<time>-<hash>.md` beside `path`; the hash is that of `data`."""
    moment = time_of(edit_id).strftime("%Y%m%dT%H%M%SZ")
    mark = blake2b(data, digest_size=4).hexdigest()
    stem = path.stem.encode()[:180].decode("utf-8", "ignore")
    return path.with_name(f"{stem}.conflict-{moment}-{mark}{path.suffix}")


def _key(path: str) -> str:
    return blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
