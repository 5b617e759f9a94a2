"""Tombstones: what was forgotten and is still in the files, hidden from every answer.

The journal says it: a `forget` line names turns by id, lines of notes by a hash of their words, and facts by
id; an `undo` line shows them again. Other lines of the journal are passed over unread, so that asking costs
little also where it is long.
"""

import hashlib
import re
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mnemark.files import jsonl, layout, platform
from mnemark.files.disk_errors import is_no_file, unread
from mnemark.files.journal import FOLDER, states
from mnemark.text.diff import runs_in
from mnemark.types import Json, Turn

_LINES: Final = re.compile(rb'"kind"\s*:\s*"(?:forget|undo|erased)"')
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")

Run = tuple[str, ...]
"""Marks of lines that stand one below the other, blank ones left out."""
Place = tuple[str, str]
"""Scope and file name: a file moved within its scope, for example into the archive, stays known."""


class Tombstones(NamedTuple):
    """What is not to be found. `version` rises with every change."""

    version: int = 0
    turns: frozenset[str] = frozenset()
    """Ids of turns."""
    facts: frozenset[str] = frozenset()
    """Ids of facts."""
    lines: Mapping[Place, frozenset[Run]] = MappingProxyType({})
    """Lines of notes."""
    logs: Mapping[Place, frozenset[str]] = MappingProxyType({})
    """Ids of the hidden turns of a log."""

    def __bool__(self) -> bool:
        return bool(self.turns or self.facts or self.lines)

    def mark(self, path: str) -> str:
        """What tells whether other parts of that file are hidden than before; empty where none is."""
        if not self:
            return ""
        key = _key(path)
        found = [*(" ".join(run) for run in self.lines.get(key, ())), *self.logs.get(key, ())]
        place = layout.place(path)
        if place is not None and place.kind == "fact":
            found += self.facts
        return hashlib.blake2b("\n".join(sorted(found)).encode(), digest_size=8).hexdigest() if found else ""

    def turns_left(self, turns: Iterable[tuple[int, Turn]]) -> list[tuple[int, Turn]]:
        """Turns, each with its line, without the hidden ones."""
        return [(line, turn) for line, turn in turns if turn.id not in self.turns]

    def lines_gone(self, path: str, text: str) -> set[int]:
        """Numbers (from 1) of the lines of a note that are hidden by their words; facts are hidden by id."""
        runs = self.lines.get(_key(path), ())
        return {number for match in matches(_lines(text), runs) for number in match} if runs else set()


NOTHING: Final = Tombstones()


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)[:-1]


def emptied(text: str, gone: Collection[int]) -> str:
    """The text with the lines of these numbers emptied, so that the numbers of all lines hold."""
    if not gone:
        return text
    return "".join(
        line[len(line.rstrip("\r\n")) :] if number in gone else line
        for number, line in enumerate(_lines(text), 1)
    )


def line_mark(line: str) -> str:
    """What a hidden line is known by: a hash of its words, blanks around them left out."""
    return hashlib.blake2b(line.strip().encode("utf-8", "replace"), digest_size=10).hexdigest()


def run_of(lines: Iterable[str]) -> Run:
    """The marks of the lines that are not blank, in order."""
    return tuple(line_mark(line) for line in lines if line.strip())


def matches(lines: Sequence[str], runs: Iterable[Run]) -> list[list[int]]:
    """Where the runs stand among the lines: the numbers (from 1) of the lines of each match.

    Of a run that stands nowhere whole, because a line of it was changed, each line that is there just once
    counts: what stands in many places, such as the end of a code block, does not tell.
    """
    numbered = [(number, line_mark(line)) for number, line in enumerate(lines, 1) if line.strip()]
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, (_, mark) in enumerate(numbered):
        places[mark].append(at)
    marks = [mark for _, mark in numbered]
    found: list[list[int]] = []
    for run in filter(None, runs):
        spans = _spans(runs_in(marks, run), len(run)) if run[0] in places else []
        found += [[number for number, _ in numbered[first:last]] for first, last in spans]
        if not spans:
            found += [[numbered[places[mark][0]][0]] for mark in run if len(places.get(mark, ())) == 1]
    return found


def _spans(starts: Iterable[int], size: int) -> list[tuple[int, int]]:
    """What begins at the starts and is that long; what overlaps, as it does where lines repeat, is one."""
    found: list[tuple[int, int]] = []
    for at in starts:
        if found and at < found[-1][1]:
            found[-1] = found[-1][0], at + size
        else:
            found.append((at, at + size))
    return found


def _key(path: str) -> Place:
    return layout.scope_of(path), path.rpartition("/")[2]


class TombstoneLog:
    """Follows the journal's lines on forgetting. Safe to use from several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._hidden = NOTHING
        self.problems: tuple[str, ...] = ()
        """Journals that cannot be read, and why: what they hide is known as far as it was read before."""
        self._clear()

    def _clear(self) -> None:
        self._seen: dict[str, tuple[int, int]] = {}
        """Inode, and bytes read, of each journal."""
        self._forgotten: dict[str, Mapping[str, Json]] = {}
        self._undone: set[str] = set()
        self._erased: set[str] = set()

    def current(self) -> Tombstones:
        """What is hidden now; a `stat` of each journal where nothing changed."""
        with self._lock:
            try:
                there = states(self._root)
            except OSError as error:
                self.problems = (f"{FOLDER}/ {unread(error)}",)
                return self._hidden
            if any(self._rewritten(name, there) for name in self._seen):
                self._clear()
                self._hidden = Tombstones(self._hidden.version + 1)
            changed = False
            problems = []
            for name, state in there.items():
                if state.size == self._seen.get(name, (-1, -1))[1]:
                    continue
                try:
                    changed |= self._read(name, state)
                except OSError as error:
                    if not is_no_file(error):
                        problems.append(f"{FOLDER}/{layout.shown(name)} {unread(error)}")
            self.problems = tuple(problems)
            if changed:
                self._hidden = self._fold(self._hidden.version + 1)
            return self._hidden

    def unfinished(self) -> bool:
        """Whether something was noted to be erased and is not known to be."""
        self.current()
        with self._lock:
            return any(
                payload.get("erase") for one, payload in self._forgotten.items() if one not in self._erased
            )

    def _rewritten(self, name: str, there: Mapping[str, platform.Identity]) -> bool:
        state = there.get(name)
        inode, size = self._seen[name]
        return state is None or state.inode != inode or state.size < size

    def _read(self, name: str, state: platform.Identity) -> bool:
        """Take in what a journal gained, up to its last whole line; whether any of it is about forgetting."""
        start = self._seen.get(name, (0, 0))[1]
        try:
            with platform.opened(self._root / FOLDER / name) as file:
                file.seek(start)
                data = file.read()
        except FileNotFoundError:
            return False
        whole = data.rfind(b"\n") + 1
        self._seen[name] = (state.inode, start + whole)
        found = False
        for match in _LINES.finditer(data, 0, whole):
            first = data.rfind(b"\n", 0, match.start()) + 1
            record = jsonl.decode(data[first : data.index(b"\n", match.end())])
            found |= record is not None and self._take(record)
        return found

    def _take(self, record: Mapping[str, Json]) -> bool:
        payload, identifier = record.get("payload"), record.get("id")
        if not isinstance(payload, Mapping) or not isinstance(identifier, str):
            return False
        match record.get("kind"):
            case "forget":
                self._forgotten[identifier] = payload
            case "undo":
                self._undone.update(strings(payload.get("ids")))
            case "erased":
                self._erased.update(strings(payload.get("ids")))
            case _:
                return False
        return True

    def _fold(self, version: int) -> Tombstones:
        turns: set[str] = set()
        facts = set(self._undone)  # facts that were taken back, too, while a file still holds them
        lines: defaultdict[Place, set[Run]] = defaultdict(set)
        logs: defaultdict[Place, set[str]] = defaultdict(set)
        for identifier, payload in self._forgotten.items():
            if identifier in self._undone:
                continue
            facts.update(strings(payload.get("ids")))
            for path, ids in by_path(payload.get("turns")):
                turns.update(ids)
                logs[_key(path)].update(ids)
            if identifier in self._erased:  # the same words may be written again
                continue
            facts.update(strings(payload.get("passing")))
            for path, runs in runs_by_path(payload.get("lines")):
                lines[_key(path)].update(runs)
        return Tombstones(
            version,
            frozenset(turns),
            frozenset(facts),
            {key: frozenset(runs) for key, runs in lines.items()},
            {key: frozenset(ids) for key, ids in logs.items()},
        )


def strings(value: Any) -> Sequence[str]:
    """The texts in a list of a journal's line."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def by_path(value: Any) -> list[tuple[str, Sequence[str]]]:
    """Paths with the texts listed for each."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return [(path, strings(texts)) for path, texts in pairs if isinstance(path, str)]


def runs_by_path(value: Any) -> list[tuple[str, list[Run]]]:
    """Paths with the runs of lines listed for each."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return [
        (path, [run for one in runs if (run := tuple(strings(one)))])
        for path, runs in pairs
        if isinstance(path, str) and isinstance(runs, list)
    ]
