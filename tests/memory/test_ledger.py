"""Automatic edits: noted before they are made, completed after a kill, taken back by id."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemark import Memory, NotFoundError, UsageError
from mnemark.files import edit
from mnemark.files.journal import Change, Journal
from mnemark.memory import file_edits
from mnemark.text.markdown.hunks import hunks


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    found = Memory.open(tmp_path, config={"embedder": "none"})
    yield found
    found.close()


def line(text: str) -> Callable[[str], str]:
    return lambda old: old + text + "\n"


def test_written_shown_and_taken_back(memory: Memory) -> None:
    note = memory.root / "MEMORY.md"
    note.write_text("# Memory\r\n\r\n- 一\r\n", encoding="utf-8", newline="")
    made = file_edits.write(
        memory.workspace, "MEMORY.md", line("- 二"), step="test", session="cli:a", group="g"
    )
    assert (made.status, "+- 二" in made.diff) == ("written", True)
    (entry,) = memory.workspace.edits.entries()
    assert (entry.id, entry.step, entry.session, entry.state) == (made.id, "test", "cli:a", "done")
    note.write_bytes(note.read_bytes() + b"- by hand\n")
    back = file_edits.reverse(memory.workspace, made.id)
    assert "-- 二" in back.diff
    assert note.read_bytes().decode() == "# Memory\r\n\r\n- 一\r\n- by hand\n"
    with pytest.raises(NotFoundError):
        file_edits.reverse(memory.workspace, made.id)


def test_a_new_file_taken_back_is_gone(memory: Memory) -> None:
    made = file_edits.write(memory.workspace, "memory/2026-02-13.md", line("x"), step="test")
    file_edits.reverse(memory.workspace, made.id)
    assert not (memory.root / "memory/2026-02-13.md").exists()


def test_an_edit_that_another_process_completed_is_not_made_twice(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone saves while it is put in place; before it is tried again another process finds it noted."""
    note = memory.root / "MEMORY.md"
    note.write_text("- one\n", encoding="utf-8")
    tries: list[str] = []

    def change(old: str) -> str:
        tries.append(old)
        if len(tries) == 1:
            note.write_text("- one\n- by hand\n", encoding="utf-8")
            os.utime(note, (1e9, 1e9))
        return old + "- two\n"

    waited = edit._until_quiet

    def waits(*given: Any) -> Any:
        if tries:
            monkeypatch.undo()
            with Memory.open(memory.root, config={"embedder": "none"}) as other:
                file_edits.finish(other.workspace)
        return waited(*given)

    monkeypatch.setattr(edit, "_until_quiet", waits)
    made = file_edits.write(memory.workspace, "MEMORY.md", change, step="test")
    assert tries == ["- one\n"]
    assert note.read_text(encoding="utf-8").count("- two") == 1
    assert "- by hand" in note.read_text(encoding="utf-8")
    (entry,) = memory.workspace.edits.entries()
    assert (made.status, made.id, entry.state) == ("written", entry.id, "done")
    file_edits.reverse(memory.workspace, made.id)
    assert note.read_text(encoding="utf-8") == "- one\n- by hand\n"


def test_nothing_to_change_leaves_no_trace(memory: Memory) -> None:
    done = file_edits.write(memory.workspace, "MEMORY.md", lambda old: old, step="test")
    assert done.status == "unchanged"
    assert not (memory.root / "journal").exists()
    assert not (memory.root / "MEMORY.md").exists()


def quiet(path: Path) -> None:
    """Nobody has saved it for a while."""
    os.utime(path, (1e9, 1e9))


def cut_off(memory: Memory, old: str, new: str) -> None:
    """The journal of a process that was killed between the note and the edit."""
    quiet(memory.root / "MEMORY.md")
    payload = {"path": "MEMORY.md", "step": "test", "hunks": hunks(old, new)}
    Journal(memory.workspace.truth).append(Change(kind="write", payload=payload))


@pytest.mark.parametrize("in_file", ["old", "new"])
def test_a_cut_off_edit_is_completed_once(memory: Memory, in_file: str) -> None:
    texts = {"old": "a\n", "new": "a\nb\n"}
    (memory.root / "MEMORY.md").write_text(texts[in_file], newline="")
    cut_off(memory, texts["old"], texts["new"])
    memory.sync()
    memory.sync()
    assert (memory.root / "MEMORY.md").read_text() == texts["new"]
    assert [entry.state for entry in memory.workspace.edits.entries()] == ["done"]


def test_a_cut_off_edit_that_no_longer_fits_is_told(memory: Memory) -> None:
    (memory.root / "MEMORY.md").write_text("quite another text\n", newline="")
    cut_off(memory, "a\nb\n", "a\nB\n")
    (problem,) = file_edits.finish(memory.workspace)
    assert problem.path == "MEMORY.md"
    assert (memory.root / "MEMORY.md").read_text() == "quite another text\n"
    assert not file_edits.finish(memory.workspace)


def test_what_was_changed_by_hand_is_not_taken_back(memory: Memory) -> None:
    made = file_edits.write(memory.workspace, "MEMORY.md", line("- built"), step="test")
    shutil.rmtree(memory.root / ".mnemark/displaced")  # long after the edit
    (memory.root / "MEMORY.md").write_text("- built, twice\n")
    with pytest.raises(UsageError, match=r"MEMORY\.md"):
        file_edits.reverse(memory.workspace, made.id)


def test_moved_and_moved_back(memory: Memory) -> None:
    (memory.root / "old.md").write_text("text\n")
    made = file_edits.move(memory.workspace, "old.md", "memory/archive/old.md", step="archive")
    assert (memory.root / "memory/archive/old.md").read_text() == "text\n"
    file_edits.reverse(memory.workspace, made.id)
    assert (memory.root / "old.md").read_text() == "text\n"


def test_other_encodings_are_left_alone(memory: Memory) -> None:
    (memory.root / "MEMORY.md").write_bytes("笔记".encode("gb18030"))
    with pytest.raises(UsageError, match="UTF-8"):
        file_edits.write(memory.workspace, "MEMORY.md", line("x"), step="test")
