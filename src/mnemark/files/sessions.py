"""Write and read sessions: `sessions/<safe name>.jsonl`, a header line with the id and a line a turn.

Observations, the journal's lines of kind "observe", are read here as turns of the tool.
"""

import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from mnemark.errors import IntegrityError
from mnemark.files import jsonl, listing, names, off_record, platform, trust
from mnemark.files.ids import LENGTH, is_id, new_id, time_of
from mnemark.files.journal import FOLDER as JOURNAL
from mnemark.files.journal import decode_change
from mnemark.files.layout import place
from mnemark.files.truth import Folder
from mnemark.files.turns import UNDATED, created, decode_turn, encode_turn, header_id
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.redaction.redact import without_keys
from mnemark.types import Json, Problem, Turn

FOLDER = "sessions"
OBSERVE: Final = "observe"
WINDOW: Final = 20
"""Number of last turns that a session's own recall leaves out: the model has them already."""
CONTEXT: Final = 4
"""Number of last turns that give a query its context."""
_SUFFIX = ".jsonl"
_ID: Final = slice(len('{"id":"'), len('{"id":"') + LENGTH)
"""Where the id stands in a line that `encode_turn` wrote, or that says that the turn was erased."""
_COPY = lazy_pattern(r"\.(sync-)?conflict-", re.IGNORECASE)


class Placed(msgspec.Struct, frozen=True):
    """A turn and its position: byte offset, line (from 1), and end offset."""

    offset: int
    line: int
    turn: Turn
    end: int


class SessionInfo(msgspec.Struct, frozen=True):
    """A session on disk; `created` is as written, or None."""

    id: str
    path: Path
    created: datetime | None
    size: int
    mtime_ns: int


class SessionLog:
    """The turns of one session of the workspace (or scope folder) `root`.

    The file is made with the first turn. Several processes may append at once. Turns are written as given:
    redact before.
    """

    def __init__(self, root: Path, session: str) -> None:
        self.id = without_keys(session)
        self.root = root
        self.name = names.log_name(self.id)
        self._real: Path | None = None
        self._lines = (0, 0)
        self._guard = threading.Lock()

    @classmethod
    def at(cls, root: Path, name: str) -> "SessionLog":
        """Return the session in the file `name` (relative to `root`), maybe written by another program.

        Raises UsageError where the name leads out of the workspace.
        """
        path = names.inside(root, name)
        log = cls(root, session_id(path) or path.stem)
        log.name, log._real = name, path
        return log

    @property
    def path(self) -> Path:
        """Path of the file. Raises UsageError where a link leads out of the workspace."""
        if self._real is None:
            self._real = names.inside(self.root, self.name)
        return self._real

    def exists(self) -> bool:
        """Whether the file exists; False if that cannot be determined."""
        try:
            return platform.identity(self.path) is not None
        except OSError:
            return False

    def append(self, truth: Folder, turns: Sequence[Turn]) -> list[Placed]:
        """Write all turns or none to the disk, with one `fsync`, and return them with their places.

        What was said off the record is left out (see `off_record`): all that is said comes through here.
        A turn gets a new ULID where its `id` is empty. Raises BusyError, ReadOnlyError, UsageError (not JSON)
        or MnemarkError (disk full): nothing is kept then.
        """
        off = off_record.load(truth.root)
        said = [turn for turn in turns if off.keeps(turn.time)]
        kept = [turn if turn.id else msgspec.structs.replace(turn, id=new_id()) for turn in said]
        lines = [encode_turn(turn) for turn in kept]
        if not kept:
            return []
        if platform.is_link(self.path.parent):
            self._real = None  # it is written to for hours, and a link may come in with a sync
        there = platform.identity(self.path)
        if there is not None:  # what cannot be read is said before anything is written
            self._line_at(there.size, 0, there.size)
        path = (self.root / self.name).relative_to(truth.root).as_posix()
        offsets = truth.append(path, lines, header=self._header)
        if there is None and offsets[0] == len(self._header) + 1:  # new: nothing has to be counted
            self._lines = (offsets[0], 1)
        first = self._line_at(offsets[0], len(kept), offsets[-1] + len(lines[-1]) + 1)
        return [
            Placed(offset, first + index, turn, offset + len(line) + 1)
            for index, (offset, turn, line) in enumerate(zip(offsets, kept, lines, strict=True))
        ]

    @cached_property
    def _header(self) -> bytes:
        return jsonl.encode({"session": self.id, "created": datetime.now(UTC).astimezone()})

    def _line_at(self, offset: int, added: int, end: int) -> int:
        """Return the number of the line at `offset`; count only lines since the last append."""
        with self._guard:
            known, count = self._lines
            if offset < known:  # another thread was first, or the file was rewritten shorter
                known, count = 0, 0
            if offset > known:
                count += jsonl.count_lines(self.path, offset, start=known)
            self._lines = (end, count + added)
            return count + 1

    def turns(
        self,
        start_offset: int = 0,
        *,
        start_line: int | None = None,
        problems: list[Problem] | None = None,
    ) -> Iterator[Placed]:
        """Yield turns from a byte offset on; continue later from the last one's `end`.

        Lines that hold no turn are left out; broken ones are added to `problems`. The line of an append that
        was repeated after a failure (same id, next line) is yielded once.
        """
        undated, before = cache(self._undated), ""
        for line, record in jsonl.records(
            self.path, start_offset, start_line=start_line, problems=problems, name=self.name
        ):
            turn = decode_turn(record, line)
            if turn is not None and turn.id != before:
                before = turn.id
                yield Placed(line.offset, line.number, self._heard(_dated(turn, undated)), line.end)

    def erased(self) -> frozenset[str]:
        """Return the ids of erased turns, which must not be imported again."""
        if not jsonl.holds(self.path, b'"erased"'):
            return frozenset()
        found = (jsonl.decode(line.data) for line in jsonl.read(self.path) if b'"erased"' in line.data)
        return frozenset(
            str(record["id"]) for record in found if record and "role" not in record and "erased" in record
        )

    def known(self, ids: Collection[str]) -> dict[str, Turn | None]:
        """Return those of the ids that are in the log, with the turn as written, or None if it was erased."""
        wanted = {one for identifier in ids if jsonl.holds(self.path, one := identifier.encode())}
        found: dict[str, Turn | None] = {}
        for line in jsonl.read(self.path) if wanted else ():
            identifier = line.data[_ID]
            if identifier in wanted and (record := jsonl.decode(line.data)) is not None:
                found.setdefault(identifier.decode(), decode_turn(record, line))
        return found

    def last(self, count: int) -> list[Turn]:
        """Return the last turns, oldest first, reading the file from its end."""
        found: list[Turn] = []
        undated = cache(self._undated)
        for offset, data in jsonl.read_back(self.path) if count > 0 else ():
            record = jsonl.decode(data)
            if record is None:
                continue
            number = jsonl.count_lines(self.path, offset) + 1 if not record.get("id") else 0
            turn = decode_turn(record, jsonl.Line(offset, number, data, 0))
            if turn is not None and not (found and found[-1].id == turn.id):
                found.append(self._heard(_dated(turn, undated)))
            if len(found) == count:
                break
        return found[::-1]

    def _heard(self, turn: Turn) -> Turn:
        origin = trust.heard_as(self.root, turn.origin)
        return turn if origin == turn.origin else msgspec.structs.replace(turn, origin=origin)

    def _undated(self) -> datetime:
        """Return the time for turns without one: when the session began, or the file last changed."""
        head = _head(self.path)
        if head is not None and (moment := created(head)) is not None:
            return moment
        state = platform.identity(self.path)
        return UNDATED if state is None else datetime.fromtimestamp(state.mtime_ns / 1e9, UTC)

    def check(self) -> None:
        """Raise IntegrityError where the file belongs to another session."""
        owner = session_id(self.path)
        if owner and without_keys(owner) != self.id:
            raise IntegrityError(
                f"{self.name}: belongs to session {owner!r}, not {self.id!r}; move the file away"
            )


def _dated(turn: Turn, undated: Callable[[], datetime]) -> Turn:
    """Return a turn with the time that turns without one have, if it is one of them."""
    return msgspec.structs.replace(turn, time=undated()) if turn.time is UNDATED else turn


def session_id(path: Path) -> str | None:
    """Return the session id in a file's header; None if there is no header."""
    head = _head(path)
    return header_id(head) if head is not None else None


def _head(path: Path) -> dict[str, object] | None:
    """Return the header among the first five lines (a torn one may stand before it)."""
    records = (jsonl.decode(line.data) for line in islice(jsonl.read(path), 5))
    first = next((record for record in records if record is not None), None)
    return first if first is not None and header_id(first) is not None else None


class LogFile(msgspec.Struct, frozen=True):
    """A log that was not opened: its path, bytes and age."""

    path: Path
    size: int
    mtime_ns: int


def log_files(root: Path) -> list[LogFile]:
    """List the logs below `root` by name, without hidden files and conflict copies; none is opened."""
    found = []
    try:
        entries = listing.entries(root, FOLDER, _SUFFIX)
    except OSError:  # reported by the scan
        return []
    for entry in entries:
        if not entry.name.startswith(".") and not _COPY.search(entry.name):
            with suppress(OSError):
                status = entry.stat()
                found.append(LogFile(root / FOLDER / entry.name, status.st_size, status.st_mtime_ns))
    return found


def session_info(file: LogFile) -> SessionInfo | None:
    """Return the session described by a log's header; None if the log cannot be read."""
    try:
        head = _head(file.path) or {}
    except OSError:
        return None
    identifier = header_id(head) or file.path.stem
    return SessionInfo(identifier, file.path, created(head), file.size, file.mtime_ns)


def list_sessions(root: Path) -> list[SessionInfo]:
    """Return the sessions below `root`, by file name, without hidden, conflicting and unreadable files."""
    return [info for file in log_files(root) if (info := session_info(file)) is not None]


def is_journal(path: str) -> bool:
    """Whether a relative path is a journal of the workspace."""
    return path.startswith(f"{JOURNAL}/") and (found := place(path)) is not None and found.role == "journal"


def observation_in(line: jsonl.Line) -> Turn | None:
    """Return the observation in a line of a journal; None for other lines, which are not decoded."""
    record = jsonl.decode(line.data) if b'"observe"' in line.data else None
    change = None if record is None else decode_change(record)
    if change is None or change.kind != OBSERVE or not isinstance(change.payload, Mapping):
        return None
    if change.time is None and not is_id(change.id):
        return None
    payload = change.payload
    parts = [str(payload.get("title") or payload.get("tool") or "")]
    if payload.get("arguments"):
        parts.append(_arguments_text(payload["arguments"]))
    parts += [str(payload[key]) for key in ("error", "result") if payload.get(key)]
    kept = ("session", "tool", "title", "failed", "duration_ms")
    meta = {name: payload[name] for name in kept if payload.get(name)}
    meta |= {"scope": change.scope} if change.scope else {}
    duration = payload.get("duration_ms")
    return Turn(
        id=change.id,
        time=change.time or time_of(change.id),
        role="tool",
        content="\n".join(filter(None, parts)),
        origin="tool",
        duration_ms=duration if isinstance(duration, int) else None,
        meta=meta,
    )


def _arguments_text(arguments: Json) -> str:
    if isinstance(arguments, Mapping):
        return "\n".join(f"{key}: {_json_text(value)}" for key, value in arguments.items())
    return _json_text(arguments)


def _json_text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def observations_in(path: Path) -> Iterator[Placed]:
    """Yield the observations of a journal."""
    for line in jsonl.read(path):
        if (turn := observation_in(line)) is not None:
            yield Placed(line.offset, line.number, turn, line.end)
