"""Lock a workspace: one lock for writing shared files, one for syncing the index.

Both are released by the system when their process ends, however it ends.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from mnemark.errors import BusyError
from mnemark.files import layout, platform
from mnemark.files.disk_errors import translate_os_errors

LOCK_SECONDS: Final = 10.0
"""How long a change waits for another writer, by default."""
_held = threading.local()


@contextmanager
def workspace_lock(root: Path, timeout: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the workspace for writing shared files; a thread that holds it may take it again.

    Raises BusyError naming the holder after `timeout` seconds, ReadOnlyError where nothing can be written.
    """
    with _hold(root, "lock", timeout):
        yield


@contextmanager
def sync_lock(root: Path, timeout: float = 0.0) -> Iterator[None]:
    """Hold the right to sync the index of the workspace; otherwise like `workspace_lock`."""
    with _hold(root, "sync.lock", timeout):
        yield


@contextmanager
def ending_lock(root: Path, timeout: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the right to write down what ended; otherwise like `workspace_lock`."""
    with _hold(root, "ending.lock", timeout):
        yield


@contextmanager
def _hold(root: Path, name: str, timeout: float) -> Iterator[None]:
    layout.check_private(root)
    path = Path(os.path.realpath(root)) / layout.PRIVATE / name
    counts: dict[Path, int] = _held.__dict__.setdefault("counts", {})
    if counts.get(path):
        counts[path] += 1
        try:
            yield
        finally:
            counts[path] -= 1
        return
    with translate_os_errors(path):
        platform.make_folder(path.parent)
        lock = platform.locked(path, os.O_RDWR | os.O_CREAT, timeout=timeout)
        try:
            fd = lock.__enter__()
        except BusyError:
            raise BusyError(
                f"{_holder(path)} is using {layout.PRIVATE}/{name}; wait until it has finished, or stop it"
            ) from None
    try:
        _sign(fd)
        counts[path] = 1
        yield
    finally:
        counts.pop(path, None)
        lock.__exit__(None, None, None)


def _sign(fd: int) -> None:
    with suppress(OSError):  # the name is for people; a full disk must not keep anyone from freeing some
        platform.FS.truncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        platform.FS.write(fd, memoryview(f"{os.getpid()} {platform.machine_name()}\n".encode()))


def _holder(path: Path) -> str:
    try:
        pid, machine = platform.content(path).decode().split()
    except (OSError, ValueError):
        return "another process"
    return f"process {pid}" if machine == platform.machine_name() else f"process {pid} on {machine}"
