"""List files of a workspace, without nested workspaces, and report why others are left out.

`scan` looks for memory in a whole workspace; here one folder is listed, or every file of whatever kind, or
those that other users of the machine can read. Files that mnemark makes are private, but old or unpacked
workspaces may be open. Where mnemark writes by itself (`layout.is_own`) files can be closed; notes, which a
person may share on purpose, are only named.
"""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from mnemark.files import layout, platform
from mnemark.files.disk_errors import unread
from mnemark.types import Problem

Kind = Literal["file", "folder", "link"]

_KINDS: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
_OTHERS = 0o077
_CHROMA = ".chroma/"  # Chroma makes its files with the umask, in a private folder


class FolderFiles(msgspec.Struct, frozen=True):
    """The readable files of one folder, by name, and the problems with others."""

    files: list[Path]
    problems: list[Problem]


def names(root: Path, folder: str, *endings: str) -> list[str]:
    """Return the sorted names in a folder of the workspace `root` that end in one of `endings` (or all).

    The list is empty where there is no such folder, it cannot be listed, or it belongs to a workspace inside
    this one. Links out of the workspace are left out.
    """
    try:
        return listed(root, folder, *endings)
    except OSError:  # reported by the scan
        return []


def listed(root: Path, folder: str, *endings: str) -> list[str]:
    """List as `names` does; raises OSError where the folder is there and cannot be listed."""
    return [entry.name for entry in entries(root, folder, *endings)]


def entries(root: Path, folder: str, *endings: str, first: str = "") -> list["os.DirEntry[str]"]:
    """List as `listed` does, as entries of the folder, whose status is cheap; names from `first` on."""
    if layout.border(root, folder):
        return []
    try:
        with os.scandir(root / folder) as there:
            found = [entry for entry in there if entry.name >= first and entry.name.endswith(endings or "")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    inside = [entry for entry in found if not entry.is_symlink() or leads_inside(root, entry.path)]
    return sorted(inside, key=lambda entry: entry.name)


def leads_inside(root: Path, path: str | Path) -> bool:
    """Whether a link points into the workspace `root`, even to nothing."""
    try:
        real, base = Path(path).resolve(), root.resolve()
    except (OSError, RuntimeError):  # a loop of links
        return False
    return real.is_relative_to(base) and not layout.border(base, real.relative_to(base).as_posix())


def look(root: Path, folder: str, *endings: str) -> FolderFiles:
    """List the readable files of those names; follow links within this workspace."""
    found = FolderFiles([], [])
    try:
        there = listed(root, folder, *endings)
    except OSError as error:
        return FolderFiles([], [_closed(folder, error)])
    for name in there:
        try:
            platform.opened(root / folder / name).close()
        except OSError as error:
            found.problems.append(Problem(layout.shown(f"{folder}/{name}"), unread(error)))
        else:
            found.files.append(root / folder / name)
    return found


def files(root: Path, folder: str, *endings: str) -> list[Path]:
    """Return the files that `look` finds; its problems are reported by `scan` and sync."""
    return look(root, folder, *endings).files


def scopes(root: Path) -> list[str]:
    """Return the scopes that have a folder (`users/ann`), in order; workspaces inside are left out."""
    found = []
    for kind in layout.SCOPES:
        if layout.is_workspace(root / kind):
            continue
        try:
            with os.scandir(root / kind) as entries:
                found += sorted(f"{kind}/{entry.name}" for entry in entries if _is_scope(root, entry))
        except OSError:  # none there; one that cannot be read is told by the scan
            continue
    return found


def _is_scope(root: Path, entry: "os.DirEntry[str]") -> bool:
    try:
        if entry.name.startswith(".") or not entry.is_dir() or layout.is_workspace(entry.path):
            return False
        return not entry.is_symlink() or leads_inside(root, entry.path)
    except OSError:
        return False


def descend(
    folders: Iterable[str],
    read: Callable[[str], Iterable[str]],
    closed: Callable[[str, OSError], None],
) -> None:
    """Walk folders: `read` processes one and returns its subfolders, `closed` is called with errors.

    A folder that vanishes meanwhile is passed over.
    """
    waiting = list(folders)
    while waiting:
        folder = waiting.pop()
        try:
            waiting += read(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            closed(folder, error)


class Walked(msgspec.Struct, frozen=True):
    """All files of a workspace, by path, and what a walk skipped."""

    files: list[str]
    """Regular files without links."""
    odd: list[Problem]
    """Pipes, sockets and devices."""
    closed: list[Problem]
    """Folders that cannot be listed."""
    inner: list[str]
    """Folders that are workspaces of their own."""


def walk(root: Path, folder: str = "", *, skip: frozenset[str] = frozenset({".git"})) -> Walked:
    """Find every file of the workspace `root`, or of one folder, `.mnemark` included.

    Folders with a name in `skip` are left out. Nothing is opened, and no link is followed.
    """
    found = Walked([], [], [], [])

    def read(folder: str) -> Iterator[str]:
        for entry in _entries(root, folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name in skip:
                    continue
                if path.partition("/")[0] != layout.PRIVATE and layout.is_workspace(entry.path):
                    found.inner.append(layout.shown(path))
                else:
                    yield path
            elif entry.is_file(follow_symlinks=False):
                found.files.append(path)
            elif not entry.is_symlink() and (problem := odd(path, entry)):
                found.odd.append(problem)

    if not (folder and layout.border(root, folder)):
        descend([folder], read, lambda at, error: found.closed.append(_closed(at or ".", error)))
    found.files.sort()
    found.inner.sort()
    return found


def _entries(root: Path, folder: str) -> list["os.DirEntry[str]"]:
    with os.scandir(f"{os.fspath(root)}{os.sep}{folder}") as entries:
        return list(entries)


def _closed(folder: str, error: OSError) -> Problem:
    return Problem(layout.shown(folder), f"folder cannot be read: {error.strerror}")


def odd(path: str, entry: "os.DirEntry[str]") -> Problem | None:
    """Describe an entry that is no file, folder or link; return None if it vanished."""
    try:
        return _odd(path, entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return None


def _odd(path: str, mode: int) -> Problem:
    kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return Problem(layout.shown(path), f"is {kind}, not a file")


class InventoryItem(NamedTuple):
    """One name in a folder."""

    path: str
    """Relative, with `/`; surrogates stand for bytes that are not UTF-8."""
    kind: Kind
    mode: int
    """Permission bits."""
    mtime_ns: int
    size: int


class Inventory(msgspec.Struct, frozen=True):
    """The content of a folder, by path: folders before their content."""

    items: list[InventoryItem]
    problems: list[Problem]
    """Folders that cannot be listed, pipes, sockets and devices."""


def inventory(root: Path, *, without: Callable[[str], bool]) -> Inventory:
    """List everything below `root`, memory or not, without the paths that `without` names: for a backup.

    Nothing is opened and no link below `root` is followed. Raises OSError where `root` cannot be listed.
    """
    found = Inventory([], [])

    def read(folder: str) -> Iterator[str]:
        for entry in _entries(root, folder):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if without(path):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as error:
                found.problems.append(Problem(layout.shown(path), f"cannot be examined: {error.strerror}"))
                continue
            kind = _KINDS.get(stat.S_IFMT(status.st_mode))
            if kind is None:
                found.problems.append(_odd(path, status.st_mode))
                continue
            mode = stat.S_IMODE(status.st_mode)
            found.items.append(InventoryItem(path, kind, mode, status.st_mtime_ns, status.st_size))
            if kind == "folder":
                yield path

    def closed(folder: str, error: OSError) -> None:
        reason = f"is a folder that cannot be read: {error.strerror}"
        found.problems.append(Problem(layout.shown(folder), reason))

    descend(list(read("")), read, closed)
    found.items.sort(key=lambda item: item.path.split("/"))
    found.problems.sort(key=lambda problem: problem.path)
    return found


class OpenPaths(NamedTuple):
    """Relative paths that others can read; surrogates stand for bytes that are not UTF-8."""

    own: Sequence[str]
    """Made by mnemark."""
    others: Sequence[str]
    """Notes and settings of a person, where the workspace's folder lets others in."""


def open_to_others(root: Path) -> OpenPaths:
    """Return the paths that others can read; none on Windows, which has no such modes."""
    if sys.platform == "win32":
        return OpenPaths((), ())
    try:
        items = inventory(root, without=_is_elsewhere).items
        let_in = stat.S_IMODE(root.stat().st_mode) & 0o011
    except OSError:  # that it cannot be read is told by others
        return OpenPaths((), ())
    found = [item for item in items if item.kind != "link" and item.mode & _OTHERS]
    own = [item.path for item in found if layout.is_own(item.path, folder=item.kind == "folder")]
    notes = [
        item.path for item in found if item.kind == "file" and _is_memory(item.path)
        and not layout.is_own(item.path)
    ]  # fmt: skip
    return OpenPaths(own, notes if let_in else [])


def _is_elsewhere(path: str) -> bool:
    """Whether a path is in a folder that holds no memory."""
    if layout.PRIVATE in path.split("/"):
        return _CHROMA in path
    return layout.skipped_folder(path.rpartition("/")[2])


def _is_memory(path: str) -> bool:
    return path == layout.CONFIG or layout.place(path) is not None


def close_to_others(root: Path, paths: Sequence[str]) -> list[str]:
    """Close files to others, keeping their owner's rights; return those that are another user's."""
    failed = []
    for path in paths:
        try:
            mode = stat.S_IMODE(os.lstat(root / path).st_mode)
            platform.set_permissions(root / path, mode & platform.PRIVATE_FOLDER)
        except FileNotFoundError:
            continue
        except OSError:  # another user's
            failed.append(path)
    return failed
