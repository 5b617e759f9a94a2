"""List a workspace's turns, daily notes and journal changes in order of time."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from datetime import UTC, date, datetime, time, tzinfo
from functools import cached_property
from typing import Final, Literal

import msgspec

from mnemark.errors import NotFoundError
from mnemark.facts.model import Fact
from mnemark.facts.visible import Visible
from mnemark.files import layout, listing, platform
from mnemark.files.journal import Change, JournalEntry
from mnemark.files.scan import FileEntry, scan
from mnemark.files.sessions import SessionLog, session_id
from mnemark.memory.browse.change_rows import single
from mnemark.memory.journal.changes import NotedChange, payload_of
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.present import changes, facts
from mnemark.present.words import Words
from mnemark.summary.tool_titles import execution_of, text_of
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown import drop_comments
from mnemark.types import Json, Origin, Problem, Turn

_BULLET: Final = lazy_pattern(r"[-*+] (?P<hour>[0-2]\d):(?P<minute>[0-5]\d)(?P<text> .*)")

_BOOKKEEPING: Final = frozenset({"project", "done"})
"""Kinds of journal entries that record the progress of a change."""


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the log."""

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
    scope: str = ""
    takes_back: tuple[str, ...] = ()
    """Of an undo: what the changes were that it undid."""
    paths: tuple[str, ...] = ()
    """Of an undo: the files it edited."""


class Timeline:
    """Read the latest entries of some scopes (None: all) from as few files as possible."""

    def __init__(
        self, visible: Visible, *, scopes: frozenset[str] | None, zone: tzinfo | None, ignore: tuple[str, ...]
    ) -> None:
        self.root = visible.root
        self._visible = visible
        self.scopes = scopes
        self.zone = zone
        self._files = scan(visible.root, ignore=ignore).entries

    def latest(
        self, count: int, *, since: datetime | None = None, session: str | None = None
    ) -> list[LogEntry]:
        """Return the last `count` entries, oldest first.

        Raises:
            NotFoundError: `session` is given and there is none of that id.
        """
        found = list(self._turns(count, session))
        if session is None:
            found += [*self._notes(count), *self._changes(count)]
        recent = [entry for entry in found if since is None or self._zoned(entry.time) >= self._zoned(since)]
        newest = heapq.nlargest(count, recent, key=lambda entry: (self._zoned(entry.time), entry.ref))
        return newest[::-1]

    def elsewhere(self, since: datetime | None) -> Iterator[str]:
        """Yield the other scopes that have entries, in order."""
        for name in (*listing.scopes(self.root), ""):
            if not self._seen(name) and self._asking(name).latest(1, since=since):
                yield name

    def _asking(self, scope: str) -> "Timeline":
        other = copy(self)  # with the journal, if it is read
        other.scopes = frozenset({scope})
        return other

    def _zoned(self, moment: datetime) -> datetime:
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=self.zone)

    def _seen(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes

    def _of_role(self, role: str) -> list[FileEntry]:
        places = ((entry, layout.place(entry.path)) for entry in self._files)
        return [entry for entry, place in places if place and place.role == role and self._seen(place.scope)]

    def _turns(self, count: int, session: str | None) -> Iterator[LogEntry]:
        logs = self._of_role("session")
        if session is not None:
            logs = [entry for entry in logs if self._is_of(entry.path, session)]
            if not logs:
                raise NotFoundError(f"session {session!r} not found; `mnemark sessions` lists all sessions")
        for entry in heapq.nlargest(count, logs, key=lambda log: log.mtime_ns):
            if not platform.is_readable(self.root / entry.path):  # reported by `doctor`
                continue
            log = SessionLog.at(self.root, entry.path)
            for turn in map(self._visible.turn, log.last(count)):
                yield LogEntry(
                    time=turn.time, kind="turn", ref=entry.path, origin=turn.origin, who=turn.role,
                    session=log.id, text=turn.content if turn.content.strip() else words_of(turn),
                )  # fmt: skip

    def _is_of(self, path: str, session: str) -> bool:
        full = self.root / path
        return platform.is_readable(full) and (session_id(full) or full.stem) == session

    def _notes(self, count: int) -> Iterator[LogEntry]:
        daily = self._of_role("daily")
        for entry in heapq.nlargest(count, daily, key=lambda note: (_day(note.path), note.path)):
            found = self._visible.read(entry.path, entry)
            if not isinstance(found, Problem):
                yield from self._note(entry.path, found.text)

    def _note(self, path: str, text: str) -> Iterator[LogEntry]:
        """Yield an entry for each timed bullet, or one at the start of the day if there is none."""
        place = layout.place(path)
        origin: Origin = place.origin if place is not None else "file"

        def entry(number: int, at: time, words: str) -> LogEntry:
            moment = datetime.combine(_day(path), at, self.zone)
            return LogEntry(
                time=moment,
                kind="note",
                ref=f"{path}#L{number}",
                origin=origin,
                who="",
                text=drop_comments(words, blanks=" \t").strip(),
            )

        lines = text.splitlines()
        bullets = [(number, match) for number, line in enumerate(lines, 1) if (match := _BULLET.match(line))]
        timed = [
            entry(number, time(int(match["hour"]), int(match["minute"])), match["text"].strip())
            for number, match in bullets
            if int(match["hour"]) <= 23
        ]
        yield from timed
        if not timed:
            number = next((n for n, line in enumerate(lines, 1) if line.strip(" #\t-")), 1)
            yield entry(number, time(), lines[number - 1].strip(" #\t-") if lines else "")

    @cached_property
    def _journal(self) -> list[JournalEntry]:
        return [entry for entry in self._visible.journal.read() if entry.change.kind not in _BOOKKEEPING]

    def _changes(self, count: int) -> Iterator[LogEntry]:
        seen = [entry for entry in self._journal if self._seen(entry.change.scope)]
        known = {entry.change.id: entry.change for entry in self._journal}
        for entry, *more in _grouped(seen, known)[-count:]:
            change = entry.change
            undone = [key for one in (entry, *more) for key in _ids(one.change) if key in known]
            taken_back = map(_described, (known[key] for key in undone))
            yield LogEntry(
                time=change.time or datetime.fromtimestamp(0, UTC),
                kind="change",
                ref=f"journal/{entry.file}#L{entry.line}",
                origin=change.origin,
                who=change.kind,
                text=self._visible.redacted(_as_text(change.payload)),
                id=change.id,
                scope=change.scope,
                takes_back=tuple(map(self._visible.redacted, taken_back)),
                paths=tuple(dict.fromkeys(path for one in more if (path := _field(one.change, "path")))),
            )


def change_told(entry: LogEntry, ws: OpenWorkspace, words: Words | None = None) -> str:
    """Return what a change did as a sentence; by default in the language of its facts, as programs get it."""
    if len(entry.takes_back) > 1:
        return (words or Words("en"))("Took {n} changes back.", n=len(entry.takes_back))
    noted = NotedChange(entry.id, entry.who, entry.time, entry.origin, entry.scope, "", "", 0)
    row = single(ws, noted, payload_of(entry.text))
    return changes.told(row, ws).text if words is None else changes.sentence(row, words, ws)


def _grouped(journal: Sequence[JournalEntry], known: Mapping[str, Change]) -> list[list[JournalEntry]]:
    """Group journal entries that are shown as one: an undo with its edits, and the undo of a group."""
    found: list[list[JournalEntry]] = []
    for entry in journal:
        last = found[-1] if found else None
        if last is not None and last[0].file == entry.file and _belongs(last[0].change, entry.change, known):
            last.append(entry)
        else:
            found.append([entry])
    return found


def _described(change: Change) -> str:
    """Return what a change was: its fact as a sentence, or what it named."""
    value = _field(change, "value")
    if not value:
        return ": ".join(filter(None, (_field(change, "step"), _field(change, "path")))) or change.kind
    fact = Fact(
        id=change.id, subject=_field(change, "subject") or "user", predicate=_field(change, "predicate"),
        value=value, until=_field(change, "until"), origin=change.origin,
    )  # fmt: skip
    return facts.sentence(fact, facts.words_for(fact))


def _belongs(first: Change, change: Change, known: Mapping[str, Change]) -> bool:
    if change.kind == "write":
        return first.kind in {"undo", "forget"} and _field(change, "step") == "undo"
    groups = {_field(known[one], "group") for one in (*_ids(first), *_ids(change)) if one in known}
    return first.kind == change.kind == "undo" and len(groups) == 1 and "" not in groups


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


def _as_text(payload: object) -> str:
    if isinstance(payload, str):
        return payload
    return "" if payload is None else msgspec.json.encode(payload).decode()


def words_of(turn: Turn) -> str:
    """Return the text of a turn, its tool calls as "Bash: make test", and their results."""
    calls = (_call_words(call) for call in turn.tool_calls)
    return "\n".join(filter(None, (turn.content, *calls, *map(text_of, turn.tool_results))))


def _call_words(call: Json) -> str:
    made = execution_of(call)
    if made is None:
        return text_of(call)
    given = made.arguments
    values = given.values() if isinstance(given, Mapping) else (given,)
    return f"{made.tool}: {', '.join(filter(None, map(text_of, values)))}"
