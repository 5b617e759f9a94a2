"""Store which files an unfinished erasure waits for.

They are stored in `.mnemark/`, so that an erasure which waits for an inaccessible file does not make every
command sweep all files again: it is retried when the file's state changes. If this file is lost, the next
command sweeps once more.
"""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import ReadOnlyError
from mnemark.files import layout, platform
from mnemark.files.journal import Change
from mnemark.files.private import private, private_folder

NAME: Final = "erasing.json"


class Wait(msgspec.Struct, frozen=True):
    """A file, folder or other cause that an erasure waits for."""

    path: str
    """The file or folder; empty for another cause."""
    reason: str
    state: str = ""
    """State of `path` at the last try where it is closed to us: retry only when it changes, so when it may
    have been opened. Empty: retry each time."""

    @property
    def text(self) -> str:
        """Path and reason, for people."""
        return f"{layout.shown(self.path)}: {self.reason}" if self.path else self.reason


def closed(root: Path, path: str, reason: str) -> Wait:
    """Return the wait for a file or folder that could not be read or written.

    Only of one that is closed to us now its state is noted: a disk that was full or failed is tried again.
    """
    places = (root / path, (root / path).parent)
    is_gone = not os.path.lexists(places[0])  # and so not closed: the next try finds no trace of it
    if is_gone or (_can_read(places[0]) and all(os.access(place, os.W_OK) for place in places)):
        return Wait(path, reason)
    text = f"{reason}; make it readable, or move it out of this folder"
    return Wait(path, text, _state(root, path))


def is_blocked(root: Path, waits: Sequence[Wait]) -> bool:
    """Return whether all waits of an erasure are in the state of the last try, so that a retry is useless."""
    return bool(waits) and all(one.state and one.state == _state(root, one.path) for one in waits)


def _state(root: Path, path: str) -> str:
    """Return our user id and all that decides whether `path` can be read and written, as text."""
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
    """Return the waits of each unfinished erasure, by the id of its journal entry."""
    try:
        data = platform.content(private(root) / NAME)
        known = msgspec.json.decode(data, type=dict[str, tuple[Wait, ...]])
    except (OSError, msgspec.DecodeError):  # lost, or never there
        return {}
    return {id_: tuple(one for one in waits if _is_ours(root, one)) for id_, waits in known.items()}


def _is_ours(root: Path, wait: Wait) -> bool:
    """Whether a wait names no file outside, nor through a link: a folder's author may have written it."""
    if not wait.path:
        return True
    real = os.path.realpath(root / wait.path)
    return layout.is_inside(wait.path, private=True) and Path(real).is_relative_to(os.path.realpath(root))


def keep(root: Path, identifier: str, waits: Sequence[Wait]) -> None:
    """Store the waits of an erasure; delete them if there are none."""
    known: Mapping[str, Sequence[Wait]] = load(root)
    left = {name: tuple(some) for name, some in known.items() if name != identifier}
    if waits:
        # A name that is not valid UTF-8 cannot be stored: store only its text for people.
        left[identifier] = tuple(
            one if layout.shown(one.path) == one.path else Wait("", one.text) for one in waits
        )
    path = private(root) / NAME
    if left == known:
        return
    try:
        if left:
            platform.write_private(private_folder(root) / NAME, msgspec.json.encode(left))
        else:
            platform.FS.unlink(path)
    except (OSError, ReadOnlyError):
        return  # the next command sweeps once more


def still_waiting(root: Path, unfinished: Iterable[Change]) -> list[str]:
    """Return what unfinished erasures wait for, for people. Nothing is written."""
    known = load(root)
    found = dict.fromkeys(wait.text for note in unfinished for wait in known.get(note.id, ()))
    return list(found) or ["it was interrupted; `mnemark sync` continues it"]
