"""Read session logs and journals in chunks, from the offset where the index stopped."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from mnemark.files import jsonl, platform
from mnemark.files.sessions import Placed, SessionLog, is_journal, observation_in
from mnemark.files.turns import decode_turn
from mnemark.hashes import blake2b
from mnemark.types import Problem, Turn

_BLOCK: Final = 1 << 20
_TAIL: Final = 1 << 13


class Chunk(NamedTuple):
    """Turns with their line numbers, and the offset and line count to continue from."""

    turns: list[tuple[int, Turn]]
    offset: int
    line: int
    """Number of lines before `offset`."""


class LogReader:
    """Reader of one session log, or of the observations in one journal."""

    def __init__(self, root: Path, path: str) -> None:
        self._path = root / path
        self._log = SessionLog.at(root, path)
        self._journal = is_journal(path)
        self.title = self._log.id
        self._problems: list[Problem] = []
        self._passed = 0, 0
        """End and number of the last line read of a journal, most of whose lines are no observations."""
        self._hashed = 0, blake2b(digest_size=16)
        """How many bytes of a log were hashed last, and their hash."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Lines that could not be parsed so far."""
        return tuple(self._problems)

    def chunks(self, offset: int, line: int, size: int) -> Iterator[Chunk]:
        """Yield turns from byte `offset` (after `line` lines) on, in chunks of about `size`.

        If the last line lacks its newline, its turn is yielded but the last chunk has offset 0, so that the
        log is read again from the start once the line is complete.
        """
        turns: list[tuple[int, Turn]] = []
        previous = self._id_before(offset) if offset else ""
        for placed in self._turns(offset, line + 1):
            if placed.turn.id == previous:  # a repeated append: already in the index
                continue
            previous = ""
            turns.append((placed.line, placed.turn))
            offset, line = placed.end, placed.line
            if len(turns) >= size and self._ends_line(offset):
                yield Chunk(turns, offset, line)
                turns = []
        offset, line = max((offset, line), self._passed)
        if turns or self._passed > (0, 0):
            yield Chunk(turns, offset, line) if self._ends_line(offset) else Chunk(turns, 0, 0)

    def _turns(self, offset: int, line: int) -> Iterator[Placed]:
        if not self._journal:
            yield from self._log.turns(offset, start_line=line, problems=self._problems)
            return
        for found in jsonl.read(self._path, offset, start_line=line):
            self._passed = found.end, found.number
            if (turn := observation_in(found)) is not None:
                yield Placed(found.offset, found.number, turn, found.end)

    def _id_before(self, offset: int) -> str:
        """Return the id of the turn whose line ends at `offset`."""
        size, data = 0, b""
        with platform.opened(self._path) as file:
            while b"\n" not in data.rstrip(b"\r\n") and size < offset:
                size = min(offset, max(_TAIL, 4 * size))
                file.seek(offset - size)
                data = file.read(size)
        last = data.rstrip(b"\r\n").rpartition(b"\n")[2]
        record = jsonl.decode(last.strip())
        turn = None if record is None else decode_turn(record, jsonl.Line(0, 0, last, 0))
        return "" if turn is None else turn.id

    def _ends_line(self, offset: int) -> bool:
        with platform.opened(self._path) as file:
            file.seek(max(offset - 1, 0))
            return file.read(1) == b"\n"

    def digest(self, stop: int) -> str:
        """Return the BLAKE2b-128, hexadecimal, of the first `stop` bytes.

        Of a journal, which is long and replaced as a whole, only of the last ones and the file's number.
        """
        start, hashed = self._hashed[0], self._hashed[1].copy()
        with platform.opened(self._path) as file:
            if self._journal:
                number = str(os.fstat(file.fileno()).st_ino).encode()
                start, hashed = max(stop - _TAIL, 0), blake2b(number, digest_size=16)
            elif stop < start:
                start, hashed = 0, blake2b(digest_size=16)
            file.seek(start)
            while start < stop and (block := file.read(min(_BLOCK, stop - start))):
                hashed.update(block)
                start += len(block)
        if not self._journal:
            self._hashed = start, hashed
        return hashed.hexdigest()
