"""Every error mnemark raises on purpose. Each names the fix in its message.

    MnemarkError                 exit 1
    ├── UsageError               exit 2   a wrong argument
    │   └── ConfigError          exit 2   mnemark.toml or config.json is wrong
    ├── NotFoundError            exit 3   no such ref, session or file
    ├── DegradedError            exit 4   --strict, and an optional part was missing
    ├── BusyError                exit 5   another process holds the lock
    ├── IntegrityError           exit 6   the index or a log is damaged
    │   └── NewerFormatError     exit 6   written by a newer mnemark
    ├── ReadOnlyError            exit 7   the workspace cannot be written
    └── IncompleteError          exit 8   done, but for what is named

Problems found *in* a workspace's files (a broken front matter, bytes that are no text) are not errors but
values (`types.Problem`): they are reported, and the rest of the work goes on.
"""


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
