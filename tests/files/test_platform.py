"""What differs by system: locks, exchange, permissions; and names that are safe on all of them."""

import os
import sys
from multiprocessing import get_context
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.processes import hold
from mnemark.errors import BusyError, UsageError
from mnemark.files import names, platform
from mnemark.files.truth import sync_lock, workspace_lock

# Exchange and rename


@pytest.mark.skipif(sys.platform not in {"linux", "darwin"}, reason="no such call elsewhere")
def test_exchange_swaps_two_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "文"
    one.write_text("1", encoding="utf-8")
    other.write_text("2", encoding="utf-8")
    assert platform.FS.exchange(one, other)
    assert (one.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == ("2", "1")
    with pytest.raises(FileNotFoundError):
        platform.FS.exchange(one, tmp_path / "missing")


def test_rename_new_refuses_a_name_that_is_taken(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1", encoding="utf-8")
    other.write_text("2", encoding="utf-8")
    with pytest.raises(FileExistsError):
        platform.FS.rename_new(one, other)
    assert other.read_text(encoding="utf-8") == "2"
    platform.FS.rename_new(one, tmp_path / "free")
    assert not one.exists()


def test_links_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to("target")
    with pytest.raises(OSError, match="link"):
        platform.FS.open(tmp_path / "link", os.O_RDWR)


def test_machine_name_is_stable_and_safe() -> None:
    name = platform.machine_name()
    assert name == platform.machine_name()
    assert name.isascii()
    assert name.replace("-", "").isalnum()


# Locks


@pytest.mark.timed
def test_a_lock_of_another_process_names_it_and_ends_with_it(tmp_path: Path) -> None:
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=hold, args=(tmp_path, there))
    process.start()
    try:
        assert here.poll(20)
        pid = here.recv()
        for lock in (workspace_lock(tmp_path, 0.05), sync_lock(tmp_path)):
            with pytest.raises(BusyError, match=f"process {pid} is using"), lock:
                pass
    finally:
        process.kill()
        process.join()
    with workspace_lock(tmp_path, 1), sync_lock(tmp_path, 1):
        pass


def test_a_thread_may_take_the_lock_again_but_no_other(tmp_path: Path) -> None:
    told: list[str] = []

    def attempt() -> None:
        try:
            with workspace_lock(tmp_path, 0.02):
                told.append("got it")
        except BusyError as error:
            told.append(str(error))

    with workspace_lock(tmp_path), workspace_lock(tmp_path, 0):
        thread = Thread(target=attempt)
        thread.start()
        thread.join()
    assert str(os.getpid()) in told[0]
    attempt()
    assert told[1] == "got it"


def test_the_lock_holds_when_its_file_was_removed_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with platform.locked(path, os.O_RDWR | os.O_CREAT, timeout=1):
        path.unlink()
        with platform.locked(path, os.O_RDWR | os.O_CREAT, timeout=1) as fd:
            assert os.fstat(fd).st_ino == path.stat().st_ino


# Names

IDS = st.text(min_size=1, max_size=200)


@given(IDS)
def test_any_id_makes_a_safe_name(identifier: str) -> None:
    name = names.file_name(identifier, ".jsonl")
    assert len(name.encode()) <= names.NAME_BYTES
    assert name.endswith(".jsonl")
    assert not name.startswith((".", "-", " "))
    assert not set(name) & set('<>:"/\\|?*#%\0\n\r\t')
    assert name.isprintable()


@given(IDS, IDS)
def test_two_ids_never_share_a_name(one: str, other: str) -> None:
    same = names.file_name(one, ".jsonl").casefold() == names.file_name(other, ".jsonl").casefold()
    assert same == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann", "ann"),
        ("caf\u00e9", "cafe\u0301"),
        ("a:b", "a/b"),
        ("x" * 300, "x" * 301),
        ("\ud800", "\ud801"),
    ],
)
def test_ids_that_look_alike_get_different_names(one: str, other: str) -> None:
    assert names.file_name(one, ".jsonl").casefold() != names.file_name(other, ".jsonl").casefold()


def test_names_stay_readable() -> None:
    assert names.file_name("cli:main", ".jsonl").startswith("cli-main-")
    assert names.file_name("微信群 小明", ".jsonl").startswith("微信群-小明-")


@pytest.mark.parametrize("reserved", ["con", "NUL", "com1", "aux.txt", "LPT9.a.b"])
def test_names_reserved_on_windows_are_avoided(reserved: str) -> None:
    assert names.file_name(reserved, ".jsonl").startswith("_")


def test_an_empty_id_is_refused() -> None:
    with pytest.raises(UsageError, match="needs an id"):
        names.file_name("", ".jsonl")


def test_a_lean_environment_leaves_what_the_user_has_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    monkeypatch.setenv("MNEMARK_WORKSPACE", "here")
    lean = platform.lean_environment()
    assert lean["GLIBC_TUNABLES"] == "glibc.malloc.tcache_count=0"
    assert lean["MNEMARK_WORKSPACE"] == "here"
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.perturb=1")
    assert platform.lean_environment()["GLIBC_TUNABLES"] == "glibc.malloc.perturb=1"
