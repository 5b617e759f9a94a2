"""Find files that other users of the machine can read, and close them.

Files that mnemark makes are private, but old or unpacked workspaces may be open. Where mnemark writes by
itself (`layout.is_own`) files can be closed; notes, which a person may share on purpose, are only named.
"""

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mnemark.files import layout, platform
from mnemark.files.listing import inventory

_OTHERS = 0o077
_CHROMA = ".chroma/"  # Chroma makes its files with the umask, in a private folder


class Readable(NamedTuple):
    """Relative paths that others can read; surrogates stand for bytes that are not UTF-8."""

    own: Sequence[str]
    """Made by mnemark."""
    others: Sequence[str]
    """Notes and settings of a person, where the workspace's folder lets others in."""


def readable(root: Path) -> Readable:
    """Return the paths that others can read; none on Windows, which has no such modes."""
    if sys.platform == "win32":
        return Readable((), ())
    try:
        items = inventory(root, without=_is_elsewhere).items
        let_in = stat.S_IMODE(root.stat().st_mode) & 0o011
    except OSError:  # that it cannot be read is told by others
        return Readable((), ())
    found = [item for item in items if item.kind != "link" and item.mode & _OTHERS]
    own = [item.path for item in found if layout.is_own(item.path, folder=item.kind == "folder")]
    notes = [
        item.path for item in found if item.kind == "file" and _is_memory(item.path)
        and not layout.is_own(item.path)
    ]  # fmt: skip
    return Readable(own, notes if let_in else [])


def _is_elsewhere(path: str) -> bool:
    """Whether a path is in a folder that holds no memory."""
    if layout.PRIVATE in path.split("/"):
        return _CHROMA in path
    return layout.skipped_folder(path.rpartition("/")[2])


def _is_memory(path: str) -> bool:
    return path == layout.CONFIG or layout.place(path) is not None


def close(root: Path, paths: Sequence[str]) -> list[str]:
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
