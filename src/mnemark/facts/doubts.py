"""Find the cached fact states that later writes to files or journals invalidated; see `facts.states`."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Final

from mnemark.facts.files import FactFiles
from mnemark.facts.fold import said_in, words_of
from mnemark.facts.known import (
    Doubt,
    KnownFact,
    Section,
    entry_mark,
    facts_folder,
    journals_of,
    mark_of,
    states_in,
)
from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion, when
from mnemark.facts.write import core_entries
from mnemark.files import jsonl, platform
from mnemark.types import Json

MOST_BYTES: Final = 1 << 18
"""Maximum bytes read of changed files and appended journal lines, to meet a deadline."""
_LINE: Final = re.compile(
    rb'"kind"\s*:\s*"(?:remember|correct|retract|otherwise|edit|tombstone|forget|undo|erased)"'
)


def known_of(held: FactVersion) -> KnownFact:
    """Return the state to cache of a fact version."""
    fact = held.fact
    return KnownFact(
        fact.id,
        mark_of(fact.path) if fact.line else "",
        _key_hash(fact),
        _words_hash(fact),
        tuple(map(entry_mark, dict.fromkeys(core_entries(fact)))),
        None if held.begin is None else held.begin.timestamp(),
        None if held.end is None else held.end.timestamp(),
        fact.otherwise is not None,
    )


def _key_hash(fact: Fact) -> str:
    return mark_of("\0".join(fact.key))


def _words_hash(fact: Fact) -> str:
    return mark_of("\0".join((*words_of(fact), fact.since)))


def doubted(
    root: Path,
    redacted: Callable[[str], str],
    scope: str,
    section: Section,
    facts: Mapping[str, KnownFact],
    *,
    zone: tzinfo,
) -> Doubt:
    """Return which cached facts of a scope are invalid because of later writes."""
    files = FactFiles(root, redacted, zone)
    doubt = Doubt()
    room = _read_files(files, scope, section, facts, doubt)
    _read_journals(files.root, scope, section, doubt, room)
    return doubt


def _read_files(
    files: FactFiles, scope: str, section: Section, facts: Mapping[str, KnownFact], doubt: Doubt
) -> int:
    """Invalidate facts of changed files; return how many bytes may still be read."""
    room = MOST_BYTES
    now = {mark_of(path): (path, state) for path, state in states_in(files.root, facts_folder(scope))}
    changed = {
        mark for mark in {*now, *section.files} if section.files.get(mark) != now.get(mark, ("", None))[1]
    }
    if not changed:
        return room
    cached: dict[str, list[KnownFact]] = defaultdict(list)
    for known in facts.values():
        cached[known.file].append(known)
    readable = set(files.paths(scope))
    for mark in changed:
        path, state = now.get(mark, ("", (0, 0, 0)))
        room -= state[1]
        if room < 0:
            doubt.everything = True
            return room
        standing = {fact.id: fact for fact in files.facts(path)} if path in readable else {}
        for known in cached[mark]:
            if known.id not in standing:
                doubt.ids.add(known.id)
                doubt.about.add(known.about)
        for fact in standing.values():
            _compare(facts.get(fact.id), fact, files.zone, doubt)
    return room


def _compare(known: KnownFact | None, fact: Fact, zone: tzinfo, doubt: Doubt) -> None:
    """Invalidate a fact in a file, and its key, unless it says what is known and ends no earlier."""
    if known is None or known.words != _words_hash(fact) or _ends_earlier(fact, known, zone):
        doubt.ids.add(fact.id)
        doubt.about.add(_key_hash(fact))
        if known is not None:
            doubt.about.add(known.about)


def _ends_earlier(fact: Fact, known: KnownFact, zone: tzinfo) -> bool:
    """Return whether a fact ends before its known end.

    A later end is no doubt: it may be written in the file, while a fact that followed ended this one before.
    """
    if not fact.until or known.end is None:
        return bool(fact.until)
    end = when(fact.until, zone)
    return end is not None and end.timestamp() < known.end


def _read_journals(root: Path, scope: str, section: Section, doubt: Doubt, room: int) -> None:
    now = dict(journals_of(root))
    for path in {*now, *section.journals}:
        state, before = now.get(path), section.journals.get(path, (0, 0, 0))
        if not path.endswith(".jsonl") or state == before:
            continue
        rewritten = state is None or state[1] < before[1] or (before[1] > 0 and state[2] != before[2])
        room -= 0 if state is None else state[1] - before[1]
        if rewritten or room < 0 or not _read_appended(root / path, before[1], scope, doubt):
            doubt.everything = True
            return


def _read_appended(path: Path, offset: int, scope: str, doubt: Doubt) -> bool:
    """Invalidate the facts named by lines after `offset`; return False if they cannot be determined."""
    try:
        with platform.opened(path) as file:
            file.seek(max(offset - 1, 0))
            data = file.read(MOST_BYTES + 1)
    except OSError:
        return False
    if offset and data[:1] != b"\n":
        return False  # not at the start of a line
    for line in data.split(b"\n"):
        if _LINE.search(line) and not _take(jsonl.decode(line) or {}, scope, doubt):
            return False
    return True


def _take(record: Mapping[str, Json], scope: str, doubt: Doubt) -> bool:
    """Invalidate the facts a journal line names; return False if it may concern any fact."""
    kind, payload = record.get("kind"), record.get("payload")
    if not isinstance(payload, dict) or kind in {"undo", "erased"}:
        return False
    if str(record.get("scope") or "") == scope and kind != "forget":
        doubt.about.update(map(_key_hash, said_in(payload)))
    for name in ("fact", "id", "ids", "passing", "ends"):
        found = payload.get(name)
        doubt.ids.update(str(key) for key in (found if isinstance(found, (list, dict)) else [found]) if key)
    return True
