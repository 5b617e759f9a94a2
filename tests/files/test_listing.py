"""What stands in the folders of a workspace: only what may be read, up to its borders."""

import os
import sys
import threading
from pathlib import Path

import pytest

from faults.odd import KINDS, Closed, as_a_user, make, open_again
from mnemark.errors import UsageError
from mnemark.facts.files import FactFiles
from mnemark.files import journal, jsonl, layout, listing, names, platform, reading
from mnemark.files.edit import edit, sweep
from mnemark.files.scan import scan
from mnemark.files.tombstones import TombstoneLog
from mnemark.files.truth import Folder
from mnemark.types import Problem

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


def fill(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, encoding="utf-8")


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    """A workspace with others inside, and folders that are none."""
    fill(
        tmp_path / "w", "mnemark.toml", "a.md", "users/ann/memory/x.md", "users/bob/memory/x.md",
        "repo/.git/x.md", "repo/README.md", "plain/MEMORY.md", "inner/mnemark.toml", "inner/b.md",
        "inner/deep/c.md", "inner/deep/more/mnemark.toml", "users/bob/.mnemark/x",
        "users/bob/journal/m.jsonl",
        "searched/.mnemark/index.db", ".hidden/own/mnemark.toml",
        ".mnemark/mounts/m/.mnemark/index.db",
    )  # fmt: skip
    return tmp_path / "w"


def test_the_scan_ends_where_another_workspace_begins(nested: Path) -> None:
    found = scan(nested)
    assert [one.path for one in found.entries] == [
        "a.md",
        "plain/MEMORY.md",
        "repo/README.md",
        "users/ann/memory/x.md",
    ]
    assert found.inner == ["inner", "users/bob"]
    assert found.problems == []
    inside = scan(nested / "inner")
    assert [one.path for one in inside.entries] == ["b.md", "deep/c.md"]
    assert inside.inner == ["deep/more"]


def test_a_walk_of_all_files_ends_there_but_sees_the_own_bookkeeping(nested: Path) -> None:
    found = listing.walk(nested)
    assert found.inner == [".hidden/own", "inner", "users/bob"]
    assert ".mnemark/mounts/m/.mnemark/index.db" in found.files
    assert not [path for path in found.files if path.startswith(("inner/", "users/bob/", "repo/.git"))]
    assert listing.walk(nested, "inner").files == []


def test_a_scope_that_is_a_workspace_is_none_of_this_one(nested: Path) -> None:
    assert listing.scopes(nested) == ["users/ann"]
    assert listing.scopes(nested / "inner") == []


@pytest.mark.parametrize(
    ("path", "border"),
    [
        ("a.md", ""), ("users/ann/memory/x.md", ""), ("repo/README.md", ""), ("plain/MEMORY.md", ""),
        ("inner", "inner"), ("inner/b.md", "inner"), ("inner/deep/more/x.md", "inner"), ("", ""),
        ("users/bob", "users/bob"), ("users/bob/new/file.md", "users/bob"), (".mnemark/mounts/m/x", ""),
    ],
)  # fmt: skip
def test_a_border_is_the_outermost_folder_that_is_a_workspace(nested: Path, path: str, border: str) -> None:
    assert layout.border(nested, path) == border


def test_nothing_is_read_or_written_across_a_border(nested: Path) -> None:
    before = {path: path.read_bytes() for path in nested.rglob("*") if path.is_file()}
    assert isinstance(found := reading.read(nested, "inner/b.md"), Problem)
    assert "workspace inner" in found.reason
    for call in (
        lambda: layout.safe_path(nested, "inner/b.md"),
        lambda: names.inside(nested, "users/bob/memory/x.md"),
        lambda: edit(Folder(nested), "inner/b.md", lambda _: b"changed"),
    ):
        with pytest.raises(UsageError, match="a separate workspace"):
            call()
    assert listing.names(nested, "inner") == []
    assert {path: path.read_bytes() for path in before} == before


@posix
def test_a_link_does_not_lead_across_a_border(nested: Path) -> None:
    (nested / "way.md").symlink_to("inner/b.md")
    (nested / "memory/facts").mkdir(parents=True)
    (nested / "memory/facts/way.md").symlink_to("../../inner/b.md")
    assert {one.path: one.reason for one in scan(nested).problems} == {
        "memory/facts/way.md": "link into the workspace inner, not followed",
        "way.md": "link into the workspace inner, not followed",
    }
    assert listing.names(nested, "memory/facts") == []
    assert FactFiles(nested).paths() == []
    with pytest.raises(UsageError, match="a separate workspace"):
        layout.safe_path(nested, "way.md")


def test_what_a_crash_left_in_another_workspace_is_its_own_to_sweep(nested: Path) -> None:
    for folder in ("", "inner/"):
        (nested / f"{folder}{jsonl.TEMPORARY}x").write_text("half", encoding="utf-8")
    sweep(Folder(nested))
    assert not (nested / f"{jsonl.TEMPORARY}x").exists()
    assert (nested / f"inner/{jsonl.TEMPORARY}x").exists()


# --- only regular files are opened


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_stands_there_is_left_out_and_named(tmp_path: Path, kind: str) -> None:
    root = tmp_path / "w"
    fill(root, "memory/a.md")
    make(root / "memory/odd.md", kind, tmp_path / "out")
    with as_a_user() as counts:
        if not counts and kind.startswith("closed"):
            pytest.skip("permissions do not count here")
        assert [path.name for path in listing.files(root, "memory", ".md")] == ["a.md"]
        if kind not in {"out", "out to a pipe", "loop"}:  # those are no names of this workspace
            assert [one.path for one in listing.look(root, "memory", ".md").problems] == ["memory/odd.md"]
        with pytest.raises(OSError, match=r"."):
            platform.read_file(root / "memory/odd.md")
        if kind != "out":
            with pytest.raises(OSError, match=r"."):
                platform.opened(root / "memory/odd.md")
    open_again(root)


@posix
def test_a_pipe_that_takes_the_place_of_a_file_hangs_nobody(tmp_path: Path) -> None:
    """Whatever a folder's list said, what is opened is looked at again."""
    os.mkfifo(tmp_path / "x.jsonl")
    reads = (
        lambda: platform.content(tmp_path / "x.jsonl"),
        lambda: platform.read_file(tmp_path / "x.jsonl"),
        lambda: list(jsonl.read(tmp_path / "x.jsonl")),
        lambda: list(jsonl.read_back(tmp_path / "x.jsonl")),
        lambda: jsonl.holds(tmp_path / "x.jsonl", b"x"),
        lambda: jsonl.append(tmp_path / "x.jsonl", [b"{}"]),
    )
    raised: list[BaseException] = []

    def run() -> None:
        for call in reads:
            try:
                call()
            except (OSError, UsageError) as error:
                raised.append(error)

    runner = threading.Thread(target=run, daemon=True)
    runner.start()
    runner.join(10)
    assert not runner.is_alive()
    assert len(raised) == len(reads)


@posix
def test_a_line_is_never_acknowledged_into_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log.jsonl")
    reader = os.open(tmp_path / "log.jsonl", os.O_RDONLY | os.O_NONBLOCK)  # someone would even take it
    try:
        with pytest.raises(UsageError, match="only to regular files"):
            jsonl.append(tmp_path / "log.jsonl", [b'{"said": "kept?"}'])
    finally:
        os.close(reader)


# --- closed is not gone


def test_a_journal_that_was_read_stays_known_while_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = journal.Journal(Folder(tmp_path), "one").append(
        journal.Change(kind="forget", payload={"ids": ["F1"]})
    )
    log = TombstoneLog(journal.Journal(Folder(tmp_path)))
    assert "F1" in log.current().facts
    path = tmp_path / "journal/one.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write(f'{{"id": "{kept.id}X", "kind": "forget", "payload": {{"ids": ["F2"]}}}}\n')
    monkeypatch.setattr(platform, "FS", Closed([path]))
    assert "F1" in log.current().facts
    assert log.problems == ("journal/one.jsonl cannot be read: Permission denied",)
    problems: list[Problem] = []
    assert journal.Journal(Folder(tmp_path), "one").read(problems=problems) == []
    assert [one.path for one in problems] == ["journal/one.jsonl"]
    monkeypatch.undo()
    assert all(one in log.current().facts for one in ("F1", "F2"))
    assert not log.problems


@posix
def test_fact_files_that_cannot_be_listed_or_read_are_not_taken_for_removed(tmp_path: Path) -> None:
    fill(tmp_path, "memory/facts/user.md")
    (tmp_path / "memory/facts/user.md").write_text("- **colour**: green\n", encoding="utf-8")
    files = FactFiles(tmp_path)
    (path,) = files.paths()
    (fact,) = files.facts(path)
    with as_a_user() as counts:
        if not counts:
            pytest.skip("permissions do not count here")
        (tmp_path / path).chmod(0)
        os.utime(tmp_path / path, (1, 1))
        assert files.facts(path) == (fact,)
        (tmp_path / "memory/facts").chmod(0)
        assert files.paths() == [path]
        assert files.facts(path) == (fact,)
    open_again(tmp_path)
