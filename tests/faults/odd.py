"""What may lie beside memory in a folder and is no file that can be read."""

import ctypes
import errno
import os
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemark.files.platform import FileSystem

_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3
_OVERRIDE = 0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def make(path: Path, kind: str, outside: Path, text: str = "what nobody may read\n") -> None:
    """Put an odd thing at `path`; `outside` is a folder that is no part of the workspace."""
    path.parent.mkdir(parents=True, exist_ok=True)
    outside.mkdir(exist_ok=True)
    _MAKERS[kind](path, outside, text)


def _closed(path: Path, _: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0)


def _closed_folder(path: Path, _: Path, text: str) -> None:
    path.mkdir()
    (path / "x.md").write_text(text, encoding="utf-8")
    path.chmod(0)


def _out(path: Path, outside: Path, text: str) -> None:
    (outside / "secret.md").write_text(text, encoding="utf-8")
    path.symlink_to(outside / "secret.md")


def _out_to_a_pipe(path: Path, outside: Path, _: str) -> None:
    if not (outside / "pipe").exists():
        os.mkfifo(outside / "pipe")
    path.symlink_to(outside / "pipe")


def _socket(path: Path, *_: object) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's path is limited to about a hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(before)


_MAKERS: dict[str, Callable[[Path, Path, str], None]] = {
    "pipe": lambda path, *_: os.mkfifo(path),
    "socket": _socket,
    "closed": _closed,
    "closed folder": _closed_folder,
    "folder": lambda path, *_: path.mkdir(),
    "dangling": lambda path, *_: path.symlink_to("nowhere"),
    "out": _out,
    "out to a pipe": _out_to_a_pipe,
    "loop": lambda path, *_: path.symlink_to(path.name),
}
KINDS = tuple(_MAKERS)


def open_again(root: Path) -> None:
    """Give everything below a folder back to its owner, so that it can be removed."""
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o700)


class Closed(FileSystem):
    """A file layer in which some files cannot be read; for systems and users that permissions do not stop."""

    def __init__(self, closed: Collection[Path]) -> None:
        self.closed = set(closed)
        self.read: list[Path] = []
        """What was opened for reading."""

    def open_to_read(self, path: Path, *, links: bool) -> int:
        self._check(path)
        self.read.append(path)
        return super().open_to_read(path, links=links)

    def open(self, path: Path, flags: int) -> int:
        self._check(path)
        return super().open(path, flags)

    def _check(self, path: Path) -> None:
        if path in self.closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


@contextmanager
def as_a_user() -> Iterator[bool]:
    """Let permissions count also for root, in this thread and those it starts; whether they do now."""
    if sys.platform == "win32" or os.geteuid() != 0:
        yield sys.platform != "win32"
        return
    if sys.platform != "linux":
        yield False
        return
    before = _capabilities()
    if not _set_capabilities([before[0] & ~_OVERRIDE, *before[1:]]):
        yield False
        return
    try:
        yield True
    finally:
        _set_capabilities(before)


def _capabilities() -> list[int]:
    data = (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget((ctypes.c_uint32 * 2)(_VERSION, 0), data)
    return list(data)


def _set_capabilities(values: list[int]) -> bool:
    header, data = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)(*values)
    return int(ctypes.CDLL(None).capset(header, data)) == 0


@contextmanager
def ended_within(seconds: float) -> Iterator[None]:
    """End the process where a call hangs: a thread that waits for a pipe cannot be stopped."""
    timer = threading.Timer(seconds, os._exit, (70,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
