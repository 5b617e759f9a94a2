"""The tables of `state.db`, as numbered migrations, and how it is opened."""

import os
from pathlib import Path
from typing import Final

import apsw

from mnemark.errors import IntegrityError, NewerFormatError
from mnemark.index import schema

APPLICATION_ID: Final = 0x6D6E7374  # "mnst"

MIGRATIONS: Final = (
    """
    CREATE TABLE uses (ref TEXT PRIMARY KEY, times INTEGER NOT NULL, last REAL NOT NULL)
        STRICT, WITHOUT ROWID;
    CREATE TABLE positions (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE queue (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        tries INTEGER NOT NULL DEFAULT 0,
        next_try REAL NOT NULL,                  -- Unix seconds; a claim moves it to the end of its lease
        failed INTEGER NOT NULL DEFAULT 0,
        reason TEXT NOT NULL DEFAULT '',
        UNIQUE (path, first, last)
    ) STRICT;
    CREATE INDEX queue_due ON queue (next_try, id) WHERE failed = 0;
    CREATE INDEX queue_failed ON queue (id) WHERE failed = 1;
    CREATE TABLE spend (
        id INTEGER PRIMARY KEY,
        request TEXT NOT NULL, day TEXT NOT NULL, time TEXT NOT NULL, model TEXT NOT NULL, what TEXT NOT NULL,
        calls INTEGER NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX spend_by_day ON spend (day);
    """,
)
"""Never changed once released: a new one is added behind."""


def connect(path: Path, *, readonly: bool = False) -> apsw.Connection:
    """Open `state.db` at the newest version; it is made where it is missing.

    Raises:
        NewerFormatError: a newer mnemark made it; it is left alone.
        IntegrityError: it is damaged, or no state of mnemark.
    """
    schema.check_files(path)
    with schema.translated(path):
        if readonly:
            connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
        else:
            connection = schema.open_file(path)
        connection.set_busy_timeout(schema.BUSY_MS)
        if not readonly:
            schema.write_ahead(connection)
            connection.execute("PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON").fetchall()
        version = _version(connection, path)
        if version < len(MIGRATIONS) and not readonly:
            with schema.immediate(connection):
                for sql in MIGRATIONS[_version(connection, path) :]:  # another process may have been first
                    connection.execute(sql)
                connection.execute(
                    f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={len(MIGRATIONS)}"
                )
        return connection


def _version(connection: apsw.Connection, path: Path) -> int:
    # Emptiness first: who makes it sets marks and tables at once, so that a later look sees all of it.
    empty = not schema.scalar(connection, "SELECT count(*) FROM sqlite_schema")
    application, version = connection.pragma("application_id"), connection.pragma("user_version")
    if application != APPLICATION_ID and not (empty and not application and not version):
        raise IntegrityError(f"{path.name} is not mnemark's bookkeeping; move it away")
    if isinstance(version, int) and version > len(MIGRATIONS):
        raise NewerFormatError(
            f"{path.name} has format {version}, this mnemark reads {len(MIGRATIONS)}; "
            f"upgrade mnemark, or delete {path.parent.name}/{path.name} (it only keeps count)"
        )
    return int(version or 0)
