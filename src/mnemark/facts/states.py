"""Tell which facts hold without reading them all, for an answer that has little time.

Who has read the facts of a scope leaves here when each of them holds, and which files and journals say so.
Later that is believed of every fact of which nothing was written since: changed files are read, and of the
journals what was appended. Of any other fact it is not known whether it holds, and it is not shown.

No words are kept: facts are named by their ids, and what they are about by hashes. Derived, deleted at will.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import ReadOnlyError
from mnemark.facts.known import (
    VERSION,
    Doubt,
    Known,
    Section,
    Stamp,
    entry_mark,
    facts_folder,
    journals_of,
    mark_of,
    states_in,
)
from mnemark.files import jsonl, layout, platform
from mnemark.files.ids import new_id
from mnemark.files.journal import FOLDER as JOURNAL

KEPT_IN: Final = "facts"
"""Folder below `.mnemark/`."""


class FactStates:
    """What is known of the facts of a workspace, by scope, as it was kept and as it was changed since.

    Good for one answer. `section` gives what was kept of a scope; None where nothing was. `redacted` takes
    secrets out of a text and keeps its lines, as for the facts that were kept.
    """

    def __init__(
        self, root: Path, section: Callable[[str], Section | None], redacted: Callable[[str], str]
    ) -> None:
        self._root = root
        self._section = section
        self._redacted = redacted
        self._read: dict[str, tuple[dict[str, Known], Doubt]] = {}
        self._hidden: dict[str, frozenset[str]] = {}

    def holds(self, scope: str, identifier: str, now: datetime) -> bool | None:
        """Whether a fact holds at a moment (with a zone); None where that is not known."""
        facts, doubt = self._known(scope)
        known = facts.get(identifier)
        return None if known is None or doubt.of(known) else known.holds(now.timestamp())

    def is_past(self, scope: str, line: str, now: datetime) -> bool:
        """Whether a line of a generated part tells a fact that does not hold, or of which that is unknown."""
        if scope not in self._hidden:
            facts, doubt = self._known(scope)
            moment = now.timestamp()
            held = {one.entry for one in facts.values() if one.holds(moment) and not doubt.of(one)}
            self._hidden[scope] = frozenset(one.entry for one in facts.values()) - held
        return entry_mark(line) in self._hidden[scope]

    def settled(self, scope: str) -> bool:
        """Whether nothing that says something about facts was written since."""
        return not self._known(scope)[1]

    def _known(self, scope: str) -> tuple[dict[str, Known], Doubt]:
        if scope not in self._read:
            section = self._section(scope)
            if section is None:
                self._read[scope] = {}, Doubt(everything=True)
            else:
                facts = {one.id: one for one in section.facts}
                self._read[scope] = facts, self._doubt(scope, section, facts)
        return self._read[scope]

    def _doubt(self, scope: str, section: Section, facts: Mapping[str, Known]) -> Doubt:
        files = {mark_of(path): state for path, state in states_in(self._root, facts_folder(scope))}
        if files == section.files and dict(journals_of(self._root)) == section.journals:
            return Doubt()
        from mnemark.facts.doubts import doubted  # what reads facts takes long to load

        return doubted(self._root, self._redacted, scope, section, facts)


def kept(root: Path, home: Path, redacted: Callable[[str], str]) -> FactStates:
    """What was kept beside the index in `home` of the facts of the workspace at `root`; see `FactStates`."""
    return FactStates(root, lambda scope: load(home, scope), redacted)


def load(home: Path, scope: str) -> Section | None:
    """What was kept of a scope; None where nothing was, or nothing that this version reads."""
    try:
        found = msgspec.msgpack.decode(
            (home / layout.PRIVATE / KEPT_IN / mark_of(scope)).read_bytes(), type=Section
        )
    except (OSError, msgspec.DecodeError):
        return None
    return found if found.version == VERSION else None


def save(home: Path, scope: str, section: Section) -> None:
    """Keep it; where that fails, it is only not known the next time."""
    with suppress(OSError, ReadOnlyError):
        folder = layout.private_folder(home) / KEPT_IN
        platform.make_folder(folder)
        temporary = folder / (jsonl.TEMPORARY + new_id())
        jsonl.write_new(temporary, msgspec.msgpack.encode(section), durable=False)
        platform.FS.replace(temporary, folder / mark_of(scope))


def drop(home: Path) -> None:
    """Remove what was kept, as what facts are about can be guessed from hashes."""
    for path in (home / layout.PRIVATE / KEPT_IN).glob("*"):
        platform.FS.unlink(path)


def stamp_of(root: Path, scopes: Iterable[str]) -> Stamp:
    """The states of all files that say something about the facts of these scopes; of journals first."""
    return (*journals_of(root), *(one for scope in scopes for one in states_in(root, facts_folder(scope))))


def section_of(stamp: Stamp, scope: str, facts: Iterable[Known]) -> Section:
    """What is to be kept of a scope whose facts were read after `stamp` was taken."""
    inside = f"{facts_folder(scope)}/"
    files = {mark_of(path): state for path, state in stamp if path.startswith(inside)}
    journals = {path: state for path, state in stamp if path.startswith(f"{JOURNAL}/")}
    return Section(files, journals, list(facts))
