"""Read the full-text index without numpy, for commands that must start quickly.

Reads the same postings as `snapshot` from `index.db`, without what was written after the last sync. Opens
the database read-only, loads no dictionary, and is not safe for threads.
"""

import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import msgspec

from mnemark.errors import IntegrityError, NewerFormatError, NotFoundError
from mnemark.files.journal import Journal
from mnemark.files.private import private
from mnemark.files.tombstones import TombstoneLog
from mnemark.files.truth import Folder
from mnemark.index import schema
from mnemark.text import redaction
from mnemark.text.words import segment

NAME: Final = "index.db"
ROW: Final = struct.Struct("<qiqqHiBBBB16s")
"""The layout of `rows.ROW` as a `struct` format."""
LENGTH_AT: Final = 28
"""Byte offset of `length` in a row."""
_TIME_AT: Final = 20
_NO_TIME: Final = (-(2**63)).to_bytes(8, "little", signed=True)
"""`rows.NO_TIME` as it is stored."""
_KIND_AT: Final = 34
"""Byte offset of `kind` in a row."""


class Row(msgspec.Struct, frozen=True):
    """The ranking columns of a passage; see `rows.ROW`."""

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


class Place(msgspec.Struct, frozen=True):
    """The position of a passage: index of its segment in the list, and its number in the segment."""

    part: int
    number: int

    def key(self) -> int:
        """Return it as a number, for tables of many; see `Place.of`."""
        return self.part << 16 | self.number

    @classmethod
    def of(cls, key: int) -> "Place":
        """Return the position with this key."""
        return cls(key >> 16, key & 0xFFFF)


class Postings(NamedTuple):
    """The passages of a segment that contain a term: their numbers, and how often, as in `segment`."""

    part: int
    """The index of the segment in the list."""
    numbers: "array[int]"
    counts: bytes
    words: Sequence[int]
    """The lengths of all passages of the segment, in words."""


class Stored(msgspec.Struct, frozen=True):
    """The text of a passage and its source."""

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
"""Bits of the chunk number below the line number in an ordinal, as in `units`."""
_FETCH: Final = """SELECT p.id, d.path, p.start_line, p.end_line, p.kind, p.origin, p.role, p.title, p.date,
    p.text, p.meta FROM passages p JOIN documents d ON d.id = p.document
    WHERE p.id IN (SELECT value FROM json_each(?))"""


def _numbers(data: bytes) -> "array[int]":
    """Return the numbers of the passages in a posting list."""
    numbers = array("H", data[: 2 * (len(data) // 3)])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class QuickIndex:
    """A read-only view of the index of a workspace, for one query. A context manager.

    Raises:
        NotFoundError: there is no index, or not one that this version can read; `mnemark sync` creates it.
        IntegrityError, BusyError: see `schema`.
    """

    def __init__(self, root: Path, home: Path | None = None, hidden: TombstoneLog | None = None) -> None:
        """Open the index of the workspace `root`.

        Args:
            root: the workspace.
            home: the folder that the index lies in; None for the workspace.
            hidden: the tombstones; None to read them when passages are fetched.
        """
        path = private(home or root) / NAME
        if not path.is_file():
            raise NotFoundError(f"there is no index in {root}; create it with `mnemark sync`")
        self._root = root
        self._hidden = hidden
        self._words_of: dict[int, Sequence[int]] = {}
        self._lists: dict[str, dict[int, bytes]] = {}
        """Posting lists by term and segment, as far as they were read."""
        self._db = schema.connect(path, readonly=True)
        self._path = path
        try:
            with self._reading():
                # All is read from one state: checksums of one and columns of the next would look like damage.
                self._db.execute("BEGIN")
                self._marks = self._checked_meta().get("hidden")
        except BaseException:
            self._db.close()
            raise

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Translate errors, those of bytes that changed on the disk included."""
        try:
            with schema.translated(self._path):
                yield
        except NewerFormatError:
            raise
        except schema.UNFIT as error:
            raise IntegrityError(f"{schema.damage_of(error)}; run `mnemark sync`") from error

    def _checked_meta(self) -> dict[str, str | int]:
        """Return the `meta` table; raise NotFoundError if another version or other rules made the index."""
        if schema.version(self._db) != schema.VERSION:
            raise NotFoundError("the index was made by another version; run `mnemark sync`")
        meta = schema.read_meta(self._db)
        if reason := meta.get(schema.DAMAGE):
            raise IntegrityError(f"{reason}; it is being made anew")
        if not str(meta.get("fingerprint")).startswith(f"{segment.VERSION};"):
            raise NotFoundError("the index was made with other segmentation rules; run `mnemark sync`")
        if not str(meta.get("redaction")).startswith(f"{redaction.VERSION};"):
            raise NotFoundError("the index was made with other redaction rules; run `mnemark sync`")
        return meta

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @cached_property
    def _parts(self) -> list[tuple[int, int, bytes, bytes]]:
        with self._reading():
            found = schema.rows(self._db, "SELECT id, size, rows, dead FROM segments ORDER BY id")
            if any(
                len(rows) != size * ROW.size or len(dead) != (size + 7) // 8 for _, size, rows, dead in found
            ):
                raise IntegrityError(schema.DAMAGED_COLUMNS)
            meta = schema.read_meta(self._db)
        for segment_id, _, rows, dead in found:
            schema.check_columns(meta, segment_id, rows, dead)
        return found

    def count(self) -> int:
        """Return the number of passages, dead ones included."""
        with self._reading():
            return int(schema.scalar(self._db, "SELECT coalesce(sum(size), 0) FROM segments"))

    def counts(self) -> tuple[int, float]:
        """Return the number of passages, dead ones included, and their mean length in words."""
        count = sum(size for _, size, _, _ in self._parts)
        words = sum(sum(self._words(part)) for part in range(len(self._parts)))
        return count, words / count if count else 0.0

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return the document frequencies of those of the terms that are in the index, dead ones included."""
        sql = """SELECT p.term, sum(length(p.data) / 3) FROM json_each(?) CROSS JOIN segments s
            CROSS JOIN postings p ON p.segment = s.id AND p.term = value GROUP BY p.term"""
        with self._reading():
            return dict(schema.rows(self._db, sql, (schema.listed(dict.fromkeys(terms)),)))

    def scopes(self) -> dict[int, str]:
        """Return the names of the scopes by their numbers in rows."""
        with self._reading():
            return dict(schema.rows(self._db, "SELECT id, name FROM scopes"))

    def prefetch(self, terms: Sequence[str]) -> None:
        """Read the posting lists of terms at once: `postings` answers from them."""
        self._lists |= {term: {} for term in terms}
        with self._reading():
            for term, identifier, _, data in schema.postings(self._db, terms):
                self._lists[term][identifier] = data

    def postings(self, term: str) -> Iterator[Postings]:
        """Yield the live passages that contain a term, by segment, the newest first."""
        for part, data in self._data(term):
            _, size, _, dead = self._parts[part]
            numbers = _numbers(data)
            counts = data[2 * len(numbers) :]
            if any(dead) or (len(numbers) and max(numbers) >= size):
                live = [
                    number < size and not dead[number >> 3] & (0x80 >> (number & 7)) for number in numbers
                ]
                numbers, counts = array("H", compress(numbers, live)), bytes(compress(counts, live))
            yield Postings(part, numbers[::-1], counts[::-1], self._words(part))

    def _words(self, part: int) -> Sequence[int]:
        """Return the words of each passage of a segment, the dead ones included."""
        if part not in self._words_of:
            rows = self._parts[part][2]
            low, high = rows[LENGTH_AT :: ROW.size], rows[LENGTH_AT + 1 :: ROW.size]
            self._words_of[part] = [a + 256 * b for a, b in zip(low, high, strict=True)] if any(high) else low
        return self._words_of[part]

    def undated(self, term: str, kind: int) -> list[Place]:
        """Return the live passages of a kind and without a date that contain a term."""
        found: list[Place] = []
        for part, data in self._data(term):
            _, size, rows, dead = self._parts[part]
            found += [
                Place(part, number)
                for number in _numbers(data)
                if number < size
                and rows[(at := number * ROW.size) + _KIND_AT] == kind
                and rows[at + _TIME_AT : at + _TIME_AT + 8] == _NO_TIME
                and not dead[number >> 3] & (0x80 >> (number & 7))
            ]
        return found

    def _data(self, term: str) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each part that contains a term, the last first, and the posting list."""
        if term not in self._lists:
            self.prefetch((term,))
        for part, (identifier, *_) in reversed(list(enumerate(self._parts))):
            if (data := self._lists[term].get(identifier)) is not None:
                yield part, data

    def row(self, place: Place) -> Row:
        """Return the ranking columns of a passage."""
        return Row(*ROW.unpack_from(self._parts[place.part][2], place.number * ROW.size))

    def number_of(self, path: str) -> int | None:
        """Return the id of the document at `path`, or None."""
        with self._reading():
            found = schema.scalar(self._db, "SELECT id FROM documents WHERE path = ?", (path,))
        return found if isinstance(found, int) else None

    def lines(self, passages: Sequence[int]) -> list[tuple[str, int, int]]:
        """Return path, first and last line of passages, in the given order."""
        return [(row[1], row[2], row[3]) for row in self._fetched(passages)]

    def _fetched(self, passages: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the columns of `Stored` of passages, in the given order; missing ones are left out."""
        with self._reading():
            found = {row[0]: row for row in schema.rows(self._db, _FETCH, (schema.listed(passages),))}
        return [found[passage] for passage in passages if passage in found]

    def fetch(self, passages: Sequence[int]) -> list[Stored]:
        """Return passages in the given order, without files with text forgotten since the sync."""
        marks: dict[str, str] = {}
        hidden = (self._hidden or TombstoneLog(Journal(Folder(self._root)))).current()
        with self._reading():
            if isinstance(self._marks, str):
                marks = msgspec.json.decode(self._marks, type=dict[str, str])
        stored = [Stored(*row) for row in self._fetched(passages)]
        return [one for one in stored if marks.get(one.path, "") == hidden.mark(one.path)]
