"""What edits displaced: kept for a minute, in case a save that was under way went there.

Each edit of a shared file leaves a record `.mnemark/displaced/<path hash>-<id>.edit` with the text before and
after it, and the displaced file itself as `….old`. Two things are looked for while the record lives:

- *A late save*: a program that had the file open wrote into the displaced one. It is merged into the file.
- *A lost edit*: a program that had read the file before the edit saved its own version over it, so that the
  edit is in no version a person has seen. It is put back. If it is lost again and again, that is meant, and
  what was lost is kept as a conflict copy.

Everything here is called with the workspace's lock held.
"""

import hashlib
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from mnemark.files import jsonl, platform
from mnemark.files.ids import time_of
from mnemark.files.merge import lacks, merge3

FOLDER = ".mnemark/displaced"
MOST_TRIES = 3
"""How often an edit that saves keep losing is put back."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One edit of `path` (relative to the workspace, with `/`)."""

    id: str
    path: str
    time: float
    """Seconds since 1970 from which it is kept; later after a late save."""
    keep: float
    """Seconds to keep it."""
    inode: int
    """The new file, which tells it from the displaced one under the same temporary name."""
    base: bytes
    new: bytes
    held: bytes | None = None
    """What the displaced file was last seen to hold; None where the edit made a new file."""
    applied: bool = False
    seen: bool = False
    """Someone saved a version with this edit in it, or its loss is dealt with: do not look for it again."""
    tries: int = 0


class Findings(NamedTuple):
    """What a look at one file found: the text it should hold, and what to note once it holds it."""

    content: bytes
    updates: Sequence[Edit]
    copies: Sequence[bytes]
    """Versions that could not be merged and are to be kept as conflict copies."""
    tries: int


class Displaced:
    """The records of the workspace at `root` (its real path)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / FOLDER

    def of(self, path: str) -> list[Edit]:
        """Records of one file, oldest first; what a crash left half done is settled on the way."""
        return self._load(f"{_key(path)}-*.edit")

    def all(self) -> list[Edit]:
        """All records, oldest first."""
        return self._load("*.edit")

    def _load(self, pattern: str) -> list[Edit]:
        edits = []
        for file in sorted(self.folder.glob(pattern), key=lambda file: file.name.rpartition("-")[2]):
            try:
                edit = msgspec.msgpack.decode(file.read_bytes(), type=Edit)
            except msgspec.DecodeError:  # died while it was written, so before anything was displaced
                platform.FS.unlink(file)
                continue
            settled = edit if edit.applied else self._recovered(edit)
            edits += [settled] if settled else []
        return edits

    def _recovered(self, edit: Edit) -> Edit | None:
        """Settle an edit whose process died in the middle; None where it never happened."""
        left = platform.identity(self.temporary(edit))
        if left is not None and left.inode == edit.inode:  # not exchanged, or exchanged back
            platform.FS.unlink(self.temporary(edit))
            self.drop(edit)
            return None
        target = platform.identity(self.root / edit.path)
        made = edit.held is None and target is not None and target.inode == edit.inode
        if left is not None:
            self.store(edit)
        elif not made and not self.old(edit).exists():
            self.drop(edit)
            return None
        edit = msgspec.structs.replace(edit, applied=True)
        self.save(edit)
        return edit

    def temporary(self, edit: Edit) -> Path:
        """The file beside the target: first the new text, after the exchange the displaced file."""
        return (self.root / edit.path).with_name(jsonl.TEMPORARY + edit.id)

    def old(self, edit: Edit) -> Path:
        """Where the displaced file is kept."""
        return self.folder / f"{_key(edit.path)}-{edit.id}.old"

    def store(self, edit: Edit) -> None:
        """Move the displaced file away from the person's folder."""
        platform.FS.replace(self.temporary(edit), self.old(edit))

    def save(self, edit: Edit) -> None:
        """Write or replace a record. Not brought to the disk: a power cut ends saves under way, too."""
        jsonl.make_folder(self.folder)
        file = self.folder / f"{_key(edit.path)}-{edit.id}.edit"
        part = file.with_suffix(".part")
        platform.FS.unlink(part)
        jsonl.write_new(part, msgspec.msgpack.encode(edit), durable=False)
        platform.FS.replace(part, file)

    def drop(self, edit: Edit) -> None:
        """Forget an edit and remove the displaced file."""
        platform.FS.unlink(self.old(edit))
        platform.FS.unlink(self.folder / f"{_key(edit.path)}-{edit.id}.edit")

    def look(self, path: str, current: bytes | None, quiet: float) -> Findings:
        """Compare the records of a file with what it holds now (None: it is gone). Changes nothing."""
        edits = self.of(path)
        content, lost, tries = current or b"", list[Edit](), 0
        copies: list[bytes] = []
        unseen = [edit for edit in edits if not edit.seen]
        updates: dict[str, Edit] = {}
        if unseen and current != unseen[-1].new:
            lost = _lost(unseen, content) if current is not None else []
            updates = {edit.id: msgspec.structs.replace(edit, seen=True) for edit in unseen}
        if lost:
            tries = 1 + max(edit.tries for edit in lost)
            merged = merge3(lost[0].base, lost[-1].new, content) if tries <= MOST_TRIES else None
            if merged is None:
                copies, tries = [lost[-1].new], 0
            else:
                content = merged
        for edit in edits:
            late = self._late(edit, quiet)
            if late is None:
                continue
            merged = self._with_late(edit, late, content, unseen) if current is not None else None
            copies += [late] if merged is None else []
            content = content if merged is None else merged
            updates[edit.id] = msgspec.structs.replace(
                updates.get(edit.id, edit), held=late, time=time.time()
            )
        return Findings(content, list(updates.values()), copies, tries)

    def _late(self, edit: Edit, quiet: float) -> bytes | None:
        """What was saved into the displaced file; None where nothing was, or it is still being written."""
        state = platform.identity(self.old(edit))
        if state is None or 0 <= time.time() - state.mtime_ns / 1e9 < quiet:
            return None
        data = self.old(edit).read_bytes()
        # An empty file is a save that died after its truncate: nothing was said that could be lost.
        return data if data and data != edit.held else None

    @staticmethod
    def _with_late(edit: Edit, late: bytes, content: bytes, unseen: Sequence[Edit]) -> bytes | None:
        """`content` with a late save merged in; the saver may itself not have known the edits before."""
        lost = _lost([other for other in unseen if other.id < edit.id], late)
        whole = merge3(lost[0].base, lost[-1].new, late) if lost else late
        return None if whole is None else merge3(edit.held or b"", content, whole)

    def drop_expired(self, path: str, *, at_once: bool) -> None:
        """Drop what is over its minute, or all of it; but not where a late save has not been looked at."""
        for edit in self.of(path):
            over = not 0 <= time.time() - edit.time < edit.keep
            if (over or at_once) and _bytes(self.old(edit)) in {None, edit.held}:
                self.drop(edit)

    def clear(self) -> None:
        """Remove what belongs to no record: halves that a crash or a full disk left."""
        names = {file.stem for file in self.folder.glob("*.edit")}
        for file in [*self.folder.glob("*.part"), *self.folder.glob("*.old")]:
            if file.suffix == ".part" or file.stem not in names:
                platform.FS.unlink(file)


def _lost(edits: Sequence[Edit], version: bytes) -> list[Edit]:
    """The last edits that `version` lacks: it was made from the text before the first of them."""
    start = len(edits)
    while start and lacks(version, edits[start - 1].base, edits[start - 1].new):
        start -= 1
    return list(edits[start:])


def copy_name(path: Path, edit_id: str, data: bytes) -> Path:
    """`name.conflict-<time>-<hash>.md` beside `path`: the same for the same bytes, so kept only once."""
    moment = time_of(edit_id).strftime("%Y%m%dT%H%M%SZ")
    mark = hashlib.blake2b(data, digest_size=4).hexdigest()
    stem = path.stem.encode()[:180].decode("utf-8", "ignore")
    return path.with_name(f"{stem}.conflict-{moment}-{mark}{path.suffix}")


def _key(path: str) -> str:
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _bytes(path: Path) -> bytes | None:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return None
