"""What people mistype or hand in: each message says what to do next."""

from pathlib import Path

import pytest

from mnemark.files import reading
from mnemark.files.layout import PRIVATE

from .conftest import Shell


def test_a_workspace_before_the_command(shell: Shell) -> None:
    for option in ("-w", "--workspace=."):
        ran = shell(option, ".", "search", "tea")
        assert (ran.code, "behind the command" in ran.err) == (2, True)


@pytest.mark.parametrize("command", ["read", "why", "forget", "pin"])
def test_a_ref_that_is_none(shell: Shell, command: str) -> None:
    shell("init")
    ran = shell(command, "没有.md")
    assert ran.code == 3
    assert "没有.md does not exist; give a ref as `mnemark search` prints it" in ran.err


@pytest.mark.parametrize("command", ["export", "backup"])
def test_a_folder_that_is_not_there(shell: Shell, tmp_path: Path, command: str) -> None:
    shell("init")
    ran = shell(command, str(tmp_path / "nowhere/all.zip"))
    assert ran.code == 3
    assert f"the folder {tmp_path / 'nowhere'} does not exist" in ran.err
    assert "make it, or choose another" in ran.err


def test_an_update_in_the_wrong_folder_makes_no_workspace_of_it(shell: Shell) -> None:
    assert "choose another folder with -w" in shell("sync").err
    assert not (shell.folder / PRIVATE).exists()
    shell("init")
    assert shell("sync").out.startswith("1 file")


@pytest.mark.parametrize("command", ["add", "search", "recall"])
def test_a_text_that_no_note_holds(shell: Shell, command: str) -> None:
    shell("init")
    ran = shell(command, "-", stdin="crane " * (reading.READ_LIMIT // 6 + 1))
    assert ran.code == 2
    assert "more than 16 MB; split it" in ran.err
    assert sorted(path.name for path in shell.folder.rglob("*.md")) == ["MEMORY.md"]


def test_a_note_that_would_be_too_long_to_be_read(shell: Shell) -> None:
    shell("init")
    ran = shell("add", "--json", "-", stdin="crane " * (reading.READ_LIMIT // 6 - 100))
    note = ran.data["ref"].partition("#")[0]
    before = (shell.folder / note).read_bytes()
    ran = shell("add", "x" * 1_000)
    assert (ran.code, "save the text as a file of its own" in ran.err) == (2, True)
    assert (shell.folder / note).read_bytes() == before


def test_a_sentence_to_remember_is_sent_to_the_note(shell: Shell) -> None:
    shell("init")
    ran = shell("remember", "my dentist is Dr. Okafor")
    assert (ran.code, 'mnemark add "…"' in ran.err) == (2, True)
    assert "dentist" not in shell("facts").out


def test_an_unknown_part_of_a_consolidation(shell: Shell) -> None:
    shell("init")
    ran = shell("consolidate", "--only", "foo")
    assert (ran.code, ran.out) == (2, "")
    assert "refresh:USER.md" in ran.err
    assert "learn, deduplicate, decay" in ran.err


@pytest.mark.parametrize(
    "arguments",
    ["status", "facts", "facts --history", "review", "review show", "log", "sessions", "doctor", "verify",
     "why notes.md#L1", "prompt hello", "mount", "learn --dry-run", "learn --failed", "consolidate --dry-run",
     "remember city Oslo --dry-run", "forget --query ab --dry-run", "revert --session a --dry-run",
     "import markdown . --dry-run"],
)  # fmt: skip
def test_what_only_reads_makes_nothing_in_an_empty_folder(shell: Shell, arguments: str) -> None:
    shell(*arguments.split(), "-w", ".")
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    ["facts", "review", "learn --dry-run", "consolidate --dry-run", "remember city Oslo --dry-run"],
)
def test_what_only_reads_makes_no_index_of_a_folder_with_notes(shell: Shell, arguments: str) -> None:
    shell.write("notes.md", "We water the tomatoes on Sunday.\n")
    assert shell(*arguments.split(), "-w", ".").code == 0
    assert [path.name for path in shell.folder.iterdir()] == ["notes.md"]


@pytest.mark.parametrize("command", ["export", "backup"])
def test_an_archive_is_no_file_of_the_name_of_stdout(shell: Shell, command: str) -> None:
    shell("init")
    ran = shell(command, "-")
    assert (ran.code, "give its name" in ran.err) == (2, True)
    assert not (shell.folder / "-").exists()
