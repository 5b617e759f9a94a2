"""Append to and read the journal: all acknowledged changes that are not turns, in one file per machine.

A machine appends only to its own file, so that syncing a folder between machines never makes them conflict.
"""

import re
import threading
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from mnemark.errors import UsageError
from mnemark.files import jsonl, layout, listing, platform, trust
from mnemark.files.disk_errors import is_no_file, unread
from mnemark.files.ids import LENGTH, new_id, time_of
from mnemark.files.truth import Folder
from mnemark.types import ORIGINS, Json, Origin, Problem

FOLDER = "journal"
_AROUND = b"\xef\xbb\xbf \t\r\n"
"""Characters stripped around a line: some editors write a byte order mark."""
_BEGIN = b'{"id":"'
_ID = slice(len(_BEGIN), len(_BEGIN) + LENGTH)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One acknowledged change. `id` (a ULID) and `time` are filled in by `append` where they are left out."""

    kind: str
    """remember, supersede, forget, undo, tombstone, note, import, …"""
    payload: Json = None
    """Any JSON; its meaning depends on `kind`."""
    origin: Origin = "agent"
    scope: str = ""
    """The scope (`users/ann`); empty for the root."""
    id: str = ""
    time: datetime | None = None
    extra: Mapping[str, Json] = {}
    """Keys of the line unknown to this version."""

    @property
    def fields(self) -> Mapping[str, Json]:
        """The payload; empty where it is no object, as anyone can write a line."""
        return self.payload if isinstance(self.payload, Mapping) else {}

    @property
    def ids(self) -> list[str]:
        """The ids that the payload lists."""
        ids = self.fields.get("ids")
        return [one for one in ids if isinstance(one, str)] if isinstance(ids, list) else []


class JournalEntry(msgspec.Struct, frozen=True):
    """A change and its position; continue later from `end` of the same `file`."""

    file: str
    offset: int
    line: int
    """Number of the line in its file, from 1; 0 if not counted."""
    change: Change
    end: int


class _JournalPart(NamedTuple):
    """Complete lines of a journal, and the offset of the first."""

    file: str
    start: int
    data: bytes


_KNOWN = frozenset(Change.__struct_fields__) - {"extra"}
_NAMING = frozenset({"path", "to", "files", "turns", "lines", "attachment"})
"""Keys of payloads with paths: as text, in a list, or as the keys of a table."""


class Journal:
    """The journal of a workspace; `machine` names the file written (by default this machine's).

    Safe to use from several threads.
    """

    def __init__(self, truth: Folder, machine: str | None = None) -> None:
        self.truth = truth
        self.root = truth.root
        self.file = f"{machine or trust.machine_name(truth.root)}.jsonl"
        if Path(self.file).name != self.file or self.file.startswith("."):
            raise UsageError(f"{machine!r} cannot name a machine; use letters, digits and '-'")
        self._lock = threading.Lock()
        self._feeds: list[Feed] = []
        self._read: dict[str, tuple[int, int]] = {}
        """Inode and number of bytes passed to the feeds, of each file."""
        self.problems: tuple[str, ...] = ()
        """Files that became unreadable, and why; lines read before remain."""

    def append(self, change: Change) -> Change:
        """Append a change durably and return it with id and time. Errors as for turns."""
        return self.append_many([change])[0]

    def append_many(self, changes: Sequence[Change]) -> list[Change]:
        """Append changes with one `fsync`: all or none."""
        now = datetime.now(UTC).astimezone()
        kept = [
            msgspec.structs.replace(change, id=change.id or new_id(), time=change.time or now)
            for change in changes
        ]
        self.truth.append(f"{FOLDER}/{self.file}", [encode_change(change) for change in kept])
        return kept

    def read(
        self,
        offsets: Mapping[str, int] | None = None,
        *,
        problems: list[Problem] | None = None,
    ) -> list[JournalEntry]:
        """All machines' changes in the order of their ids; each file from its offset in `offsets` on.

        A change that stands in two files (a copy made by syncing) is returned once.
        """
        found: dict[str, JournalEntry] = {}
        there = look(self.root)
        if problems is not None:
            problems += there.problems
        for path in there.files:
            name = path.name
            start = (offsets or {}).get(name, 0)
            for line, record in jsonl.records(path, start, problems=problems, name=f"{FOLDER}/{name}"):
                change = decode_change(record)
                if change is not None:
                    found.setdefault(
                        change.id, JournalEntry(name, line.offset, line.number, change, line.end)
                    )
                elif problems is not None and record:
                    reason = (
                        f"line {line.number} is not a valid change: it needs a kind, an id, and paths inside"
                    )
                    problems.append(Problem(f"{FOLDER}/{name}", reason, skipped=False))
        return list(self.heard(found[identifier] for identifier in sorted(found)))

    def heard(self, entries: Iterable[JournalEntry]) -> Iterable[JournalEntry]:
        """Return changes with the origin that they are believed to have; see `trust.heard_as`."""
        return entries if trust.is_trusted(self.root) else map(self._heard, entries)

    def _heard(self, entry: JournalEntry) -> JournalEntry:
        origin = trust.heard_as(self.root, entry.change.origin)
        change = msgspec.structs.replace(entry.change, origin=origin)
        return msgspec.structs.replace(entry, change=change)

    def naming(self, identifier: str) -> list[JournalEntry]:
        """Return the changes in whose line an id stands, in the order of their ids, each once."""
        wanted, found = identifier.encode(), dict[str, JournalEntry]()
        for path in look(self.root).files if wanted else ():
            with suppress(OSError):  # reported by the feeds
                data = _whole_lines(platform.content(path))
                for entry in _naming(path.name, data, wanted):
                    found.setdefault(entry.change.id, entry)
        return list(self.heard(found[one] for one in sorted(found)))

    def again(self, file: str, offset: int, identifier: str) -> Change | None:
        """Read a change that was read before once more, to keep less in memory; None if its line is gone."""
        for _, record in jsonl.records(self.root / FOLDER / file, offset, start_line=1):
            change = decode_change(record)
            return change if change is not None and change.id == identifier else None
        return None

    def feed(self, *kinds: str, past: bool = True) -> "Feed":
        """Follow the lines of some kinds: all of them, or those that come after the first `take`."""
        return Feed(self, kinds, past=past)

    def size(self) -> int:
        """Number of bytes of this machine's file that the feeds have read."""
        return self._read.get(self.file, (0, 0))[1]

    def own_since(self, mark: str, *kinds: str) -> tuple[list[JournalEntry], str] | None:
        """Return this machine's lines of some kinds after a marked line, and the mark of its last line.

        A mark is the offset and the id of a line; "" is the start. None where the file cannot be read or has
        no such line, because it was rewritten.
        """
        at, _, identifier = mark.partition(" ")
        start = int(at) if at.isdigit() else 0
        try:
            with platform.opened(self.root / FOLDER / self.file) as file:
                file.seek(start)
                data = _whole_lines(file.read())
        except OSError:
            return None
        if identifier and _id_of(data[: data.find(b"\n") + 1]) != identifier:
            return None
        entries = [
            entry for entry in _entries(self.file, start, data, kinds) if entry.change.id != identifier
        ]
        last = data.rfind(b"\n", 0, -1) + 1
        found = _id_of(data[last:])
        return list(self.heard(entries)), f"{start + last} {found}" if found else mark

    def hand_on(self, feed: "Feed") -> tuple[bool, Iterable[JournalEntry]]:
        """Read new lines for all feeds, and return those for this one; see `Feed.take`."""
        with self._lock:
            parts = self._read_on()
            rewritten, feed.rewritten = feed.rewritten, False
            if feed not in self._feeds:
                self._feeds.append(feed)
                feed.behind = feed.past
            if not feed.behind:
                entries, feed.waiting = feed.waiting, []
                return rewritten, entries
            before = self.problems
            parts = [part for part in parts if not part.start]
            known = self._read.keys() - {part.file for part in parts}
            parts += self._parts({name: (0, self._read[name][1]) for name in known})
            feed.behind = False
            if self.problems != before:  # a file that was read before is closed now: all is given again later
                self._feeds.remove(feed)
                feed.rewritten = True
            return rewritten, _in_order(parts, feed.kinds) if parts else []

    def _read_on(self) -> list[_JournalPart]:
        """Read what was appended, queue it for the feeds that are not behind, and return it."""
        try:
            there = states(self.root)
        except OSError as error:
            self.problems = (f"{FOLDER}/ {unread(error)}",)
            return []
        if any(_is_rewritten(there.get(name), *read) for name, read in self._read.items()):
            self._read = {}
            for feed in self._feeds:
                feed.waiting, feed.rewritten, feed.behind = [], True, feed.past
        self.problems = ()
        grown = {name: self._read.get(name, (0, 0))[1] for name in there}
        spans = {name: (start, -1) for name, start in grown.items() if there[name].size != start}
        if not spans:
            return []
        parts = self._parts(spans, there)
        feeds = [feed for feed in self._feeds if not (feed.behind or feed.rewritten)]
        for entry in _in_order(parts, frozenset[str]().union(*(feed.kinds for feed in feeds))):
            for feed in feeds:
                if entry.change.kind in feed.kinds:
                    feed.waiting.append(entry)
        return parts

    def _parts(
        self,
        spans: Mapping[str, tuple[int, int]],
        there: Mapping[str, platform.Identity] = MappingProxyType({}),
    ) -> list[_JournalPart]:
        """Read spans of bytes of the files; what is read of the files in `there` is known as read."""
        parts: list[_JournalPart] = []
        for name, (start, end) in spans.items():
            try:
                with platform.opened(self.root / FOLDER / name) as file:
                    file.seek(start)
                    data = file.read() if end < 0 else file.read(end - start)
            except OSError as error:
                if not is_no_file(error):
                    self.problems += (f"{FOLDER}/{layout.shown(name)} {unread(error)}",)
                continue
            parts.append(_JournalPart(name, start, _whole_lines(data)))
            if name in there:
                self._read[name] = there[name].inode, start + len(parts[-1].data)
        return parts


class Feed:
    """The lines of some kinds of a journal, for one reader."""

    def __init__(self, journal: Journal, kinds: Iterable[str], *, past: bool) -> None:
        self.journal = journal
        self.past = past
        self.kinds = frozenset(kinds)
        self.waiting: list[JournalEntry] = []
        """What was appended since it took the last, as long as it is not behind."""
        self.rewritten = False
        self.behind = False
        """Whether it takes all lines anew: none of them is kept until then."""

    def take(self) -> tuple[bool, Iterable[JournalEntry]]:
        """Return whether a file was rewritten, and the new entries: all of them if it was.

        Many are decoded one at a time: go through them once.
        """
        rewritten, entries = self.journal.hand_on(self)
        return rewritten, self.journal.heard(entries)

    def pass_on(self, clear: Callable[[], None], read: Callable[[JournalEntry], None]) -> bool:
        """Have new entries read, after `clear` if a file was rewritten; return whether anything was new."""
        rewritten, entries = self.take()
        if rewritten:
            clear()
        new = rewritten
        for entry in entries:
            read(entry)
            new = True
        return new


def _is_rewritten(state: platform.Identity | None, inode: int, size: int) -> bool:
    return state is None or state.inode != inode or state.size < size


def _whole_lines(data: bytes) -> bytes:
    """Return the data without an incomplete last line."""
    end = data.rfind(b"\n") + 1
    last = data[end:].strip(_AROUND)
    return data if last.endswith(b"}") and jsonl.decode(last) is not None else data[:end]


def _id_of(line: bytes) -> str:
    if line.startswith(_BEGIN) and line[_ID.stop : _ID.stop + 1] == b'"' and line[_ID].isalnum():
        return line[_ID].decode("ascii")  # as we write it: many lines are read for their ids alone
    record = jsonl.decode(line.strip(_AROUND))
    return str((record or {}).get("id") or "")


def _in_order(parts: Sequence[_JournalPart], kinds: Collection[str]) -> Iterator[JournalEntry]:
    """Yield the changes of these kinds, ordered by id, each once.

    They are ordered by their places and decoded one at a time: what a reader keeps of a long journal would
    else lie between thousands of lines that are thrown away, whose memory is not given back then.
    """
    found = [
        (_id_of(data[first:end]), number, first)
        for number, (_, _, data) in enumerate(parts)
        for first, end in _places(data, kinds)
    ]
    found.sort()
    order = array("Q", chain.from_iterable(place for _, *place in found))
    found.clear()
    last = ""
    for number, first in zip(order[::2], order[1::2], strict=True):
        file, start, data = parts[number]
        end = _end_of_line(data, first)
        change = _change_in(data[first:end])
        if change is not None and change.kind in kinds and change.id != last:  # a copy may have it whole
            last = change.id
            yield JournalEntry(file, start + first, 0, change, start + end)


def _entries(file: str, start: int, data: bytes, kinds: Collection[str]) -> Iterator[JournalEntry]:
    """Yield the changes of these kinds in complete lines that begin at byte `start` of the file."""
    for first, end in _places(data, kinds):
        change = _change_in(data[first:end])
        if change is not None and change.kind in kinds:
            yield JournalEntry(file, start + first, 0, change, start + end)


def _places(data: bytes, kinds: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yield where the lines begin and end that may be of these kinds."""
    if not kinds:
        return
    end = 0
    words = "|".join(sorted(kinds)).encode()
    for match in re.finditer(rb'"kind"\s*:\s*"(?:' + words + rb')"', data):
        if match.start() >= end:  # else the same words again, in the payload
            first = data.rfind(b"\n", 0, match.start()) + 1
            end = _end_of_line(data, match.end())
            yield first, end


def _end_of_line(data: bytes, at: int) -> int:
    return data.find(b"\n", at) + 1 or len(data)


def _change_in(line: bytes) -> Change | None:
    record = jsonl.decode(line.strip(_AROUND))
    return None if record is None else decode_change(record)


def _naming(file: str, data: bytes, wanted: bytes) -> Iterator[JournalEntry]:
    """Yield the changes in whose line these bytes stand."""
    end, number = 0, 1
    while (place := data.find(wanted, end)) >= 0:
        first = data.rfind(b"\n", 0, place) + 1
        number += data.count(b"\n", end, first)
        before, end = end, _end_of_line(data, place)
        change = _change_in(data[first:end])
        if change is not None:
            yield JournalEntry(file, first, number, change, end)
        number += data.count(b"\n", max(first, before), end)


def look(root: Path) -> listing.FolderFiles:
    """Return the journals of all machines by name, and the unreadable ones."""
    return listing.look(root, FOLDER, ".jsonl")


def states(root: Path) -> dict[str, platform.Identity]:
    """The state of each journal by its file's name, also of one that cannot be read: it is not gone.

    Raises OSError where the folder is there and cannot be listed.
    """
    found = (
        (name, platform.identity(root / FOLDER / name)) for name in listing.listed(root, FOLDER, ".jsonl")
    )
    return {name: state for name, state in found if state is not None}


def encode_change(change: Change) -> bytes:
    """Return a change, which has its id and time, as a line."""
    record: dict[str, Any] = dict(change.extra)
    record |= {"id": change.id, "time": change.time, "kind": change.kind, "origin": change.origin}
    record |= {"scope": change.scope} if change.scope else {}
    record |= {"payload": change.payload} if change.payload is not None else {}
    return jsonl.encode(record)


def decode_change(record: dict[str, Json]) -> Change | None:
    """Return the change in a line; None without kind or id, or if it names no scope, or a path out.

    An unknown origin is trusted least.
    """
    kind, identifier, payload = record.get("kind"), record.get("id"), record.get("payload")
    if not (isinstance(kind, str) and isinstance(identifier, str) and kind and identifier):
        return None
    scope = str(record.get("scope") or "")
    if not (layout.is_scope(scope) and all(map(layout.is_inside, filter(None, _paths_in(payload))))):
        return None
    origin: Any = record.get("origin", "agent")
    return Change(
        id=identifier,
        time=_time(record.get("time"), identifier),
        kind=kind,
        origin=origin if isinstance(origin, str) and origin in ORIGINS else "tool",
        scope=scope,
        payload=payload,
        extra={} if record.keys() <= _KNOWN else {key: record[key] for key in record.keys() - _KNOWN},
    )


def _paths_in(payload: Json) -> Iterator[str]:
    """Yield the paths that a line names."""
    if isinstance(payload, Mapping):
        for key in payload.keys() & _NAMING:
            value = payload[key]
            for one in (
                (value,) if isinstance(value, str) else value if isinstance(value, (list, Mapping)) else ()
            ):
                if isinstance(one, str):
                    yield one


def _time(written: Json, identifier: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written) if isinstance(written, str) else time_of(identifier)
    except ValueError:
        return None


def changes_of(root: Path, kinds: Iterable[str]) -> list[Change]:
    """Return the changes of these kinds in the journals of all machines, sorted by id, without duplicates."""
    return [entry.change for entry in Journal(Folder(root)).feed(*kinds).take()[1]]
