"""List all that a folder holds, memory or not, by name, kind, mode and time: what a backup saves.

Nothing is opened and no link is followed. Names are taken as the system has them: bytes that are no UTF-8
stand in the text as Python's surrogates, and come back as they were.
"""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from mnemark.files import layout
from mnemark.types import Problem

Kind = Literal["file", "folder", "link"]

_KINDS: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
_ODD = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


class Item(NamedTuple):
    """One name in a folder."""

    path: str
    """Relative, with `/`; surrogates stand for bytes that are no UTF-8."""
    kind: Kind
    mode: int
    """Permission bits."""
    mtime_ns: int
    size: int


class Inventory(NamedTuple):
    """What there is, by path: a folder stands before what is in it."""

    items: list[Item]
    problems: list[Problem]
    """What can be looked at no further: folders that cannot be listed, pipes, sockets, devices."""


def inventory(root: Path, *, without: Callable[[str], bool]) -> Inventory:
    """List everything below `root`.

    Args:
        root: a folder; may itself be a link.
        without: says of a path whether to leave it out, with all that is below it.

    Raises:
        OSError: `root` itself cannot be listed.
    """
    found = Inventory([], [])
    waiting = list(_read(root, "", without, found))
    while waiting:
        folder = waiting.pop()
        try:
            waiting += _read(root, folder, without, found)
        except FileNotFoundError:  # it went meanwhile
            continue
        except OSError as error:
            reason = f"is a folder that cannot be read: {error.strerror}"
            found.problems.append(Problem(layout.shown(folder), reason))
    found.items.sort(key=lambda item: item.path.split("/"))
    found.problems.sort(key=lambda problem: problem.path)
    return found


def _read(root: Path, folder: str, without: Callable[[str], bool], found: Inventory) -> Iterator[str]:
    """Take in what stands in one folder; yields the folders in it."""
    prefix = f"{folder}/" if folder else ""
    with os.scandir(f"{os.fspath(root)}{os.sep}{folder}") as entries:
        for entry in entries:
            path = prefix + entry.name
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
                what = _ODD.get(stat.S_IFMT(status.st_mode), "a device")
                found.problems.append(Problem(layout.shown(path), f"is {what}, not a file"))
                continue
            mode = stat.S_IMODE(status.st_mode)
            found.items.append(Item(path, kind, mode, status.st_mtime_ns, status.st_size))
            if kind == "folder":
                yield path
