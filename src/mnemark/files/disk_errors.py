"""Translate errors of the operating system into messages that name the fix."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemark.errors import BusyError, MnemarkError, ReadOnlyError, UsageError
from mnemark.files.platform import NotAFileError

_READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
REFUSED_NAMES = frozenset({errno.EILSEQ, errno.EINVAL, errno.ENAMETOOLONG, errno.ENOTDIR})
"""Errors for names that a file system cannot hold."""
_WINDOWS_SHARING = frozenset({32, 33})  # another program has the file open, or locks a part of it
_LINK = frozenset({errno.ELOOP, errno.EMLINK})


def is_no_file(error: OSError) -> bool:
    """Whether a read failed because the path is a pipe, socket, device, folder or link."""
    return isinstance(error, NotAFileError) or error.errno in {*_LINK, errno.ENXIO}  # ENXIO: sockets


def unread(error: OSError) -> str:
    """Describe a failed read, to follow the file's name: "cannot be read: Permission denied"."""
    if error.errno in _LINK:
        return "is a link, which is not followed"
    if is_no_file(error):
        return "is not a regular file"
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    return f"cannot be read: {error.strerror or error}"


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Turn an OSError from writing `path` into a ReadOnlyError, BusyError, UsageError or MnemarkError."""
    try:
        yield
    except OSError as error:
        raise _translated(error, path) from error


def _translated(error: OSError, path: Path) -> MnemarkError:
    if getattr(error, "winerror", None) in _WINDOWS_SHARING:
        return BusyError(f"{path.name}: another program has it open; close it there and try again")
    if error.errno in _READ_ONLY:
        return ReadOnlyError(f"{path}: cannot be written ({error.strerror}); check its permissions and owner")
    if error.errno in _FULL:
        return MnemarkError(f"{path}: the disk is full and nothing was saved; free some space and try again")
    if is_no_file(error):
        what = "a link" if error.errno in _LINK else "a pipe, a socket or a device"
        return UsageError(f"{path}: is {what}; mnemark writes only to regular files")
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(f"{path.name[:40]}…: the name is too long for this file system; use a shorter one")
    return MnemarkError(f"{path}: could not be written ({error.strerror or error}); nothing was saved")
