"""Check the index for damage and against the files; rebuild it."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import apsw
import msgspec
import numpy as np

from mnemark.errors import BusyError, IntegrityError, MnemarkError, NewerFormatError
from mnemark.facts.visible import Visible
from mnemark.files.private import private, private_folder
from mnemark.files.scan import FileEntry, scan
from mnemark.files.truth import sync_lock
from mnemark.index import schema
from mnemark.index.passage import content_key
from mnemark.index.plan import differing
from mnemark.index.rows import ROW, Rows
from mnemark.index.segment import dead_bits, decode
from mnemark.index.store import NAME, NEW, Index
from mnemark.index.sync import searchable, sync
from mnemark.index.vectors.base import VectorStore
from mnemark.index.vectors.embed_missing import keys_of, missing
from mnemark.index.vectors.keys import Packed
from mnemark.types import Problem

_SAMPLE: Final = 200
"""Posting lists checked in each segment, unless the check is deep."""


class Rebuilt(NamedTuple):
    """Number of passages before (None if the old index could not be read) and after a rebuild."""

    before: int | None
    after: int


def sqlite_version() -> str:
    """Return the version of SQLite in use."""
    return apsw.sqlite_lib_version()


def damages(index: Index, *, deep: bool = False) -> list[str]:
    """Check the database and return descriptions of the damage found.

    Raises:
        BusyError, IntegrityError: the database cannot be read.
    """
    connection = index.connection
    try:
        with schema.translated(index.path), schema.reading(connection):
            check = "integrity_check" if deep else "quick_check"
            found = [str(text) for (text,) in schema.rows(connection, f"PRAGMA {check}(20)") if text != "ok"]
            if not schema.is_whole(connection):
                return [*found, "tables are missing"]
            return [*found, *_tables(connection), *_segments(connection, deep=deep)]
    except apsw.SQLError as error:
        raise IntegrityError(
            f"{index.path.name} has an unknown structure ({error}); run `mnemark doctor --fix`"
        ) from error
    except UnicodeDecodeError as error:  # SQLite hands out text as it is
        return [f"it holds text that is no UTF-8 ({error.reason})"]


def _tables(connection: apsw.Connection) -> Iterator[str]:
    orphans = "SELECT count(*) FROM passages WHERE document NOT IN (SELECT id FROM documents)"
    if number := schema.scalar(connection, orphans):
        yield f"{number} passages belong to no document"
    lost = "SELECT count(*) FROM postings WHERE segment NOT IN (SELECT id FROM segments)"
    if number := schema.scalar(connection, lost):
        yield f"{number} posting lists belong to no segment"


def _segments(connection: apsw.Connection, *, deep: bool) -> Iterator[str]:
    living = [np.zeros(0, ROW)]
    meta = schema.read_meta(connection)
    sql = "SELECT id, size, rows, dead FROM segments ORDER BY id"
    for segment, size, rows, dead in schema.rows(connection, sql):
        if len(rows) != size * ROW.itemsize or len(dead) != (size + 7) // 8:
            yield f"segment {segment} is incomplete"
            continue
        listed = "SELECT term, data FROM postings WHERE segment = ? ORDER BY term"
        try:
            schema.check_columns(meta, segment, rows, dead)
            schema.check_postings(meta, segment, connection.execute(listed, (segment,)))
        except IntegrityError as error:
            yield f"segment {segment}: {schema.damage_of(error)}"
            continue
        living.append(np.frombuffer(rows, ROW)[~dead_bits(dead, size)])
        yield from _postings(connection, segment, size, deep=deep)
    alive = np.concatenate(living)
    indexed = np.sort(alive["passage"])
    stored = [number for (number,) in schema.rows(connection, "SELECT id FROM passages ORDER BY id")]
    if not np.array_equal(indexed, np.array(stored, np.int64)):
        yield f"{len(stored)} passages are stored and {len(indexed)} are searchable"
    yield from _texts(connection, alive)


def _texts(connection: apsw.Connection, rows: Rows) -> Iterator[str]:
    """Compare the text of each passage with its content key."""
    keys = dict(zip(rows["passage"].tolist(), Packed(rows["key"]), strict=True))
    found = connection.execute("SELECT id, title, text FROM passages")
    if wrong := sum(keys.get(number) != content_key(title, text) for number, title, text in found):
        yield f"the text of {wrong} passages is damaged"


def _postings(connection: apsw.Connection, segment: int, size: int, *, deep: bool) -> Iterator[str]:
    found = connection.execute("SELECT term, data FROM postings WHERE segment = ?", (segment,))
    for _, data in found if deep else itertools.islice(found, _SAMPLE):
        posting = decode(data)
        ids = posting.ids.astype(np.int64)
        if len(data) != 3 * len(ids) or not len(ids) or ids[-1] >= size or np.any(ids[1:] <= ids[:-1]):
            yield f"a posting list of segment {segment} is damaged"
            return


class SyncAhead(NamedTuple):
    """Files that the next sync would read, and those it skips."""

    outdated: int
    problems: tuple[Problem, ...]
    """Files that cannot be read."""
    inner: tuple[str, ...]
    """Folders that are separate workspaces."""
    unread: Mapping[str, int]
    """Files that hold text and are not read, counted by suffix."""


def ahead(index: Index, ignore: Sequence[str]) -> SyncAhead:
    """Compare the files with the index without writing."""
    found = scan(index.root, ignore=ignore)
    entries = list(filter(searchable, found.entries))
    outdated = len(entries)
    if index.exists() and not index.is_damaged():
        with schema.translated(index.path):
            outdated = len(differing(entries, index.known()))
    return SyncAhead(outdated, tuple(found.problems), tuple(found.inner), found.unread)


def differences(index: Index, entries: Sequence[FileEntry]) -> list[str]:
    """Describe the changes a sync would make now, one line each."""
    steps = differing(list(filter(searchable, entries)), index.known())
    words = {
        "add": "is not in the index",
        "remove": "was deleted, but is still in the index",
        "move": "was renamed",
        "read": "has changed since it was indexed",
    }
    known = "SELECT size FROM documents WHERE path = ?"
    return [f"{step.path} {words[step.action]}" for step in steps if step.action in words] + [
        f"{step.path} has new lines that are not in the index"
        for step in steps
        if step.action == "append" and step.entry is not None
        if index.scalar(known, (step.path,)) != step.entry.size
    ]


def knows_below(home: Path, folder: str) -> bool:
    """Whether the index in `home` contains files below `folder`; True if it is damaged.

    Opened read-only, whatever its version.
    """
    path = private(home) / NAME
    if not path.is_file():
        return False
    sql = "SELECT 1 FROM documents WHERE path >= ? AND path < ? LIMIT 1"
    try:
        with closing(schema.connect(path, readonly=True)) as connection:
            return schema.scalar(connection, sql, (f"{folder}/", f"{folder}0")) is not None
    except (MnemarkError, apsw.Error):
        return True


def coverage(index: Index, store: VectorStore) -> tuple[int, int]:
    """Return the number of distinct texts without a vector, and of all distinct texts."""
    store.refresh()
    with schema.translated(index.path):
        return len(missing(index, store)), len(keys_of(index))


def rebuild(
    root: Path, *, ignore: Sequence[str] = (), limit: int = 256, visible: Visible | None = None
) -> Rebuilt:
    """Rebuild the index in `index.db.new`, check it, and replace the old one with it.

    The content of the old one is replaced in one transaction, so that processes that have it open continue
    with the new. If it is too damaged for that, the file is replaced.

    Raises:
        BusyError: another process is syncing, or has a damaged index open.
        NewerFormatError: the index belongs to a newer mnemark.
        IntegrityError: the new index fails its checks, and the old one was kept.
    """
    folder = private_folder(root)
    with sync_lock(root, timeout=10.0):
        before = _passage_count(root)
        schema.remove(folder / NEW)
        fresh = Index(root, name=NEW, visible=visible)
        try:
            sync(fresh, ignore=ignore, limit=limit)
            if wrong := damages(fresh, deep=True):
                raise IntegrityError(f"the new index is damaged ({wrong[0]}); the old one was kept")
            after = int(schema.scalar(fresh.connection, "SELECT count(*) FROM passages"))
            fresh.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if not _copy_database(fresh.connection, folder / NAME):
                fresh.close()
                schema.replace(folder / NEW, folder / NAME)
        finally:
            fresh.close()
            schema.remove(folder / NEW)
    return Rebuilt(before, after)


def _passage_count(root: Path) -> int | None:
    """Return the number of passages in the current index; None if it cannot be read."""
    if not (private(root) / NAME).exists():
        return 0
    try:
        old = Index(root, readonly=True)
    except NewerFormatError:
        raise
    except IntegrityError:
        return None
    try:
        return int(schema.scalar(old.connection, "SELECT count(*) FROM passages"))
    except (apsw.Error, IntegrityError):
        return None
    finally:
        old.close()


def _copy_database(source: apsw.Connection, path: Path) -> bool:
    """Copy a database into another in one transaction; return False if the target is unusable."""
    try:
        target = schema.open_file(path)
        target.set_busy_timeout(schema.BUSY_MS)
        target.execute("PRAGMA journal_mode=WAL")
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step()
        # Change the generation, so that processes with a cached snapshot reload it.
        target.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
        target.close()
    except apsw.BusyError as error:
        raise BusyError("index.db is in use by another process; stop it and try again") from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.SQLError):
        return False
    return True


def totals(index: Index) -> tuple[int, int]:
    """Return the number of files and of passages, without reading the passages."""
    connection = index.connection
    with schema.translated(index.path), schema.reading(connection):
        files = schema.scalar(connection, schema.COUNT_FILES)
        return int(files), int(schema.scalar(connection, "SELECT count(*) FROM passages"))


class IndexCounts(NamedTuple):
    """Numbers of files and passages (total, by kind, by scope), bytes on disk, and problems."""

    files: int
    passages: int
    kinds: dict[str, int]
    scopes: dict[str, int]
    bytes: int
    problems: tuple[Problem, ...]


def count(index: Index) -> IndexCounts:
    """Return the counts of the index, read in one transaction."""
    connection = index.connection
    with schema.translated(index.path), schema.reading(connection):
        files = schema.scalar(connection, schema.COUNT_FILES)
        kinds = dict(
            schema.rows(connection, "SELECT kind, count(*) FROM passages GROUP BY kind ORDER BY kind")
        )
        sql = """SELECT s.name, count(*) FROM passages p JOIN documents d ON d.id = p.document
                 JOIN scopes s ON s.id = d.scope GROUP BY s.name ORDER BY s.name"""
        scopes = dict(schema.rows(connection, sql))
        stored = schema.rows(
            connection, "SELECT problems FROM documents WHERE problems <> '[]' ORDER BY path"
        )
    problems = [problem for (text,) in stored for problem in msgspec.json.decode(text, type=list[Problem])]
    size = schema.size_on_disk(index.path)
    return IndexCounts(files, sum(kinds.values()), kinds, scopes, size, tuple(problems))
