"""`mnemark learn` and `mnemark connect`: one envelope for all that --json prints."""

from pathlib import Path

from .conftest import Shell


def test_the_queue_as_json(shell: Shell) -> None:
    shell("init")
    assert shell("learn", "--failed", "--json").data == {"failed": []}
    assert shell("learn", "--retry", "--json").data["retried"] == 0
    assert shell("learn", "--retry").out == ""
    assert shell("learn", "--retry", "--dry-run").code == 2


def test_agents_as_json(shell: Shell, tmp_path: Path) -> None:
    shell("init")
    listed = shell("connect", "--json").data["agents"]
    assert "claude-code" in {one["agent"] for one in listed}
    folder = tmp_path / "plugin"
    arguments = ("connect", "claude-code", "--plugin", str(folder), "-w", str(shell.folder), "--json")
    planned = shell(*arguments, "--dry-run").data
    assert planned["dry_run"]
    assert not folder.exists()
    done = shell(*arguments).data
    assert [one["path"] for one in done["changes"]] == [one["path"] for one in planned["changes"]]
    assert all(Path(one["path"]).read_text(encoding="utf-8") == one["diff"] for one in done["changes"])


def test_a_folder_of_notes_says_what_is_missing(shell: Shell) -> None:
    shell("init")
    shell.write("notes.md", "I live in Ghent.\n")
    said = shell("learn").err
    assert "found 0 facts" in said
    assert "There are no conversations here" in said
    assert "mnemark import" in said
    shell("add", "Good morning!", "--session", "s")
    for _ in range(2):  # nothing learned from what is there, then nothing new
        assert "There are no conversations" not in shell("learn").err


def test_a_fact_without_a_property_is_refused(shell: Shell) -> None:
    shell("init")
    for empty in ("", "  "):
        refused = shell("remember", empty, "x")
        assert (refused.code, refused.out) == (2, "")
        assert 'mnemark remember "favorite tea" oolong' in refused.err
    assert shell("facts", "--json").data == {"facts": []}
