"""`mnemark sessions`: what there is, and ending one by hand."""

import pytest

from .conftest import Shell


@pytest.fixture
def workspace(shell: Shell) -> Shell:
    assert shell("init").code == 0
    for role, text in (
        ("user", "Please fix the importer of project Atlas."),
        ("assistant", "Fixed: the importer keeps empty rows."),
        ("user", "好的，谢谢。下一步写迁移指南。"),
    ):
        assert shell("add", text, "--session", "chat:1", "--role", role).code == 0
    return shell


def test_listed_and_ended_once(workspace: Shell) -> None:
    (row,) = workspace("sessions", "--json").data["sessions"]
    assert (row["session"], row["scope"]) == ("chat:1", "")
    assert "chat:1" in workspace("sessions").out
    (ended,) = workspace("sessions", "end", "chat:1", "--json").data["ended"]
    assert (ended["status"], ended["turns"]) == ("ended", 3)
    page = (workspace.folder / ended["episodes"][0]).read_text(encoding="utf-8")
    assert "Fixed: the importer keeps empty rows." in page
    again = workspace("sessions", "end", "chat:1")
    assert (again.code, again.out) == (0, "")
    assert "Nothing new" in again.err
    undone = workspace("undo", ended["group"])
    assert undone.code == 0
    assert not (workspace.folder / ended["episodes"][0]).exists()


def test_mistakes_name_the_fix(workspace: Shell) -> None:
    missing = workspace("sessions", "end", "nobody")
    assert (missing.code, "mnemark sessions" in missing.err) == (3, True)
    for wrong in (["begin"], ["end"], ["end", "chat:1", "--idle"]):
        assert workspace("sessions", *wrong).code == 2
    # Somebody may still be speaking: a session that is not silent is left alone.
    assert workspace("sessions", "end", "--idle", "--json").data["ended"] == []
