"""Wrap system calls that differ between Linux, macOS and Windows, and all that change files.

The files layer writes only through `FS`; tests replace it by one that fails, writes short or dies at the n-th
call. New files have mode 0600 and new folders 0700, whatever the umask. A file that replaces another gets its
mode (`keep_permissions`). Windows has no such modes: the folder decides.
"""

import errno
import functools
import io
import os
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn

from mnemark.errors import BusyError, MnemarkError
from mnemark.hashes import blake2b

if TYPE_CHECKING:
    import ctypes

    from typing_extensions import Buffer

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PLAIN_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
OPEN_FLAGS = _PLAIN_FLAGS | getattr(os, "O_NOFOLLOW", 0)
"""For every open: not inherited, binary, never waiting for the other end of a pipe, not through a link."""
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"},
)
"""Names of devices on Windows, also with an extension."""
_WINDOWS_MARKS = frozenset('<>:"/\\|?*')

TEMPORARY = ".mnemark-tmp-"
"""What names of temporary files begin with; those of edits go on with the edit's id."""
_DAY_SECONDS = 86_400.0

_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05  # seconds between two tries for a lock
_AT_CURRENT_FOLDER = -100  # AT_FDCWD
_NOREPLACE, _EXCHANGE = 1, 2  # renameat2
_MAC_SWAP, _MAC_EXCLUSIVE = 2, 4  # renamex_np
_WINDOWS_LOCK_OFFSET = 0x7FFFFFF0  # locks are mandatory there: lock a byte beyond what readers read
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # mallopt(3)
_SAYS_ENOUGH = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EINVAL}
    | {errno.EILSEQ, errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
    | {errno.EROFS, errno.EEXIST}
)
"""Errors that are about a name, permissions, or this process; all others are the disk's."""
_NOT_SUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})


class Identity(NamedTuple):
    """A file and its state: equal values mean that nobody wrote in between."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class NotAFileError(OSError):
    """A path names a pipe, socket, device or folder, not a regular file; nothing of it was read."""


class UnreadableError(MnemarkError, OSError):
    """A disk did not give back a file's bytes. The message names the file; not all system errors do."""

    def __str__(self) -> str:
        return f"{self.filename}: cannot be read ({self.strerror}); check its disk, then try again"


class FileSystem:
    """System calls that open and change files."""

    def open(self, path: Path, flags: int) -> int:
        """Open a regular file, created private; links are refused (ELOOP) where the system can."""
        return _regular(os.open(path, flags | OPEN_FLAGS, PRIVATE_FILE), path)

    def open_to_read(self, path: Path, *, links: bool) -> int:
        """Open the regular file `path` for reading; with `links`, also through a link."""
        return _regular(os.open(path, os.O_RDONLY | (_PLAIN_FLAGS if links else OPEN_FLAGS)), path)

    def close(self, fd: int) -> None:
        """Close `fd`, which releases its locks."""
        os.close(fd)

    def write(self, fd: int, data: memoryview) -> int:
        """Write once and return the number of bytes written, which may be fewer than given."""
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        """Truncate the file to `size` bytes."""
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        """Flush a file to the disk; on macOS through the disk's own cache, too."""
        full = getattr(fcntl, "F_FULLFSYNC", None) if sys.platform == "darwin" else None
        if full is not None:
            try:
                fcntl.fcntl(fd, full)
            except OSError as error:  # network and FAT volumes know only the plain call
                if error.errno not in _NOT_SUPPORTED | {errno.ENOTTY}:
                    raise
            else:
                return
        os.fsync(fd)

    def sync_folder(self, folder: Path) -> None:
        """Flush the names in `folder` to the disk. Windows does so by itself and cannot open folders."""
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
        """Make one private folder."""
        folder.mkdir(PRIVATE_FOLDER)

    def replace(self, source: Path, target: Path) -> None:
        """Rename, replacing `target`."""
        source.replace(target)

    def rename_new(self, source: Path, target: Path) -> None:
        """Rename to a name that must be free. Raises FileExistsError."""
        if sys.platform == "win32":
            source.rename(target)
        elif not _rename_with_flags(source, target, linux=_NOREPLACE, mac=_MAC_EXCLUSIVE):
            os.link(source, target)
            source.unlink()

    def exchange(self, one: Path, other: Path) -> bool:
        """Exchange two files atomically; return False where the system or the file system cannot."""
        return _rename_with_flags(one, other, linux=_EXCHANGE, mac=_MAC_SWAP)

    def link(self, source: Path, target: Path) -> None:
        """Make a hard link."""
        os.link(source, target)

    def symlink(self, to: str, path: Path) -> None:
        """Make a symbolic link, possibly dangling."""
        path.symlink_to(to)

    def unlink(self, path: Path) -> None:
        """Remove a file if it is there."""
        path.unlink(missing_ok=True)


def _regular(fd: int, path: Path) -> int:
    # Checked after the open: what a `stat` before it said may have been replaced since.
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise NotAFileError(errno.EINVAL, "not a regular file", str(path))


FS = FileSystem()
"""The file system in use."""


@functools.cache
def _libc() -> "ctypes.CDLL":
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def give_back_memory() -> bool:
    """Make glibc return freed memory to the system; return whether it could. Call before starting threads.

    glibc keeps up to eight heaps a processor and what is freed in the middle of one: a daemon with 20 threads
    held a fifth of its memory so. Two heaps, and arrays over 128 KiB mapped one by one, go back at once.
    """
    mallopt = getattr(_libc(), "mallopt", None) if sys.platform.startswith("linux") else None
    if mallopt is None:
        return False
    wanted = {_ARENA_MAX: 2, _MMAP_THRESHOLD: 1 << 17, _TRIM_THRESHOLD: 1 << 20}
    return all(mallopt(setting, value) == 1 for setting, value in wanted.items())


def lean_environment() -> dict[str, str]:
    """Return an environment for a daemon, in which glibc keeps no freed pieces for each thread.

    It saves a daemon with eight agents 7 MB. What the user has set stays.
    """
    return {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", **os.environ}


def trim_memory() -> bool:
    """Return freed memory to the system now (milliseconds): 8,000 turns left holes of 4 MB in the heap."""
    trim = getattr(_libc(), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is None:
        return False
    trim(0)
    return True


def _rename_with_flags(source: Path, target: Path, *, linux: int, mac: int) -> bool:
    """Rename with flags; return False where there is no such call. Other failures raise OSError."""
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
    """Whether a path is a symbolic link or a junction."""
    if os.path.islink(path):  # noqa: PTH114 - asked with every lock, and quicker
        return True
    return sys.platform == "win32" and sys.version_info >= (3, 12) and os.path.isjunction(path)


def is_junction(entry: "os.DirEntry[str]") -> bool:
    """Whether a folder's entry is a junction."""
    return sys.platform == "win32" and sys.version_info >= (3, 12) and entry.is_junction()


def identity(path: str | Path) -> Identity | None:
    """Return the state of the file at `path`, links not followed; None if there is none."""
    try:
        return identity_of(os.lstat(path))
    except FileNotFoundError:
        return None


def identity_of(status: os.stat_result) -> Identity:
    """Return the identity in a status."""
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def open_file(path: Path) -> BinaryIO:
    """Open a regular file for reading, not through a link. Raises FileNotFoundError, NotAFileError."""
    return _reader(path, links=False)


def read_file(path: Path) -> tuple[bytes, os.stat_result]:
    """Read a file that is no link; return its bytes and its status before they were read."""
    with open_file(path) as file:
        status = os.fstat(file.fileno())
        return file.read(), status


def opened(path: Path) -> BinaryIO:
    """Open a regular file for reading; through a link, too. Raises NotAFileError, OSError.

    Whatever a walk finds is opened by this or by `read_file`: a pipe without a writer would hang the process,
    a device may have no end.
    """
    return _reader(path, links=True)


def _reader(path: Path, *, links: bool) -> BinaryIO:
    try:
        fd = FS.open_to_read(path, links=links)
    except OSError as error:
        _raise_named(error, path)
    return io.BufferedReader(_NamedReader(fd, path))


def is_of_disk(error: OSError) -> bool:
    """Whether a disk is full or fails."""
    return error.errno is not None and error.errno not in _SAYS_ENOUGH


def may_pass(error: OSError) -> bool:
    """Whether a read that failed may succeed later although nothing about the file changes.

    This process has too many files open, memory is short, or a disk fails for a moment.
    """
    return error.errno in {errno.EMFILE, errno.ENFILE, errno.ENOMEM} or is_of_disk(error)


def _raise_named(error: OSError, path: Path) -> NoReturn:
    """Raise the error itself, or an UnreadableError of `path` where it is the disk's."""
    if not is_of_disk(error):
        raise error
    raise UnreadableError(error.errno, error.strerror, str(path)) from error


class _NamedReader(io.FileIO):
    """A file open for reading, whose errors name it: the system's do so for `open` alone."""

    def __init__(self, fd: int, path: Path) -> None:
        super().__init__(fd)
        self._path = path

    def readinto(self, buffer: "Buffer", /) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            _raise_named(error, self._path)

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            _raise_named(error, self._path)


def content(path: Path) -> bytes:
    """Read a regular file; see `opened`."""
    with opened(path) as file:
        return file.read()


def is_readable(path: Path) -> bool:
    """Whether `path` is a regular file that can be read."""
    try:
        opened(path).close()
    except OSError:
        return False
    return True


def make_folder(folder: Path) -> None:
    """Make a private folder and its missing parents, each flushed to the disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with suppress(FileExistsError):  # another process made it
        FS.mkdir(folder)
    with suppress(PermissionError):  # a folder that may be written and not read cannot be synced
        FS.sync_folder(folder.parent)


def open_new(path: Path) -> BinaryIO:
    """Create a private file for writing; whatever has that name is removed first, even a link."""
    FS.unlink(path)
    return os.fdopen(FS.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL), "w+b")


def open_appended(path: Path) -> BinaryIO:
    """Open a log for appending, created private; unbuffered."""
    return os.fdopen(FS.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab", buffering=0)


def make_file(path: Path) -> None:
    """Make an empty private file where there is none, for SQLite, which would make its own with the umask.

    A file that is there is not opened: closing it would release SQLite's locks on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN_FLAGS, PRIVATE_FILE))


def keep_permissions(fd: int, status: os.stat_result) -> None:
    """Give an open new file the mode of the file it will replace, and its owner where that is allowed."""
    if sys.platform == "win32":
        return
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        with suppress(PermissionError):  # only root gives files away; the mode matters more
            os.fchown(fd, status.st_uid, status.st_gid)
    os.fchmod(fd, stat.S_IMODE(status.st_mode))


def set_permissions(path: Path, mode: int) -> None:
    """Set the mode of a file or folder that is no link; does nothing on Windows."""
    if sys.platform != "win32":
        path.chmod(mode)


def set_time(path: Path, mtime_ns: int) -> None:
    """Set the modification time; of a link only where the system can."""
    if os.utime in os.supports_follow_symlinks:
        os.utime(path, ns=(mtime_ns, mtime_ns), follow_symlinks=False)
    elif not is_link(path):
        os.utime(path, ns=(mtime_ns, mtime_ns))


def allows_name(name: str) -> bool:
    """Whether this operating system allows the name; its file system may still refuse it."""
    if sys.platform == "win32":
        stem = name.partition(".")[0].rstrip(" ").casefold()
        return not (set(name) & _WINDOWS_MARKS or name[-1] in ". " or stem in RESERVED or min(name) < " ")
    return True


def try_lock(fd: int) -> bool:
    """Take the exclusive lock of an open file without waiting; closing it releases the lock."""
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
def locked(path: Path, flags: int, *, timeout: float, make_parent: bool = False) -> Iterator[int]:
    """Open `path`, hold its exclusive lock and yield the descriptor.

    Where the file was replaced while waiting, the new one is opened and locked. `make_parent` makes its
    folder where it is missing. Raises BusyError after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    pause = _FIRST_PAUSE
    while True:
        try:
            fd = FS.open(path, flags)
        except FileNotFoundError:
            if not make_parent:
                raise
            make_folder(path.parent)
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
    mine, now = os.fstat(fd), identity(path)
    same = now is not None and (now.device, now.inode) == (mine.st_dev, mine.st_ino)
    return same or (sys.platform == "win32" and now is not None)


@functools.cache
def machine_name() -> str:
    """Return a name for this machine, safe in a file name: its host name and a hash of six characters."""
    if sys.platform == "win32":
        import socket

        name = socket.gethostname()
    else:
        name = os.uname().nodename  # what `gethostname` returns
    host = name.split(".")[0]
    readable = "".join(c if c.isascii() and c.isalnum() else "-" for c in host).strip("-").lower()
    try:
        machine = Path("/etc/machine-id").read_text(encoding="utf-8").strip()
    except OSError:  # only systemd writes it; elsewhere the network card's number must do
        import uuid

        machine = str(uuid.getnode())
    mark = blake2b(f"{host}\n{machine}".encode(), digest_size=3).hexdigest()
    return f"{readable[:40] or 'machine'}-{mark}"


def state_folder() -> Path:
    """Return the folder for a user's state on this machine; it need not exist. XDG_STATE_HOME wins."""
    given = os.environ.get("XDG_STATE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given, "mnemark")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local", "mnemark")
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/mnemark"
    return Path.home() / ".local/state/mnemark"


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner may look into, or close one that is there."""
    make_folder(folder)
    set_permissions(folder, PRIVATE_FOLDER)


def temporary_beside(path: Path) -> Path:
    """Return a new name in the folder of `path`; it says whose it is, so that it is swept once nobody's."""
    return path.with_name(f"{TEMPORARY}{os.getpid()}-{_host()}-{os.urandom(6).hex()}")


def is_left_over(name: str, mtime: float) -> bool:
    """Whether a temporary file belongs to a process that has ended, or to another machine's of long ago."""
    pid, *rest = name.removeprefix(TEMPORARY).split("-")
    if not name.startswith(TEMPORARY) or len(rest) != 2 or not pid.isdecimal():
        return False
    if rest[0] == _host() and sys.platform != "win32":  # which has no signal that does nothing
        return not _runs(int(pid))
    return abs(time.time() - mtime) > _DAY_SECONDS  # in the future: of a wrong clock


def sweep_folder(folder: Path) -> int:
    """Delete the temporary files and folders in one folder that killed processes left; return how many."""
    count = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(TEMPORARY) and is_left_over(
                entry.name, entry.stat(follow_symlinks=False).st_mtime
            ):
                with suppress(OSError):  # another user's
                    if entry.is_dir(follow_symlinks=False):
                        import shutil

                        shutil.rmtree(entry.path)
                    else:
                        FS.unlink(Path(entry.path))
                    count += 1
    return count


def _host() -> str:
    name = os.uname().nodename if sys.platform != "win32" else os.environ.get("COMPUTERNAME", "")
    return f"{zlib.crc32(name.encode()):08x}"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def write_private(path: Path, data: bytes) -> None:
    """Replace a file atomically by one with mode 0600."""
    temporary = temporary_beside(path)
    try:
        with open_new(temporary) as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def is_private(status: os.stat_result) -> bool:
    """Whether a file belongs to the user and is closed to all others."""
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of the file at `path`; False if there is none."""
    try:
        fd = os.open(path, os.O_RDWR | OPEN_FLAGS)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(fd)
    finally:
        os.close(fd)
