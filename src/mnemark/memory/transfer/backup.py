"""Back up a workspace into one file, whole and checked, and name what could not be saved.

A backup is a ZIP with a manifest (`files.manifest`). It holds the whole folder: pictures, hidden folders,
names of any bytes, empty folders, links as links, modes and times. `.mnemark` can be made anew and stays out,
but for the records of edits, which may hold a save that is nowhere else.
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
from mnemark.files.listing import InventoryItem, inventory
from mnemark.files.manifest import Entry
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.transfer.transfer import (
    UNREADABLE,
    CutOffError,
    Exported,
    blocks,
    is_complete,
    put_in_place,
    target_for,
)
from mnemark.text.dates.clock import local_now
from mnemark.types import Problem

_SMALL: Final = 4 << 20
"""Bytes up to which a file is read at once, and again where someone saved it meanwhile."""
_TRIES: Final = 5
_SAMPLE: Final = 1 << 16
_WORTH: Final = 0.95
"""Share of its size that a file has to shrink to for compressing it; pictures do not."""
_YEARS: Final = (315_532_800, 4_354_819_198)
"""First and last time of a ZIP, in 1980 and 2107, as seconds since 1970."""
_MADE_ANEW: Final = (
    "index.db", "state.db", "facts", "vectors", "compiled", "hooks", "mounts", "lock", "sync.lock",
    "ending.lock", "hooks.lock", "hook.log", ".gitignore", "salt",
)  # fmt: skip
"""In `.mnemark`, with their companions (`index.db-wal`). The salt never travels with the text whose marks it
keys: another machine has another."""


class Saved(Exported, frozen=True, kw_only=True):
    """The content of a backup. `problems` names what was left out."""

    folders: int
    links: int


class _Kept(NamedTuple):
    entry: Entry
    state: platform.Identity | None = None
    """Of a file, when it was read."""
    steady: bool = True
    """Whether nobody wrote to it while it was read."""


def backup(memory: OpenWorkspace | Path, target: Path | None = None) -> Saved:
    """Write the folder into one file, read it again, and compare every file with the folder's.

    Memory use does not grow with the size of files. Nothing in the workspace is changed, and no index is
    needed: a damaged workspace can be saved, too.

    Args:
        memory: an open workspace, or its folder.
        target: where to; `NAME-YYYY-MM-DD.zip` beside the workspace by default. An older backup of that
            name is replaced once the new one is written and compared; where it holds what could not be read
            this time, it is kept under another name.

    Returns:
        Its content. Where `complete` is false, `problems` says what is not in it and why.

    Raises:
        UsageError: the target would be memory itself, or a link leads mnemark out of the workspace.
        IntegrityError: what was written is not what the workspace holds, because of a bad disk.
        ReadOnlyError, MnemarkError: the target cannot be written; nothing is left of it.
    """
    root = memory if isinstance(memory, Path) else memory.root
    links.check(root)
    target = target_for(root, _default(memory, root) if target is None else target)
    with put_in_place(target) as temporary:
        own = {_inside(root, target), _inside(root, temporary)}
        kept, problems = _written(root, temporary, lambda path: path in own or _is_made_anew(path))
        problems += _compared(root, temporary, kept)
        size = temporary.stat().st_size
        if _holds_more(target, [problem.path for problem in problems if problem.skipped]):
            problems.append(_kept_beside(target))
    kinds = [one.entry.kind for one in kept]
    return Saved(
        target=layout.shown(str(target)), bytes=size,
        problems=tuple(problems), complete=is_complete(problems),
        files=kinds.count("file"), folders=kinds.count("folder"), links=kinds.count("link"),
    )  # fmt: skip


def _default(memory: OpenWorkspace | Path, root: Path) -> Path:
    """Return the default target, with the date of the workspace's timezone."""
    config = Config() if isinstance(memory, Path) else memory.config
    with suppress(ConfigError):  # a folder whose settings are wrong can be saved, too
        config = load(root)
    real = root.resolve()
    day = local_now(config.timezone).date().isoformat()
    return real.parent / f"{real.name or 'memory'}-{day}.zip"


def _inside(root: Path, path: Path) -> str:
    base, real = Path(os.path.realpath(root)), Path(os.path.realpath(path.parent), path.name)
    return real.relative_to(base).as_posix() if real.is_relative_to(base) else ""


def _is_made_anew(path: str) -> bool:
    _, private, inner = f"/{path}".rpartition(f"/{layout.PRIVATE}/")
    name = inner.partition("/")[0]
    return private != "" and any(name == one or name.startswith((f"{one}.", f"{one}-")) for one in _MADE_ANEW)


def _written(root: Path, target: Path, without: Callable[[str], bool]) -> tuple[list[_Kept], list[Problem]]:
    try:
        found = inventory(root, without=without)
    except OSError as error:
        raise MnemarkError(f"{layout.shown(str(root))} cannot be read: {error.strerror}") from error
    kept: list[_Kept] = []
    problems = found.problems
    with platform.open_new(target) as out:
        with zipfile.ZipFile(out, "w") as archive:
            for number, item in enumerate(found.items):
                made = _saved(archive, root, item, number)
                if isinstance(made, Problem):
                    problems.append(made)
                elif made is not None:
                    kept.append(made)
            left = [Entry(path=one.path, kind="left out", reason=one.reason) for one in problems]
            with archive.open(_head(manifest.NAME, platform.PRIVATE_FILE, time.time_ns()), "w") as listed:
                manifest.write(listed, [*(one.entry for one in kept), *left])
        out.flush()
        platform.FS.sync(out.fileno())
    return kept, problems


def _saved(archive: zipfile.ZipFile, root: Path, item: InventoryItem, number: int) -> _Kept | Problem | None:
    full = root / item.path
    try:
        if item.kind != "file":
            target = os.readlink(full) if item.kind == "link" else ""  # noqa: PTH115 - as it is written
            return _Kept(manifest.entry_for(item, target=target))
        file = platform.open_file(full)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Problem(layout.shown(item.path), f"cannot be read: {error.strerror}")
    try:
        with file:
            return _copied(archive, item, file, number)
    except CutOffError as error:
        return Problem(layout.shown(item.path), f"cannot be read to its end: {error}")


def _copied(archive: zipfile.ZipFile, item: InventoryItem, file: BinaryIO, number: int) -> _Kept:
    """Put a file into the archive as long as it was when it was opened: what is appended then stays out."""
    status, source = _opened(file)
    mode = stat.S_IMODE(status.st_mode)
    member = "" if manifest.is_plain(item.path) else f"{manifest.FOLDER}files/{number}"
    head = _head(member or item.path, mode, status.st_mtime_ns)
    sample = b"".join(blocks(source, _SAMPLE))
    source.seek(0)
    worth = len(zlib.compress(sample, 1)) < _WORTH * len(sample)
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
    return _Kept(entry, state, platform.identity_of(os.fstat(file.fileno())) == state)


def _opened(file: BinaryIO) -> tuple[os.stat_result, IO[bytes]]:
    """Return a file's status and a source for reading it: a small one from memory, as of one moment."""
    for _ in range(_TRIES):
        status = os.fstat(file.fileno())
        if status.st_size > _SMALL:
            break
        data = b"".join(blocks(file, status.st_size))
        if platform.identity_of(os.fstat(file.fileno())) == platform.identity_of(status):
            return status, io.BytesIO(data)
        file.seek(0)
    return status, file


def _head(name: str, mode: int, mtime_ns: int) -> zipfile.ZipInfo:
    """Return the header of a file; any program that unpacks it sets mode and time by it."""
    seconds = min(max(mtime_ns // 1_000_000_000, _YEARS[0]), _YEARS[1])
    head = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
    head.create_system = 3  # Unix: the mode counts
    head.external_attr = (stat.S_IFREG | mode) << 16
    return head


def _compared(root: Path, target: Path, kept: Sequence[_Kept]) -> list[Problem]:
    """Read the archive again, and compare it with what was read and with the files as they are now."""
    problems: list[Problem] = []
    try:
        with zipfile.ZipFile(target) as archive:
            with archive.open(manifest.NAME) as listed:
                read = [entry for entry in manifest.read(listed) if entry.kind != "left out"]
            _must(read == [one.entry for one in kept], "the list of files was damaged in writing")
            for one in kept:
                if one.state is not None:
                    with archive.open(one.entry.place) as inside:
                        same = _digest(inside, one.entry.size + 1) == one.entry.sha256
                    _must(same, f"{one.entry.path} was damaged in writing")
                    problems += _changes(root, one, one.state)
    except (*UNREADABLE, CutOffError, IntegrityError) as error:
        raise IntegrityError(f"the backup cannot be trusted: {error}; write it to another disk") from error
    return problems


def _holds_more(target: Path, missing: Sequence[str]) -> bool:
    """Return whether the older backup at the target has any of the names missing in the new one."""
    if not missing or not target.is_file():
        return False
    try:
        with zipfile.ZipFile(target) as older:
            names = older.namelist()
            if manifest.NAME in names:
                with older.open(manifest.NAME) as listed:
                    names = [entry.path for entry in manifest.read(listed) if entry.kind == "file"]
    except (*UNREADABLE, IntegrityError, OSError):  # no backup, or one that nothing can be restored from
        return False
    return any(name == path or name.startswith(f"{path}/") for name in names for path in missing)


def _kept_beside(target: Path) -> Problem:
    for number in itertools.count(1):
        beside = target.with_name(f"{target.stem}-older-{number}{target.suffix}")
        with suppress(FileExistsError):
            platform.FS.rename_new(target, beside)
            break
    reason = "is the previous backup, kept because it contains files that could not be read now"
    return Problem(layout.shown(str(beside)), reason, skipped=False)


def _must(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise IntegrityError(otherwise)


def _changes(root: Path, one: _Kept, state: platform.Identity) -> Iterator[Problem]:
    """Tell where a file differs from what was read; growth does not count."""
    path = one.entry.path
    try:
        with platform.open_file(root / one.entry.name) as file:
            now = platform.identity_of(os.fstat(file.fileno()))
            if _digest(file, one.entry.size) == one.entry.sha256:
                return
    except (OSError, CutOffError):  # removed, or replaced by a folder: as much a change as any
        now = None
    _must(now != state, f"{path} reads differently each time, although nobody changes it")
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
