"""Keep what an unfinished erase waits for.

It is kept in `.mnemark/`, so that an erase which waits for one closed file does not make every command go
through all files again: it is taken up when that file is in another state, and once an hour in any case.
Losing it only means looking once more.
"""

import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import ReadOnlyError
from mnemark.files import layout, platform
from mnemark.files.journal import Change

NAME: Final = "erasing.json"
_AGAIN: Final = 3600.0
"""Seconds after which it is tried again: not all that closes a file can be seen from outside."""


class Wait(msgspec.Struct, frozen=True):
    """One thing an erase waits for."""

    path: str
    """A file or folder; empty where it is none."""
    reason: str
    state: str = ""
    """What `path` was like: while it is the same, trying again is of no use. Empty: try each time."""
    since: float = 0.0
    """Seconds since 1970 when it was tried last."""

    @property
    def text(self) -> str:
        """The same for people."""
        return f"{layout.shown(self.path)}: {self.reason}" if self.path else self.reason


def closed(root: Path, path: str, reason: str) -> Wait:
    """A file or folder that cannot be read or changed until somebody gives it other permissions."""
    text = f"{reason}; make it readable, or move it out of this folder"
    return Wait(path, text, _state(root, path), time.time())


def is_blocked(root: Path, waits: Sequence[Wait]) -> bool:
    """Whether all that an erase waits for is as it was when it could not be done."""
    return bool(waits) and all(
        one.state and 0 <= time.time() - one.since < _AGAIN and one.state == _state(root, one.path)
        for one in waits
    )


def _state(root: Path, path: str) -> str:
    """Who we are, and all that decides whether `path` can be read and changed."""
    if layout.shown(path) != path:
        return ""  # the name is no text, and could not be written down
    parts = [str(os.geteuid() if hasattr(os, "geteuid") else 0)]
    for place in (root / path, (root / path).parent):
        try:
            now = place.lstat()
        except OSError as error:
            parts.append(str(error.errno))
        else:
            parts.append(f"{stat.filemode(now.st_mode)} {now.st_uid}:{now.st_gid}")
            parts.append(str(os.access(place, os.W_OK)))
            parts.append(str(now.st_ctime_ns) if place == root / path else "")
    parts.append(str(_can_read(root / path)))
    return " ".join(parts)


def _can_read(path: Path) -> bool:
    try:
        with os.scandir(path):
            return True
    except NotADirectoryError:
        return platform.is_readable(path)
    except OSError:
        return False


def load(root: Path) -> dict[str, tuple[Wait, ...]]:
    """What each erase that is not finished waits for, by the id of its note."""
    try:
        data = platform.content(root / layout.PRIVATE / NAME)
        return msgspec.json.decode(data, type=dict[str, tuple[Wait, ...]])
    except (OSError, msgspec.DecodeError):  # lost, or never there
        return {}


def keep(root: Path, identifier: str, waits: Sequence[Wait]) -> None:
    """Write down what one erase waits for; nothing once it is done."""
    known: Mapping[str, Sequence[Wait]] = load(root)
    left = {name: tuple(some) for name, some in known.items() if name != identifier}
    if waits:
        # A name that is no text cannot be written down: of that one only the words are.
        left[identifier] = tuple(
            one if layout.shown(one.path) == one.path else Wait("", one.text) for one in waits
        )
    path = root / layout.PRIVATE / NAME
    if left == known:
        return
    try:
        if left:
            platform.write_private(layout.private_folder(root) / NAME, msgspec.json.encode(left))
        else:
            platform.FS.unlink(path)
    except (OSError, ReadOnlyError):
        return  # the next command looks once more


def still_waiting(root: Path, unfinished: Iterable[Change]) -> list[str]:
    """What keeps erasing that is not finished from being so, for people. Nothing is written."""
    known = load(root)
    found = dict.fromkeys(wait.text for note in unfinished for wait in known.get(note.id, ()))
    return list(found) or ["it was interrupted; `mnemark sync` continues it"]
