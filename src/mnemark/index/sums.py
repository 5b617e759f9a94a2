"""Checksums of segments, as SQLite has none: a flipped bit in a scope would show a person another's memory.

They are in `meta`, a line a segment; an index of an earlier version has none and is used unchecked. Columns
and dead bits are checked whenever they are loaded (milliseconds at 100,000 passages), posting lists where all
are read: in merges, by `doctor` and by `verify`. The text of a passage has its content key in the columns.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import apsw

from mnemark.errors import IntegrityError

_KEY: Final = "sum:"
DAMAGED: Final = "index.db has damaged columns; run `mnemark sync`"


class Sums:
    """The checksums of one segment; of its posting lists, once they were all passed through `counted`."""

    def __init__(self, rows: bytes, dead: bytes, postings: int = 0) -> None:
        self.rows, self.dead, self.postings = zlib.crc32(rows), zlib.crc32(dead), postings

    def counted(self, postings: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
        """Yield posting lists, sorted by term, and add them to the checksum."""
        for term, data in postings:
            self.postings = zlib.crc32(data, zlib.crc32(term.encode("utf-8", "surrogatepass"), self.postings))
            yield term, data

    def store(self, connection: apsw.Connection, segment: int) -> None:
        """Store them for a segment, inside the caller's transaction."""
        value = f"{self.rows} {self.dead} {self.postings}"
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{_KEY}{segment}", value))


def drop(connection: apsw.Connection, segments: Iterable[int]) -> None:
    """Delete the checksums of segments that are deleted."""
    keys = [(f"{_KEY}{segment}",) for segment in segments]
    connection.executemany("DELETE FROM meta WHERE key = ?", keys)


def stored(meta: Mapping[str, str | int], segment: int) -> tuple[int, int, int] | None:
    """Return the checksums of columns, dead bits and posting lists; None in an index without them."""
    value = meta.get(f"{_KEY}{segment}")
    if value is None:
        return None
    try:
        rows, dead, postings = map(int, str(value).split())
    except ValueError:
        raise IntegrityError(DAMAGED) from None
    return rows, dead, postings


def check(meta: Mapping[str, str | int], segment: int, rows: bytes, dead: bytes) -> None:
    """Raise IntegrityError where columns or dead bits are not those that were written."""
    known = stored(meta, segment)
    if known is not None and known[:2] != (zlib.crc32(rows), zlib.crc32(dead)):
        raise IntegrityError(DAMAGED)


def check_postings(
    meta: Mapping[str, str | int], segment: int, postings: Iterable[tuple[str, bytes]]
) -> None:
    """Raise IntegrityError where posting lists, sorted by term, are not those that were written."""
    known, found = stored(meta, segment), Sums(b"", b"")
    for _ in found.counted(postings):
        pass
    if known is not None and known[2] != found.postings:
        raise IntegrityError("index.db has damaged posting lists; run `mnemark sync`")
