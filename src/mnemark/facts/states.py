"""Cache when each fact is valid, so that answers under a deadline need not read all facts.

After reading the facts of a scope, their validity and the states of their files and journals are saved.
The cache is used for facts not touched since: changed files and appended journal lines are read. Other facts
count as unknown and are not shown.

No text is stored, only ids and hashes. The cache is derived and may be deleted.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import ReadOnlyError
from mnemark.facts.known import (
    VERSION,
    Doubt,
    KnownFact,
    Section,
    Stamp,
    entry_mark,
    facts_folder,
    journals_of,
    mark_of,
    states_in,
)
from mnemark.files import jsonl, platform
from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.files.private import private, private_folder

KEPT_IN: Final = "facts"
"""The folder of the cache below `.mnemark/`."""


class FactStates:
    """The cached states of the facts of a workspace, checked against later writes.

    For one answer. `section` returns the cache of a scope, or None. `redacted` removes secrets from a text
    and keeps its line numbers, and `zone` is the one of the days of facts, as when the cache was made.
    """

    def __init__(
        self,
        root: Path,
        section: Callable[[str], Section | None],
        redacted: Callable[[str], str],
        zone: tzinfo | None,
    ) -> None:
        self._root = root
        self._section = section
        self._redacted = redacted
        self._zone = zone or UTC
        self._read: dict[str, tuple[dict[str, KnownFact], Doubt]] = {}
        self._hidden: dict[str, frozenset[str]] = {}

    def holds(self, scope: str, identifier: str, now: datetime) -> bool | None:
        """Return whether a fact is valid at `now` (with zone); None if unknown."""
        facts, doubt = self._known(scope)
        known = facts.get(identifier)
        if known is None or known.doubted or doubt.of(known):
            return None
        return known.holds(now.timestamp())

    def is_past(self, scope: str, line: str, now: datetime) -> bool:
        """Whether a line of a generated section states a fact that is not valid, or not known to be."""
        if scope not in self._hidden:
            facts, doubt = self._known(scope)
            moment = now.timestamp()
            holding = (fact for fact in facts.values() if fact.holds(moment) and not doubt.of(fact))
            held = {entry for fact in holding for entry in fact.entries}
            self._hidden[scope] = frozenset(entry for fact in facts.values() for entry in fact.entries) - held
        return entry_mark(line) in self._hidden[scope]

    def restates(self, scope: str, line: str, identifiers: Iterable[str]) -> bool:
        """Whether a line of a generated section states one of these facts."""
        facts, mark = self._known(scope)[0], entry_mark(line)
        return any(mark in facts[identifier].entries for identifier in identifiers if identifier in facts)

    def settled(self, scope: str) -> bool:
        """Whether nothing about the facts of a scope was written since the cache was saved."""
        return not self._known(scope)[1]

    def _known(self, scope: str) -> tuple[dict[str, KnownFact], Doubt]:
        if scope not in self._read:
            section = self._section(scope)
            if section is None:
                self._read[scope] = {}, Doubt(everything=True)
            else:
                facts = {fact.id: fact for fact in section.facts}
                self._read[scope] = facts, self._doubt(scope, section, facts)
        return self._read[scope]

    def _doubt(self, scope: str, section: Section, facts: Mapping[str, KnownFact]) -> Doubt:
        files = {mark_of(path): state for path, state in states_in(self._root, facts_folder(scope))}
        if files == section.files and dict(journals_of(self._root)) == section.journals:
            return Doubt()
        from mnemark.facts.doubts import doubted  # a slow import

        return doubted(self._root, self._redacted, scope, section, facts, zone=self._zone)


def kept(root: Path, home: Path, redacted: Callable[[str], str], zone: tzinfo | None) -> FactStates:
    """Return the fact states cached in `home` for the workspace at `root`; see `FactStates`."""
    return FactStates(root, lambda scope: load(home, scope), redacted, zone)


def load(home: Path, scope: str) -> Section | None:
    """Return the cache of a scope; None if there is none that this version can read."""
    try:
        found = msgspec.msgpack.decode((private(home) / KEPT_IN / mark_of(scope)).read_bytes(), type=Section)
    except (OSError, msgspec.DecodeError):
        return None
    return found if found.version == VERSION else None


def save(home: Path, scope: str, section: Section) -> None:
    """Save the cache of a scope; ignore write errors."""
    with suppress(OSError, ReadOnlyError):
        folder = private_folder(home) / KEPT_IN
        platform.make_folder(folder)
        jsonl.replace_file(folder / mark_of(scope), msgspec.msgpack.encode(section), durable=False)


def drop(home: Path) -> None:
    """Delete the cache, because the content of facts can be guessed from hashes."""
    for path in (private(home) / KEPT_IN).glob("*"):
        platform.FS.unlink(path)


def stamp_of(root: Path, scopes: Iterable[str]) -> Stamp:
    """Return the states of all journals and of the fact files of these scopes."""
    return (*journals_of(root), *(fact for scope in scopes for fact in states_in(root, facts_folder(scope))))


def section_of(stamp: Stamp, scope: str, facts: Iterable[KnownFact]) -> Section:
    """Return the cache of a scope whose facts were read after `stamp` was taken."""
    inside = f"{facts_folder(scope)}/"
    files = {mark_of(path): state for path, state in stamp if path.startswith(inside)}
    journals = {path: state for path, state in stamp if path.startswith(f"{JOURNAL}/")}
    return Section(files, journals, list(facts))
