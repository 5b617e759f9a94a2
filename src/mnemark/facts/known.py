"""What is known of facts by id and hash: no words, derived, deleted at will."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.files.layout import FACTS
from mnemark.text.lazy_pattern import lazy_pattern

VERSION: Final = 1
State = tuple[int, int, int]
"""Time of the last write in nanoseconds, size and inode of a file."""
Stamp = tuple[tuple[str, State], ...]
"""Names and states of files."""


class Known(msgspec.Struct, array_like=True, frozen=True):
    """What is known of one version of a fact."""

    id: str
    file: str
    """Hash of the path of its file; empty where it stands in none."""
    about: str
    """Hash of subject and predicate, and of the value where many hold side by side: what `Fact.key` is."""
    words: str
    """Hash of subject, predicate, value and since when it holds."""
    entry: str
    """Hash of its line in a generated part (`core_entry`), since when left out."""
    begin: float | None
    """Since when it holds, in seconds since 1970; None: from the first on."""
    end: float | None

    def holds(self, moment: float) -> bool:
        """Whether it did at that time."""
        return (self.begin is None or self.begin <= moment) and (self.end is None or moment < self.end)


class Section(msgspec.Struct, array_like=True, frozen=True):
    """What is known of a scope, and of which files that was read."""

    files: dict[str, State]
    """By the hash of their paths."""
    journals: dict[str, State]
    """By name; of a longer one what was appended is read."""
    facts: list[Known]
    version: int = VERSION


class Doubt:
    """What was written since: facts of which it is not known any more whether they hold."""

    def __init__(self, *, everything: bool = False) -> None:
        self.everything = everything
        self.ids: set[str] = set()
        self.about: set[str] = set()

    def of(self, known: Known) -> bool:
        """Whether this is one of them."""
        return self.everything or known.id in self.ids or known.about in self.about

    def __bool__(self) -> bool:
        return self.everything or bool(self.ids or self.about)


def journals_of(root: Path) -> Stamp:
    """The states of the journals."""
    return tuple(states_in(root, JOURNAL))


def entry_mark(line: str) -> str:
    """What a line of a generated part is known by; since when it says it holds makes no difference."""
    return mark_of(entry_words(line))


def mark_of(text: str) -> str:
    """Hash a text that is kept only to be compared."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def facts_folder(scope: str) -> str:
    """The folder of a scope's fact files, relative to the workspace."""
    return f"{scope}/{FACTS}" if scope else FACTS


def states_in(root: Path, folder: str) -> Iterator[tuple[str, State]]:
    """The paths and states of the files in a folder, in order; none where it cannot be listed."""
    try:
        with os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                with suppress(OSError):  # a link to nothing, or in a circle
                    status = entry.stat()
                    yield f"{folder}/{entry.name}", (status.st_mtime_ns, status.st_size, status.st_ino)
    except OSError:  # there is none, or the scan tells of it
        return


_HELD_SINCE: Final = lazy_pattern(r" \(since [0-9]{4}-[0-9]{2}-[0-9]{2}\)\Z")


def entry_words(line: str) -> str:
    """What tells an entry (`core_entry`) from others; since when it says it holds makes no difference."""
    return _HELD_SINCE.sub("", line.strip())


FACT = "fact"
"""Key of `meta` that holds the id of the fact a unit is."""
