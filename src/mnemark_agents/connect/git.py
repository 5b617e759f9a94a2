"""Set up git so that a pull joins what two machines wrote, instead of marking it as a conflict.

A file `.gitattributes` in the memory names the merge driver for its texts and logs; the settings of the
repository say what the driver runs. The first travels with the repository, the second is made on each
machine.
"""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from mnemark.errors import MnemarkError, UsageError
from mnemark.files import platform, repository
from mnemark_agents.connect.caller import command

if TYPE_CHECKING:
    from subprocess import CompletedProcess

NAME: Final = "mnemark"
ATTRIBUTES: Final = ".gitattributes"
_BEGIN: Final = "# mnemark: begin"
_END: Final = "# mnemark: end"
_SECONDS: Final = 30.0
_PATTERNS: Final = ("*.md", "*.markdown", "*.txt", "*.jsonl")


class GitChange(msgspec.Struct, frozen=True):
    """A change of git's settings: of a file, or of the repository."""

    what: str
    before: str
    after: str


def plan(root: Path, *, remove: bool = False) -> list[GitChange]:
    """Return what connecting, or removing it again, changes.

    Raises:
        UsageError: the memory lies in no git repository.
        MnemarkError: git is not installed.
    """
    if _git(root, "rev-parse", "--git-dir").returncode:
        raise UsageError(f"{root} is in no git repository; make one there with `git init`")
    changes = []
    file = root / ATTRIBUTES
    before = platform.content(file).decode("utf-8", "replace") if file.is_file() else ""
    after = _without_ours(before)
    if not remove:
        lines = "\n".join((_BEGIN, *(f"{pattern} merge={NAME}" for pattern in _PATTERNS), _END))
        after = f"{after}{'' if not after or after.endswith(chr(10)) else chr(10)}{lines}\n"
    if after != before:
        changes.append(GitChange(ATTRIBUTES, before, after))
    for key, wanted in _settings().items():
        there = _git(root, "config", "--local", "--get", key).stdout.decode("utf-8", "replace").rstrip("\n")
        if there != (wanted := "" if remove else wanted):
            changes.append(GitChange(key, there, wanted))
    return changes


def apply(root: Path, changes: list[GitChange]) -> None:
    """Make the changes of `plan`."""
    for change in changes:
        if change.what == ATTRIBUTES:
            if change.after:
                platform.write_private(root / ATTRIBUTES, change.after.encode())
            else:
                platform.FS.unlink(root / ATTRIBUTES)
            continue
        said = ("--unset", change.what) if not change.after else (change.what, change.after)
        done = _git(root, "config", "--local", *said)
        if done.returncode:
            raise MnemarkError(f"git config failed: {done.stderr.decode('utf-8', 'replace').strip()[:300]}")


def _settings() -> dict[str, str]:
    words = " ".join(map(shlex.quote, command("git-merge")))
    return {
        f"merge.{NAME}.name": "mnemark joins what both machines wrote",
        f"merge.{NAME}.driver": f"{words} %O %A %B %P",
    }


def _without_ours(text: str) -> str:
    before, begin, rest = text.partition(_BEGIN)
    if not begin:
        return text
    return before + rest.partition(_END)[2].removeprefix("\n")


def _git(root: Path, *arguments: str) -> "CompletedProcess[bytes]":
    return repository.run_plain(("-C", str(root), *arguments), seconds=_SECONDS)
