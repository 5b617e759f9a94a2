"""Erase deleted text from the index, the vectors and other SQLite databases."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import apsw

from mnemark.errors import BusyError, IntegrityError, NewerFormatError
from mnemark.files import platform
from mnemark.files.truth import sync_lock
from mnemark.index import schema
from mnemark.index.merge import compact
from mnemark.index.store import Index
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.embed_missing import keys_of

_MAGIC: Final = b"SQLite format 3\0"
_TABLES: Final = "SELECT name FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database."""
    with platform.opened(path) as file:
        return file.read(len(_MAGIC)) == _MAGIC


def scrub_index(index: Index, store: VectorStore | None, *, wait: float = 10.0) -> int:
    """Rewrite the index and the vectors without deleted passages; return by how many bytes the index shrank.

    Sync first: only passages that the index no longer holds are erased.

    Raises:
        BusyError: another process is syncing or reading the index; try again.
        IntegrityError: the index was damaged and is discarded, with all that it held; sync again.
    """
    with sync_lock(index.home, timeout=wait):
        before = schema.size_on_disk(index.path)
        try:
            compact(index)
        except NewerFormatError:
            raise
        except schema.UNFIT as error:
            index.discard(schema.damage_of(error))
            raise IntegrityError(f"{schema.damage_of(error)}; run `mnemark sync`") from error
        if store is not None:
            store.refresh()
            store.compact(keys_of(index))
        return max(before - schema.size_on_disk(index.path), 0)


def erase_rows(path: Path, forms: Sequence[bytes]) -> int:
    """Delete every row that contains any of the byte strings, in all tables; return their number.

    Afterwards neither the file nor its write-ahead log holds a deleted byte.

    Raises:
        BusyError: another process uses the database; rows or their bytes may remain.
        IntegrityError: the database is damaged.
    """
    with schema.translated(path):
        connection = apsw.Connection(os.fspath(path))
        try:
            connection.set_busy_timeout(schema.BUSY_MS)
            connection.execute("PRAGMA secure_delete=ON").fetchall()
            with schema.immediate(connection):
                tables = schema.rows(connection, _TABLES)
                count = sum(_erase_from(connection, table, forms) for (table,) in tables)
            connection.execute("VACUUM")
            if connection.pragma("journal_mode") == "wal":
                busy, *_ = schema.rows(connection, "PRAGMA wal_checkpoint(TRUNCATE)")[0]
                if busy:
                    raise BusyError(f"{path.name} is being read; close other programs that use this memory")
        finally:
            connection.close()
    return count


def _erase_from(connection: apsw.Connection, table: str, forms: Sequence[bytes]) -> int:
    columns = [row[1] for row in schema.rows(connection, f"PRAGMA table_info({_quoted(table)})")]
    count = 0
    for form in forms:
        holds = " OR ".join(f"instr(CAST({_quoted(name)} AS BLOB), ?1) > 0" for name in columns)
        connection.execute(f"DELETE FROM {_quoted(table)} WHERE {holds}", (form,))  # noqa: S608 - own names
        count += connection.changes()
    return count


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
