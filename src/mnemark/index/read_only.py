"""Read full text without numpy, for a process that lives a tenth of a second.

Reads the same postings as `snapshot`, as they stand in `index.db`; what was written after the last sync is
not seen. Nothing is written, no dictionary is loaded, and one connection is used by one thread.
"""

import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from mnemark.errors import NotFoundError
from mnemark.files import layout
from mnemark.files.journal import Journal
from mnemark.files.tombstones import TombstoneLog
from mnemark.index import schema
from mnemark.text.redaction import spans
from mnemark.text.words import segment

NAME: Final = "index.db"
ROW: Final = struct.Struct("<qiqqHiBBBB16s")
"""`rows.ROW`, field by field, as `struct` reads it."""
LENGTH_AT: Final = 28
"""Offset of `length` in a row."""


class Row(NamedTuple):
    """What ranking needs of a passage; see `rows.ROW`."""

    passage: int
    document: int
    ordinal: int
    time: int
    length: int
    scope: int
    kind: int
    origin: int
    flags: int
    importance: int
    key: bytes


class Place(NamedTuple):
    """A passage by its segment's place in the list, and its number there."""

    part: int
    number: int


class Stored(NamedTuple):
    """A passage's words and where they are from."""

    passage: int
    path: str
    start_line: int
    end_line: int
    kind: str
    origin: str
    role: str
    title: str
    date: str | None
    text: str
    meta: str
    """JSON."""


LINE_SHIFT: Final = 20
"""The line in an ordinal, as in `units`."""
_FETCH: Final = """SELECT p.id, d.path, p.start_line, p.end_line, p.kind, p.origin, p.role, p.title, p.date,
    p.text, p.meta FROM passages p JOIN documents d ON d.id = p.document WHERE p.id = ?"""


class QuickIndex:
    """The index of a workspace as it is, for one question. A context manager.

    Raises:
        NotFoundError: there is none, or one that this version cannot read; `mnemark sync` makes it.
        IntegrityError, BusyError: see `schema`.
    """

    def __init__(self, root: Path) -> None:
        path = root / layout.PRIVATE / NAME
        if not path.is_file():
            raise NotFoundError(f"there is no index in {root}; create it with `mnemark sync`")
        self._root = root
        self._db = schema.connect(path, readonly=True)
        self._path = path
        try:
            with schema.translated(path):
                self._marks = self._usable().get("hidden")
                listed = "SELECT id, size, rows, dead FROM segments ORDER BY id"
                self._parts: list[tuple[int, int, bytes, bytes]] = schema.rows(self._db, listed)
        except BaseException:
            self._db.close()
            raise

    def _usable(self) -> dict[str, str | int]:
        """Return the table `meta` of an index of this version."""
        if schema.version(self._db) != schema.VERSION:
            raise NotFoundError("the index was made by another version; run `mnemark sync`")
        meta = schema.read_meta(self._db)
        if not str(meta.get("fingerprint")).startswith(f"{segment.VERSION};"):
            raise NotFoundError("the index was made with other segmentation rules; run `mnemark sync`")
        if not str(meta.get("redaction")).startswith(f"{spans.VERSION};"):
            raise NotFoundError("the index was made with other redaction rules; run `mnemark sync`")
        return meta

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def counts(self) -> tuple[int, float]:
        """Return the number of passages, dead ones included, and their mean length in words."""
        count = sum(size for _, size, _, _ in self._parts)
        words = sum(
            sum(rows[LENGTH_AT :: ROW.size]) + 256 * sum(rows[LENGTH_AT + 1 :: ROW.size])
            for _, _, rows, _ in self._parts
        )
        return count, words / count if count else 0.0

    def holding(self, term: str) -> int:
        """Count the passages that hold a term, dead ones included."""
        sql = """SELECT coalesce(sum(length(data) / 3), 0) FROM postings
            WHERE term = ? AND segment IN (SELECT id FROM segments)"""
        return int(schema.scalar(self._db, sql, (term,)) or 0)

    def postings(self, term: str) -> Iterator[tuple[Place, int, int]]:
        """Yield living passages that hold a term: place, counts in the text and in the head."""
        sql = "SELECT data FROM postings WHERE segment = ? AND term = ?"
        for part, (identifier, size, _, dead) in enumerate(self._parts):
            data = schema.scalar(self._db, sql, (identifier, term))
            if not isinstance(data, bytes):
                continue
            numbers = array("H", data[: 2 * (len(data) // 3)])
            if sys.byteorder == "big":
                numbers.byteswap()
            counts = data[2 * len(numbers) :]
            for number, packed in zip(numbers, counts, strict=True):
                if number < size and not dead[number >> 3] & (0x80 >> (number & 7)):
                    yield Place(part, number), packed & 0x3F, packed >> 6

    def row(self, place: Place) -> Row:
        """Return the columns of a passage."""
        return Row._make(ROW.unpack_from(self._parts[place.part][2], place.number * ROW.size))

    def number_of(self, path: str) -> int | None:
        """Return the number of the document at `path`."""
        found = schema.scalar(self._db, "SELECT id FROM documents WHERE path = ?", (path,))
        return found if isinstance(found, int) else None

    def fetch(self, passages: Sequence[int]) -> list[Stored]:
        """Return passages in that order, but for files that hold something forgotten meanwhile."""
        import msgspec

        marks: dict[str, str] = {}
        if isinstance(self._marks, str):
            marks = msgspec.json.decode(self._marks, type=dict[str, str])
        hidden = TombstoneLog(Journal(self._root)).current()
        found: list[Any] = []
        with schema.translated(self._path):
            for passage in passages:
                found += schema.rows(self._db, _FETCH, (passage,))
        kept = [Stored._make(row) for row in found]
        return [one for one in kept if marks.get(one.path, "") == hidden.mark(one.path)]
