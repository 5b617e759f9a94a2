"""Mounts: other workspaces read along, shown as theirs, never written to."""

import os
from pathlib import Path

import pytest

from mnemark import Memory, NotFoundError


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


@pytest.fixture
def team(tmp_path: Path) -> Path:
    folder = tmp_path / "team"
    (folder / "users/ann").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Team\n\nThe staging server is called Pelikan.\n")
    (folder / "users/ann/MEMORY.md").write_text("Ann's staging server is a secret.\n")
    return folder


def test_found_read_and_shown_as_theirs(tmp_path: Path, team: Path) -> None:
    before = files(team)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/MEMORY.md").write_text("My staging notes are in the wiki.\n")
    with Memory.open(tmp_path / "own", config={"mounts": {"team": str(team)}}) as memory:
        found = memory.search("staging server")
        (hit,) = [hit for hit in found.hits if hit.scope]
        assert (hit.scope, hit.path) == ("@team", "@team/MEMORY.md")
        assert "Pelikan" in memory.read(hit.ref)
        assert any(hit.path == "MEMORY.md" for hit in found.hits)
        assert not any("secret" in hit.text for hit in found.hits)
        assert "@team/MEMORY.md" in memory.recall("staging server", deadline=5).text
    assert files(team) == before


def test_a_change_there_is_found(tmp_path: Path, team: Path) -> None:
    with Memory.open(tmp_path / "own", config={"mounts": {"team": str(team)}}) as memory:
        memory.search("Pelikan")
        (team / "new.md").write_text("The printer is called Tukan.\n")
        os.utime(team / "new.md")
        memory.searcher.mounts.close()
        assert memory.search("Tukan").hits


def test_a_mount_that_is_not_there_is_told(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "own", config={"mounts": {"team": str(tmp_path / "gone")}}) as memory:
        memory.session("a").add("user", "the printer is called Tukan")
        found = memory.search("printer")
        assert found.hits
        assert not found.complete
        assert any("mount team" in reason for reason in found.degraded)
        with pytest.raises(NotFoundError, match="no mount"):
            memory.read("@other/MEMORY.md")
