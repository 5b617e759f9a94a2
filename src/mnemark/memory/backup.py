"""A workspace as one file, checked after writing, and brought back to the byte.

A backup is an export as ZIP; what sets it apart is that it is read again and compared, and that restoring
makes a workspace of its own instead of adding to one.
"""

import hashlib
import shutil
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import msgspec

from mnemark.errors import IntegrityError, NotFoundError, UsageError
from mnemark.files import jsonl, layout, platform
from mnemark.files.faults import told
from mnemark.files.ids import new_id
from mnemark.memory.exchange import UNREADABLE, Exported, export_workspace, inner_of
from mnemark.memory.when import local_now

if TYPE_CHECKING:
    from mnemark.memory.core import Memory

_MOST_BYTES: Final = 64 << 30
"""What a backup may unpack to: beyond, it is a trap or no memory."""
_BLOCK: Final = 1 << 20


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What came back."""

    workspace: str
    files: int
    bytes: int


def backup(memory: "Memory", target: Path | None = None) -> Exported:
    """Write the workspace into one file, read it again, and compare every file with what it holds now.

    Args:
        memory: whose.
        target: where to; `NAME-YYYY-MM-DD.zip` beside the workspace by default. An older backup of that
            name is replaced once the new one is whole.

    Raises:
        UsageError: the target would be memory itself.
        IntegrityError: what was written is not what the workspace holds, for example because of a bad disk.
        ReadOnlyError: the target cannot be written.
    """
    name = (
        f"{memory.root.resolve().name or 'memory'}-{local_now(memory.config.timezone).date().isoformat()}.zip"
    )
    target = memory.root.resolve().parent / name if target is None else target
    done = export_workspace(memory, target)
    with zipfile.ZipFile(done.target) as archive:
        bad = archive.testzip()
        if bad is not None:
            raise IntegrityError(f"{done.target} is damaged at {bad}; back up to another disk")
        grown = (".jsonl",)
        for member in archive.infolist():
            now = memory.root / member.filename
            kept = archive.read(member)
            if now.is_file() and not _same(now, kept, grown=member.filename.endswith(grown)):
                raise IntegrityError(f"{member.filename} changed while it was saved; back up again")
    return done


def _same(path: Path, kept: bytes, *, grown: bool) -> bool:
    """Whether a file is what was kept; a log may have grown since."""
    with platform.opened(path) as file:
        now = file.read(len(kept) + (0 if grown else 1))
    return hashlib.sha256(now).digest() == hashlib.sha256(kept).digest()


def restore(archive: Path, folder: Path) -> Restored:
    """Unpack a backup into a folder that is empty or missing, to the byte.

    A kill in between leaves an unfinished folder, never a file that is cut off.

    Raises:
        NotFoundError: there is no such file.
        UsageError: the folder holds something, or a name in the file leads out of it.
        IntegrityError: the file is no backup, or damaged; nothing was written.
        ReadOnlyError: the folder cannot be written.
    """
    archive, folder = archive.expanduser().absolute(), folder.expanduser().absolute()
    if not archive.is_file():
        raise NotFoundError(f"there is no file {archive}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; name a new one, or use `mnemark import zip` to add to it")
    try:
        with zipfile.ZipFile(archive) as source, told(folder):
            members = _checked(source, archive, folder)
            for member in members:
                with source.open(member) as file:
                    _put(folder, member.filename, file)
            for mark in _marks(source, folder):
                jsonl.make_folder(mark)
    except UNREADABLE as error:
        raise IntegrityError(f"{archive.name} is no backup that can be read: {error}") from error
    size = sum(member.file_size for member in members)
    return Restored(workspace=str(folder), files=len(members), bytes=size)


def _checked(source: zipfile.ZipFile, archive: Path, folder: Path) -> list[zipfile.ZipInfo]:
    """The files in a backup, all of them readable and inside the folder."""
    members = [member for member in source.infolist() if not member.is_dir()]
    if sum(member.file_size for member in members) > _MOST_BYTES:
        raise IntegrityError(f"{archive.name} would unpack to more than {_MOST_BYTES >> 30} GB")
    inner = inner_of(source)
    for member in members:
        layout.safe_path(folder, member.filename, borders=False)
        around = max((one for one in inner if member.filename.startswith(f"{one}/")), key=len, default="")
        name = member.filename.removeprefix(f"{around}/")
        if name != layout.CONFIG and layout.place(name) is None:
            raise IntegrityError(f"{archive.name} is no backup: {layout.shown(member.filename)} is no memory")
    bad = source.testzip()
    if bad is not None:
        raise IntegrityError(f"{archive.name} is damaged at {bad}; use an older backup")
    return members


def _marks(source: zipfile.ZipFile, folder: Path) -> list[Path]:
    """The empty `.mnemark` of workspaces inside: without them they would be a part of what is restored."""
    mark = f"/{layout.PRIVATE}/"
    names = [member.filename for member in source.infolist() if member.filename.endswith(mark)]
    return [layout.safe_path(folder, name.rstrip("/"), borders=False) for name in names]


def _put(folder: Path, name: str, file: IO[bytes]) -> None:
    target = layout.safe_path(folder, name, borders=False)
    jsonl.make_folder(target.parent)
    temporary = target.with_name(jsonl.TEMPORARY + new_id())
    with temporary.open("xb") as out:
        shutil.copyfileobj(file, out, _BLOCK)
        out.flush()
        platform.FS.sync(out.fileno())
    platform.FS.replace(temporary, target)
    platform.FS.sync_folder(target.parent)
