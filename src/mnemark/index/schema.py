"""Define the schema of `index.db`, open connections to it, and translate SQLite errors.

Its content is derived from the files of the workspace: a database of another schema, machine or
segmentation is discarded and rebuilt; one from a newer mnemark is left alone.

Full text is kept as our own postings and not as an FTS5 table: scores need the term frequencies of
neighbouring turns and of whole sessions from one index, and at 100,000 passages numpy adds up packed
postings an order of magnitude faster than FTS5 ranks an OR of terms (`mnemark bench speed` prints both).
"""

import functools
import os
import stat
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import apsw
import msgspec

from mnemark.errors import BusyError, IntegrityError, MnemarkError, NewerFormatError, ReadOnlyError
from mnemark.files import platform
from mnemark.files.disk_errors import shortage

APPLICATION_ID: Final = 0x6D6E6D6B  # "mnmk"
VERSION: Final = 8
BUSY_MS: Final = 5_000
_CACHE: Final = -1024
"""Page cache per connection (SQLite counts KiB as negative): small, since the system caches pages, too."""
_WRITER_CACHE: Final = -32768
DAMAGE: Final = "damage"
"""Key in `meta` of why the last index was discarded, until the first sync has filled this one."""
UNFIT: Final[tuple[type[Exception], ...]] = (
    IntegrityError, apsw.Error, msgspec.MsgspecError, struct.error, AttributeError, LookupError, MemoryError,
    OverflowError, TypeError, ValueError,
)  # fmt: skip
"""What reading changed bytes may raise: SQLite has no checksums, so it passes on most of them."""
UNREADABLE: Final[tuple[type[Exception], ...]] = (MnemarkError, OSError, *UNFIT)
"""What reading may raise: also where the disk is full, or the database is in use or closed."""
NO_JOURNAL: Final = "path NOT LIKE 'journal/%.jsonl'"
"""A condition on documents: journals, of which only observations are indexed, are no files to a person."""
COUNT_FILES: Final = f"SELECT count(*) FROM documents WHERE {NO_JOURNAL}"  # noqa: S608 - both are constants

DAMAGED_POSTINGS: Final = "index.db has damaged postings; run `mnemark doctor --fix`"
DAMAGED_COLUMNS: Final = "index.db has damaged columns; run `mnemark sync`"
SUM: Final = "sum:"
"""Prefix of keys in `meta` with the checksums of a segment.

SQLite has none, and a flipped bit in a scope would show a person another's memory. An index of an earlier
version has none and is used unchecked. Columns and dead bits are checked whenever they are loaded
(milliseconds at 100,000 passages), posting lists where all are read: in merges, by `doctor` and by `verify`.
The text of a passage has its content key in the columns.
"""

SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE scopes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL, device INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL,             -- when the bytes were read, to tell edits within one clock tick
    digest BLOB NOT NULL,                    -- of the bytes read; for logs, of the last block before `tail`
    tail INTEGER NOT NULL DEFAULT 0,         -- logs: bytes indexed so far
    lines INTEGER NOT NULL DEFAULT 0,        -- logs: lines indexed so far
    title TEXT NOT NULL DEFAULT '',
    scope INTEGER NOT NULL REFERENCES scopes (id),
    problems TEXT NOT NULL DEFAULT '[]',
    facts BLOB NOT NULL DEFAULT x''          -- fact files: `facts.packed` of the bytes read, where possible
) STRICT;
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (id),
    ordinal INTEGER NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    kind TEXT NOT NULL, origin TEXT NOT NULL, role TEXT NOT NULL,
    title TEXT NOT NULL, date TEXT,
    text TEXT NOT NULL,
    meta TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX passages_by_document ON passages (document, ordinal);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY,
    size INTEGER NOT NULL,
    rows BLOB NOT NULL,                      -- one `rows.ROW` a passage
    dead BLOB NOT NULL                       -- one bit a passage
) STRICT;
CREATE TABLE postings (
    segment INTEGER NOT NULL, term TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (segment, term)
) STRICT, WITHOUT ROWID;
"""


def connect(path: Path, *, readonly: bool = False) -> apsw.Connection:
    """Open `index.db` as it is, without creating or changing its schema.

    Raises:
        BusyError, IntegrityError, ReadOnlyError: with the fix in the message.
    """
    check_files(path)
    with translated(path):
        connection = open_readonly(path) if readonly else open_file(path)
        # Set before anything is read: the first read may already meet a lock.
        connection.set_busy_timeout(BUSY_MS)
        # `fetchall`: a statement that returns a row would otherwise stop those after it from running.
        # Not mapped into memory: a file that another program cuts short would end this process with a signal.
        connection.execute(f"PRAGMA cache_size={_CACHE}; PRAGMA temp_store=MEMORY").fetchall()
        if not readonly:
            write_ahead(connection)
            # NORMAL may lose the last transactions in a power failure; the data can be derived again.
            settings = "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON"
            connection.execute(settings).fetchall()
        return connection


def open_file(path: Path) -> apsw.Connection:
    """Open a database for writing, created if missing with access for its owner only.

    SQLite itself would apply the umask. It gives its log and shared memory the mode of the database.
    """
    with suppress(OSError):  # SQLite meets the same error and reports it
        platform.make_file(path)
    return apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READWRITE)


def damage_of(error: Exception) -> str:
    """Describe an error of reading the index, without the advice that its message may end in."""
    if isinstance(error, MnemarkError):
        return str(error).partition("; ")[0]
    if isinstance(error, (OSError, MemoryError)):
        return f"index.db cannot be read: {shortage(error).partition('; ')[0]}"
    return f"index.db does not fit together ({type(error).__name__}: {error})"


def check_files(path: Path) -> None:
    """Check that the files of a database are regular files: opening a pipe would block forever.

    Raises:
        IntegrityError: one is a pipe, a socket, a device or a folder.
    """
    for file in _files(path):
        try:
            mode = file.stat().st_mode
        except OSError:  # missing, or reported when it is opened
            continue
        if not stat.S_ISREG(mode):
            raise IntegrityError(f"{file.name} is not a file; remove {file}, or run `mnemark doctor --fix`")


def remove(path: Path) -> None:
    """Delete a database with its log and shared-memory files."""
    for file in _files(path):
        file.unlink(missing_ok=True)


def replace(new: Path, path: Path) -> None:
    """Replace a database by a closed one in one step; a log left of the old would be read into the new."""
    for file in _files(path)[1:]:
        file.unlink(missing_ok=True)
    new.replace(path)


def size_on_disk(path: Path) -> int:
    """Return the size in bytes of a database and its write-ahead log."""
    names = (path, path.with_name(f"{path.name}-wal"))
    return sum(name.stat().st_size for name in names if name.exists())


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + end) for end in ("", "-wal", "-shm", "-journal")]


@contextmanager
def large_cache(connection: apsw.Connection) -> Iterator[None]:
    """Enlarge the page cache for a large transaction inside the context."""
    connection.execute(f"PRAGMA cache_size={_WRITER_CACHE}").fetchall()
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size={_CACHE}").fetchall()


def write_ahead(connection: apsw.Connection) -> None:
    """Switch to WAL mode; retry, since the busy timeout does not cover two processes switching at once."""
    end = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
        except apsw.BusyError:
            if time.monotonic() > end:
                raise
        else:
            return
        from random import uniform  # few wait

        time.sleep(uniform(0.002, 0.02))  # noqa: S311 - jitter


def open_readonly(path: Path) -> apsw.Connection:
    """Open a database for reading, also in a folder that cannot be written."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    name = quote(os.fspath(path.resolve()))
    connection = apsw.Connection(f"file:{name}", flags=flags)
    connection.set_busy_timeout(BUSY_MS)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError):
        # In a read-only folder, or on a full disk, a WAL database has no shared memory; nor can it change.
        connection.close()
        connection = apsw.Connection(f"file:{name}?immutable=1", flags=flags)
    return connection


def create_tables(connection: apsw.Connection, meta: Mapping[str, str | int]) -> None:
    """Drop all tables and create an empty index, inside the caller's write transaction."""
    connection.execute("PRAGMA defer_foreign_keys=ON")
    listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    tables = rows(connection, listed)
    for (table,) in tables:
        connection.execute(f'DROP TABLE "{table}"')
    connection.execute(SCHEMA)
    if tables:
        ask_for_scrub(connection)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", list(meta.items()))
    connection.execute("INSERT INTO scopes (id, name) VALUES (0, '')")
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION}")


def ask_for_scrub(connection: apsw.Connection) -> None:
    """Record that free pages still contain text to be erased; `merge.compact` rewrites them."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('scrub', 1)")


def is_whole(connection: apsw.Connection) -> bool:
    """Whether the database has exactly the tables of `SCHEMA`."""
    return _schema_of(connection) == _expected_schema()


def _schema_of(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    sql = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name"
    return rows(connection, sql)


@functools.cache
def _expected_schema() -> list[tuple[Any, ...]]:
    blank = apsw.Connection(":memory:")
    blank.execute(SCHEMA)
    return _schema_of(blank)


def version(connection: apsw.Connection) -> int | None:
    """Return the schema version, or None for an empty file; raise IntegrityError if it is no index."""
    application = connection.pragma("application_id")
    found = connection.pragma("user_version")
    if not application:
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
        if not tables and not found:
            return None
        # Another process may have created the schema meanwhile, even between the two: read both again.
        application, found = connection.pragma("application_id"), connection.pragma("user_version")
    if application != APPLICATION_ID:
        raise IntegrityError("index.db is not a mnemark index; move it away and run `mnemark sync`")
    if isinstance(found, int) and found > VERSION:
        raise NewerFormatError(
            f"index.db has format {found}, this mnemark reads {VERSION}; "
            "upgrade mnemark or delete .mnemark/index.db"
        )
    return int(found or 0)


def is_foreign(path: Path) -> bool:
    """Whether a file is a sound database, but of another program."""
    try:
        connection = open_readonly(path)
        try:
            names = {name for (name,) in rows(connection, "SELECT name FROM sqlite_schema")}
        finally:
            connection.close()
    except apsw.Error:
        return False
    return bool(names) and "passages" not in names


def rows(connection: apsw.Connection, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Return all rows of a query; the schema's STRICT tables fix their types."""
    return connection.execute(sql, bindings).fetchall()


def scalar(connection: apsw.Connection, sql: str, bindings: Sequence[Any] = ()) -> Any:
    """Return the first column of the first row; None if there is no row."""
    return connection.execute(sql, bindings).get


def listed(values: Iterable[str | int]) -> str:
    """Return values as the one binding of a statement that reads them with `json_each`."""
    return msgspec.json.encode(list(values)).decode()


def postings(connection: apsw.Connection, terms: Iterable[str]) -> Iterator[tuple[str, int, int, bytes]]:
    """Yield term, segment, size of the segment and posting list of all that hold the terms; see `segment`.

    Raises:
        IntegrityError: a list is damaged.
    """
    sql = """SELECT p.term, s.id, s.size, p.data FROM json_each(?) CROSS JOIN segments s
        CROSS JOIN postings p ON p.segment = s.id AND p.term = value"""
    for term, segment, size, data in connection.execute(sql, (listed(terms),)):
        if not isinstance(data, bytes) or len(data) % 3:
            raise IntegrityError(f"{DAMAGED_POSTINGS} (segment {segment})")
        yield term, segment, size, data


def read_meta(connection: apsw.Connection) -> dict[str, str | int]:
    """Return the `meta` table."""
    return dict(rows(connection, "SELECT key, value FROM meta"))


@contextmanager
def immediate(connection: apsw.Connection) -> Iterator[None]:
    """Open a write transaction that takes the write lock at the start, so that it cannot fail half-way."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        _rollback(connection)
        raise


@contextmanager
def reading(connection: apsw.Connection) -> Iterator[None]:
    """Open a read transaction: all reads inside see one snapshot."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        _rollback(connection)


def _rollback(connection: apsw.Connection) -> None:
    # A full disk and other errors roll back by themselves; a second ROLLBACK would hide the first error.
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate SQLite errors to mnemark's errors, which name the fix; programming errors pass through."""
    try:
        yield
    except (apsw.BusyError, apsw.ProtocolError) as error:
        raise BusyError(f"{path.name} is locked by another process; try again") from error
    except (apsw.InterruptError, apsw.ConnectionClosedError, apsw.SQLError) as error:
        # Interrupted while preparing a statement with json_each, SQLite reports a failed vtable constructor.
        if isinstance(error, apsw.SQLError) and not str(error).startswith("vtable constructor failed"):
            raise
        raise MnemarkError("this memory was closed while it was read; open it again") from error
    except apsw.FullError as error:
        raise MnemarkError(f"{path}: the disk is full; free some space and run `mnemark sync`") from error
    except apsw.IOError as error:
        if (
            getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHORT_READ
        ):  # the file ends where it names a page
            raise IntegrityError(f"{path.name} is shorter than it says; run `mnemark sync`") from error
        raise MnemarkError(
            f"{path}: the disk is full or fails ({error}); free some space, or run `mnemark doctor`"
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise IntegrityError(f"{path.name} is damaged ({error}); run `mnemark doctor --fix`") from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise ReadOnlyError(f"cannot write {path}: {error}; make the folder writable") from error


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
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{SUM}{segment}", value))


def drop_sums(connection: apsw.Connection, segments: Iterable[int]) -> None:
    """Delete the checksums of segments that are deleted."""
    keys = [(f"{SUM}{segment}",) for segment in segments]
    connection.executemany("DELETE FROM meta WHERE key = ?", keys)


def stored_sums(meta: Mapping[str, str | int], segment: int) -> tuple[int, int, int] | None:
    """Return the checksums of columns, dead bits and posting lists; None in an index without them."""
    value = meta.get(f"{SUM}{segment}")
    if value is None:
        return None
    try:
        rows, dead, postings = map(int, str(value).split())
    except ValueError:
        raise IntegrityError(DAMAGED_COLUMNS) from None
    return rows, dead, postings


def check_columns(meta: Mapping[str, str | int], segment: int, rows: bytes, dead: bytes) -> None:
    """Raise IntegrityError where columns or dead bits are not those that were written."""
    known = stored_sums(meta, segment)
    if known is not None and known[:2] != (zlib.crc32(rows), zlib.crc32(dead)):
        raise IntegrityError(DAMAGED_COLUMNS)


def check_postings(
    meta: Mapping[str, str | int], segment: int, postings: Iterable[tuple[str, bytes]]
) -> None:
    """Raise IntegrityError where posting lists, sorted by term, are not those that were written."""
    known, found = stored_sums(meta, segment), Sums(b"", b"")
    for _ in found.counted(postings):
        pass
    if known is not None and known[2] != found.postings:
        raise IntegrityError("index.db has damaged posting lists; run `mnemark sync`")
