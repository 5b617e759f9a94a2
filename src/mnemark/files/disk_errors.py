"""Translate errors of the operating system into messages that name the fix."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn, TypeVar

from mnemark.errors import BusyError, MnemarkError, NotFoundError, ReadOnlyError, UsageError
from mnemark.files.platform import NotAFileError, UnreadableError

Facade = TypeVar("Facade")

_READ_ONLY = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_TOO_MANY = frozenset({errno.EMFILE, errno.ENFILE})
REFUSED_NAMES = frozenset({errno.EILSEQ, errno.EINVAL, errno.ENAMETOOLONG, errno.ENOTDIR})
"""Errors for names that a file system cannot hold."""
_WINDOWS_SHARING = frozenset({32, 33})  # another program has the file open, or locks a part of it
_NO_MEMORY = "can't start new thread", "failed to map segment", "annot allocate memory"
"""What modules in C raise other errors with."""
_NO_FILES = "oo many open files"
"""What the loader of modules in C says in an ImportError, which has no errno."""
MISSING = "does not exist"
HINT = "; give a ref as `mnemark search` prints it"
"""Of a ref whose file is missing, what to do."""
_LINK = frozenset({errno.ELOOP, errno.EMLINK})


def is_no_file(error: OSError) -> bool:
    """Whether a read failed because the path is a pipe, socket, device, folder or link."""
    return isinstance(error, NotAFileError) or error.errno in {*_LINK, errno.ENXIO}  # ENXIO: sockets


CANNOT_BE_READ = "cannot be read"


def unread(error: OSError) -> str:
    """Describe a failed read, to follow the file's name: "cannot be read: Permission denied"."""
    if error.errno in _LINK:
        return "is a link, which is not followed"
    if is_no_file(error):
        return "is not a regular file"
    if isinstance(error, FileNotFoundError):
        return MISSING
    return f"{CANNOT_BE_READ}: {error.strerror or error}"


def shortage(error: BaseException) -> str:
    """Return what is short (disk, open files, memory) and what to do; empty for errors of another kind."""
    code = error.errno if isinstance(error, OSError) else None
    if code in _FULL:
        return "the disk is full; free some space and try again"
    if code in _TOO_MANY or (isinstance(error, ImportError) and _NO_FILES in str(error)):
        return "too many files are open; raise the limit (`ulimit -n 1024`) and try again"
    if (
        code == errno.ENOMEM
        or isinstance(error, MemoryError)
        or any(sign in str(error) for sign in _NO_MEMORY)
    ):
        return "there is not enough memory; close other programs, or raise the limit of this process"
    if isinstance(error, OSError) and code is not None:
        return f"{error.filename or 'a file'}: {error.strerror}; check its disk and permissions"
    return ""


def tells_os_errors(facade: type[Facade]) -> type[Facade]:
    """Let the public methods of a class raise a MnemarkError where the system refuses what they need.

    What is read or listed may fail anywhere (no permission, too many open files, a failing disk): callers in
    Python get the sentence that the command line and the daemon print.
    """
    for name, found in vars(facade).copy().items():
        if name.startswith("_"):
            continue
        if isinstance(found, FunctionType):
            setattr(facade, name, _telling(found))
        elif isinstance(found, classmethod):
            setattr(facade, name, classmethod(_telling(found.__func__)))
    return facade


def _telling(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def telling(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except MnemarkError:
            raise
        except (OSError, MemoryError, ImportError) as error:
            if short := shortage(error):
                raise MnemarkError(short) from error
            raise

    return telling


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Turn an OSError from writing `path` into the MnemarkError that names the fix."""
    try:
        yield
    except OSError as error:
        raise_translated(error, path)


def raise_translated(error: OSError, path: Path) -> NoReturn:
    """Raise the MnemarkError that names the fix for a failed write; what names its file, as it is."""
    if isinstance(error, UnreadableError):
        raise error
    raise _translated(error, path) from error


def _translated(error: OSError, path: Path) -> MnemarkError:
    if getattr(error, "winerror", None) in _WINDOWS_SHARING:
        return BusyError(f"{path.name}: another program has it open; close it there and try again")
    if error.errno in _READ_ONLY:
        return ReadOnlyError(f"{path}: cannot be written ({error.strerror}); check its permissions and owner")
    if error.errno in _FULL | _TOO_MANY:
        what, _, fix = shortage(error).partition("; ")
        return MnemarkError(f"{path}: was not written: {what}; {fix}")
    if is_no_file(error):
        what = "a link" if error.errno in _LINK else "a pipe, a socket or a device"
        return UsageError(f"{path}: is {what}; mnemark writes only to regular files")
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(f"{path.name[:40]}…: the name is too long for this file system; use a shorter one")
    kind, why, fix = MnemarkError, str(error.strerror or error), "check its disk"
    if error.errno == errno.ENOENT and not path.parent.is_dir():
        kind, why = NotFoundError, f"the folder {path.parent} does not exist"
        fix = "make it, or choose another"
    return kind(f"{path}: could not be written ({why}); {fix}")
