"""Every error mnemark raises on purpose, and checks of arguments. Each error names the fix in its message.

    MnemarkError                 exit 1
    ├── UsageError               exit 2   a wrong argument
    │   └── ConfigError          exit 2   mnemark.toml or config.json is wrong
    ├── NotFoundError            exit 3   no such ref, session or file
    ├── DegradedError            exit 4   --strict, and an optional part was missing
    ├── BusyError                exit 5   another process holds the lock
    │   └── OffRecordError       exit 5   the memory is off the record
    ├── IntegrityError           exit 6   the index or a log is damaged
    │   └── NewerFormatError     exit 6   written by a newer mnemark
    ├── ReadOnlyError            exit 7   the workspace cannot be written
    └── IncompleteError          exit 8   done, but for what is named

Problems found *in* a workspace's files (a broken front matter, bytes that are no text) are not errors but
values (`types.Problem`): they are reported, and the rest of the work goes on.
"""

from collections.abc import Iterable
from typing import TypeVar


class MnemarkError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 1


class UsageError(MnemarkError):
    """A wrong argument; the message names a right one."""

    exit_code = 2


class ConfigError(UsageError):
    """The configuration file is wrong; the message names file, key and fix."""


class NotFoundError(MnemarkError):
    """There is no such ref, session or file."""

    exit_code = 3


class DegradedError(MnemarkError):
    """`--strict` was asked for and an optional part did not answer."""

    exit_code = 4


class BusyError(MnemarkError):
    """Another process holds the lock that is needed."""

    exit_code = 5


class OffRecordError(BusyError):
    """The memory is off the record, as its person wants: nothing is added to it for now."""


class IntegrityError(MnemarkError):
    """An index or log is damaged; the message names the command that repairs it."""

    exit_code = 6


class NewerFormatError(IntegrityError):
    """The file was written by a newer mnemark and is left alone."""


class ReadOnlyError(MnemarkError):
    """The workspace cannot be written to."""

    exit_code = 7


class IncompleteError(MnemarkError):
    """All was saved or brought back but for what was named: a copy that is not whole must not pass as one."""

    exit_code = 8


MOST_SECONDS = 86_400.0
"""The longest deadline, a day."""
Word = TypeVar("Word", bound=str)


def one_of(value: Word, known: Iterable[Word], name: str) -> Word:
    """Return `value` if it is a known one; raise UsageError, which names the known ones, otherwise."""
    if value not in (choices := tuple(known)):
        raise UsageError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


def text_given(value: object, name: str) -> str:
    """Return `value`; raise UsageError where it is not text."""
    if not isinstance(value, str):
        raise UsageError(f"{name} must be text, not {type(value).__name__}")
    return value


def number_given(value: object, name: str, most: float, least: float = 0) -> float:
    """Return `value`; raise UsageError where it is not a number from `least` to `most`."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not least <= value <= most:
        raise UsageError(f"{name} must be a number from {least:g} to {most:g}, not {value!r}")
    return value
