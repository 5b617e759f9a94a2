"""A sync that is stopped anywhere is completed by the next one."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from faults.logical import anew, content
from faults.statements import BrokenError, at_statement, die, fail, in_child, temporary_files
from mnemark.index import batch, merge, schema, sync_run
from mnemark.index.store import Index
from mnemark.index.sync import sync
from sampled import sampled

TESTS = Path(__file__).parent.parent
fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def line(said: str, number: int) -> str:
    record: dict[str, Any] = {"id": f"t{number}", "time": "2026-02-13T10:00:00+08:00", "role": "user"}
    return json.dumps(record | {"content": said}) + "\n"


def fill(root: Path) -> None:
    for number in range(8):
        (root / f"note{number}.md").write_text(
            f"# Note {number}\n\nalpha {number} 数据库\n\n## More\n\nbeta\n"
        )
    (root / "sessions").mkdir()
    (root / "sessions/a.jsonl").write_text("".join(line(f"alpha {n}", n) for n in range(7)))


def change(root: Path) -> None:
    (root / "note0.md").unlink()
    (root / "note1.md").rename(root / "moved.md")
    (root / "note2.md").write_text("# Changed\n\ngamma\n")
    (root / "users/ann").mkdir(parents=True)
    (root / "users/ann/MEMORY.md").write_text("# Ann\n\ndelta\n")
    with (root / "sessions/a.jsonl").open("a") as file:
        file.write("".join(line(f"beta {n}", n) for n in range(7, 13)))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "FLUSH_AT", 4)
    monkeypatch.setattr(batch, "MAX_SIZE", 3)
    monkeypatch.setattr(sync_run, "_LOG_CHUNK", 2)


@pytest.fixture
def root(tmp_path: Path, small_batches: None) -> Path:
    """A workspace whose index is behind; what `.mnemark` held before lies beside it, as `before`."""
    folder = tmp_path / "w"
    folder.mkdir()
    fill(folder)
    run(folder)
    shutil.copytree(folder / ".mnemark", tmp_path / "before")
    change(folder)
    return folder


def run(root: Path) -> None:
    index = Index(root)
    try:
        sync(index)
    finally:
        index.close()


def held(root: Path) -> dict[str, Any]:
    index = Index(root)
    try:
        sync(index)
        return content(index)
    finally:
        index.close()


def expected(root: Path, tmp_path: Path) -> dict[str, Any]:
    index = anew(root, tmp_path / "anew")
    try:
        return content(index)
    finally:
        index.close()


def restore(root: Path, before: Path) -> None:
    shutil.rmtree(root / ".mnemark")
    shutil.copytree(before, root / ".mnemark")


def statements(root: Path) -> int:
    with at_statement(-1, fail) as count:
        run(root)
    return count[0]


def sweep(count: int, step: int) -> range:
    return range(0, count, step)


@fork
@pytest.mark.parametrize(
    "step", [pytest.param(23, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def test_killed_at_any_statement(root: Path, tmp_path: Path, step: int) -> None:
    right = expected(root, tmp_path)
    restore(root, tmp_path / "before")  # as each run that is killed begins
    total = statements(root)
    assert total > 100
    for number in sweep(total, step):
        restore(root, tmp_path / "before")
        with at_statement(number, die):
            assert in_child(lambda: run(root)) == 9, (number, total)
        assert held(root) == right, number
        assert temporary_files(root) == []


@pytest.mark.parametrize(
    "step", [pytest.param(17, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def test_failing_once_at_any_statement(root: Path, tmp_path: Path, step: int) -> None:
    right = expected(root, tmp_path)
    for number in sweep(statements(root), step):
        restore(root, tmp_path / "before")
        with at_statement(number, fail):
            try:
                index = Index(root)
            except BrokenError:
                continue
            try:
                with pytest.raises(BrokenError):
                    sync(index)
                assert not index.connection.in_transaction
                sync(index)  # the same open index goes on
                assert content(index) == right, number
            finally:
                index.close()


@fork
@pytest.mark.parametrize(
    "step", [pytest.param(13, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]
)
def test_killed_in_a_merge(root: Path, tmp_path: Path, step: int) -> None:
    right = held(root)

    def join() -> None:
        index = Index(root)
        listed = [number for (number,) in schema.rows(index.connection, "SELECT id FROM segments")]
        with schema.immediate(index.connection):
            merge.merge(index.connection, listed)
        index.close()

    shutil.copytree(root / ".mnemark", tmp_path / "synced")
    with at_statement(-1, fail) as count:
        join()
    for number in sweep(count[0], step):
        restore(root, tmp_path / "synced")
        with at_statement(number, die):
            assert in_child(join) == 9
        assert held(root) == right, number


@pytest.mark.timed
@pytest.mark.parametrize("times", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_from_outside(tmp_path: Path, times: int) -> None:
    root = tmp_path / "w"
    root.mkdir()
    fill(root)
    chance = random.Random(7)
    for attempt in range(times):
        for number in range(300):
            (root / f"note{number}.md").write_text(f"# Note {number}\n\nalpha {attempt} beta{number}\n")
        child = subprocess.Popen(
            [sys.executable, "-m", "faults.syncing", str(root), "1"], cwd=TESTS, stdout=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0.1, 1.0))
        child.kill()
        child.wait()
    assert held(root) == expected(root, tmp_path)
    assert temporary_files(root) == []


def test_two_processes_at_once(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    fill(root)
    command = [sys.executable, "-m", "faults.syncing", str(root), "12"]
    children = [subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE) for _ in range(3)]
    while any(child.poll() is None for child in children):
        for number in range(4):
            (root / f"note{number}.md").write_text(f"# Note {number}\n\nalpha {time.time_ns()}\n")
        time.sleep(0.02)
    for child in children:
        child.communicate()
        assert child.returncode == 0
    assert held(root) == expected(root, tmp_path)


@pytest.mark.parametrize("attempt", sampled(range(3), 3))
def test_processes_that_create_the_index_together(tmp_path: Path, attempt: int) -> None:
    root = tmp_path / f"w{attempt}"
    root.mkdir()
    fill(root)
    command = [sys.executable, "-m", "faults.syncing", str(root), "1"]
    children = [subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE) for _ in range(4)]
    for child in children:
        child.communicate()
        assert child.returncode == 0
    assert len(held(root)["documents"]) == 9
