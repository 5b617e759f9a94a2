"""Everything that differs between Linux, macOS and Windows, and every call that changes a file.

The files layer writes only through `FS`. Tests put a file layer in its place that fails, writes short or dies
at the n-th call, so that each promise about crashes is tried at each call there is.

What is made here is its owner's alone from the first moment, whatever the umask: files 0600, folders 0700. A
file that takes the place of another gets that one's mode (`keep_permissions`). Windows has no such modes: a
file is open to whom its folder is.
"""

import errno
import functools
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from mnemark.errors import BusyError

if TYPE_CHECKING:
    import ctypes

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PLAIN_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
OPEN_FLAGS = _PLAIN_FLAGS | getattr(os, "O_NOFOLLOW", 0)
"""Added to every open: not inherited, bytes as they are, never waiting for the other end of a pipe, never
through a link as last part of the name."""

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""Modes of what is made here."""

RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"},
)
"""Names of devices on Windows, also with an extension."""
_WINDOWS_MARKS = frozenset('<>:"/\\|?*')

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05  # seconds between two tries for a lock
_AT_CURRENT_FOLDER = -100  # AT_FDCWD
_NOREPLACE, _EXCHANGE = 1, 2  # renameat2
_MAC_SWAP, _MAC_EXCLUSIVE = 2, 4  # renamex_np
_WINDOWS_LOCK_OFFSET = 0x7FFFFFF0  # locks are mandatory there: lock a byte beyond what readers read
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # mallopt(3)
_NOT_SUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})


class Identity(NamedTuple):
    """Which file it is and which state of it: equal values mean that nobody wrote in between."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class NotAFileError(OSError):
    """A pipe, socket, device or folder stands where a file is looked for; nothing of it was read."""


class FileSystem:
    """The calls that open and change files. One instance, `FS`, is used by all of the files layer."""

    def open(self, path: Path, flags: int) -> int:
        """Open a regular file, made private; links are refused (ELOOP) where the system can."""
        return _regular(os.open(path, flags | OPEN_FLAGS, PRIVATE_FILE), path)

    def open_to_read(self, path: Path, *, links: bool) -> int:
        """Open the regular file `path` for reading; with `links`, also through a link."""
        return _regular(os.open(path, os.O_RDONLY | (_PLAIN_FLAGS if links else OPEN_FLAGS)), path)

    def close(self, fd: int) -> None:
        """Close, which releases the locks taken through `fd`."""
        os.close(fd)

    def write(self, fd: int, data: memoryview) -> int:
        """One `write`; returns how many bytes were taken, which may be fewer than given."""
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file at `size` bytes."""
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        """Bring the file's bytes to the disk; on macOS past the disk's own cache."""
        full = getattr(fcntl, "F_FULLFSYNC", None) if sys.platform == "darwin" else None
        if full is None:
            os.fsync(fd)
            return
        try:
            fcntl.fcntl(fd, full)
        except OSError as error:  # network and FAT volumes know only the plain call
            if error.errno not in _NOT_SUPPORTED | {errno.ENOTTY}:
                raise
            os.fsync(fd)

    def sync_folder(self, folder: Path) -> None:
        """Bring names in `folder` to the disk. Windows does so by itself and cannot open folders."""
        if sys.platform == "win32":
            return
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        except OSError as error:  # some network file systems have no such call
            if error.errno not in _NOT_SUPPORTED:
                raise
        finally:
            os.close(fd)

    def mkdir(self, folder: Path) -> None:
        """Make one folder, a private one."""
        folder.mkdir(PRIVATE_FOLDER)

    def replace(self, source: Path, target: Path) -> None:
        """Rename over whatever `target` is."""
        source.replace(target)

    def rename_new(self, source: Path, target: Path) -> None:
        """Rename to a name that must be free; `FileExistsError` where it is not."""
        if sys.platform == "win32":
            source.rename(target)
        elif not _rename_with_flags(source, target, linux=_NOREPLACE, mac=_MAC_EXCLUSIVE):
            os.link(source, target)
            source.unlink()

    def exchange(self, one: Path, other: Path) -> bool:
        """Exchange two files in one step; False where the system or the file system cannot."""
        return _rename_with_flags(one, other, linux=_EXCHANGE, mac=_MAC_SWAP)

    def link(self, source: Path, target: Path) -> None:
        """Give the file a second name."""
        os.link(source, target)

    def symlink(self, to: str, path: Path) -> None:
        """Make a link; whether there is something it leads to does not matter."""
        path.symlink_to(to)

    def unlink(self, path: Path) -> None:
        """Remove the name; gone already is fine."""
        path.unlink(missing_ok=True)


def _regular(fd: int, path: Path) -> int:
    """The descriptor of what is a file; anything else is closed again unread.

    Looked at after the open: what a folder's list or a `stat` said may have been replaced since.
    """
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise NotAFileError(errno.EINVAL, "not a regular file", str(path))


FS = FileSystem()
"""The file layer in use."""


@functools.cache
def _libc() -> "ctypes.CDLL":
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def give_back_memory() -> bool:
    """Have the C library give freed memory back to the system; for a process that runs long on many threads.

    glibc keeps a heap for each thread, up to eight for each processor, and what is freed in the middle of one
    stays: a daemon with 20 threads held a fifth of its memory so. With two heaps, and with arrays beyond
    128 KiB mapped one by one (a fixed threshold; by itself it rises to 32 MiB), it goes back at once.
    To be called before threads are started.

    Returns:
        Whether it could be said: only glibc knows how.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(_libc(), "mallopt", None)
    if mallopt is None:
        return False
    wanted = {_ARENA_MAX: 2, _MMAP_THRESHOLD: 1 << 17, _TRIM_THRESHOLD: 1 << 20}
    return all(mallopt(setting, value) == 1 for setting, value in wanted.items())


def lean_environment() -> dict[str, str]:
    """The environment for a process that runs long on many threads: glibc keeps no freed pieces for each.

    It is read when a process starts. A daemon that eight agents used for five minutes took 7 MB less so.
    What the user has set stays.
    """
    return {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", **os.environ}


def trim_memory() -> bool:
    """Give back now what was freed in the middle of a heap; takes milliseconds. As `give_back_memory`.

    Small arrays that grow with a workspace are freed between things that stay: after 8,000 turns a process
    held 4 MB of such holes.
    """
    trim = getattr(_libc(), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is None:
        return False
    trim(0)
    return True


def _rename_with_flags(source: Path, target: Path, *, linux: int, mac: int) -> bool:
    """Rename with a flag of the kernel; False where there is no such call. Other failures raise OSError."""
    import ctypes

    one, other = os.fsencode(source), os.fsencode(target)
    call: Any
    if sys.platform == "linux" and (call := getattr(_libc(), "renameat2", None)):
        result = call(_AT_CURRENT_FOLDER, one, _AT_CURRENT_FOLDER, other, linux)
    elif sys.platform == "darwin" and (call := getattr(_libc(), "renamex_np", None)):
        result = call(one, other, mac)
    else:
        return False
    if result == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_SUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(source), None, str(target))


def is_link(path: str | Path) -> bool:
    """Whether a name is a link to elsewhere: a symbolic one, or a junction of Windows."""
    if os.path.islink(path):  # noqa: PTH114 - asked with every lock, and quicker
        return True
    return sys.platform == "win32" and sys.version_info >= (3, 12) and os.path.isjunction(path)


def is_junction(entry: "os.DirEntry[str]") -> bool:
    """Whether a name in a folder is a junction of Windows."""
    return sys.platform == "win32" and sys.version_info >= (3, 12) and entry.is_junction()


def identity(path: Path) -> Identity | None:
    """State of the file at `path`, links not followed; None where there is nothing."""
    try:
        return identity_of(path.lstat())
    except FileNotFoundError:
        return None


def identity_of(status: os.stat_result) -> Identity:
    """The same from a status taken before."""
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def size_of(fd: int) -> int:
    """Size in bytes of an open file."""
    return os.fstat(fd).st_size


def inode_of(fd: int) -> int:
    """Number of an open file on its volume."""
    return os.fstat(fd).st_ino


def read_at(fd: int, offset: int, length: int) -> bytes:
    """Up to `length` bytes at `offset`; the position moves, which appending does not mind."""
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


def open_file(path: Path) -> BinaryIO:
    """A regular file opened for reading, not through a link. Raises FileNotFoundError, NotAFileError."""
    return os.fdopen(FS.open_to_read(path, links=False), "rb")


def read_file(path: Path) -> tuple[bytes, os.stat_result]:
    """All bytes of a file and its status before they were read; opened as by `open_file`."""
    with open_file(path) as file:
        status = os.fstat(file.fileno())
        return file.read(), status


def opened(path: Path) -> BinaryIO:
    """A regular file opened for reading; through a link, too.

    Whatever a walk finds is opened by this or by `read_file`: a pipe without a writer would hang the process
    for good, a device may have no end.

    Raises:
        NotAFileError: it is a pipe, a socket, a device or a folder.
        OSError: it is gone or cannot be read; `faults.unread` says it in words.
    """
    return os.fdopen(FS.open_to_read(path, links=True), "rb")


def content(path: Path) -> bytes:
    """All bytes of a regular file; see `opened`."""
    with opened(path) as file:
        return file.read()


def is_readable(path: Path) -> bool:
    """Whether there is a regular file that can be read."""
    try:
        opened(path).close()
    except OSError:
        return False
    return True


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, each private and its name brought to the disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):  # another process was faster
        FS.mkdir(folder)
    with suppress(PermissionError):  # a folder that may be written and not read cannot be synced
        FS.sync_folder(folder.parent)


def open_new(path: Path) -> BinaryIO:
    """A new file to be written, private; what has that name before goes, even if it is a link."""
    FS.unlink(path)
    return os.fdopen(FS.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL), "w+b")


def open_appended(path: Path) -> BinaryIO:
    """A log to add lines to, made private where it is missing; each `write` is one of the system's."""
    fd = FS.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    return os.fdopen(fd, "ab", buffering=0)


def make_file(path: Path) -> None:
    """Make an empty private file where there is none.

    For programs that make their own files with the umask, such as SQLite: it finds this one, and gives its
    log the same mode. A file that is there is not opened: closing it would let go of SQLite's locks on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN_FLAGS, PRIVATE_FILE))


def keep_permissions(fd: int, status: os.stat_result) -> None:
    """Give an open new file the mode of the one it will replace, and its owner where that is allowed."""
    if sys.platform == "win32":
        return
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        with suppress(PermissionError):  # only root gives files away; the mode matters more
            os.fchown(fd, status.st_uid, status.st_gid)
    os.fchmod(fd, stat.S_IMODE(status.st_mode))


def set_permissions(path: Path, mode: int) -> None:
    """Set the mode of a file or folder that is no link; Windows has none."""
    if sys.platform != "win32":
        path.chmod(mode)


def set_time(path: Path, mtime_ns: int) -> None:
    """Set when a file, folder or link was changed; where a system cannot for links, they are left."""
    if os.utime in os.supports_follow_symlinks:
        os.utime(path, ns=(mtime_ns, mtime_ns), follow_symlinks=False)
    elif not is_link(path):
        os.utime(path, ns=(mtime_ns, mtime_ns))


def allows_name(name: str) -> bool:
    """Whether a file may have the name on this system; what its file system allows, only trying tells."""
    if sys.platform == "win32":
        stem = name.partition(".")[0].rstrip(" ").casefold()
        return not (set(name) & _WINDOWS_MARKS or name[-1] in ". " or stem in RESERVED or min(name) < " ")
    return True


def try_lock(fd: int) -> bool:
    """Take the one exclusive lock of an open file without waiting; closing it releases the lock."""
    try:
        if sys.platform == "win32":
            os.lseek(fd, _WINDOWS_LOCK_OFFSET, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.EWOULDBLOCK}:
            return False
        raise
    return True


@contextmanager
def locked(
    path: Path,
    flags: int,
    *,
    timeout: float,
    missing: Callable[[], None] | None = None,
) -> Iterator[int]:
    """Open `path` and hold its exclusive lock; yields the descriptor. `missing` makes its folder if need be.

    Where the file was replaced while waiting, the new one is opened and locked: what is written through the
    descriptor is written into the file that has the name. Raises BusyError after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    pause = _FIRST_PAUSE
    while True:
        try:
            fd = FS.open(path, flags)
        except FileNotFoundError:
            if missing is None:
                raise
            missing()
            fd = FS.open(path, flags)
        try:
            while not try_lock(fd):
                if time.monotonic() >= deadline:
                    raise BusyError(f"{path.name}: another process is writing it; try again")
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            if _is_at(fd, path):
                yield fd
                return
        finally:
            FS.close(fd)


def _is_at(fd: int, path: Path) -> bool:
    mine = os.fstat(fd)
    now = identity(path)
    if now is None:
        return False
    return sys.platform == "win32" or (now.device, now.inode) == (mine.st_dev, mine.st_ino)


@functools.cache
def machine_name() -> str:
    """Name of this machine, safe in a file name: the host's name and six characters that tell twins apart."""
    import hashlib  # with sockets and uuid this is half of what a light client would spend on its start
    import socket

    host = socket.gethostname().split(".")[0]
    readable = "".join(c if c.isascii() and c.isalnum() else "-" for c in host).strip("-").lower()
    mark = hashlib.blake2b(f"{host}\n{_machine_mark()}".encode(), digest_size=3).hexdigest()
    return f"{readable[:40] or 'machine'}-{mark}"


def _machine_mark() -> str:
    with suppress(OSError):  # only systemd writes it; elsewhere the network card's number must do
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()
    import uuid

    return str(uuid.getnode())


def state_folder() -> Path:
    """Where programs keep what they know about one user on this machine; it need not exist.

    `XDG_STATE_HOME` counts on every system where it is an absolute path.
    """
    given = os.environ.get("XDG_STATE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given, "mnemark")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local", "mnemark")
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/mnemark"
    return Path.home() / ".local/state/mnemark"


def private_folder(folder: Path) -> None:
    """Make a folder that nobody but its owner may look into; one that is there is closed to others."""
    make_folder(folder)
    if sys.platform != "win32":  # there the user's own folders are private as they are
        folder.chmod(PRIVATE_FOLDER)


def write_private(path: Path, data: bytes) -> None:
    """Put a file in place at once, readable by its owner alone (mode 0600)."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open_new(temporary) as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def is_private(status: os.stat_result) -> bool:
    """Whether a file is the user's own and closed to all others."""
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077


def is_locked(path: Path) -> bool:
    """Whether someone holds the lock of the file at `path`; False where there is none."""
    try:
        fd = os.open(path, os.O_RDWR | OPEN_FLAGS)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(fd)
    finally:
        os.close(fd)
