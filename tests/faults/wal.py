"""A disk that has room for all but the write-ahead logs of SQLite: those of `index.db` and `state.db`."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

_BASE = "unix"


class _File(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], vfs: "_FullLogs") -> None:
        super().__init__(_BASE, name, flags)
        shown = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._vfs = vfs if (shown or "").endswith("-wal") else None

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - a name of SQLite
        if self._vfs is not None:
            self._vfs.writes += 1
            if self._vfs.writes > self._vfs.room:
                raise apsw.FullError("database or disk is full")
        super().xWrite(data, offset)


class _FullLogs(apsw.VFS):
    def __init__(self, room: int) -> None:
        self.room, self.writes = room, 0
        super().__init__("full-logs", _BASE, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _File:  # noqa: N802
        return _File(name, flags, self)


@contextmanager
def full_logs(room: int) -> Iterator[_FullLogs]:
    """Give databases opened inside the context logs that hold `room` writes, all together, and no more."""
    vfs = _FullLogs(room)
    try:
        yield vfs
    finally:
        vfs.unregister()
