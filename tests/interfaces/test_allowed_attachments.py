"""`serve --allow` holds for the files that turns name, not for workspaces alone."""

from pathlib import Path

import pytest

from mnemark_interfaces.http.pool import Workspaces


@pytest.mark.parametrize("confined", [True, False])
@pytest.mark.parametrize("place", ["{outside}", "../../outside/plan.txt", "{link}", "{allowed}", "own.txt"])
def test_a_turn_reads_no_file_outside_of_the_allowed_folders(
    tmp_path: Path, place: str, *, confined: bool
) -> None:
    root, outside = tmp_path / "allowed" / "notes", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir(parents=True)
    for file in (outside / "plan.txt", tmp_path / "allowed" / "beside.txt", root / "own.txt"):
        file.write_text("The kingfisher nests by the weir.\n", "utf-8")
    (root / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    (root / "link").symlink_to(outside)
    named = place.format(
        outside=outside / "plan.txt", link=root / "link" / "plan.txt", allowed=tmp_path / "allowed/beside.txt"
    )
    pool = Workspaces(allowed=(tmp_path / "allowed",) if confined else (), watching=False)
    with pool.lease(str(root)) as at:
        session = at.session("cli:a")
        session.add("user", "look at this", attachments=[{"path": named}])
        session.end()
        pages = [page.read_text("utf-8") for page in (root / "memory/attachments").glob("*.md")]
    pool.close()
    assert len(pages) == 1
    is_inside = place in {"{allowed}", "own.txt"}
    assert ("kingfisher" in pages[0]) is (is_inside or not confined)
