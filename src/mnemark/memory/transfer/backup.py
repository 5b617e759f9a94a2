"""Back up a workspace into one verified file, and report what could not be saved.

A backup is a ZIP with a manifest (`files.manifest`). It holds the whole folder: images, hidden folders, names
that are not UTF-8, empty folders, links as links, modes and times. `.mnemark` can be rebuilt and is left out,
except the records of edits, which may hold the only copy of a version.
"""

import hashlib
import io
import itertools
import os
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple

import msgspec

from mnemark.errors import ConfigError, IntegrityError, MnemarkError
from mnemark.files import layout, links, manifest, platform
from mnemark.files.config import Config, load
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.listing import InventoryItem, inventory
from mnemark.files.manifest import Archived
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.transfer import (
    UNREADABLE,
    CutOffError,
    Exported,
    blocks,
    is_complete,
    listed_in,
    put_in_place,
    target_for,
)
from mnemark.text.dates import local_now
from mnemark.types import Problem

_MAX_BUFFERED: Final = 4 << 20
"""Maximum bytes of a file that is read into memory, and read again if it was changed meanwhile."""
_MAX_READS: Final = 5
_SAMPLE: Final = 1 << 16
_MAX_RATIO: Final = 0.95
"""A file is compressed only if its first bytes shrink below this share; images do not."""
_ZIP_TIMES: Final = (315_532_800, 4_354_819_198)
"""First and last timestamp that ZIP can hold, in 1980 and 2107, in seconds since 1970."""
_DERIVED: Final = (
    "index.db", "state.db", "facts", "vectors", "compiled", "hooks", "mounts", "lock", "sync.lock",
    "ending.lock", "hooks.lock", "hook.log", ".gitignore", "salt",
)  # fmt: skip
"""Names in `.mnemark` that are left out, with their companions (`index.db-wal`). The salt must not be stored
beside the text whose hashes it keys; each machine has its own."""


class Saved(Exported, frozen=True, kw_only=True):
    """The content of a backup. `problems` names what was left out."""

    folders: int
    links: int


class _Saved(NamedTuple):
    entry: Archived
    state: platform.Identity | None = None
    """The identity of a file when it was opened; None for folders and links."""
    steady: bool = True
    """Whether the file was not changed while it was read."""


def backup(memory: OpenWorkspace | Path, target: Path | None = None) -> Saved:
    """Write the folder into one file, read it again, and compare every file with the one in the folder.

    Memory use does not grow with the size of files. Nothing in the workspace is changed, and no index is
    needed: a damaged workspace can be backed up, too.

    Args:
        memory: an open workspace, or its folder.
        target: the file to write; `NAME-YYYY-MM-DD.zip` beside the workspace by default. An older backup of
            that name is replaced once the new one is verified; if it holds files that could not be read this
            time, it is kept under another name.

    Returns:
        The content of the backup. If `complete` is false, `problems` says what is missing and why.

    Raises:
        UsageError: the target would be indexed as memory, or a link leads mnemark out of the workspace.
        IntegrityError: the written data differs from the read data, because of a bad disk.
        ReadOnlyError, MnemarkError: the target cannot be written; no partial file is left.
    """
    root = memory if isinstance(memory, Path) else memory.root
    links.check(root)
    target = target_for(root, _default(memory, root) if target is None else target)
    with put_in_place(target) as temporary:
        own = {_relative(root, target), _relative(root, temporary)}
        kept, problems = _write(root, temporary, lambda path: path in own or _is_derived(path))
        problems += _compared(root, temporary, kept)
        size = temporary.stat().st_size
        if _has_missing(target, [problem.path for problem in problems if problem.skipped]):
            problems.append(_keep_older(target))
    kinds = [one.entry.kind for one in kept]
    return Saved(
        target=layout.shown(str(target)), bytes=size,
        problems=tuple(problems), complete=is_complete(problems),
        files=kinds.count("file"), folders=kinds.count("folder"), links=kinds.count("link"),
    )  # fmt: skip


def pack(root: Path, target: Path, *, without: Callable[[str], bool]) -> tuple[int, list[Problem]]:
    """Write a folder, without the paths that `without` names, into a new file of the form of a backup.

    Return how many files it holds, and what is left out. It is for a moment, and not read again.

    Raises MnemarkError: the folder cannot be read, or the file not written.
    """
    with translate_os_errors(target):
        kept, problems = _write(root, target, without)
    return sum(one.entry.kind == "file" for one in kept), problems


def _default(memory: OpenWorkspace | Path, root: Path) -> Path:
    """Return the default target, with the date of the workspace's timezone."""
    config = Config() if isinstance(memory, Path) else memory.config
    with suppress(ConfigError):  # a folder with invalid settings can be backed up, too
        config = load(root)
    real = root.resolve()
    day = local_now(config.timezone).date().isoformat()
    return real.parent / f"{real.name or 'memory'}-{day}.zip"


def _relative(root: Path, path: Path) -> str:
    base, real = Path(os.path.realpath(root)), Path(os.path.realpath(path.parent), path.name)
    return real.relative_to(base).as_posix() if real.is_relative_to(base) else ""


def _is_derived(path: str) -> bool:
    _, private, inner = f"/{path}".rpartition(f"/{layout.PRIVATE}/")
    name = inner.partition("/")[0]
    return private != "" and any(name == one or name.startswith((f"{one}.", f"{one}-")) for one in _DERIVED)


def _write(root: Path, target: Path, without: Callable[[str], bool]) -> tuple[list[_Saved], list[Problem]]:
    try:
        found = inventory(root, without=without)
    except OSError as error:
        raise MnemarkError(f"{layout.shown(str(root))} cannot be read: {error.strerror}") from error
    kept: list[_Saved] = []
    problems = found.problems
    with platform.open_new(target) as out:
        with zipfile.ZipFile(out, "w") as archive:
            for number, item in enumerate(found.items):
                made = _saved(archive, root, item, number)
                if isinstance(made, Problem):
                    problems.append(made)
                elif made is not None:
                    kept.append(made)
            left = [Archived(path=one.path, kind="left out", reason=one.reason) for one in problems]
            with archive.open(_header(manifest.NAME, platform.PRIVATE_FILE, time.time_ns()), "w") as listed:
                manifest.write(listed, [*(one.entry for one in kept), *left])
        out.flush()
        platform.FS.sync(out.fileno())
    return kept, problems


def _saved(archive: zipfile.ZipFile, root: Path, item: InventoryItem, number: int) -> _Saved | Problem | None:
    full = root / item.path
    try:
        if item.kind != "file":
            target = os.readlink(full) if item.kind == "link" else ""  # noqa: PTH115 - as it is written
            return _Saved(manifest.entry_for(item, target=target))
        file = platform.open_file(full)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Problem(layout.shown(item.path), f"cannot be read: {error.strerror}")
    try:
        with file:
            return _save_file(archive, item, file, number)
    except CutOffError as error:
        return Problem(layout.shown(item.path), f"cannot be read to its end: {error}")


def _save_file(archive: zipfile.ZipFile, item: InventoryItem, file: BinaryIO, number: int) -> _Saved:
    """Add a file to the archive up to its size when it was opened, without what is appended meanwhile."""
    status, source = _snapshot(file)
    mode = stat.S_IMODE(status.st_mode)
    member = "" if manifest.is_plain(item.path) else f"{manifest.FOLDER}files/{number}"
    head = _header(member or item.path, mode, status.st_mtime_ns)
    sample = b"".join(blocks(source, _SAMPLE))
    source.seek(0)
    worth = len(zlib.compress(sample, 1)) < _MAX_RATIO * len(sample)
    head.compress_type = zipfile.ZIP_DEFLATED if worth else zipfile.ZIP_STORED
    hashed, read = hashlib.sha256(), 0
    with archive.open(head, "w", force_zip64=True) as inside:
        for block in blocks(source, status.st_size):
            inside.write(block)
            hashed.update(block)
            read += len(block)
    entry = msgspec.structs.replace(
        manifest.entry_for(item._replace(mode=mode, mtime_ns=status.st_mtime_ns)),
        member=member, size=read, sha256=hashed.hexdigest(),
    )  # fmt: skip
    state = platform.identity_of(status)
    return _Saved(entry, state, platform.identity_of(os.fstat(file.fileno())) == state)


def _snapshot(file: BinaryIO) -> tuple[os.stat_result, IO[bytes]]:
    """Return a file's status and a source to read it; a small file is read into memory as one snapshot."""
    for _ in range(_MAX_READS):
        status = os.fstat(file.fileno())
        if status.st_size > _MAX_BUFFERED:
            break
        data = b"".join(blocks(file, status.st_size))
        if platform.identity_of(os.fstat(file.fileno())) == platform.identity_of(status):
            return status, io.BytesIO(data)
        file.seek(0)
    return status, file


def _header(name: str, mode: int, mtime_ns: int) -> zipfile.ZipInfo:
    """Return the ZIP header of a file with mode and time, which any unpacking program restores."""
    seconds = min(max(mtime_ns // 1_000_000_000, _ZIP_TIMES[0]), _ZIP_TIMES[1])
    head = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
    head.create_system = 3  # Unix: the mode counts
    head.external_attr = (stat.S_IFREG | mode) << 16
    return head


def _compared(root: Path, target: Path, kept: Sequence[_Saved]) -> list[Problem]:
    """Read the archive again; compare it with the data that was read, and with the files as they are now."""
    problems: list[Problem] = []
    try:
        with zipfile.ZipFile(target) as archive:
            read = [entry for entry in listed_in(archive) or () if entry.kind != "left out"]
            _require(read == [one.entry for one in kept], "the list of files was damaged in writing")
            for one in kept:
                if one.state is not None:
                    with archive.open(one.entry.place) as inside:
                        same = _digest(inside, one.entry.size + 1) == one.entry.sha256
                    _require(same, f"{one.entry.path} was damaged in writing")
                    problems += _changes(root, one, one.state)
    except (*UNREADABLE, CutOffError, IntegrityError) as error:
        raise IntegrityError(f"the backup cannot be trusted: {error}; write it to another disk") from error
    return problems


def _has_missing(target: Path, missing: Sequence[str]) -> bool:
    """Return whether the older backup at the target holds any file that is missing in the new one."""
    if not missing or not target.is_file():
        return False
    try:
        with zipfile.ZipFile(target) as older:
            listed = listed_in(older)
            files = (entry.path for entry in listed or () if entry.kind == "file")
            names = older.namelist() if listed is None else list(files)
    except (*UNREADABLE, IntegrityError, OSError):  # no backup, or an unreadable one
        return False
    return any(name == path or name.startswith(f"{path}/") for name in names for path in missing)


def _keep_older(target: Path) -> Problem:
    for number in itertools.count(1):
        beside = target.with_name(f"{target.stem}-older-{number}{target.suffix}")
        with suppress(FileExistsError):
            platform.FS.rename_new(target, beside)
            break
    reason = "is the previous backup, kept because it contains files that could not be read now"
    return Problem(layout.shown(str(beside)), reason, skipped=False)


def _require(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise IntegrityError(otherwise)


def _changes(root: Path, one: _Saved, state: platform.Identity) -> Iterator[Problem]:
    """Yield a problem if a file differs from the data that was read; appended data does not count."""
    path = one.entry.path
    try:
        with platform.open_file(root / one.entry.name) as file:
            now = platform.identity_of(os.fstat(file.fileno()))
            if _digest(file, one.entry.size) == one.entry.sha256:
                return
    except (OSError, CutOffError):  # deleted or replaced by a folder: a change like any other
        now = None
    _require(now != state, f"{path} reads differently each time, although nobody changes it")
    if one.steady:
        reason = "was changed after it was read: the backup contains the version before"
        yield Problem(path, reason, skipped=False)
    else:
        yield Problem(path, "was changed while it was read, so its copy may be inconsistent: back up again")


def _digest(source: IO[bytes], size: int) -> str:
    hashed = hashlib.sha256()
    for block in blocks(source, size):
        hashed.update(block)
    return hashed.hexdigest()
