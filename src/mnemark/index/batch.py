"""Collect a batch of changes without the lock, and write it in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final, NamedTuple

import apsw
import msgspec
import numpy as np

from mnemark.errors import BusyError
from mnemark.files.layout import Place
from mnemark.files.scan import FileEntry
from mnemark.index import schema
from mnemark.index.passage import Unit, passage_columns
from mnemark.index.rows import (
    ARCHIVED,
    ASKS,
    CORE,
    DERIVED,
    KIND_CODE,
    ORIGIN_CODE,
    ROW,
    TASTE,
    UNTRUSTED,
    USER,
    seconds_of,
)
from mnemark.index.segment import MAX_SIZE, dead_bits
from mnemark.index.segment_builder import PassageText, SegmentBuilder
from mnemark.index.workers import Workers
from mnemark.text.tastes import tastes
from mnemark.types import Problem

FLUSH_AT: Final = 32_768
"""Passages in a batch. A killed process loses at most these: about ten seconds of work."""
UPDATE_STAT: Final = (
    "UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, device = ?, checked_ns = ? "
    "WHERE id = ?"
)
"""Takes `stat_values`, when they were looked at, and the document."""
_DEFAULT_IMPORTANCE: Final = 128
_CORE_ROLES: Final = frozenset({"longterm", "identity", "fact"})
_ASKING: Final = ("?", "？")


class FileState(NamedTuple):
    """The new values of a row of `documents`."""

    document: int
    entry: FileEntry
    checked_ns: int
    digest: str
    place: Place
    title: str = ""
    tail: int = 0
    lines: int = 0
    problems: Sequence[Problem] = ()
    facts: bytes = b""


class Batch:
    """Index changes that are not written yet.

    Args:
        next_passage: the id of the next passage.
        workers: analyse passages where one is free.
    """

    def __init__(self, next_passage: int, workers: Workers) -> None:
        self.next_passage = next_passage
        self._workers = workers
        self._builders = [SegmentBuilder(workers)]
        self._size = 0
        self._stats: list[tuple[object, ...]] = []
        self._passages: list[tuple[object, ...]] = []
        self._states: dict[int, FileState] = {}
        self._replaced: dict[int, AbstractSet[int]] = {}
        """The documents whose passages are deleted, with the ids of those that are kept."""
        self._removed: set[int] = set()

    @property
    def full(self) -> bool:
        """Whether the batch holds at least `FLUSH_AT` passages and should be written."""
        return self._size >= FLUSH_AT

    def __bool__(self) -> bool:
        return bool(self._states or self._removed or self._replaced or self._stats)

    def remove(self, document: int) -> None:
        """Delete a document whose file is gone."""
        self._removed.add(document)
        self._replaced[document] = frozenset()

    def replace(self, document: int, kept: AbstractSet[int] = frozenset()) -> None:
        """Delete the stored passages of a document but those `kept`; units added replace them."""
        self._replaced[document] = kept

    def put(self, state: FileState) -> None:
        """Set the new row of a file's document."""
        self._states[state.document] = state

    def note_stat(self, document: int, entry: FileEntry, checked_ns: int) -> None:
        """Update the stat of a file whose content is unchanged."""
        self._stats.append((*stat_values(entry), checked_ns, document))

    def add(self, document: int, units: Iterable[Unit], place: Place, scope: int) -> int:
        """Add units of a document and return their number."""
        before = self._size
        for unit in units:
            if len(self._builders[-1]) >= MAX_SIZE:  # one long file may fill several segments
                self._builders.append(SegmentBuilder(self._workers))
            row = passage_row(self.next_passage, document, unit, place, scope)
            self._builders[-1].add(row, passage_text(unit))
            self._passages.append((self.next_passage, document, *passage_columns(unit)))
            self.next_passage += 1
            self._size += 1
        return self._size - before

    def write(self, connection: apsw.Connection, fingerprint: str) -> None:
        """Write everything in one transaction.

        Raises:
            BusyError: another version of mnemark reset the index with another segmentation (`fingerprint`).
        """
        for builder in self._builders:
            builder.analyse()  # before the write lock is held
        with schema.immediate(connection):
            if schema.read_meta(connection).get("fingerprint") != fingerprint:
                raise BusyError("another version of mnemark is building the index; end it and sync again")
            if self._replaced:
                _mark_dead(connection, self._replaced)
            if self._removed:
                connection.executemany("DELETE FROM documents WHERE id = ?", [(d,) for d in self._removed])
            self._write_documents(connection)
            self._write_passages(connection)
            connection.executemany(UPDATE_STAT, self._stats)
            if self._states or self._removed or self._replaced:
                connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")

    def _write_documents(self, connection: apsw.Connection) -> None:
        # Release all paths first: `path` is unique, and two files may have swapped names.
        connection.executemany(
            "UPDATE documents SET path = char(0) || id WHERE id = ?", [(d,) for d in self._states]
        )
        scopes = dict(schema.rows(connection, "SELECT name, id FROM scopes"))
        connection.executemany(
            """INSERT INTO documents (id, path, size, mtime_ns, ctime_ns, inode, device, checked_ns, digest,
                                      tail, lines, title, scope, problems, facts)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (id) DO UPDATE SET path = excluded.path, size = excluded.size,
                 mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode,
                 device = excluded.device, checked_ns = excluded.checked_ns, digest = excluded.digest,
                 tail = excluded.tail, lines = excluded.lines, title = excluded.title, scope = excluded.scope,
                 problems = excluded.problems, facts = excluded.facts""",
            [_document_row(state, scopes[state.place.scope]) for state in self._states.values()],
        )

    def _write_passages(self, connection: apsw.Connection) -> None:
        if not self._passages:
            return
        connection.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._passages
        )
        for builder in self._builders:
            insert_segment(connection, len(builder), builder.rows().tobytes(), builder.postings())


def passage_row(number: int, document: int, unit: Unit, place: Place, scope: int) -> tuple[object, ...]:
    """Return the columns of a passage, in the order of `ROW`, but for what follows from its text."""
    flags = (ARCHIVED if place.archived else 0) | (CORE if place.role in _CORE_ROLES else 0)
    flags |= DERIVED if unit.sources else 0
    if unit.kind == "turn":
        flags |= (USER if unit.role == "user" else 0) | (ASKS if unit.text.rstrip().endswith(_ASKING) else 0)
        states = unit.origin == "owner" and unit.role != "assistant" and any(True for _ in tastes(unit.text))
        flags |= TASTE if states else 0
    return (
        number,
        document,
        unit.ordinal,
        seconds_of(unit.date),
        0,
        scope,
        KIND_CODE[unit.kind],
        ORIGIN_CODE[unit.origin],
        flags,
        _DEFAULT_IMPORTANCE,
        np.frombuffer(unit.key(), np.uint8),
    )


def passage_text(unit: Unit) -> PassageText:
    """Return what is analysed of a unit."""
    return PassageText(unit.text, unit.head, unit.origin in UNTRUSTED)


def insert_segment(
    connection: apsw.Connection, size: int, rows: bytes, postings: Iterable[tuple[str, bytes]]
) -> None:
    """Insert a segment and its postings, with no passage marked dead."""
    dead = bytes((size + 7) // 8)
    connection.execute("INSERT INTO segments (size, rows, dead) VALUES (?, ?, ?)", (size, rows, dead))
    segment = connection.last_insert_rowid()
    found = schema.Sums(rows, dead)
    connection.executemany(
        "INSERT INTO postings VALUES (?, ?, ?)",
        ((segment, term, data) for term, data in found.counted(postings)),
    )
    found.store(connection, segment)


def scope_number(connection: apsw.Connection, known: dict[str, int], name: str) -> int:
    """Return the id of a scope; insert it where it is new."""
    if name not in known:
        connection.execute("INSERT INTO scopes (name) VALUES (?)", (name,))
        known[name] = connection.last_insert_rowid()
    return known[name]


def _mark_dead(connection: apsw.Connection, documents: Mapping[int, AbstractSet[int]]) -> None:
    wanted = np.fromiter(documents, np.int64, len(documents))
    kept = np.fromiter(chain.from_iterable(documents.values()), np.int64)
    meta = schema.read_meta(connection)
    for segment, size, rows, dead in schema.rows(connection, "SELECT id, size, rows, dead FROM segments"):
        stored = np.frombuffer(rows, ROW)
        hit = np.isin(stored["document"], wanted)
        if len(kept):
            hit &= ~np.isin(stored["passage"], kept)
        before = dead_bits(dead, size)
        bits = before | hit
        if (bits == before).all():
            continue
        schema.check_columns(meta, segment, rows, dead)  # else the new checksum would hide the damage
        if bits.all():
            connection.execute("DELETE FROM segments WHERE id = ?", (segment,))
            connection.execute("DELETE FROM postings WHERE segment = ?", (segment,))
            schema.drop_sums(connection, [segment])
        else:
            packed = np.packbits(bits).tobytes()
            connection.execute("UPDATE segments SET dead = ? WHERE id = ?", (packed, segment))
            if known := schema.stored_sums(meta, segment):
                schema.Sums(rows, packed, known[2]).store(connection, segment)
    connection.executemany(
        "DELETE FROM passages WHERE document = ? AND id NOT IN (SELECT value FROM json_each(?))",
        [(document, msgspec.json.encode(sorted(left)).decode()) for document, left in documents.items()],
    )


def _document_row(state: FileState, scope: int) -> tuple[object, ...]:
    return (
        state.document,
        state.entry.path,
        *stat_values(state.entry),
        state.checked_ns,
        bytes.fromhex(state.digest),
        state.tail,
        state.lines,
        state.title,
        scope,
        msgspec.json.encode(list(state.problems)).decode(),
        state.facts,
    )


def stat_values(entry: FileEntry) -> tuple[int, ...]:
    """Return what a row of `documents` has of a file's status, for `UPDATE_STAT`."""
    return entry.size, entry.mtime_ns, entry.ctime_ns, _signed(entry.inode), _signed(entry.device)


def _signed(number: int) -> int:
    """Convert an unsigned 64-bit inode or device number to SQLite's signed integers."""
    return number - (1 << 64) if number >= 1 << 63 else number
