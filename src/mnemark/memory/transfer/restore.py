"""Restore a backup into a new folder, byte for byte.

Everything is checked before anything is written: names that leave the folder, damage, and free space. Links
are created last, so that nothing is written through them, and those that leave the folder are removed.
"""

import hashlib
import io
import os
import posixpath
import shutil
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from mnemark.errors import IntegrityError, MnemarkError, NewerFormatError, NotFoundError, UsageError
from mnemark.files import layout, manifest, platform, trust
from mnemark.files.disk_errors import REFUSED_NAMES, translate_os_errors
from mnemark.files.manifest import Archived
from mnemark.memory.transfer.transfer import UNREADABLE, CutOffError, blocks, is_complete, listed_in
from mnemark.types import Problem

_MAX_MANIFEST: Final = 1 << 30
"""Maximum bytes of a manifest: some five million names."""
_PERMISSIONS: Final = 0o777
"""Restored bits of a mode: an archive must not create setuid programs."""
_NAME_TAKEN: Final = "this file system treats another name in the backup as the same"
LINK: Final = "is a link, and only files come along: copy the file that it leads to"
"""Why a link in a memory that is sent stays out."""
_MOST_AT_ONCE: Final = 16 << 20
"""Maximum bytes that are read at once of an archive that somebody sent: so long is its list of files."""


class TooLargeError(UsageError):
    """More than the limit of whoever takes it."""


class Most(NamedTuple):
    """How much of an archive that somebody sent is unpacked."""

    bytes: int
    files: int


class Unpacked(NamedTuple):
    """The files of an archive that are in a folder now."""

    files: int
    bytes: int
    problems: list[Problem]
    """What stayed out, and what was left out when the archive was made."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """The restored content."""

    workspace: str
    files: int
    bytes: int
    folders: int
    links: int
    problems: tuple[Problem, ...] = ()
    """What was not restored, and what was left out when the backup was made."""
    complete: bool


def restore(archive: Path, folder: Path) -> Restored:
    """Unpack a backup into a folder that is empty or missing.

    Files get their bytes, modes and times; mnemark's own files and folders are always private. Links that
    leave the folder are left out, and names that this system cannot write. A crash leaves an incomplete
    folder, but never a partial file.

    Raises:
        NotFoundError: there is no such file.
        UsageError: the folder is not empty, or a name in the file leaves it.
        IntegrityError: the file is no backup, damaged or unreadable; nothing was written.
        ReadOnlyError, MnemarkError: the folder cannot be written, or lacks space; then nothing was written.
    """
    archive = archive.expanduser().absolute()
    if not archive.is_file():
        raise NotFoundError(f"the file {archive} does not exist")
    folder = check_new(folder)
    try:
        with zipfile.ZipFile(archive) as source:
            entries = _entries(source)
            _check_names(entries)
            _check_room(entries, folder)
            for entry in entries:  # read all before writing: a damaged backup is not restored in part
                deque(_content(source, entry) if entry.kind == "file" else (), maxlen=0)
            with translate_os_errors(folder):
                problems = _unpack(source, entries, folder)
                _trust(folder)
    except NewerFormatError:
        raise
    except (*UNREADABLE, CutOffError, IntegrityError, OSError) as error:  # the folder's are translated
        raise IntegrityError(f"{archive.name} is not a backup that can be restored: {error}") from error
    return _restored(entries, folder, problems)


def check_new(folder: Path) -> Path:
    """Return the absolute path of a folder that is empty or missing. Raises UsageError."""
    folder = folder.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} is not empty; choose a new folder, or use `mnemark import zip` to add to it"
        )
    return folder


def unpack(archive: Path, folder: Path, *, most: Most, wanted: Callable[[str], bool]) -> Unpacked:
    """Unpack those files of an archive that somebody sent whose paths are `wanted` into a new folder.

    The archive may lie about everything: no more is read or written than `most` allows, nothing lies outside
    of the folder, and no link is made. Folders are made for files alone; modes and times are not restored.
    Nothing is written durably: the folder is for a moment.

    Raises:
        TooLargeError: it is more than `most`.
        UsageError: a name in it leaves the folder.
        IntegrityError: it is no backup or export, or damaged.
        MnemarkError: there is no room.
    """
    try:
        with _Sent(io.FileIO(archive)) as sent, zipfile.ZipFile(sent) as source:
            entries = _entries(source, _MOST_AT_ONCE)
            _check_names(entries)
            files = [one for one in entries if one.kind == "file" and wanted(one.name)]
            size = _checked_size(files, most)
            _check_room(files, folder)
            with translate_os_errors(folder):
                problems = [
                    Problem(one.path, reason) for one in files if (reason := _unpack_one(source, one, folder))
                ]
    except NewerFormatError:
        raise
    except (*UNREADABLE, CutOffError, IntegrityError, OSError) as error:
        raise IntegrityError(f"what was sent is no backup or export of a memory: {error}") from error
    problems += [
        Problem(one.path, LINK if one.kind == "link" else one.reason)
        for one in entries
        if one.kind in {"link", "left out"} and wanted(one.name)
    ]
    return Unpacked(len(files), size, problems)


def _checked_size(files: Sequence[Archived], most: Most) -> int:
    """Return what the files take. Raises TooLargeError, IntegrityError."""
    size = sum(one.size for one in files)
    if any(one.size < 0 for one in files):
        raise IntegrityError("a file in it has less than no bytes")
    if size > most.bytes or len(files) > most.files:
        raise TooLargeError(
            f"this memory is too large for the server: {len(files):,} files of {size:,} bytes, and it takes"
            f" {most.files:,} of {most.bytes:,}; ask whoever runs it"
        )
    return size


class _Sent(io.BufferedReader):
    """An archive of which no more is read at once than an honest one needs."""

    def read(self, size: int | None = -1, /) -> bytes:
        all_of_it = size is None or size < 0
        if (os.fstat(self.fileno()).st_size - self.tell() if all_of_it else size or 0) > _MOST_AT_ONCE:
            raise IntegrityError("its list of files is too long")
        return super().read(size)


def _unpack_one(source: zipfile.ZipFile, entry: Archived, folder: Path) -> str:
    if not all(map(platform.allows_name, entry.name.split("/"))):
        return "the server does not allow such a name"
    path = folder / entry.name
    try:
        platform.make_folder(path.parent)
        with platform.open_new(path) as out:
            for block in _content(source, entry):
                out.write(block)
    except OSError as error:
        if error.errno not in REFUSED_NAMES:
            raise
        return f"cannot be written on the server: {error.strerror}"
    return ""


def _restored(entries: Sequence[Archived], folder: Path, problems: list[Problem]) -> Restored:
    problems += [
        Problem(one.path, f"is not in the backup: {one.reason}") for one in entries if one.kind == "left out"
    ]
    missing = {problem.path for problem in problems}
    back = [entry for entry in entries if entry.path not in missing]
    kinds = [entry.kind for entry in back]
    return Restored(
        workspace=layout.shown(str(folder)), bytes=sum(entry.size for entry in back),
        files=kinds.count("file"), folders=kinds.count("folder"), links=kinds.count("link"),
        problems=tuple(problems), complete=is_complete(problems),
    )  # fmt: skip


def _trust(folder: Path) -> None:
    """Note that the folder was made here; the times of what came back stay."""
    own = folder / layout.PRIVATE
    before = own.stat() if own.is_dir() else None
    trust.trust_new(folder, made=False)
    if before is not None:
        os.utime(own, ns=(before.st_atime_ns, before.st_mtime_ns))


def _entries(source: zipfile.ZipFile, most: int = _MAX_MANIFEST) -> list[Archived]:
    if manifest.NAME in source.namelist():
        if source.getinfo(manifest.NAME).file_size > most:
            raise IntegrityError("its list of files is too long")
        return listed_in(source) or []
    members = [member for member in source.infolist() if not member.is_dir()]
    entries = [Archived(path=one.filename, kind="file", mode="0600", size=one.file_size) for one in members]
    _check_names(entries)
    for entry in entries:
        if entry.path != layout.CONFIG and layout.place(entry.path) is None:
            raise IntegrityError(f"{layout.shown(entry.path)} is not part of a memory")
    return entries


def _check_names(entries: Sequence[Archived]) -> None:
    """Check that names are unique, stay in the folder, and have only folders as parents."""
    kinds: dict[str, manifest.Kind] = {}
    for entry in entries:
        if entry.kind == "left out":
            continue
        name = entry.name
        if "\0" in name or not {"", ".", ".."}.isdisjoint(name.split("/")):
            raise UsageError(f"{entry.path!r} leads out of the folder: this is not a backup of mnemark")
        if name in kinds:
            raise IntegrityError(f"it contains {entry.path} twice")
        kinds[name] = entry.kind
    for name in kinds:
        above = name
        while above := above.rpartition("/")[0]:
            if kinds.get(above, "folder") != "folder":
                raise IntegrityError(f"{layout.shown(above)} is both a {kinds[above]} and a folder")


def _check_room(entries: Sequence[Archived], folder: Path) -> None:
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    wanted, free = sum(entry.size for entry in entries), shutil.disk_usage(there).free
    if wanted > free:
        raise MnemarkError(
            f"the backup unpacks to {wanted >> 20:,} MB, and {there} has {free >> 20:,} MB left; nothing was "
            "written: free some space, or restore to another disk"
        )


def _content(source: zipfile.ZipFile, entry: Archived) -> Iterator[bytes]:
    """Yield a file's bytes; raise IntegrityError if their size or hash is not that of the manifest."""
    try:
        member = source.getinfo(entry.place)
    except KeyError:
        raise IntegrityError(f"{entry.path} is missing from it; use an older backup") from None
    hashed = hashlib.sha256()
    if member.file_size != entry.size:
        raise IntegrityError(f"it is damaged at {entry.path}; use an older backup")
    with source.open(member) as file:
        for block in blocks(file):
            hashed.update(block)
            yield block
    if entry.sha256 and hashed.hexdigest() != entry.sha256:
        raise IntegrityError(f"it is damaged at {entry.path}; use an older backup")


def _unpack(source: zipfile.ZipFile, entries: Sequence[Archived], folder: Path) -> list[Problem]:
    platform.make_folder(folder)
    problems = [
        Problem(entry.path, reason)
        for kind in ("folder", "file", "link")
        for entry in entries
        if entry.kind == kind and (reason := _restore_entry(source, entry, folder))
    ]
    problems += _remove_outside_links(entries, folder)
    for entry in reversed(entries):  # set times of inner folders first: writing changes the outer's
        path = folder / entry.name
        if entry.kind == "folder" and path.is_dir():
            platform.FS.sync_folder(path)
            _set_metadata(path, entry)
    platform.FS.sync_folder(folder)
    return problems


def _restore_entry(source: zipfile.ZipFile, entry: Archived, folder: Path) -> str:
    name = entry.name
    if not all(map(platform.allows_name, name.split("/"))):
        return "this system does not allow such a name"
    path = folder / name
    try:
        if entry.kind == "folder":
            platform.make_folder(path)
            return "" if path.is_dir() else _NAME_TAKEN
        platform.make_folder(path.parent)
        if entry.kind == "link":
            platform.FS.symlink(entry.link, path)
            _set_metadata(path, entry)
        else:
            _put_file(source, entry, path)
    except FileExistsError:
        return _NAME_TAKEN
    except OSError as error:
        if entry.kind != "link" and error.errno not in REFUSED_NAMES:
            raise
        return f"cannot be written on this system: {error.strerror}"
    return ""


def _put_file(source: zipfile.ZipFile, entry: Archived, path: Path) -> None:
    temporary = platform.temporary_beside(path)
    try:
        with platform.open_new(temporary) as out:
            for block in _content(source, entry):
                out.write(block)
            out.flush()
            platform.FS.sync(out.fileno())
        _set_metadata(temporary, entry)
        platform.FS.rename_new(temporary, path)
    finally:
        platform.FS.unlink(temporary)


def _set_metadata(path: Path, entry: Archived) -> None:
    """Set mode and time. mnemark's own files stay private, also where an old backup was not."""
    if entry.kind != "link":
        mode = int(entry.mode or "0", 8) & _PERMISSIONS
        own = layout.is_own(entry.name, folder=entry.kind == "folder")
        platform.set_permissions(path, mode & platform.PRIVATE_FOLDER if own else mode)
    if entry.mtime_ns is not None:
        platform.set_time(path, entry.mtime_ns)


def _remove_outside_links(entries: Sequence[Archived], folder: Path) -> Iterator[Problem]:
    """Remove the links that leave the folder, directly or through other links; yield a problem for each."""
    base = os.path.realpath(folder)
    for entry in entries:
        path = folder / entry.name
        if entry.kind != "link" or not path.is_symlink():
            continue
        real = os.path.realpath(path)
        if _leaves_folder(entry) or not (real == base or real.startswith(base + os.sep)):
            platform.FS.unlink(path)
            yield Problem(entry.path, f"is a link out of the folder, to {entry.target}")


def _leaves_folder(entry: Archived) -> bool:
    target = posixpath.normpath(posixpath.join(posixpath.dirname(entry.name), entry.link))
    return target == ".." or target.startswith("../")
