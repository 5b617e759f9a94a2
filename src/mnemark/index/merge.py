"""Merge small segments, and rewrite segments with many dead passages."""

import itertools
import operator
from collections.abc import Mapping

import apsw
import numpy as np
import numpy.typing as npt

from mnemark.errors import BusyError
from mnemark.index import schema
from mnemark.index.batch import insert_segment
from mnemark.index.rows import ROW
from mnemark.index.segment import dead_bits, due_for_merge, merged_posting
from mnemark.index.store import Index

Renumber = dict[int, npt.NDArray[np.int32]]


def merge_due(index: Index) -> int:
    """Merge segments until no merge is due; return how many were rewritten.

    Each merge is one transaction and changes no search result.
    """
    merged = 0
    while chosen := due_for_merge(_sizes(index.connection)):
        with schema.immediate(index.connection):
            merge(index.connection, chosen)
        merged += len(chosen)
    return merged


def compact(index: Index) -> int:
    """Rewrite every segment with dead passages and vacuum the database; return how many were rewritten.

    Afterwards neither the database nor its log holds a deleted byte. The caller holds the sync lock.

    Raises:
        BusyError: another process is reading; the segments are rewritten, but the old bytes are still there.
    """
    with schema.translated(index.path):
        dead = [segment for segment, _, count in _sizes(index.connection) if count]
    for segment in dead:
        with schema.translated(index.path), schema.immediate(index.connection):
            merge(index.connection, [segment])
    with schema.translated(index.path):
        index.connection.execute("VACUUM")
        busy, *_ = schema.rows(index.connection, "PRAGMA wal_checkpoint(TRUNCATE)")[0]
    if busy:
        raise BusyError("index.db is being read; close other programs that use this memory and try again")
    return len(dead)


def merge(connection: apsw.Connection, chosen: list[int]) -> None:
    """Rewrite the chosen segments as one, without their dead passages."""
    chosen = sorted(chosen)
    renumber: Renumber = {}
    rows, first = [], 0
    meta = schema.read_meta(connection)
    for segment in chosen:
        sql = "SELECT size, rows, dead FROM segments WHERE id = ?"
        ((size, blob, dead),) = schema.rows(connection, sql, (segment,))
        schema.check_columns(meta, segment, blob, dead)
        alive = ~dead_bits(dead, size)
        count = int(alive.sum())
        numbers = np.full(size, -1, np.int32)
        numbers[alive] = np.arange(first, first + count, dtype=np.int32)
        renumber[segment] = numbers
        rows.append(np.frombuffer(blob, ROW)[alive])
        first += count
    postings = _merged(connection, chosen, renumber, meta)
    marks = ",".join("?" * len(chosen))
    connection.execute(f"DELETE FROM segments WHERE id IN ({marks})", chosen)  # noqa: S608 - only marks
    connection.execute(f"DELETE FROM postings WHERE segment IN ({marks})", chosen)  # noqa: S608 - only marks
    schema.drop_sums(connection, chosen)
    insert_segment(connection, first, np.concatenate(rows).tobytes(), postings)
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")


def _merged(
    connection: apsw.Connection, chosen: list[int], renumber: Renumber, meta: Mapping[str, str | int]
) -> list[tuple[str, bytes]]:
    marks = ",".join("?" * len(chosen))
    sql = f"SELECT term, segment, data FROM postings WHERE segment IN ({marks}) ORDER BY term, segment"  # noqa: S608
    read = schema.rows(connection, sql, chosen)
    for segment in chosen:
        schema.check_postings(meta, segment, ((term, data) for term, of, data in read if of == segment))
    joined = (
        (term, merged_posting([(segment, data) for _, segment, data in found], renumber))
        for term, found in itertools.groupby(read, operator.itemgetter(0))
    )
    return [(term, data) for term, data in joined if data]


def _sizes(connection: apsw.Connection) -> list[tuple[int, int, int]]:
    rows = schema.rows(connection, "SELECT id, size, dead FROM segments ORDER BY id")
    return [(segment, size, int.from_bytes(dead, "big").bit_count()) for segment, size, dead in rows]
