"""Find files that other users of the machine can read, and close them.

What mnemark makes is private (`platform`). Workspaces made before that, or unpacked by other programs, may be
open. What stands where mnemark writes by itself (`layout.is_own`) can be closed without asking; the notes of
a person, who may share them on purpose, are named.
"""

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mnemark.files import layout, platform
from mnemark.files.inventory import Item, inventory

_OTHERS = 0o077
_CHROMA = ".chroma/"
"""Chroma makes its own files with the umask; the folder they are in is private."""


class Readable(NamedTuple):
    """Paths that others can read, relative to the workspace; surrogates stand for bytes that are no UTF-8."""

    own: Sequence[str]
    """Made by mnemark."""
    others: Sequence[str]
    """Notes and settings of a person, where the workspace's folder lets others in; else empty."""


def readable(root: Path) -> Readable:
    """What others can read. Windows has no such modes: nothing there."""
    if sys.platform == "win32":
        return Readable((), ())
    try:
        items = inventory(root, without=_is_elsewhere).items
        let_in = stat.S_IMODE(root.stat().st_mode) & 0o011
    except OSError:  # that it cannot be read is told by others
        return Readable((), ())
    found = [item for item in items if item.kind != "link" and item.mode & _OTHERS]
    own = [item.path for item in found if layout.is_own(item.path, folder=item.kind == "folder")]
    theirs = [item.path for item in found if let_in and _is_persons(item)]
    return Readable(own, theirs)


def _is_elsewhere(path: str) -> bool:
    """Whether a path is in a folder that holds no memory."""
    if layout.PRIVATE in path.split("/"):
        return _CHROMA in path
    return layout.skipped_folder(path.rpartition("/")[2])


def _is_persons(item: Item) -> bool:
    memory = item.path == layout.CONFIG or layout.place(item.path) is not None
    return item.kind == "file" and memory and not layout.is_own(item.path)


def close(root: Path, paths: Sequence[str]) -> list[str]:
    """Close these to others, keeping what their owner may do; those that are not ours to change."""
    failed = []
    for path in paths:
        full = root / path
        try:
            mode = stat.S_IMODE(os.lstat(full).st_mode)
            platform.set_permissions(full, mode & platform.PRIVATE_FOLDER)
        except FileNotFoundError:
            continue
        except OSError:  # another user's
            failed.append(path)
    return failed
