"""Sessions: `sessions/<safe name>.jsonl`, a header line with the session's id and a line for each turn."""

import re
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mnemark.errors import IntegrityError
from mnemark.files import jsonl, listing, names, platform
from mnemark.files.ids import new_id
from mnemark.files.turns import created, decode_turn, encode_turn, header_id, with_id
from mnemark.types import Problem, Turn

FOLDER = "sessions"
_SUFFIX = ".jsonl"
_COPY = re.compile(r"\.(sync-)?conflict-", re.IGNORECASE)


class Placed(NamedTuple):
    """A turn and where it stands: byte offset, line (1-based), and the offset to read on from."""

    offset: int
    line: int
    turn: Turn
    end: int


class SessionInfo(NamedTuple):
    """A session on disk: its id, its file, when it began (as written; None where unknown), bytes and age."""

    id: str
    path: Path
    created: datetime | None
    size: int
    mtime_ns: int


class SessionLog:
    """The turns of one session of the workspace (or scope folder) `root`.

    Making one touches nothing; the file appears with the first turn. Several processes may append at once.
    Turns are written as given: redact before.
    """

    def __init__(self, root: Path, session: str) -> None:
        self.id = session
        self.root = root
        self.name = f"{FOLDER}/{names.file_name(session, _SUFFIX)}"
        self._real: Path | None = None
        self._head = b""
        self._lines = (0, 0)
        self._guard = threading.Lock()

    @classmethod
    def at(cls, root: Path, name: str) -> "SessionLog":
        """The session whose file is `name` (relative to `root`), for example one another program wrote."""
        path = root / name
        log = cls(root, session_id(path) or path.stem)
        log.name = name
        return log

    @property
    def path(self) -> Path:
        """Where the file is. Raises UsageError where a link leads it out of the workspace."""
        if self._real is None:
            self._real = names.inside(self.root, self.name)
        return self._real

    def append(self, turn: Turn) -> Turn:
        """Write a turn and return it, with a new ULID where its `id` is empty, once it is on the disk.

        Raises BusyError, ReadOnlyError, UsageError (not JSON) or MnemarkError (disk full): not kept then.
        """
        return self.append_many([turn])[0]

    def append_many(self, turns: Sequence[Turn]) -> list[Turn]:
        """Write turns with one `fsync`: all of them are kept, or none."""
        return [placed.turn for placed in self.place(turns)]

    def place(self, turns: Sequence[Turn]) -> list[Placed]:
        """Like `append_many`, and says where each turn stands."""
        kept = [turn if turn.id else with_id(turn, new_id()) for turn in turns]
        lines = [encode_turn(turn) for turn in kept]
        if platform.is_link(self.path.parent):
            self._real = None  # it is written to for hours, and a link may come in with a sync
        offsets = jsonl.append_many(self.path, lines, header=self._header())
        if not kept:
            return []
        first = self._line_at(offsets[0], len(kept), offsets[-1] + len(lines[-1]) + 1)
        return [
            Placed(offset, first + index, turn, offset + len(line) + 1)
            for index, (offset, turn, line) in enumerate(zip(offsets, kept, lines, strict=True))
        ]

    def _header(self) -> bytes:
        if not self._head:
            self._head = jsonl.encode({"session": self.id, "created": datetime.now(UTC).astimezone()})
        return self._head

    def _line_at(self, offset: int, added: int, end: int) -> int:
        """Number of the line at `offset`, where `added` lines up to `end` are ours; only news are counted."""
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
        """Turns from a byte offset on; go on later from the last one's `end`.

        Lines that hold no turn are left out; broken ones are added to `problems`. The line of an append that
        was repeated after a failure (same id, next line) is yielded once.
        """
        undated = self._undated()
        before = ""
        records = jsonl.records(
            self.path,
            start_offset,
            start_line=start_line,
            problems=problems,
            name=self.name,
        )
        for line, record in records:
            turn = decode_turn(record, line, undated)
            if turn is not None and turn.id != before:
                before = turn.id
                yield Placed(line.offset, line.number, turn, line.end)

    def erased(self) -> frozenset[str]:
        """Ids of the turns that were erased from this log: whoever brings turns in leaves them out."""
        if not jsonl.holds(self.path, b'"erased"'):
            return frozenset()
        found = (jsonl.decode(line.data) for line in jsonl.read(self.path) if b'"erased"' in line.data)
        return frozenset(
            str(record["id"]) for record in found if record and "role" not in record and "erased" in record
        )

    def last(self, count: int) -> list[Turn]:
        """The last turns, oldest first, read from the end of the file."""
        found: list[Turn] = []
        undated = self._undated()
        number: int | None = None
        for offset, data in jsonl.read_back(self.path) if count > 0 else ():
            record = jsonl.decode(data)
            if record is None:
                continue
            number = jsonl.count_lines(self.path, offset) + 1 if not record.get("id") else 0
            turn = decode_turn(record, jsonl.Line(offset, number, data, 0), undated)
            if turn is not None and not (found and found[-1].id == turn.id):
                found.append(turn)
            if len(found) == count:
                break
        return found[::-1]

    def _undated(self) -> datetime | None:
        """The time given to turns without one: when the session began, or the file last changed."""
        head = _head(self.path)
        if head is not None and (moment := created(head)) is not None:
            return moment
        state = platform.identity(self.path)
        return None if state is None else datetime.fromtimestamp(state.mtime_ns / 1e9, UTC)

    def check(self) -> None:
        """Raise IntegrityError where the file belongs to another session."""
        owner = session_id(self.path)
        if owner and owner != self.id:
            raise IntegrityError(
                f"{self.name}: belongs to session {owner!r}, not {self.id!r}; move the file away"
            )


def session_id(path: Path) -> str | None:
    """The session id a file's header names; None where there is no header."""
    head = _head(path)
    return header_id(head) if head is not None else None


def _head(path: Path) -> dict[str, object] | None:
    """The first header among the first lines (a torn one may stand before it)."""
    for index, line in enumerate(jsonl.read(path)):
        record = jsonl.decode(line.data)
        if record is not None:
            return record if header_id(record) is not None else None
        if index == 4:
            break
    return None


def list_sessions(root: Path) -> list[SessionInfo]:
    """The sessions below `root`, by file name; without hidden files, conflict copies and unreadable ones."""
    found = []
    for path in listing.files(root, FOLDER, _SUFFIX):
        state = platform.identity(path)
        if state is None or path.name.startswith(".") or _COPY.search(path.name):
            continue
        head = _head(path) or {}
        identifier = header_id(head) or path.stem
        found.append(SessionInfo(identifier, path, created(head), state.size, state.mtime_ns))
    return found
