"""Erase words from databases: the index, the vectors, and bookkeeping of any schema."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import apsw

from mnemark.errors import BusyError
from mnemark.files import platform
from mnemark.files.locks import sync_lock
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
    """Rewrite the index and the vectors without passages that are gone; returns by how many bytes it shrank.

    Sync before: what is in the files is in the index, and nothing else stays in it.

    Raises:
        BusyError: another process syncs, or reads the index; try again.
    """
    with sync_lock(index.home, timeout=wait):
        before = schema.size_on_disk(index.path)
        compact(index)
        if store is not None:
            store.refresh()
            store.compact(keys_of(index))
        return max(before - schema.size_on_disk(index.path), 0)


def erase_rows(path: Path, forms: Sequence[bytes]) -> int:
    """Delete every row of a database that holds any of the byte strings; returns how many.

    All of its tables are looked at, whatever they are for. Afterwards neither the file nor its log holds a
    byte of what was deleted.

    Raises:
        BusyError: another process uses it; nothing, or not all, was deleted.
        IntegrityError: it is damaged.
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
