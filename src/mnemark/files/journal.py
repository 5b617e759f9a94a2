"""The journal: every acknowledged change that is not a turn; one file a machine, read as one.

A machine appends only to its own file, so that syncing a folder between machines never makes them conflict.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mnemark.errors import UsageError
from mnemark.files import jsonl, listing, names, platform
from mnemark.files.ids import new_id, time_of
from mnemark.types import ORIGINS, Json, Origin, Problem

FOLDER = "journal"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One acknowledged change. `id` (a ULID) and `time` are filled in by `append` where they are left out."""

    kind: str
    """remember, supersede, forget, undo, tombstone, note, import, …"""
    payload: Json = None
    """Any JSON; what it means depends on `kind`."""
    origin: Origin = "agent"
    scope: str = ""
    """Folder of whose memory it is (`users/ann`); empty for the root."""
    id: str = ""
    time: datetime | None = None
    extra: Mapping[str, Json] = {}
    """Keys of the line that this version does not know."""


class JournalEntry(NamedTuple):
    """A change and where it stands; go on later from `end` of the same `file`."""

    file: str
    offset: int
    line: int
    change: Change
    end: int


_KNOWN = frozenset(Change.__struct_fields__) - {"extra"}


class Journal:
    """The journal of the workspace `root`; `machine` names the file written (by default this machine's)."""

    def __init__(self, root: Path, machine: str | None = None) -> None:
        self.root = root
        self.file = f"{machine or platform.machine_name()}.jsonl"
        if Path(self.file).name != self.file or self.file.startswith("."):
            raise UsageError(f"{machine!r} cannot name a machine; use letters, digits and '-'")

    def append(self, change: Change) -> Change:
        """Write a change and return it, id and time filled in, once on the disk. Errors as for turns."""
        return self.append_many([change])[0]

    def append_many(self, changes: Sequence[Change]) -> list[Change]:
        """Write changes with one `fsync`: all of them are kept, or none."""
        now = datetime.now(UTC).astimezone()
        kept = [
            msgspec.structs.replace(change, id=change.id or new_id(), time=change.time or now)
            for change in changes
        ]
        path = names.inside(self.root, f"{FOLDER}/{self.file}")
        jsonl.append_many(path, [_encode(change) for change in kept])
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
                    reason = f"line {line.number} is not a valid change: it needs a kind and an id"
                    problems.append(Problem(f"{FOLDER}/{name}", reason, skipped=False))
        return [found[identifier] for identifier in sorted(found)]


def look(root: Path) -> listing.Listed:
    """The journals of all machines by name, and those that cannot be read."""
    return listing.look(root, FOLDER, ".jsonl")


def states(root: Path) -> dict[str, platform.Identity]:
    """The state of each journal by its file's name, also of one that cannot be read: it is not gone.

    Raises OSError where the folder is there and cannot be listed.
    """
    found = (
        (name, platform.identity(root / FOLDER / name)) for name in listing.listed(root, FOLDER, ".jsonl")
    )
    return {name: state for name, state in found if state is not None}


class JournalTail:
    """Reads on in a journal from where the last reading stopped."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._offsets: dict[str, int] = {}
        self._inodes: dict[str, int] = {}

    def follow(self, take: Callable[[JournalEntry], None], forget: Callable[[], None]) -> None:
        """Give what was appended to `take`; where a file was rewritten, `forget` first and then all of it.

        What was read of a journal that cannot be read any more stays known.
        """
        try:
            there = states(self._journal.root)
        except OSError:
            return
        for name, offset in self._offsets.items():
            state = there.get(name)
            if state is None or state.inode != self._inodes[name] or state.size < offset:
                self._offsets, self._inodes = {}, {}
                forget()
                break
        if all(state.size == self._offsets.get(name, 0) for name, state in there.items()):
            return
        for entry in self._journal.read(self._offsets):
            take(entry)
            if entry.end > self._offsets.get(entry.file, 0):
                self._offsets[entry.file] = entry.end
                self._inodes[entry.file] = there[entry.file].inode if entry.file in there else 0


def _encode(change: Change) -> bytes:
    record: dict[str, Any] = dict(change.extra)
    record |= {"id": change.id, "time": change.time, "kind": change.kind, "origin": change.origin}
    record |= {"scope": change.scope} if change.scope else {}
    record |= {"payload": change.payload} if change.payload is not None else {}
    return jsonl.encode(record)


def decode_change(record: dict[str, Json]) -> Change | None:
    """The change in a line; None where it has no kind or id. An unknown origin is trusted least."""
    kind, identifier = record.get("kind"), record.get("id")
    if not (isinstance(kind, str) and isinstance(identifier, str) and kind and identifier):
        return None
    origin: Any = record.get("origin", "agent")
    return Change(
        id=identifier,
        time=_time(record.get("time"), identifier),
        kind=kind,
        origin=origin if isinstance(origin, str) and origin in ORIGINS else "tool",
        scope=str(record.get("scope") or ""),
        payload=record.get("payload"),
        extra={key: value for key, value in record.items() if key not in _KNOWN},
    )


def _time(written: Json, identifier: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written) if isinstance(written, str) else time_of(identifier)
    except ValueError:
        return None


def changes_of(root: Path, kinds: Iterable[str]) -> list[Change]:
    """The changes of these kinds in the journals of all machines, in the order of their ids, each once."""
    kinds = frozenset(kinds)
    words = "|".join(sorted(kinds)).encode()
    wanted = re.compile(rb'"kind"\s*:\s*"(?:' + words + rb')"')
    found: dict[str, Change] = {}
    for path in look(root).files:
        data = platform.content(path)
        for match in wanted.finditer(data):
            end = data.find(b"\n", match.end())
            line = data[data.rfind(b"\n", 0, match.start()) + 1 : end if end >= 0 else len(data)]
            record = jsonl.decode(line)
            change = decode_change(record) if record is not None else None
            if change is not None and change.kind in kinds:
                found.setdefault(change.id, change)
    return [found[identifier] for identifier in sorted(found)]
