"""A file layer that dies or fails at the n-th call, put in place of `platform.FS`."""

import errno
import os
from pathlib import Path
from typing import Literal, NoReturn

from mnemark.files.platform import FileSystem

Fault = Literal["kill", "power", "EIO", "ENOSPC", "EROFS", "EACCES", "EBUSY", "EMFILE", "short"]


class Killed(BaseException):
    """The process is gone: nothing runs any more, clean-up included."""


class FaultyFileSystem(FileSystem):
    """Does as told until the call number `at` (counted from 0), then brings the fault.

    - kill: the call has half its effect (a write) or none, and every later call but `close` raises Killed.
    - power: like kill; what did not reach the disk is halved, and names in folders that were not, vanish.
    - EIO, ENOSPC and other names of errors: the call fails once, a write after half its bytes.
    - short: a write takes one byte only; nothing else is wrong.
    """

    def __init__(
        self, at: int = -1, fault: Fault = "kill", *, reads: bool = False, forever: bool = False
    ) -> None:
        self.at = at
        self.fault = fault
        self.reads = reads
        """Whether files opened for reading count as well."""
        self.forever = forever
        """Whether all later calls fail, too."""
        self.calls = 0
        self.dead = False
        self._names: dict[int, Path] = {}
        self._synced: dict[Path, int] = {}
        self._new: set[Path] = set()

    def _due(self) -> bool:
        if self.dead:
            raise Killed
        self.calls += 1
        return self.calls - 1 == self.at or (self.forever and -1 < self.at < self.calls)

    def _strike(self) -> None:
        if self.fault in {"kill", "power"}:
            self._die()
        if self.fault != "short":
            code = getattr(errno, self.fault)
            raise OSError(code, os.strerror(code))

    def _die(self) -> NoReturn:
        self.dead = True
        if self.fault == "power":
            for path, size in self._synced.items():
                if path.exists():
                    os.truncate(path, size + (path.stat().st_size - size) // 2)
            for path in self._new:
                path.unlink(missing_ok=True)
        raise Killed

    def _call(self) -> None:
        if self._due():
            self._strike()

    def open(self, path: Path, flags: int) -> int:
        self._call()
        if flags & os.O_CREAT and not path.exists():
            self._new.add(path)
        fd = super().open(path, flags)
        self._names[fd] = path
        return fd

    def open_to_read(self, path: Path, *, links: bool) -> int:
        if self.reads and self.fault != "ENOSPC":  # a full disk can be read
            self._call()
        return super().open_to_read(path, links=links)

    def close(self, fd: int) -> None:
        super().close(fd)

    def write(self, fd: int, data: memoryview) -> int:
        due = self._due()
        path = self._names[fd]
        self._synced.setdefault(path, path.stat().st_size if path.exists() else 0)
        if not due:
            return super().write(fd, data)
        written = super().write(fd, data[:1] if self.fault == "short" else data[: len(data) // 2])
        self._strike()
        return written

    def truncate(self, fd: int, size: int) -> None:
        self._call()
        super().truncate(fd, size)

    def sync(self, fd: int) -> None:
        self._call()
        self._synced.pop(self._names[fd], None)

    def sync_folder(self, folder: Path) -> None:
        self._call()
        self._new = {path for path in self._new if path.parent != folder}

    def mkdir(self, folder: Path) -> None:
        self._call()
        super().mkdir(folder)

    def replace(self, source: Path, target: Path) -> None:
        self._call()
        was_there = target.exists()
        super().replace(source, target)
        self._moved(source, target)
        if was_there:  # the rename is one step: after a power cut the name is the old file or the new one
            self._new.discard(target)

    def rename_new(self, source: Path, target: Path) -> None:
        self._call()
        super().rename_new(source, target)
        self._moved(source, target)

    def exchange(self, one: Path, other: Path) -> bool:
        self._call()
        done = super().exchange(one, other)
        if done:
            self._new.discard(one)
        return done

    def link(self, source: Path, target: Path) -> None:
        self._call()
        super().link(source, target)

    def unlink(self, path: Path) -> None:
        self._call()
        super().unlink(path)
        self._new.discard(path)
        self._synced.pop(path, None)

    def _moved(self, source: Path, target: Path) -> None:
        if source in self._new:
            self._new.discard(source)
            self._new.add(target)
        if source in self._synced:
            self._synced[target] = self._synced.pop(source)


class WithoutExchange(FaultyFileSystem):
    """A system that cannot exchange two files."""

    def exchange(self, one: Path, other: Path) -> bool:
        self._call()
        return False
