from pathlib import Path

import pytest

from .conftest import Shell


@pytest.fixture
def notes(shell: Shell) -> Shell:
    shell.write("notes.md", "The kingfisher nests under the bridge.\n")
    shell("add", "x", "--session", "s")
    shell("init")
    shell("sync")
    return shell


def _damage(folder: Path) -> None:
    for path in (folder / ".mnemark").glob("index.db*"):
        path.unlink()
    (folder / ".mnemark/index.db").write_bytes(b"no database at all\n" * 500)


def test_a_sound_workspace_passes_and_is_left_as_it_is(notes: Shell) -> None:
    before = notes.state()
    verified, examined = notes("verify", "--deep"), notes("doctor")
    assert (verified.code, examined.code) == (0, 0)
    assert "ok     the index is not damaged\n" in verified.out
    assert "ok     Python " in examined.out
    assert notes.state() == before


def test_damage_is_told_with_the_fix_and_changes_nothing(notes: Shell) -> None:
    _damage(notes.folder)
    before = (notes.folder / ".mnemark/index.db").read_bytes()
    for command in ("verify", "doctor"):
        ran = notes(command)
        assert ran.code == 6, command
        assert (ran.out + ran.err).count("mnemark doctor --fix") == 1, command
    ran = notes("status")
    assert ran.code == 0
    assert "index.db is damaged" in ran.out
    assert "mnemark sync" in ran.out
    found = notes("doctor", "--json").data
    assert (found["level"], found["fixed"]) == ("error", False)
    assert (notes.folder / ".mnemark/index.db").read_bytes() == before


def test_doctor_mends_what_was_damaged(notes: Shell) -> None:
    _damage(notes.folder)
    ran = notes("doctor", "--fix")
    assert ran.code == 0, ran
    assert "the index was rebuilt" in ran.out
    assert notes("verify").code == 0
    assert notes("search", "kingfisher", "--json").data["hits"][0]["path"] == "notes.md"


def test_a_missing_index_is_a_warning(shell: Shell) -> None:
    shell.write("notes.md", "# Notes\n")
    ran = shell("verify")
    assert ran.code == 0
    assert "warn   there is no index yet: run `mnemark sync`" in ran.out
    assert [path.name for path in shell.folder.iterdir()] == ["notes.md"]


def test_thousands_of_findings_are_shown_as_a_few(notes: Shell) -> None:
    for number in range(1_200):
        notes.write(f"new/{number:04}.md", f"笔记 {number}\n")
    for command in ("verify", "doctor"):
        shown = notes(command).out.splitlines()
        named = [line for line in shown if " is not in the index" in line]
        assert len(named) == 5, command
        (rest,) = [line for line in shown if "1,195 more" in line]
        assert "mnemark sync" in rest
        whole = notes(command, "--json").data["findings"]
        assert sum("is not in the index" in one["what"] for one in whole) == 1_200
    notes("sync")
    assert "more" not in notes("verify").out
