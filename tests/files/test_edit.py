"""Shared files: nobody's bytes are lost, whoever saves when."""

import os
import random
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest

from faults.layer import FaultyFileSystem, Killed
from faults.people import append_text, work
from mnemark.errors import ReadOnlyError, UsageError
from mnemark.files import platform
from mnemark.files.edit import edit, settle, sweep
from mnemark.files.edit_records import MOST_TRIES
from mnemark.files.jsonl import TEMPORARY
from mnemark.files.truth import Folder, workspace_lock

QUIET = 0.05


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.md"
    path.write_text("# Notes\n\n- milk\n- bread\n", encoding="utf-8")
    age(path)
    return path


def age(path: Path) -> None:
    """Nobody has touched the file for a minute."""
    then = time.time() - 60
    os.utime(path, (then, then))


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def displaced(root: Path) -> list[Path]:
    return list((root / ".mnemark/displaced").glob("*/*.old"))


def late_save(root: Path, text: str) -> None:
    """A program that had the file open before the edit writes into the file it has open."""
    (old,) = displaced(root)
    old.write_text(text, encoding="utf-8")
    age(old)


# One edit


def test_an_edit_changes_the_file_and_keeps_what_it_displaced(tmp_path: Path, note: Path) -> None:
    result = append_text(tmp_path, "note.md", "- eggs")
    assert result.status == "written"
    assert lines(note) == ["# Notes", "", "- milk", "- bread", "- eggs"]
    assert result.content == note.read_bytes()
    assert [old.read_text(encoding="utf-8") for old in displaced(tmp_path)] == [
        "# Notes\n\n- milk\n- bread\n"
    ]
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(TEMPORARY)]


def test_an_edit_that_changes_nothing_touches_nothing(tmp_path: Path, note: Path) -> None:
    before = platform.identity(note)
    assert edit(Folder(tmp_path), "note.md", lambda content: content).status == "unchanged"
    assert platform.identity(note) == before


def test_a_missing_file_and_its_folders_are_made(tmp_path: Path) -> None:
    assert append_text(tmp_path, "memory/deep/2026-02-13.md", "今天").status == "written"
    assert lines(tmp_path / "memory/deep/2026-02-13.md") == ["今天"]


def test_nothing_is_made_where_the_change_gives_nothing(tmp_path: Path) -> None:
    assert edit(Folder(tmp_path), "a.md", lambda content: content).status == "unchanged"
    assert not (tmp_path / "a.md").exists()


def test_text_goes_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"no newline")
    age(path)
    append_text(tmp_path, path, "second")
    append_text(tmp_path, path, "third\n")
    assert path.read_bytes() == b"no newline\nsecond\nthird\n"


@pytest.mark.timed
def test_own_edits_do_not_wait_for_each_other(tmp_path: Path, note: Path) -> None:
    start = time.monotonic()
    for number in range(5):
        assert append_text(tmp_path, "note.md", f"- {number}", timeout=0).status == "written"
    assert time.monotonic() - start < 1


def test_an_edit_does_not_read_the_records_of_all_before_it(
    tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    content = platform.content

    def noted(path: Path) -> bytes:
        read.append(path.suffix)
        return content(path)

    monkeypatch.setattr(platform, "content", noted)
    for _ in range(40):
        read.clear()
        edit(Folder(tmp_path), note.name, lambda text: text + b"- more\n")
    assert len(list((tmp_path / ".mnemark/displaced").glob("*/*.edit"))) >= 40
    assert read.count(".edit") <= 3


def test_an_error_in_the_change_leaves_everything_as_it_was(tmp_path: Path, note: Path) -> None:
    def fail(content: bytes) -> bytes:
        raise KeyError("no such bullet")

    before = note.read_bytes()
    with pytest.raises(KeyError):
        edit(Folder(tmp_path), "note.md", fail)
    assert note.read_bytes() == before
    assert append_text(tmp_path, "note.md", "- next").status == "written"


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_the_mode_of_the_file_stays(tmp_path: Path, note: Path) -> None:
    note.chmod(0o640)
    append_text(tmp_path, "note.md", "- eggs")
    assert note.stat().st_mode & 0o777 == 0o640


# When it may not write


def test_a_file_just_saved_is_left_alone_and_the_edit_deferred(tmp_path: Path, note: Path) -> None:
    note.write_text("# half a sa", encoding="utf-8")
    assert append_text(tmp_path, "note.md", "- eggs", timeout=0.1).status == "deferred"
    assert note.read_text(encoding="utf-8") == "# half a sa"


def test_it_waits_for_the_save_to_end(tmp_path: Path, note: Path) -> None:
    note.write_text("saved\n", encoding="utf-8")
    start = time.time()
    assert append_text(tmp_path, "note.md", "- eggs", quiet=0.2, timeout=2).status == "written"
    assert time.time() - start >= 0.15
    assert lines(note) == ["saved", "- eggs"]


def test_a_time_in_the_future_does_not_defer_for_ever(tmp_path: Path, note: Path) -> None:
    os.utime(note, (time.time() + 3600, time.time() + 3600))
    assert append_text(tmp_path, "note.md", "- eggs", quiet=QUIET).status == "written"


def test_a_held_workspace_defers(tmp_path: Path, note: Path) -> None:
    results = []
    with workspace_lock(tmp_path):
        thread = Thread(target=lambda: results.append(append_text(tmp_path, "note.md", "x", timeout=0.05)))
        thread.start()
        thread.join()
    assert [result.status for result in results] == ["deferred"]


@pytest.mark.parametrize("path", ["../out.md", "/etc/hosts", "a/../../out.md", "nul\0.md"])
def test_names_stay_in_the_workspace(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError):
        append_text(tmp_path / "ws", path, "x")


def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside.md", tmp_path / "ws"
    root.mkdir()
    outside.write_text("mine\n", encoding="utf-8")
    (root / "a.md").symlink_to(outside)
    (root / "folder").symlink_to(tmp_path)
    for name in ("a.md", "folder/outside.md"):
        with pytest.raises(UsageError, match="outside the workspace"):
            append_text(root, name, "x")
    assert outside.read_text(encoding="utf-8") == "mine\n"


def test_a_link_inside_stays_a_link(tmp_path: Path, note: Path) -> None:
    (tmp_path / "link.md").symlink_to("note.md")
    append_text(tmp_path, "link.md", "- eggs")
    assert (tmp_path / "link.md").is_symlink()
    assert "- eggs" in lines(note)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_told(tmp_path: Path, note: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ReadOnlyError, match="permissions"):
            append_text(tmp_path, "note.md", "x")
    finally:
        tmp_path.chmod(0o700)


def test_a_read_only_disk_is_told(tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "FS", FaultyFileSystem(0, "EROFS"))
    with pytest.raises(ReadOnlyError, match="permissions"):
        append_text(tmp_path, "note.md", "x")


# Saves under way


def test_a_late_save_is_merged(tmp_path: Path, note: Path) -> None:
    append_text(tmp_path, "note.md", "- eggs")
    late_save(tmp_path, "# Notes\n\n- oat milk\n- bread\n")
    assert settle(Folder(tmp_path), quiet=QUIET) == []
    assert lines(note) == ["# Notes", "", "- oat milk", "- bread", "- eggs"]
    assert settle(Folder(tmp_path), quiet=QUIET) == []
    assert lines(note) == ["# Notes", "", "- oat milk", "- bread", "- eggs"]


def test_the_next_edit_merges_a_late_save_too(tmp_path: Path, note: Path) -> None:
    append_text(tmp_path, "note.md", "- eggs")
    late_save(tmp_path, "# Notes\n\n- milk\n- bread\n- late\n")
    append_text(tmp_path, "note.md", "- salt")
    assert lines(note)[2:] == ["- milk", "- bread", "- late", "- eggs", "- salt"]


def test_a_late_save_of_the_same_line_becomes_a_conflict_copy(tmp_path: Path, note: Path) -> None:
    edit(Folder(tmp_path), "note.md", lambda content: content.replace(b"- milk", b"- soy milk"))
    late_save(tmp_path, "# Notes\n\n- oat milk\n- bread\n")
    (problem,) = settle(Folder(tmp_path), quiet=QUIET)
    assert problem.path.startswith("note.conflict-")
    assert "- soy milk" in lines(note)
    assert "- oat milk" in lines(tmp_path / problem.path)
    assert settle(Folder(tmp_path), quiet=QUIET) == []


def test_a_save_that_died_after_its_truncate_empties_nothing(tmp_path: Path, note: Path) -> None:
    append_text(tmp_path, "note.md", "- eggs")
    late_save(tmp_path, "")
    assert settle(Folder(tmp_path), quiet=QUIET) == []
    assert lines(note)[2:] == ["- milk", "- bread", "- eggs"]


def test_an_edit_that_a_stale_save_lost_is_put_back(tmp_path: Path, note: Path) -> None:
    loaded = note.read_text(encoding="utf-8")
    append_text(tmp_path, "note.md", "- eggs")
    append_text(tmp_path, "note.md", "- salt")
    note.write_text(loaded + "- by hand\n", encoding="utf-8")
    age(note)
    assert settle(Folder(tmp_path), quiet=QUIET) == []
    assert lines(note)[2:] == ["- milk", "- bread", "- by hand", "- eggs", "- salt"]


def test_what_a_person_has_seen_and_removed_stays_removed(tmp_path: Path, note: Path) -> None:
    append_text(tmp_path, "note.md", "- eggs")
    note.write_text("# Notes\n\n- milk\n- bread\n- eggs\n- by hand\n", encoding="utf-8")
    age(note)
    settle(Folder(tmp_path), quiet=QUIET)
    note.write_text("# Notes\n\n- milk\n- bread\n- by hand\n", encoding="utf-8")
    age(note)
    settle(Folder(tmp_path), quiet=QUIET)
    assert "- eggs" not in lines(note)


def test_an_edit_lost_again_and_again_ends_in_a_copy(tmp_path: Path, note: Path) -> None:
    loaded = note.read_text(encoding="utf-8")
    append_text(tmp_path, "note.md", "- eggs")
    problems = []
    for _ in range(MOST_TRIES + 1):
        note.write_text(loaded, encoding="utf-8")
        age(note)
        problems += settle(Folder(tmp_path), quiet=QUIET)
    assert note.read_text(encoding="utf-8") == loaded
    assert ["- eggs" in lines(tmp_path / problem.path) for problem in problems] == [True]


def test_a_file_that_a_person_removed_stays_removed(tmp_path: Path, note: Path) -> None:
    append_text(tmp_path, "note.md", "- eggs")
    note.unlink()
    assert settle(Folder(tmp_path), quiet=QUIET) == []
    assert not note.exists()


def test_after_its_minute_nothing_is_kept(tmp_path: Path, note: Path) -> None:
    edit(Folder(tmp_path), "note.md", lambda content: content + b"- eggs\n", keep=0.01)
    time.sleep(0.02)
    settle(Folder(tmp_path), quiet=QUIET)
    assert list((tmp_path / ".mnemark/displaced").iterdir()) == []


def test_erasing_keeps_nothing_of_earlier_edits_either(tmp_path: Path, note: Path) -> None:
    append_text(tmp_path, "note.md", "- secret")
    edit(Folder(tmp_path), "note.md", lambda content: content.replace(b"- secret\n", b""), keep=0)
    assert list((tmp_path / ".mnemark/displaced").iterdir()) == []
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]


def test_the_sweep_removes_what_a_crash_left(tmp_path: Path, note: Path) -> None:
    (tmp_path / f"{TEMPORARY}01HXX").write_text("half", encoding="utf-8")
    (tmp_path / ".mnemark/displaced" / "0").mkdir(parents=True)
    (tmp_path / ".mnemark/displaced" / "0-1.part").write_bytes(b"x")
    (tmp_path / ".mnemark/displaced" / "0/1.edit").write_bytes(b"x")
    assert sweep(Folder(tmp_path)) == []
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["lock", "note.md"]
    assert list((tmp_path / ".mnemark/displaced").iterdir()) == []


class SavesAt(FaultyFileSystem):
    """A person saves by rename in the moments just before the given exchanges."""

    def __init__(self, saves: dict[int, str]) -> None:
        super().__init__()
        self.saves = saves
        self.exchanges = 0

    def exchange(self, one: Path, other: Path) -> bool:
        said = self.saves.get(self.exchanges)
        self.exchanges += 1
        if said is not None:
            draft = other.with_name(".draft")
            draft.write_text(said, encoding="utf-8")
            age(draft)
            draft.replace(other)
        return super().exchange(one, other)


@pytest.mark.skipif(sys.platform not in {"linux", "darwin"}, reason="files cannot be exchanged elsewhere")
def test_a_save_just_before_the_exchange_is_put_back(
    tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = SavesAt({0: "# Notes\n\n- all new\n"})
    monkeypatch.setattr(platform, "FS", layer)
    assert append_text(tmp_path, "note.md", "- eggs").status == "written"
    assert lines(note) == ["# Notes", "", "- all new", "- eggs"]
    assert layer.exchanges == 3


@pytest.mark.skipif(sys.platform not in {"linux", "darwin"}, reason="files cannot be exchanged elsewhere")
def test_two_saves_around_the_exchange_are_both_kept(
    tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = "# Notes\n\n- milk\n- bread\n- one\n", "# Notes\n\n- milk\n- bread\n- eggs\n- two\n"
    monkeypatch.setattr(platform, "FS", SavesAt({0: first, 1: second}))
    assert append_text(tmp_path, "note.md", "- eggs").status == "written"
    assert settle(Folder(tmp_path), quiet=QUIET) == []
    assert sorted(lines(note)[4:]) == ["- eggs", "- one", "- two"]


@pytest.mark.skipif(sys.platform not in {"linux", "darwin"}, reason="files cannot be exchanged elsewhere")
def test_a_late_save_after_a_crash_is_merged_by_the_sweep(
    tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class DiesAfterExchange(FaultyFileSystem):
        def exchange(self, one: Path, other: Path) -> bool:
            done = super().exchange(one, other)
            self.at = self.calls
            return done

    monkeypatch.setattr(platform, "FS", DiesAfterExchange())
    with pytest.raises(Killed):
        append_text(tmp_path, "note.md", "- eggs")
    monkeypatch.undo()
    (left,) = tmp_path.glob(f"{TEMPORARY}*")
    left.write_text("# Notes\n\n- oat milk\n- bread\n", encoding="utf-8")
    age(left)
    assert sweep(Folder(tmp_path), quiet=QUIET) == []
    assert lines(note)[2:] == ["- oat milk", "- bread", "- eggs"]
    assert not list(tmp_path.glob(f"{TEMPORARY}*"))


# Both at once


class Contest(NamedTuple):
    missing: list[str]
    twice: list[str]
    in_copies_only: int
    deferred: int


def contest(root: Path, count: int, *, quiet: float, rest: float, pause: float) -> Contest:
    """A person saves `count` times, half in place, and an agent appends as often, from two processes."""
    note = root / "note.md"
    note.write_text("# Notes\n\nfirst line\n", encoding="utf-8")
    details = {"pause": pause, "rest": rest, "seed": 7}
    person = get_context("spawn").Process(target=work, args=(note, count), kwargs=details)
    person.start()
    chance = random.Random(7)
    deferred = 0
    for number in range(count):
        said = f"- agent {number}."
        while append_text(root, note, said, quiet=quiet, timeout=5 * quiet).status == "deferred":
            deferred += 1
        time.sleep(chance.uniform(0, rest))
    person.join()
    for _ in range(MOST_TRIES):
        time.sleep(1.2 * quiet)
        settle(Folder(root), quiet=quiet, timeout=5)
    expected = [f"- {who} {number}." for who in ("person", "agent") for number in range(count)]
    text = note.read_text(encoding="utf-8")
    whole = "".join(path.read_text(encoding="utf-8") for path in root.glob("*.md"))
    return Contest(
        missing=[line for line in expected if line not in whole],
        twice=[line for line in expected if text.count(line) > 1],
        in_copies_only=sum(line not in text for line in expected),
        deferred=deferred,
    )


def test_a_person_and_an_agent_both_keep_every_edit(tmp_path: Path) -> None:
    result = contest(tmp_path, 25, quiet=QUIET, rest=0.1, pause=0.01)
    assert (result.missing, result.twice) == ([], [])


@pytest.mark.slow
def test_they_do_under_pressure(tmp_path: Path) -> None:
    result = contest(tmp_path, 200, quiet=QUIET, rest=0.06, pause=0.01)
    assert (result.missing, result.twice) == ([], [])


@pytest.mark.slow
def test_they_do_at_the_pace_of_people(tmp_path: Path) -> None:
    result = contest(tmp_path, 200, quiet=1.0, rest=4.0, pause=0.05)
    assert (result.missing, result.twice, result.in_copies_only) == ([], [], 0)
