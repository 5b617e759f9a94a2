"""What the operating system refuses, in words that name the fix."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemark.errors import BusyError, MnemarkError, ReadOnlyError, UsageError

_READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
REFUSED_NAMES = frozenset({errno.EILSEQ, errno.EINVAL, errno.ENAMETOOLONG, errno.ENOTDIR})
"""What a file system says to a name that it cannot hold."""
_WINDOWS_SHARING = frozenset({32, 33})  # another program has the file open, or locks a part of it


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn an OSError met while writing `path` into ReadOnlyError, BusyError, UsageError or MnemarkError.

    Nothing was acknowledged when one is raised.
    """
    try:
        yield
    except OSError as error:
        raise _meaning(error, path) from error


def _meaning(error: OSError, path: Path) -> MnemarkError:
    if getattr(error, "winerror", None) in _WINDOWS_SHARING:
        return BusyError(f"{path.name}: another program has it open; close it there and try again")
    if error.errno in _READ_ONLY:
        return ReadOnlyError(f"{path}: cannot be written ({error.strerror}); check its permissions and owner")
    if error.errno in _FULL:
        return MnemarkError(
            f"{path}: no room left on the disk; nothing of this was kept, free some and retry"
        )
    if error.errno == errno.ELOOP:
        return UsageError(f"{path}: is a link; mnemark writes only to the file itself")
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(f"{path.name[:40]}…: the name is too long for this file system; use a shorter one")
    return MnemarkError(f"{path}: could not be written ({error.strerror or error}); nothing of this was kept")
