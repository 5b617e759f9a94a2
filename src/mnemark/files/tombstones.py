"""Collect tombstones from the journal: forgotten text that is still in files and hidden from every answer.

A `forget` line names turns by id, lines of notes by a hash of their words, and facts by id; an `undo` line
reverts it. Other lines of the journal are skipped without parsing, so that long journals cost little.
"""

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import xor
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mnemark.files import layout
from mnemark.files.ids import PackedIds
from mnemark.files.journal import Change, Journal
from mnemark.hashes import blake2b
from mnemark.text.lines import lines as lines_of
from mnemark.text.lines import runs_in
from mnemark.types import Json, Turn

Run = tuple[str, ...]
"""Hashes of consecutive lines, without blank ones."""
Place = int
"""Hash of scope and file name: tombstones follow a file moved within its scope, as into the archive."""
_BITS: Final = 64
AT_ONCE: Final = 64
"""Completed erasures that are summed up together while a journal is read."""


class Tombstones(NamedTuple):
    """The hidden turns, facts and lines. `version` increases with every change."""

    version: int = 0
    turns: PackedIds = PackedIds()
    """Ids of turns."""
    facts: PackedIds = PackedIds()
    """Ids of facts."""
    lines: Mapping[Place, frozenset[Run]] = MappingProxyType({})
    """Lines of notes."""
    logs: Mapping[Place, int] = MappingProxyType({})
    """The number of hidden turns of a log, and in the lower `_BITS` the hash of the lines that hide them."""
    facts_hash: int = 0

    def __bool__(self) -> bool:
        return bool(self.turns or self.facts or self.lines)

    def mark(self, path: str) -> str:
        """Return a fingerprint of what is hidden in a file; empty if nothing is."""
        if not (self.lines or self.logs or self.facts):
            return ""
        key = _key(path)
        found = sorted(" ".join(run) for run in self.lines.get(key, ()))
        found += [str(self.logs[key])] if key in self.logs else []
        place = layout.place(path)
        if place is not None and place.kind == "fact" and self.facts:
            found.append(str(self.facts_hash))
        return blake2b("\n".join(found).encode(), digest_size=8).hexdigest() if found else ""

    def count(self, path: str) -> int:
        """Return how many turns of a log are hidden."""
        return self.logs.get(_key(path), 0) >> _BITS

    def turns_left(self, turns: Iterable[tuple[int, Turn]]) -> list[tuple[int, Turn]]:
        """Return turns with their lines, without the hidden ones."""
        return [(line, turn) for line, turn in turns if turn.id not in self.turns]

    def lines_gone(self, path: str, text: str) -> set[int]:
        """Return the numbers (from 1) of a note's lines hidden by their words; facts are hidden by id."""
        runs = self.lines.get(_key(path), ())
        return {number for match in matches(lines_of(text), runs) for number in match} if runs else set()


NOTHING: Final = Tombstones()


def emptied(text: str, gone: Collection[int]) -> str:
    """Return a text with the given lines emptied, so that line numbers stay the same."""
    if not gone:
        return text
    return "".join(
        line[len(line.rstrip("\r\n")) :] if number in gone else line
        for number, line in enumerate(lines_of(text), 1)
    )


def line_mark(line: str) -> str:
    """Return the hash of a line without surrounding blanks."""
    return blake2b(line.strip().encode("utf-8", "replace"), digest_size=10).hexdigest()


def run_of(lines: Iterable[str]) -> Run:
    """Return the hashes of the non-blank lines, in order."""
    return tuple(line_mark(line) for line in lines if line.strip())


def matches(lines: Sequence[str], runs: Iterable[Run]) -> list[list[int]]:
    """Find runs in lines; return the line numbers (from 1) of each match.

    If a run is not found whole, because a line of it was changed, each of its lines that occurs exactly once
    matches; a line that occurs often, such as the end of a code block, is ambiguous.
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
    """Return the spans of a length at the starts; overlapping spans are merged."""
    found: list[tuple[int, int]] = []
    for at in starts:
        if found and at < found[-1][1]:
            found[-1] = found[-1][0], at + size
        else:
            found.append((at, at + size))
    return found


def _key(path: str) -> Place:
    return _hash(f"{layout.scope_of(path)}/{path.rpartition('/')[2]}")


def _hash(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=_BITS // 8).digest()
    return int.from_bytes(digest, "big")


def _joined(one: int, other: int) -> int:
    """Add the counts of two values of `Tombstones.logs` and combine their hashes, in any order."""
    count, mask = (one >> _BITS) + (other >> _BITS), (1 << _BITS) - 1
    return count << _BITS | (one ^ other) & mask


class ForgetState:
    """The combined state of the journal's `forget`, `undo` and `erased` lines."""

    KINDS: Final = ("forget", "undo", "erased")

    def __init__(self) -> None:
        self.lines: dict[str, Change] = {}
        """The `forget` lines by id, including undone ones."""
        self.undone: set[str] = set()
        """Ids of undone lines and facts."""
        self.completed: list[str] = []
        """Ids of the lines above whose text is erased from the files."""
        self.elsewhere: set[str] = set()
        """Ids of lines whose text another machine has erased from its files; some are erased here, too."""
        self._early: set[str] = set()
        """Ids of such lines that are not dropped; some were not read yet, from another machine's journal."""
        self._dropped = PackedIds()

    def take(self, change: Change, *, own: bool = True) -> bool:
        """Apply a line of one of `KINDS`; return whether it had an effect.

        `own`: it is of this machine's journal. Another machine's `erased` says nothing about the files here.
        """
        if not isinstance(change.payload, Mapping) or change.id in self._dropped:
            return False  # an old copy of a journal may bring a line again
        ids = strings(change.payload.get("ids"))
        if change.kind == "forget":
            self.lines[change.id] = change
            self.completed += [change.id] if change.id in self._early else []
        elif change.kind == "undo":
            self.undone.update(ids)
        elif not own:
            self.elsewhere.update(one for one in ids if one not in self._dropped)
            return False
        else:
            self._early.update(one for one in ids if one not in self._dropped)
            self.completed += [one for one in ids if one in self.lines]
        return True

    def is_erased(self, identifier: str) -> bool:
        """Whether the text that a line hides is erased from the files."""
        return identifier in self._early or identifier in self._dropped

    def drop_completed(self) -> None:
        """Drop the lines of completed erasures, to be called once what they say is summed up."""
        for identifier in self.completed:
            self.lines.pop(identifier, None)
        self._dropped = self._dropped.union(self.completed)
        self._early.difference_update(self.completed)
        self.elsewhere.difference_update(self.completed)
        self.completed = []

    def standing(self) -> Iterator[tuple[str, Mapping[str, Json]]]:
        """Yield ids and payloads of the lines that were not undone."""
        for identifier, change in self.lines.items():
            if identifier not in self.undone and isinstance(change.payload, Mapping):
                yield identifier, change.payload

    def hidden_facts(self, identifier: str) -> frozenset[str]:
        """Return the ids of the facts that a line hides; erased facts may be remembered again."""
        payload = self.lines[identifier].payload
        if not isinstance(payload, Mapping):
            return frozenset()
        passing = () if self.is_erased(identifier) else self.passing(identifier)
        return frozenset((*strings(payload.get("ids")), *passing))

    def passing(self, identifier: str) -> Sequence[str]:
        """Return the ids of the facts that a line hides until they are erased."""
        payload = self.lines[identifier].payload if identifier in self.lines else None
        return strings(payload.get("passing")) if isinstance(payload, Mapping) else ()

    def unfinished(self) -> list[Change]:
        """Return the lines that request an erasure which is not complete, sorted by id."""
        return [
            change
            for identifier, change in sorted(self.lines.items())
            if not self.is_erased(identifier)
            and isinstance(change.payload, Mapping)
            and change.payload.get("erase")
        ]


class TombstoneLog:
    """Cache of the tombstones in the journal. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._feed = journal.feed(*ForgetState.KINDS)
        self._lock = threading.Lock()
        self._hidden = NOTHING
        self._clear()

    def _clear(self) -> None:
        self._forgotten = ForgetState()
        """Without the lines of completed erasures."""
        self._erased = NOTHING
        """What these hide. Nothing shows it again, so that no line of theirs is kept in memory."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Unreadable journals and why; of these only the lines read before apply."""
        return self._feed.journal.problems

    def current(self) -> Tombstones:
        """Return the current tombstones; costs a `stat` of each journal if nothing changed."""
        with self._lock:
            rewritten, entries = self._feed.take()
            if rewritten:
                self._clear()
            changed = rewritten
            for entry in entries:
                own = entry.file == self._feed.journal.file
                changed = self._forgotten.take(entry.change, own=own) or changed
                if len(self._forgotten.completed) >= AT_ONCE:
                    self._drop_completed()
            if changed:
                self._drop_completed()
                now = _fold(self._erased, self._forgotten, self._forgotten.lines)
                self._hidden = now._replace(version=self._hidden.version + 1)
            return self._hidden

    def _drop_completed(self) -> None:
        if self._forgotten.completed:
            self._erased = _fold(self._erased, self._forgotten, self._forgotten.completed)
            self._forgotten.drop_completed()

    def erased_turns(self) -> PackedIds:
        """Return the ids of turns whose text is erased, also of logs that were deleted since."""
        self.current()
        with self._lock:
            return self._erased.turns

    def unfinished(self) -> list[Change]:
        """Return the lines that request an erasure which is not complete, oldest first."""
        self.current()
        with self._lock:
            return self._forgotten.unfinished()

    def is_done_elsewhere(self, identifier: str) -> bool:
        """Whether another machine has erased from its files what a line of `unfinished` hides."""
        return identifier in self._forgotten.elsewhere


def _fold(before: Tombstones, forgotten: ForgetState, which: Collection[str]) -> Tombstones:
    """Return tombstones with what some standing lines hide, and the facts that were taken back."""
    turns: set[str] = set()
    facts = set(forgotten.undone)  # while a file still holds them
    lines: defaultdict[Place, set[Run]] = defaultdict(set)
    logs = dict(before.logs)
    wanted = frozenset(which)
    for identifier, payload in forgotten.standing():
        if identifier not in wanted:
            continue
        facts |= forgotten.hidden_facts(identifier)
        for path, ids in by_path(payload.get("turns")):
            turns.update(ids)
            key = _key(path)
            logs[key] = _joined(logs.get(key, 0), len(ids) << _BITS | _hash(identifier))
        if not forgotten.is_erased(identifier):  # else the same words may be written again
            for path, runs in runs_by_path(payload.get("lines")):
                lines[_key(path)].update(runs)
    return Tombstones(
        turns=before.turns.union(turns),
        facts=before.facts.union(facts),
        lines={key: frozenset(runs) for key, runs in lines.items()},
        logs=logs,
        facts_hash=reduce(xor, (_hash(one) for one in facts if one not in before.facts), before.facts_hash),
    )


def strings(value: Any) -> Sequence[str]:
    """Return the strings in a list of a journal payload."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def by_path(value: Any) -> list[tuple[str, Sequence[str]]]:
    """Return the strings listed for each path."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return [(path, strings(texts)) for path, texts in pairs if isinstance(path, str)]


def runs_by_path(value: Any) -> list[tuple[str, list[Run]]]:
    """Return the runs of lines listed for each path."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return [
        (path, [run for one in runs if (run := tuple(strings(one)))])
        for path, runs in pairs
        if isinstance(path, str) and isinstance(runs, list)
    ]
