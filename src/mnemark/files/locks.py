"""Lock a workspace. The system releases locks when their process ends, however it ends."""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Final

from mnemark.errors import BusyError
from mnemark.files import layout, platform
from mnemark.files.disk_errors import translate_os_errors
from mnemark.files.private import check_private, private

LOCK_SECONDS: Final = 10.0
_held = threading.local()


def workspace_lock(root: Path, timeout: float = LOCK_SECONDS) -> AbstractContextManager[None]:
    """Hold the lock for writing shared files; a thread that holds it may take it again.

    Raises BusyError naming the holder after `timeout` seconds, ReadOnlyError.
    """
    return _hold(root, "lock", timeout)


def sync_lock(root: Path, timeout: float = 0.0) -> AbstractContextManager[None]:
    """Hold the lock for syncing the index; otherwise like `workspace_lock`."""
    return _hold(root, "sync.lock", timeout)


def ending_lock(root: Path, timeout: float = LOCK_SECONDS) -> AbstractContextManager[None]:
    """Hold the lock for writing down ended sessions; otherwise like `workspace_lock`."""
    return _hold(root, "ending.lock", timeout)


@contextmanager
def _hold(root: Path, name: str, timeout: float) -> Iterator[None]:
    check_private(root)
    path = private(Path(os.path.realpath(root))) / name
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
        with suppress(OSError):  # the name is for people; a full disk must not keep anyone from freeing some
            platform.FS.truncate(fd, 0)
            os.lseek(fd, 0, os.SEEK_SET)
            platform.FS.write(fd, memoryview(f"{os.getpid()} {platform.machine_name()}\n".encode()))
        counts[path] = 1
        yield
    finally:
        counts.pop(path, None)
        lock.__exit__(None, None, None)


def _holder(path: Path) -> str:
    try:
        pid, machine = platform.content(path).decode().split()
    except (OSError, ValueError):
        return "another process"
    return f"process {pid}" if machine == platform.machine_name() else f"process {pid} on {machine}"
