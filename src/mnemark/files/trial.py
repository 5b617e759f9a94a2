"""Try what memories need of a disk: private files, names that change at once, locks that hold."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from mnemark.errors import BusyError
from mnemark.files import jsonl, platform


def exchanges(folder: Path) -> bool:
    """Tell whether two files can be exchanged at once; else an edit compares before it replaces."""
    one, other = folder / "one", folder / "other"
    for path in (one, other):
        jsonl.replace_file(path, path.name.encode())
    return platform.FS.exchange(one, other) and platform.content(one) == b"other"


def faults(folder: Path) -> Iterator[str]:
    """Yield what does not work in a folder, in which files are made; nothing if all does.

    Raises:
        OSError: nothing can be written there.
    """
    path = folder / "trial"
    for text in (b"first", b"second"):  # a file, then one in its place: each flushed, with its name
        jsonl.replace_file(path, text)
    platform.FS.sync_folder(folder)
    if platform.content(path) != b"second":
        yield "a file that is replaced keeps its old text"
    if not platform.is_private(path.stat()):
        yield "other users can read the files that mnemark makes"
    if not _locks(path):
        yield "locks do not hold, so two programs could write one file at once"
    taken = folder / "taken"
    jsonl.replace_file(taken, b"taken")
    with suppress(FileExistsError):
        platform.FS.rename_new(path, taken)
        yield "a new name can overwrite another file"


def _locks(path: Path) -> bool:
    """Tell whether a lock keeps others out, and is free again afterwards."""
    with platform.locked(path, os.O_RDWR, timeout=0.0):
        try:
            with platform.locked(path, os.O_RDWR, timeout=0.0):
                return False
        except BusyError:
            pass
    return not platform.is_locked(path)
