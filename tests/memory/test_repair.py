"""What `verify` and `doctor` find, and that mending loses nothing."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from faults.logical import LEXICAL, answers
from faults.statements import temporary_files
from mnemark.errors import BusyError, IntegrityError, MnemarkError, NewerFormatError, ReadOnlyError
from mnemark.index import check, schema
from mnemark.memory.health.doctor import HealthReport, doctor, verify
from mnemark.memory.memory import Memory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    (folder / "memory").mkdir(parents=True)
    for number in range(12):
        (folder / f"memory/note{number}.md").write_text(
            f"# Note {number}\n\nalpha beta{number} 数据库\n" * 20
        )
    with Memory.open(folder, config=LEXICAL) as memory:
        memory.session("cli:main").add("user", "the first turn")
        memory.sync()
    return folder


def change(root: Path, sql: str) -> None:
    connection = apsw.Connection(os.fspath(root / ".mnemark/index.db"))
    connection.execute(sql).fetchall()
    connection.close()


def words(report: HealthReport) -> str:
    return "\n".join(f"{finding.level}: {finding.what} | {finding.fix}" for finding in report.findings)


def tree(root: Path) -> dict[str, bytes]:
    return {
        str(p): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and not p.name.endswith(("-shm", "-wal"))
    }


@pytest.mark.parametrize("deep", [False, True])
def test_a_sound_workspace(root: Path, *, deep: bool) -> None:
    before = tree(root)
    with Memory.open(root, config=LEXICAL, readonly=True) as memory:
        report = verify(memory.workspace, deep=deep)
        assert report.level == "ok", words(report)
        assert "1 messages" in words(report)
        assert doctor(memory.workspace).level == "ok"
        assert not doctor(memory.workspace).fixed
    assert {name for name in tree(root) if "-wal" not in name} == {
        name for name in before if "-wal" not in name
    }


def test_vectors_that_are_missing(root: Path) -> None:
    with Memory.open(root, config={"embedder": "hashing"}) as memory:
        assert "have no vector yet" in words(verify(memory.workspace))
        memory.sync()
        assert "have a vector" in words(verify(memory.workspace))
        assert "spelling" in words(doctor(memory.workspace))


def test_files_that_the_index_does_not_know(root: Path) -> None:
    (root / "new.md").write_text("new")
    (root / "memory/note1.md").unlink()
    (root / "memory/note2.md").rename(root / "moved.md")
    with (root / next(iter((root / "sessions").iterdir()))).open("a") as file:
        file.write("no json\n")
    (root / "MEMORY.sync-conflict-20260213-101500-ABCDEF7.md").write_text("x")
    report = verify(root)
    for said in (
        "new.md is not in",
        "note1.md was deleted",
        "moved.md was renamed",
        "has new lines",
        "is not a JSON object",
        "copy left",
    ):
        assert said in words(report), said
    assert report.level == "warn"


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM passages WHERE id = 3",
        "DELETE FROM documents WHERE id = 3",
        "UPDATE segments SET rows = substr(rows, 2)",
        "UPDATE postings SET data = x'ffff01'",
        "UPDATE postings SET data = x'0000'",
        "DELETE FROM segments",
        "DROP TABLE postings",
        "DROP TABLE meta; CREATE TABLE meta (other)",
    ],
)
def test_what_does_not_fit_together_is_an_error_that_doctor_mends(root: Path, sql: str) -> None:
    before = answers(root, ["alpha", "beta3 turn"])
    change(root, "PRAGMA foreign_keys=OFF; " + sql)
    report = verify(root, deep=True)
    assert report.level == "error", words(report)
    assert "mnemark doctor --fix" in words(report)
    mended = doctor(root, fix=True)
    assert mended.fixed
    assert mended.level in {"ok", "warn"}, words(mended)
    assert verify(root, deep=True).level == "ok"
    assert answers(root, ["alpha", "beta3 turn"]) == before
    assert temporary_files(root) == []


def spoil_all(data: bytes) -> bytes:
    return b"not a database" + data[14:]


def spoil_end(data: bytes) -> bytes:
    return data[:4096] + bytes(255 for _ in data[4096:])


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize("spoil", [spoil_all, spoil_end, cut])
def test_a_file_that_is_no_database_any_more(root: Path, spoil: Callable[[bytes], bytes]) -> None:
    before = answers(root, ["alpha", "beta3 turn"])
    database = root / ".mnemark/index.db"
    database.write_bytes(spoil(database.read_bytes()))
    assert verify(root).level == "error"
    report = doctor(root, fix=True)
    assert "could not be read)" in words(report) or "(before: " in words(report)
    assert answers(root, ["alpha", "beta3 turn"]) == before
    assert temporary_files(root) == []


def test_mending_while_another_reads(root: Path) -> None:
    with Memory.open(root, config=LEXICAL, readonly=True) as reader:
        before = reader.search("beta3")
        change(root, "DELETE FROM passages WHERE text LIKE '%beta3%'")
        doctor(root, fix=True)
        assert reader.search("beta3") == before
        with Memory.open(root, config=LEXICAL) as memory:
            (root / "new.md").write_text("gamma")
            memory.sync()
        assert [hit.path for hit in reader.search("gamma").hits] == ["new.md"]


def test_an_open_memory_is_mended_and_goes_on(root: Path) -> None:
    with Memory.open(root, config=LEXICAL) as memory:
        before = memory.search("alpha")
        assert doctor(memory.workspace, fix=True).fixed
        assert memory.search("alpha") == before
        assert not memory.sync().touched
    with Memory.open(root, config=LEXICAL, readonly=True) as memory, pytest.raises(ReadOnlyError):
        doctor(memory.workspace, fix=True)


def test_a_newer_index_is_not_touched(root: Path) -> None:
    change(root, "PRAGMA user_version = 99")
    before = (root / ".mnemark/index.db").read_bytes()
    assert "upgrade" in words(verify(root))
    with pytest.raises(NewerFormatError):
        doctor(root, fix=True)
    assert (root / ".mnemark/index.db").read_bytes() == before


def test_a_locked_index_is_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BUSY_MS", 20)
    holder = apsw.Connection(os.fspath(root / ".mnemark/index.db"))
    holder.execute("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE meta SET value = value").fetchall()
    assert "locked" in words(verify(root))
    with pytest.raises(BusyError):
        doctor(root, fix=True)
    holder.close()
    assert verify(root).level == "ok"


def test_an_unsound_new_index_leaves_the_old_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers(root, ["alpha"])
    monkeypatch.setattr(check, "damages", lambda index, *, deep: ["it is not"])
    with pytest.raises(IntegrityError, match="old one was kept"):
        check.rebuild(root)
    assert temporary_files(root) == []
    assert answers(root, ["alpha"]) == before


def test_without_any_index(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("alpha")
    assert "no index yet" in words(verify(tmp_path))
    assert not (tmp_path / ".mnemark").exists()
    assert doctor(tmp_path, fix=True).fixed
    assert verify(tmp_path, deep=True).level == "ok"


def test_what_crashes_left_is_swept(root: Path) -> None:
    left = root / "memory/.mnemark-tmp-01ABC"
    left.write_text("half")
    doctor(root, fix=True)
    assert not left.exists()


def test_rebuilding_while_another_thread_searches(root: Path) -> None:
    errors: list[Exception] = []
    done = threading.Event()

    def search() -> None:
        with Memory.open(root, config=LEXICAL, readonly=True) as memory:
            while not done.is_set():
                try:
                    assert memory.search("alpha").hits
                except (MnemarkError, AssertionError, ValueError) as error:
                    errors.append(error)
                    return

    thread = threading.Thread(target=search)
    thread.start()
    for _ in range(3):
        doctor(root, fix=True)
    done.set()
    thread.join()
    assert not errors


def test_reports_are_json() -> None:
    import msgspec

    assert msgspec.json.encode(HealthReport(findings=())) == b'{"findings":[],"fixed":false}'
