"""Move and remove files without losing a late save: under the workspace's lock, and only what was seen."""

import os
from pathlib import Path
from typing import Literal

from mnemark.errors import BusyError
from mnemark.files import names, platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.edit import PATIENCE
from mnemark.files.locks import workspace_lock

Moved = Literal["moved", "missing", "changed", "occupied", "deferred"]
"""What became of it. `changed`: the file is not what was seen; `occupied`: another file stands in the way."""


def move(
    root: Path, path: str, to: str, *, expected: bytes | None = None, timeout: float = PATIENCE
) -> Moved:
    """Give a file of the workspace another name in it; folders are made.

    With `expected`, only where the file holds exactly that. A move that was made before is `moved`, too.
    Raises UsageError for a path that leaves the workspace, ReadOnlyError, MnemarkError.
    """
    base = Path(os.path.realpath(root))
    source, target = names.inside(base, path), names.inside(base, to)
    try:
        with translate_os_errors(source), workspace_lock(base, timeout):
            here, there = _content(source), _content(target)
            if here is None:
                return "moved" if there is not None and expected in (None, there) else "missing"
            if expected is not None and here != expected:
                return "changed"
            if there is not None:
                if there != here:
                    return "occupied"
                platform.FS.unlink(source)  # the copy is there: the move was half done
            else:
                platform.make_folder(target.parent)
                platform.FS.rename_new(source, target)
                platform.FS.sync_folder(target.parent)
            platform.FS.sync_folder(source.parent)
    except FileExistsError:
        return "occupied"
    except BusyError:
        return "deferred"
    return "moved"


def remove(root: Path, path: str, *, expected: bytes, timeout: float = PATIENCE) -> Moved:
    """Remove a file that holds exactly `expected`; "moved" when it is gone."""
    base = Path(os.path.realpath(root))
    target = names.inside(base, path)
    try:
        with translate_os_errors(target), workspace_lock(base, timeout):
            here = _content(target)
            if here is None:
                return "moved"
            if here != expected:
                return "changed"
            platform.FS.unlink(target)
            platform.FS.sync_folder(target.parent)
    except BusyError:
        return "deferred"
    return "moved"


def _content(path: Path) -> bytes | None:
    try:
        return platform.read_file(path)[0]
    except FileNotFoundError:
        return None
