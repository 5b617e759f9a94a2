"""An index that does not fit is built anew, refused, or named as damaged; never answered from wrongly."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from faults.logical import LEXICAL, answers
from mnemark.errors import (
    BusyError,
    IntegrityError,
    MnemarkError,
    NewerFormatError,
    NotFoundError,
    ReadOnlyError,
    UsageError,
)
from mnemark.index import check, schema
from mnemark.index.store import Index
from mnemark.index.sync import sync
from mnemark.memory.memory import Memory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    (folder / "memory").mkdir(parents=True)
    for number in range(6):
        (folder / f"memory/note{number}.md").write_text(
            f"# Note {number}\n\nalpha beta{number} 数据库\n" * 20
        )
    return folder


@pytest.fixture
def database(root: Path) -> Path:
    index = Index(root)
    sync(index)
    index.close()
    return root / ".mnemark/index.db"


def change(database: Path, sql: str) -> None:
    connection = apsw.Connection(os.fspath(database))
    connection.execute(sql).fetchall()
    connection.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE meta SET value = 'other' WHERE key = 'fingerprint'",
        "UPDATE meta SET value = 'elsewhere' WHERE key = 'machine'",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 0; DROP TABLE meta; CREATE TABLE meta (name, text)",
        "DROP TABLE postings",
        "CREATE TABLE old (x); DROP TABLE passages; PRAGMA user_version = 0",
    ],
)
def test_an_index_derived_otherwise_is_built_anew(root: Path, database: Path, sql: str) -> None:
    before = answers(root, ["alpha", "beta3"])
    change(database, sql)
    assert answers(root, ["alpha", "beta3"]) == before


def test_an_index_rebuilt_by_another_version_meanwhile_is_not_mixed(root: Path, database: Path) -> None:
    index = Index(root)
    with index.reading() as snapshot:
        assert len(snapshot)
    change(database, "UPDATE meta SET value = 'other' WHERE key = 'fingerprint'; "
                     "UPDATE meta SET value = value + 1 WHERE key = 'generation'")  # fmt: skip
    with pytest.raises(IntegrityError, match="mnemark sync"), index.reading():
        pass
    sync(index)
    with index.reading() as snapshot:
        assert len(snapshot)
    index.close()


def test_one_from_a_newer_version_is_refused_and_left_alone(root: Path, database: Path) -> None:
    change(database, "PRAGMA user_version = 99")
    before = database.read_bytes()
    for readonly in (False, True):
        with pytest.raises(NewerFormatError, match="upgrade"):
            Memory.open(root, config=LEXICAL, readonly=readonly)
    assert database.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(root: Path, database: Path) -> None:
    for end in ("", "-wal", "-shm"):
        database.with_name(database.name + end).unlink(missing_ok=True)
    change(database, "CREATE TABLE pictures (x); PRAGMA application_id = 7")
    with pytest.raises(IntegrityError, match="not a mnemark index"):
        Index(root)
    with closing(apsw.Connection(os.fspath(database))) as other:
        assert other.execute("SELECT name FROM sqlite_schema").get == "pictures"


def spoil_header(data: bytearray) -> bytearray:
    return bytearray(b"not a database at all, but long enough to be looked at") + data[60:]


def spoil_pages(data: bytearray) -> bytearray:
    data[4096:] = bytes(255 for _ in range(len(data) - 4096))
    return data


def cut(data: bytearray) -> bytearray:
    return data[: len(data) // 2 + 100]


@pytest.mark.parametrize("spoil", [spoil_header, spoil_pages, cut])
def test_a_damaged_file_is_made_anew_by_a_sync(
    root: Path, database: Path, spoil: Callable[[bytearray], bytearray]
) -> None:
    before = answers(root, ["alpha", "beta3"])
    database.write_bytes(spoil(bytearray(database.read_bytes())))
    ask_everything(root)
    assert answers(root, ["alpha", "beta3"]) == before


def ask_everything(root: Path) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        memory.sync()
        for number in range(6):
            memory.search(f"beta{number}")


def test_the_index_is_deleted_while_it_is_open(root: Path) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        before = memory.search("alpha")
        for name in ("index.db", "index.db-wal", "index.db-shm"):
            (root / ".mnemark" / name).unlink(missing_ok=True)
        memory.sync()
        assert memory.search("alpha") == before
        assert (root / ".mnemark/index.db").exists()


def test_the_index_is_exchanged_while_it_is_open(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "note.md").write_text("# Other\n\ngamma\n")
    with Memory.open(other, config=LEXICAL) as memory:
        memory.sync()
    with Memory.open(root, config=LEXICAL) as memory:
        assert not memory.search("gamma").hits
        with Memory.open(root, config=LEXICAL, readonly=True) as reader:
            assert not reader.search("gamma").hits
            for name in ("index.db-wal", "index.db-shm"):  # a log of the old one would be read on top
                (root / ".mnemark" / name).unlink(missing_ok=True)
            (other / ".mnemark/index.db").replace(root / ".mnemark/index.db")
            assert [hit.path for hit in reader.search("gamma").hits] == ["note.md"]
        memory.sync()
        assert memory.search("alpha").hits
        assert not memory.search("gamma").hits


@pytest.fixture
def locked(database: Path) -> Iterator[None]:
    """Another connection that lets nobody else in."""
    holder = apsw.Connection(os.fspath(database))
    holder.execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; BEGIN EXCLUSIVE").fetchall()
    holder.execute("UPDATE meta SET value = value WHERE key = 'generation'")
    yield
    holder.close()


def reading(index: Index) -> None:
    with index.reading():
        pass


READS: dict[str, Callable[[Index], Any]] = {
    "reading": reading,
    "fetch": lambda index: index.fetch([1]),
    "scopes": lambda index: index.scopes(),
    "known": lambda index: index.known(),
    "document": lambda index: index.document("x"),
    "stale_reason": lambda index: index.stale_reason(),
    "count": check.count,
    "sync": sync,
    "reset": lambda index: index.reset(),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_every_read_says_that_the_database_is_locked(
    root: Path, database: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Index], Any]
) -> None:
    monkeypatch.setattr(schema, "BUSY_MS", 20)
    index = Index(root)
    try:
        index._connections.renew()
        holder = apsw.Connection(os.fspath(database))
        holder.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE").fetchall()
        holder.execute("UPDATE meta SET value = value WHERE key = 'generation'")
        with pytest.raises(BusyError, match="locked"):
            read(index)
        holder.close()
        read(index)
    finally:
        index.close()


def test_memory_says_that_the_database_is_locked(
    root: Path, locked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "BUSY_MS", 20)
    for readonly in (False, True):
        with (
            pytest.raises(BusyError, match="locked"),
            Memory.open(root, config=LEXICAL, readonly=readonly) as memory,
        ):
            memory.search("alpha")


def test_a_folder_without_index_that_is_only_read(root: Path) -> None:
    index = Index(root, readonly=True)
    with pytest.raises(NotFoundError, match="mnemark sync"), index.reading():
        pass
    index.close()
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        found = memory.search("alpha")  # from an index of this process alone, and it says so
        assert found.hits
        assert any(reason.startswith("index:") for reason in found.degraded)
    assert not (root / ".mnemark").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.mnemark").write_text("in the way")
    with pytest.raises(ReadOnlyError):
        Index(tmp_path / "w")


def test_threads_that_come_and_go_leave_no_connections(root: Path, database: Path) -> None:
    index = Index(root)
    for _ in range(30):
        threads = [threading.Thread(target=reading, args=(index,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert index._connections.open <= 5
    index.close()
    assert index._connections.open == 0


def test_a_closed_index_says_so(root: Path, database: Path) -> None:
    index = Index(root)
    index.close()
    with pytest.raises(UsageError, match="closed"):
        index.scopes()


def test_closing_stops_what_is_being_read_in_another_thread(root: Path, database: Path) -> None:
    index = Index(root)
    started, errors = threading.Event(), []

    def long() -> None:
        try:
            with schema.translated(index.path):
                connection = index.connection
                started.set()
                forever = (
                    "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT count(*) FROM t"
                )
                connection.execute(forever).fetchall()
        except MnemarkError as error:
            errors.append(error)

    thread = threading.Thread(target=long)
    thread.start()
    started.wait()
    while thread.is_alive():
        index.close()
        thread.join(0.05)
    assert "closed" in str(errors[0])


def test_a_snapshot_stays_of_its_moment(root: Path, database: Path) -> None:
    index = Index(root)
    with index.reading() as snapshot:
        before = len(snapshot)
        worker = threading.Thread(target=lambda: ((root / "new.md").write_text("alpha"), sync(index)))
        worker.start()
        worker.join()
        assert len(snapshot.term("alpha").pos) == before
    with index.reading() as snapshot:
        assert len(snapshot) == before + 1
    index.close()
