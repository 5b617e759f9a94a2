"""List what was written to a workspace in the order of time: turns, daily notes, journal changes."""

import heapq
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any, Final, Literal

import msgspec

from mnemark.errors import NotFoundError
from mnemark.facts.visible import Visible
from mnemark.files import layout, platform
from mnemark.files.journal import Change, Journal, JournalEntry
from mnemark.files.scan import Scan, scan
from mnemark.files.sessions import SessionLog, session_id
from mnemark.types import Origin, Problem

_BULLET: Final = re.compile(r"[-*+] (?P<hour>[0-2]\d):(?P<minute>[0-5]\d)(?P<text> .*)")

_BOOKKEEPING: Final = frozenset({"project", "done"})
"""Kinds of journal lines that say how far a change is, and change nothing themselves."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was written."""

    time: datetime
    kind: Literal["turn", "note", "change"]
    ref: str
    origin: Origin
    who: str
    """Role of the turn, or kind of the change; empty for notes."""
    session: str = ""
    text: str
    id: str = ""
    """Of a change, for `undo`."""
    takes_back: tuple[str, ...] = ()
    """Of an undo: what it took back, in words."""
    paths: tuple[str, ...] = ()
    """Of an undo: files that it edited for that."""


class Ledger:
    """Reads the latest entries of some scopes of a workspace; None for all scopes.

    Only as many files are opened as the entries asked for may come from.
    """

    def __init__(
        self,
        visible: Visible,
        *,
        scopes: frozenset[str] | None,
        zone: tzinfo | None,
        ignore: tuple[str, ...] = (),
    ) -> None:
        self.root = root = visible.root
        self._visible = visible
        self.scopes = scopes
        self.zone = zone
        self._found: Scan = scan(root, ignore=ignore)

    def latest(self, count: int, *, since: datetime | None = None, session: str | None = None) -> list[Entry]:
        """The last `count` entries, oldest first.

        Raises:
            NotFoundError: `session` is given and there is none of that id.
        """
        found = list(self._turns(count, session))
        if session is None:
            found += [*self._notes(count), *self._changes(count)]
        recent = [entry for entry in found if since is None or self._zoned(entry.time) >= self._zoned(since)]
        newest = heapq.nlargest(count, recent, key=lambda entry: (self._zoned(entry.time), entry.ref))
        return newest[::-1]

    def _zoned(self, moment: datetime) -> datetime:
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=self.zone)

    def _seen(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes

    def _turns(self, count: int, session: str | None) -> Iterator[Entry]:
        logs = [entry for entry in self._found.entries if self._role(entry.path) == "session"]
        if session is not None:
            logs = [entry for entry in logs if self._is_of(entry.path, session)]
            if not logs:
                raise NotFoundError(f"session {session!r} not found; `mnemark sessions` lists all sessions")
        for entry in heapq.nlargest(count, logs, key=lambda log: log.mtime_ns):
            if not platform.is_readable(self.root / entry.path):  # `doctor` tells of it
                continue
            log = SessionLog.at(self.root, entry.path)
            for turn in map(self._visible.turn, log.last(count)):
                yield Entry(
                    time=turn.time,
                    kind="turn",
                    ref=entry.path,
                    origin=turn.origin,
                    who=turn.role,
                    session=log.id,
                    text=turn.content,
                )

    def _is_of(self, path: str, session: str) -> bool:
        full = self.root / path
        return platform.is_readable(full) and (session_id(full) or full.stem) == session

    def _role(self, path: str) -> str:
        place = layout.place(path)
        return place.role if place is not None and self._seen(place.scope) else ""

    def _notes(self, count: int) -> Iterator[Entry]:
        daily = [entry for entry in self._found.entries if self._role(entry.path) == "daily"]
        for entry in heapq.nlargest(count, daily, key=lambda note: (_day(note.path), note.path)):
            found = self._visible.read(entry.path, entry)
            if not isinstance(found, Problem):
                yield from self._note(entry.path, found.text)

    def _note(self, path: str, text: str) -> Iterator[Entry]:
        """A timed bullet each; a note without any is one entry, at the start of its day."""
        day = _day(path)
        timed = 0
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            match = _BULLET.match(line)
            if match is None or int(match["hour"]) > 23:
                continue
            timed += 1
            moment = datetime.combine(day, time(int(match["hour"]), int(match["minute"])), self.zone)
            yield self._line(path, number, moment, match["text"].strip())
        if not timed:
            number = next((n for n, line in enumerate(lines, 1) if line.strip(" #\t-")), 1)
            words = lines[number - 1].strip(" #\t-") if lines else ""
            yield self._line(path, number, datetime.combine(day, time(), self.zone), words)

    def _line(self, path: str, number: int, moment: datetime, words: str) -> Entry:
        place = layout.place(path)
        origin: Origin = place.origin if place is not None else "file"
        return Entry(time=moment, kind="note", ref=f"{path}#L{number}", origin=origin, who="", text=words)

    def _changes(self, count: int) -> Iterator[Entry]:
        journal = [entry for entry in Journal(self.root).read() if entry.change.kind not in _BOOKKEEPING]
        seen = [entry for entry in journal if self._seen(entry.change.scope)]
        known = {entry.change.id: entry.change for entry in journal}
        for entry, *more in folded(seen, known)[-count:]:
            change = entry.change
            yield Entry(
                time=change.time or datetime.fromtimestamp(0, UTC),
                kind="change",
                ref=f"journal/{entry.file}#L{entry.line}",
                origin=change.origin,
                who=change.kind,
                text=self._visible.redacted(_words(change.payload)),
                id=change.id,
                takes_back=tuple(map(self._visible.redacted, _taken_back(change, more, known))),
                paths=tuple(dict.fromkeys(_edited(more))),
            )


def folded(journal: Sequence[JournalEntry], known: Mapping[str, Change]) -> list[list[JournalEntry]]:
    """Lines of the journal that people see as one: an undo with the edits it made, and a group's undo."""
    found: list[list[JournalEntry]] = []
    for entry in journal:
        last = found[-1] if found else None
        if last is not None and last[0].file == entry.file and _belongs(last[0].change, entry.change, known):
            last.append(entry)
        else:
            found.append([entry])
    return found


def _belongs(first: Change, change: Change, known: Mapping[str, Change]) -> bool:
    """Whether a change is a part of the one before."""
    if change.kind == "write":
        return first.kind in {"undo", "forget"} and _field(change, "step") == "undo"
    groups = {_field(known[one], "group") for one in (*_ids(first), *_ids(change)) if one in known}
    return first.kind == change.kind == "undo" and len(groups) == 1 and "" not in groups


def _taken_back(change: Change, more: Sequence[JournalEntry], known: Mapping[str, Change]) -> Iterator[str]:
    for one in (change, *(entry.change for entry in more)):
        yield from (words_of(_words(known[key].payload)) for key in _ids(one) if key in known)


def _edited(more: Sequence[JournalEntry]) -> Iterator[str]:
    return (path for entry in more if (path := _field(entry.change, "path")))


def _ids(change: Change) -> list[str]:
    ids = change.payload.get("ids") if isinstance(change.payload, Mapping) else None
    named = ids if change.kind == "undo" and isinstance(ids, (list, tuple)) else ()
    return [one for one in named if isinstance(one, str)]


def _field(change: Change, name: str) -> str:
    value = change.payload.get(name) if isinstance(change.payload, Mapping) else ""
    return value if isinstance(value, str) else ""


def _day(path: str) -> date:
    place = layout.place(path)
    return date.fromisoformat(place.dated) if place is not None and place.dated else date.min


def _words(payload: object) -> str:
    if isinstance(payload, str):
        return payload
    return "" if payload is None else msgspec.json.encode(payload).decode()


_NAMED: Final = ("title", "path", "session", "fact", "ref", "source", "note")
_COUNTED: Final = {"ids": "change", "turns": "turn", "lines": "place in notes", "edits": "edit"}


def words_of(payload: str) -> str:
    """What a change is about, in one line; its payload as it is where we have no words for it."""
    try:
        said = json.loads(payload)
    except ValueError:
        return payload
    return (_fact(said) or _counts(said) or _name(said) or payload) if isinstance(said, Mapping) else payload


def _fact(said: Mapping[str, Any]) -> str:
    if not isinstance(said.get("value"), str):
        return ""
    name = " ".join(str(said[key]) for key in ("subject", "predicate") if said.get(key))
    return f"{name}: {said['value']}" if name else said["value"]


def _name(said: Mapping[str, Any]) -> str:
    found = next((said[key] for key in _NAMED if isinstance(said.get(key), str) and said[key]), "")
    return f"{said['step']}: {found}" if isinstance(said.get("step"), str) else found


def _counts(said: Mapping[str, Any]) -> str:
    """As "5 changes" or "4 turns, 1 place in notes"; of what is grouped by file, all files together."""
    found = []
    for key, name in _COUNTED.items():
        held = said.get(key)
        groups = list(held.values()) if isinstance(held, Mapping) else [held]
        count = sum(
            len(one) if isinstance(one, list) else one if isinstance(one, int) else 0 for one in groups
        )
        first, _, rest = name.partition(" ")
        more = f" {rest}" if rest else ""
        if count or (key == "edits" and held == 0):
            found.append(f"{count:,} {first}{'' if count == 1 else 's'}{more}")
    return ", ".join(found)
