"""List folders of a workspace: regular files up to its borders, and why others are left out.

`scan` looks for memory in all of a workspace; here one folder is listed, or every file of whatever kind.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mnemark.files import layout, platform
from mnemark.files.disk_errors import unread
from mnemark.types import Problem


class Listed(NamedTuple):
    """The files of one folder that can be read, by name, and those that cannot."""

    files: list[Path]
    problems: list[Problem]


def names(root: Path, folder: str, *endings: str) -> list[str]:
    """The names in a folder of the workspace `root` that end in one of `endings` (all without), in order.

    None where there is no such folder, it cannot be listed, or it belongs to a workspace inside this one.
    Links out of the workspace are left out.
    """
    try:
        return listed(root, folder, *endings)
    except OSError:  # the scan tells of it
        return []


def listed(root: Path, folder: str, *endings: str) -> list[str]:
    """The same; raises OSError where the folder is there and cannot be listed."""
    if layout.border(root, folder):
        return []
    try:
        with os.scandir(root / folder) as entries:
            found = [entry for entry in entries if entry.name.endswith(endings or "")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(entry.name for entry in found if not entry.is_symlink() or leads_inside(root, entry.path))


def leads_inside(root: Path, path: str | Path) -> bool:
    """Whether a link leads to a place in the workspace `root`, or to nothing there."""
    try:
        real, base = Path(path).resolve(), root.resolve()
    except (OSError, RuntimeError):  # a loop of links
        return False
    return real.is_relative_to(base) and not layout.border(base, real.relative_to(base).as_posix())


def look(root: Path, folder: str, *endings: str) -> Listed:
    """The files of those names that can be read; a link counts as what it leads to in this workspace."""
    found = Listed([], [])
    try:
        there = listed(root, folder, *endings)
    except OSError as error:
        found.problems.append(Problem(layout.shown(folder), f"folder cannot be read: {error.strerror}"))
        return found
    for name in there:
        try:
            platform.opened(root / folder / name).close()
        except OSError as error:
            found.problems.append(Problem(layout.shown(f"{folder}/{name}"), unread(error)))
        else:
            found.files.append(root / folder / name)
    return found


def files(root: Path, folder: str, *endings: str) -> list[Path]:
    """The same without the problems: those of all folders are told by `scan` and the sync."""
    return look(root, folder, *endings).files


def scopes(root: Path) -> list[str]:
    """The scopes that have a folder (`users/ann`), in order; the root's own is not among them.

    One that is a workspace of its own is none of this one's.
    """
    found = []
    for kind in layout.SCOPES:
        if layout.is_workspace(root / kind):
            continue
        try:
            with os.scandir(root / kind) as entries:
                names = sorted(entry.name for entry in entries if _is_scope(root, entry))
        except OSError:  # none there; one that cannot be read is told by the scan
            continue
        found += [f"{kind}/{name}" for name in names]
    return found


def _is_scope(root: Path, entry: "os.DirEntry[str]") -> bool:
    if entry.name.startswith("."):
        return False
    try:
        if not entry.is_dir() or layout.is_workspace(entry.path):
            return False
        return not entry.is_symlink() or leads_inside(root, entry.path)
    except OSError:
        return False


class Walked(NamedTuple):
    """Every file of a workspace, by path; and what a walk does not look into."""

    files: list[str]
    """Regular files, links left out."""
    odd: list[Problem]
    """Pipes, sockets and devices: there are no bytes in them."""
    closed: list[Problem]
    """Folders that cannot be listed."""
    inner: list[str]
    """Folders that are workspaces of their own."""


def walk(root: Path, folder: str = "", *, skip: frozenset[str] = frozenset({".git"})) -> Walked:
    """Every file of the workspace `root` of whatever kind, in `folder` only where one is named, by path.

    Those of `.mnemark` are among them, what is in folders called as in `skip` is not. Nothing is opened, and
    no link is followed.
    """
    found = Walked([], [], [], [])
    waiting = [f"{folder}/" if folder else ""]
    if folder and layout.border(root, folder):
        return found
    while waiting:
        prefix = waiting.pop()
        try:
            waiting += _walked(root, prefix, skip, found)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            reason = f"folder cannot be read: {error.strerror}"
            found.closed.append(Problem(layout.shown(prefix.rstrip("/")) or ".", reason))
    found.files.sort()
    found.inner.sort()
    return found


def _walked(root: Path, prefix: str, skip: frozenset[str], found: Walked) -> Iterator[str]:
    """Take in one folder; the folders in it, each with a slash at its end."""
    with os.scandir(root / prefix) as entries:
        for entry in list(entries):
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name in skip:
                    continue
                if path.partition("/")[0] != layout.PRIVATE and layout.is_workspace(entry.path):
                    found.inner.append(layout.shown(path))
                else:
                    yield f"{path}/"
            elif entry.is_file(follow_symlinks=False):
                found.files.append(path)
            elif not entry.is_symlink() and (what := kind_of(entry)):
                found.odd.append(Problem(layout.shown(path), f"is {what}, not a file"))


def kind_of(entry: "os.DirEntry[str]") -> str:
    """What a folder's entry is that is no file, folder or link; empty where it is gone again."""
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return ""
    return "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
