"""Tell which facts hold without reading them all, for an answer that has little time.

Who has read the facts of a scope leaves here when each of them holds, and which files and journals say so.
Later that is believed of every fact of which nothing was written since: changed files are read, and of the
journals what was appended. Of any other fact it is not known whether it holds, and it is not shown.

No words are kept: facts are named by their ids, and what they are about by hashes. Derived, deleted at will.
"""

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import ReadOnlyError
from mnemark.facts.files import FOLDER, FactFiles
from mnemark.facts.keys import predicate_key, subject_key, value_key
from mnemark.facts.model import Fact
from mnemark.facts.parse import clean
from mnemark.facts.timeline import FactVersion
from mnemark.facts.write import core_entry, entry_words
from mnemark.files import jsonl, layout, platform
from mnemark.files.ids import new_id
from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.types import Json

KEPT_IN: Final = "facts"
"""Folder below `.mnemark/`."""
VERSION: Final = 1
MOST_BYTES: Final = 1 << 18
"""Of changed files and of what was appended to journals: more is not read under a deadline."""
_LINE: Final = re.compile(rb'"kind"\s*:\s*"(?:remember|edit|tombstone|forget|undo|erased)"')
_WORDS: Final = ("subject", "predicate", "value")

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


class _Doubt:
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
        self._read: dict[str, tuple[dict[str, Known], _Doubt]] = {}
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

    def _known(self, scope: str) -> tuple[dict[str, Known], _Doubt]:
        if scope not in self._read:
            section = self._section(scope)
            if section is None:
                self._read[scope] = {}, _Doubt(everything=True)
            else:
                files = FactFiles(self._root, self._redacted)
                facts = {one.id: one for one in section.facts}
                self._read[scope] = facts, _doubted(files, scope, section, facts)
        return self._read[scope]


def kept(root: Path, home: Path, redacted: Callable[[str], str]) -> FactStates:
    """What was kept beside the index in `home` of the facts of the workspace at `root`; see `FactStates`."""
    return FactStates(root, lambda scope: load(home, scope), redacted)


def load(home: Path, scope: str) -> Section | None:
    """What was kept of a scope; None where nothing was, or nothing that this version reads."""
    try:
        found = msgspec.msgpack.decode(
            (home / layout.PRIVATE / KEPT_IN / _mark(scope)).read_bytes(), type=Section
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
        platform.FS.replace(temporary, folder / _mark(scope))


def drop(home: Path) -> None:
    """Remove what was kept, as what facts are about can be guessed from hashes."""
    for path in (home / layout.PRIVATE / KEPT_IN).glob("*"):
        platform.FS.unlink(path)


def stamp_of(root: Path, scopes: Iterable[str]) -> Stamp:
    """The states of all files that say something about the facts of these scopes; of journals first."""
    return (*journals_of(root), *(one for scope in scopes for one in _states(root, _folder(scope))))


def journals_of(root: Path) -> Stamp:
    """The states of the journals."""
    return tuple(_states(root, JOURNAL))


def section_of(stamp: Stamp, scope: str, facts: Iterable[Known]) -> Section:
    """What is to be kept of a scope whose facts were read after `stamp` was taken."""
    inside = f"{_folder(scope)}/"
    files = {_mark(path): state for path, state in stamp if path.startswith(inside)}
    journals = {path: state for path, state in stamp if path.startswith(f"{JOURNAL}/")}
    return Section(files, journals, list(facts))


def known_of(held: FactVersion) -> Known:
    """What is to be known of a fact."""
    fact = held.fact
    return Known(
        fact.id,
        _mark(fact.path) if fact.line else "",
        _about(fact),
        _words(fact),
        entry_mark(core_entry(fact)),
        None if held.begin is None else held.begin.timestamp(),
        None if held.end is None else held.end.timestamp(),
    )


def entry_mark(line: str) -> str:
    """What a line of a generated part is known by; since when it says it holds makes no difference."""
    return _mark(entry_words(line))


def _mark(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _about(fact: Fact) -> str:
    return _mark("\0".join(fact.key))


def _words(fact: Fact) -> str:
    words = (subject_key(fact.subject), predicate_key(fact.predicate), value_key(fact.value), fact.since)
    return _mark("\0".join(words))


def _folder(scope: str) -> str:
    return f"{scope}/{FOLDER}" if scope else FOLDER


def _states(root: Path, folder: str) -> Iterator[tuple[str, State]]:
    try:
        with os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                with suppress(OSError):  # a link to nothing, or in a circle
                    status = entry.stat()
                    yield f"{folder}/{entry.name}", (status.st_mtime_ns, status.st_size, status.st_ino)
    except OSError:  # there is none, or the scan tells of it
        return


def _doubted(files: FactFiles, scope: str, section: Section, facts: Mapping[str, Known]) -> _Doubt:
    doubt = _Doubt()
    room = _read_files(files, scope, section, facts, doubt)
    _read_journals(files.root, scope, section, doubt, room)
    return doubt


def _read_files(
    files: FactFiles, scope: str, section: Section, facts: Mapping[str, Known], doubt: _Doubt
) -> int:
    """Look at the files that changed; returns how many bytes may still be read."""
    room = MOST_BYTES
    now = {_mark(path): (path, state) for path, state in _states(files.root, _folder(scope))}
    changed = {
        mark for mark in {*now, *section.files} if section.files.get(mark) != now.get(mark, ("", None))[1]
    }
    if not changed:
        return room
    stood: dict[str, list[Known]] = defaultdict(list)
    for known in facts.values():
        stood[known.file].append(known)
    readable = set(files.paths(scope))
    for mark in changed:
        path, state = now.get(mark, ("", (0, 0, 0)))
        room -= state[1]
        if room < 0:
            doubt.everything = True
            return room
        standing = {fact.id: fact for fact in files.facts(path)} if path in readable else {}
        for known in stood[mark]:
            if known.id not in standing:
                doubt.ids.add(known.id)
                doubt.about.add(known.about)
        for fact in standing.values():
            _compare(facts.get(fact.id), fact, doubt)
    return room


def _compare(known: Known | None, fact: Fact, doubt: _Doubt) -> None:
    """Doubt what a fact in a file is about, unless it says what it said."""
    ended = bool(fact.until) and known is not None and known.end is None
    if known is None or ended or known.words != _words(fact):
        doubt.ids.add(fact.id)
        doubt.about.add(_about(fact))
        if known is not None:
            doubt.about.add(known.about)


def _read_journals(root: Path, scope: str, section: Section, doubt: _Doubt, room: int) -> None:
    now = dict(journals_of(root))
    for path in {*now, *section.journals}:
        state, before = now.get(path), section.journals.get(path, (0, 0, 0))
        if not path.endswith(".jsonl") or state == before:
            continue
        rewritten = state is None or state[1] < before[1] or (before[1] > 0 and state[2] != before[2])
        room -= 0 if state is None else state[1] - before[1]
        if rewritten or room < 0 or not _appended(root / path, before[1], scope, doubt):
            doubt.everything = True
            return


def _appended(path: Path, offset: int, scope: str, doubt: _Doubt) -> bool:
    """Doubt what the lines behind `offset` speak of; False where that cannot be told."""
    try:
        with platform.opened(path) as file:
            file.seek(max(offset - 1, 0))
            data = file.read(MOST_BYTES + 1)
    except OSError:
        return False
    if offset and data[:1] != b"\n":
        return False  # it was in the middle of a line
    for line in data.split(b"\n"):
        if _LINE.search(line) and not _take(jsonl.decode(line) or {}, scope, doubt):
            return False
    return True


def _take(record: Mapping[str, Json], scope: str, doubt: _Doubt) -> bool:
    """Doubt what one line of a journal speaks of; False where that may be any fact."""
    kind, payload = record.get("kind"), record.get("payload")
    if not isinstance(payload, dict) or kind in {"undo", "erased"}:
        return False
    if str(record.get("scope") or "") == scope and kind != "forget":
        for part in (payload, payload.get("before")):
            if isinstance(part, dict):
                subject, predicate, value = (clean(str(part.get(name) or "")) for name in _WORDS)
                doubt.about.add(
                    _about(Fact(id="", subject=subject or "user", predicate=predicate, value=value))
                )
    for name in ("fact", "id", "ids", "passing", "ends"):
        found = payload.get(name)
        doubt.ids.update(str(one) for one in (found if isinstance(found, (list, dict)) else [found]) if one)
    return True
