"""A folder inside a workspace that is a workspace of its own: the outer one ends there."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from memory.erasing import holding, old
from mnemark import Memory, UsageError
from mnemark.files import layout
from mnemark.memory.health.doctor import doctor, verify
from mnemark.memory.transfer.backup import backup
from mnemark.memory.transfer.imports import import_from
from mnemark.memory.transfer.restore import restore
from mnemark.memory.transfer.transfer import export_workspace

SECRET = "the passphrase of the lighthouse is swordfish-and-marmalade"


def opened(root: Path) -> Memory:
    return Memory.open(root, config={"embedder": "none"})


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    old(path)


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    """A workspace whose index was made before the folder inside was one, as by an older mnemark."""
    root = tmp_path / "outer"
    write(root / "mnemark.toml", "")
    write(root / "notes.md", "the heron of the outer workspace\n")
    write(root / "inner/secret.md", f"- {SECRET}\n")
    write(root / "inner/deep/more.md", "the heron further down\n")
    write(root / "users/ann/memory/facts/user.md", "- **colour**: green\n")
    with opened(root) as memory:
        memory.sync()
        assert memory.search("swordfish").hits
    write(root / "inner/mnemark.toml", "")
    return root


def paths(root: Path, query: str) -> set[str]:
    with opened(root) as memory:
        return {hit.path for hit in memory.search(query, k=20).hits}


def test_a_search_finds_what_is_its_own(outer: Path) -> None:
    assert paths(outer, "heron lighthouse") == {"notes.md"}
    assert paths(layout.find_root(outer / "inner/deep"), "heron lighthouse") == {"secret.md", "deep/more.md"}
    assert paths(layout.find_root(outer / "users/ann"), "heron") == {"notes.md"}


def test_the_outer_index_drops_what_it_knew_to_the_byte(outer: Path) -> None:
    index = outer / ".mnemark/index.db"
    assert b"swordfish" in index.read_bytes()
    with opened(outer) as memory:
        report = memory.sync()
        assert (report.removed, report.inner) == (2, ("inner",))
        assert memory.search("swordfish").hits == ()
    assert not [path for path in holding(outer / ".mnemark", "swordfish") if path]
    with opened(outer) as memory:
        assert memory.sync().touched == 0


def test_a_receipt_names_the_index_around_that_still_holds_it(outer: Path) -> None:
    with opened(outer / "inner") as memory:
        dry = memory.forget(query="swordfish-and-marmalade", erase=True, dry_run=True)
        receipt = memory.forget(query="swordfish-and-marmalade", erase=True)
    told = [line for line in receipt.still if str(outer / ".mnemark/index.db") in line]
    assert len(told) == 1
    assert f"mnemark sync -w {outer}" in told[0]
    assert set(told) <= set(dry.still)
    with opened(outer) as memory:
        memory.sync()
    write(outer / "inner/secret.md", f"- {SECRET}\n")
    with opened(outer / "inner") as memory:
        assert memory.forget(query="swordfish-and-marmalade", erase=True).still == ()
    assert holding(outer, "swordfish") == []


def test_a_receipt_names_the_index_of_a_mount_around(tmp_path: Path) -> None:
    root = tmp_path / "outer"
    write(root / "mnemark.toml", '[mounts]\nteam = "inner"\n')
    write(root / "inner/mnemark.toml", "")
    write(root / "inner/secret.md", f"- {SECRET}\n")
    with Memory.open(root) as memory:
        assert [hit.path for hit in memory.search("swordfish").hits][:1] == ["@team/secret.md"]
    with opened(root / "inner") as memory:
        (told,) = memory.forget(query="swordfish-and-marmalade", erase=True).still
    assert ".mnemark/mounts/team/.mnemark/index.db" in told


def test_an_erase_around_leaves_the_inner_workspace_alone_and_says_so(outer: Path) -> None:
    write(outer / "copy.md", f"- {SECRET}\n")
    with opened(outer) as memory:
        receipt = memory.forget(query="swordfish-and-marmalade", erase=True)
        assert [item.ref for item in receipt.items] == ["copy.md#L1"]
        assert receipt.waiting == ()
        assert any(line.startswith("inner/") for line in receipt.still)
    assert SECRET in (outer / "inner/secret.md").read_text(encoding="utf-8")
    assert holding(outer, "swordfish") == ["inner/secret.md"]


def test_what_is_inside_can_be_neither_read_nor_forgotten_nor_written_from_around(outer: Path) -> None:
    write(outer / "users/ann/mnemark.toml", "")
    before = {path: path.read_bytes() for path in outer.rglob("*.md")}
    with opened(outer) as memory:
        for call in (
            lambda: memory.read("inner/secret.md"),
            lambda: memory.forget("inner/secret.md"),
            lambda: memory.session("cli:a", user="ann"),
            lambda: memory.remember("city", "Lyon", scope="users/ann"),
        ):
            with pytest.raises(UsageError, match="a separate workspace"):
                call()
        assert list(memory.facts(scope="users/ann")) == []
        memory.sync()
        assert memory.workspace.unfinished() == []
    assert {path: path.read_bytes() for path in outer.rglob("*.md")} == before
    assert b"Lyon" not in b"".join(path.read_bytes() for path in outer.rglob("*.jsonl"))


def test_facts_of_a_scope_that_becomes_a_workspace_are_not_taken_for_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.remember("colour", "green", scope="users/ann")
        memory.remember("city", "Lyon")
        memory.sync()
        write(tmp_path / "users/ann/mnemark.toml", "")
        memory.sync()
        (tmp_path / "users/ann/mnemark.toml").unlink()
        memory.sync()
        assert [fact.value for fact in memory.facts(scope="users/ann")] == ["green", "Lyon"]
    assert b"tombstone" not in b"".join(path.read_bytes() for path in tmp_path.rglob("journal/*.jsonl"))


def test_status_and_doctor_say_what_was_left_out(outer: Path) -> None:
    with opened(outer) as memory:
        memory.sync()
        for report in (verify(memory.workspace), doctor(memory.workspace)):
            (told,) = [one for one in report.findings if one.kind == "inner"]
            assert "inner/ is not indexed here" in told.what
            assert "-w inner" in told.fix
            assert all("other users" in one.what for one in report.findings if one.level != "ok")
    assert any("inner/ is not indexed here" in one.what for one in verify(outer).findings)


def test_a_backup_holds_the_folder_and_what_is_a_workspace_in_it_stays_one(
    outer: Path, tmp_path: Path
) -> None:
    (outer / "inner/mnemark.toml").unlink()
    with opened(outer / "inner") as memory:  # a workspace by its `.mnemark` alone
        memory.session("cli:a").add("user", "said inside")
        memory.remember("bird", "a heron inside")
    write(outer / "inner/deep/mnemark.toml", "")
    with opened(outer) as memory:
        memory.sync()
        done = backup(memory.workspace, tmp_path / "saved.zip")
    assert done.problems == ()
    restored = tmp_path / "again"
    restore(tmp_path / "saved.zip", restored)
    kept = {
        path.relative_to(outer): path.read_bytes()
        for path in outer.rglob("*")
        if path.is_file() and ".mnemark" not in path.parts
    }
    assert {path: (restored / path).read_bytes() for path in kept} == kept
    assert paths(restored, "heron lighthouse said") == {"notes.md"}
    assert "secret.md" in paths(restored / "inner", "heron lighthouse said")
    assert not any(path.startswith("deep/") for path in paths(restored / "inner", "heron"))


def test_an_export_by_lines_ends_at_the_border_and_says_so(outer: Path, tmp_path: Path) -> None:
    with opened(outer) as memory:
        done = export_workspace(memory.workspace, tmp_path / "lines.jsonl", format="jsonl")
    lines = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text(encoding="utf-8").splitlines()]
    files = {line["path"] for line in lines[1:] if line["type"] == "passage"}
    assert files == {"notes.md", "users/ann/memory/facts/user.md"}
    assert [one.path for one in done.problems] == ["inner"]


def test_an_import_does_not_take_the_memory_of_another_workspace_for_its_own(
    outer: Path, tmp_path: Path
) -> None:
    with opened(outer) as memory:
        export_workspace(memory.workspace, tmp_path / "whole.zip")
    with opened(tmp_path / "target") as memory:
        from_zip = import_from(memory.workspace, "zip", tmp_path / "whole.zip")
        from_folder = import_from(memory.workspace, "markdown", outer)
    for summary in (from_zip, from_folder):
        assert any(one.path == "inner" for one in summary.problems)
    assert holding(tmp_path / "target", "swordfish") == []
    with zipfile.ZipFile(tmp_path / "whole.zip") as archive:
        assert "inner/secret.md" in archive.namelist()


def test_a_workspace_that_ceases_to_be_one_is_found_again(outer: Path) -> None:
    assert "inner/secret.md" not in paths(outer, "lighthouse")
    (outer / "inner/mnemark.toml").unlink()
    assert "inner/secret.md" in paths(outer, "lighthouse")
    shutil.rmtree(outer / ".mnemark")
    assert "inner/secret.md" in paths(outer, "lighthouse")
