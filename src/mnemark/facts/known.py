"""Define the cached states of facts: ids, hashes and validity, no text; derived and disposable."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.files.layout import FACTS, in_scope
from mnemark.hashes import blake2b
from mnemark.text.lazy_pattern import lazy_pattern

VERSION: Final = 7
State = tuple[int, int, int]
"""Modification time in nanoseconds, size and inode of a file."""
Stamp = tuple[tuple[str, State], ...]
"""Names and states of files."""


class KnownFact(msgspec.Struct, array_like=True, frozen=True):
    """The cached state of one version of a fact."""

    id: str
    file: str
    """Hash of the path of its file; empty if it is in none."""
    about: str
    """Hash of `Fact.key`: subject, predicate, and the value if several may hold at once."""
    words: str
    """Hash of subject, predicate, value and `since`."""
    entries: tuple[str, ...]
    """Hashes of its lines in a generated section (`core_entries`), without the date."""
    begin: float | None
    """Begin of validity in seconds since 1970; None: always."""
    end: float | None
    doubted: bool
    """Whether something said later speaks against it: it is shown with these words, or not at all."""

    def holds(self, moment: float) -> bool:
        """Whether it is valid at a time in seconds since 1970."""
        return (self.begin is None or self.begin <= moment) and (self.end is None or moment < self.end)


class Section(msgspec.Struct, array_like=True, frozen=True):
    """The cached facts of a scope, and the states of the files they were read from."""

    files: dict[str, State]
    """States of fact files by the hash of their paths."""
    journals: dict[str, State]
    """States of journals by path; of one that grew, the appended lines are read."""
    facts: list[KnownFact]
    version: int = VERSION


class Doubt:
    """The facts whose cached state later writes have invalidated."""

    def __init__(self, *, everything: bool = False) -> None:
        self.everything = everything
        self.ids: set[str] = set()
        self.about: set[str] = set()

    def of(self, known: KnownFact) -> bool:
        """Whether the cached state of this fact is invalid."""
        return self.everything or known.id in self.ids or known.about in self.about

    def __bool__(self) -> bool:
        return self.everything or bool(self.ids or self.about)


def journals_of(root: Path) -> Stamp:
    """Return the states of the journals; a person may keep hundreds of notes beside them."""
    return tuple(states_in(root, JOURNAL, ".jsonl"))


def entry_mark(line: str) -> str:
    """Return the hash of a line of a generated section, without its date."""
    return mark_of(entry_words(line))


def mark_of(text: str) -> str:
    """Return a hash of a text, for comparison only."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def facts_folder(scope: str) -> str:
    """Return the folder of a scope's fact files, relative to the workspace."""
    return in_scope(scope, FACTS)


def states_in(root: Path, folder: str, suffix: str = "") -> Iterator[tuple[str, State]]:
    """Yield paths and states of a folder's files with names that end so, sorted; none if it has no list."""
    try:
        with os.scandir(root / folder) as entries:
            wanted = (entry for entry in entries if entry.name.endswith(suffix))
            for entry in sorted(wanted, key=lambda entry: entry.name):
                with suppress(OSError):  # a broken or circular link
                    status = entry.stat()
                    yield f"{folder}/{entry.name}", (status.st_mtime_ns, status.st_size, status.st_ino)
    except OSError:  # missing, or reported by the scan
        return


_SINCE: Final = lazy_pattern(r"(?: \(since |（)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:\)| 起）)\Z")
_BUT: Final = lazy_pattern(r"(?: \(but on |（但 )[0-9]{4}-[0-9]{2}-[0-9]{2}(?:: | 说：)“[^\n]*”[)）]\Z")


def entry_words(line: str) -> str:
    """Return a line of `core_entry` without its date and without what speaks against it."""
    return _SINCE.sub("", _BUT.sub("", line.strip()))


FACT = "fact"
"""Key in a unit's `meta` of the id of its fact."""
