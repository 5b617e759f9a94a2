"""Which files a scan finds, and that nothing in a folder can stop it."""

import os
import socket
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.files import scan as scanning
from mnemark.files.scan import chosen, ignorer, only, scan
from mnemark.types import Problem

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


def fill(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def names(root: Path, *, ignore: tuple[str, ...] = ()) -> list[str]:
    return [entry.path for entry in scan(root, ignore=ignore).entries]


def reasons(root: Path) -> dict[str, str]:
    return {problem.path: problem.reason for problem in scan(root).problems}


def test_only_candidates_are_listed_in_order(tmp_path: Path) -> None:
    fill(
        tmp_path,
        "b.md",
        "a.TXT",
        "memory/2026-02-13.md",
        "x/y/z.markdown",
        "sessions/a.jsonl",
        "sessions/2026/b.jsonl",
        "users/ann/sessions/c.jsonl",
        "journal/laptop.jsonl",
        "elsewhere/data.jsonl",
        "photo.png",
        "README",
        ".git/x.md",
        ".hidden.md",
        "node_modules/p/README.md",
        ".mnemark/x.md",
    )
    found = scan(tmp_path)
    assert [entry.path for entry in found.entries] == [
        "a.TXT",
        "b.md",
        "memory/2026-02-13.md",
        "sessions/2026/b.jsonl",
        "sessions/a.jsonl",
        "users/ann/sessions/c.jsonl",
        "x/y/z.markdown",
    ]
    assert [entry.path for entry in found.journals] == ["journal/laptop.jsonl"]
    assert found.problems == []


def test_an_entry_is_what_stat_says(tmp_path: Path) -> None:
    fill(tmp_path, "a.md")
    stat = (tmp_path / "a.md").stat()
    assert scan(tmp_path).entries == [scanning.stat_entry("a.md", stat)]
    assert scan(tmp_path).entries[0].mtime_ns == stat.st_mtime_ns


@posix
def test_links_are_never_followed_nor_counted_twice(tmp_path: Path) -> None:
    root = tmp_path / "w"
    fill(root, "AGENTS.md", "memory/x.md", "data.bin")
    fill(tmp_path, "out/secret.md")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    (root / "again").symlink_to("memory")
    (root / "memory/up").symlink_to("..")
    (root / "self.md").symlink_to("self.md")
    (root / "gone.md").symlink_to("nowhere.md")
    (root / "stolen.md").symlink_to(tmp_path / "out/secret.md")
    (root / "outer").symlink_to(tmp_path / "out")
    (root / "raw.md").symlink_to("data.bin")
    (root / "lib.so").symlink_to("/nowhere/lib.so")

    assert names(root) == ["AGENTS.md", "memory/x.md"]
    told = reasons(root)
    assert set(told) == {"gone.md", "outer", "raw.md", "self.md", "stolen.md"}
    assert "out of the workspace" in told["stolen.md"]
    assert "mount" in told["outer"]


@posix
def test_a_root_that_is_a_link_is_scanned(tmp_path: Path) -> None:
    fill(tmp_path, "real/a.md", "real/b.md")
    (tmp_path / "real/c.md").symlink_to("b.md")
    (tmp_path / "link").symlink_to("real")
    assert names(tmp_path / "link") == ["a.md", "b.md"]
    assert reasons(tmp_path / "link") == {}


@posix
def test_pipes_and_sockets_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's path is limited to about a hundred bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock.md")
        assert names(tmp_path) == ["a.md"]
        assert reasons(tmp_path) == {"pipe.md": "is a pipe, not a file", "sock.md": "is a socket, not a file"}


@posix
def test_a_name_that_would_lead_elsewhere_is_reported_and_harms_nothing(tmp_path: Path) -> None:
    """A ref must mean the same file on every system; here these are plain names."""
    fill(tmp_path, "a.md", "C:drive.md", "x\\..\\y.md", "back\\slash.md", "b: c.md", "notes/10:30.md")
    assert names(tmp_path) == ["a.md", "back\\slash.md", "notes/10:30.md"]
    assert set(reasons(tmp_path)) == {"C:drive.md", "b: c.md", "x\\..\\y.md"}
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        assert memory.search("md").hits


@posix
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_reported_and_the_rest_found(tmp_path: Path) -> None:
    fill(tmp_path, "a.md", "closed/b.md")
    (tmp_path / "closed").chmod(0)
    try:
        assert names(tmp_path) == ["a.md"]
        assert "cannot be read" in reasons(tmp_path)["closed"]
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_a_folder_that_cannot_be_listed_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, "a.md", "closed/b.md", "gone/c.md")
    real = os.scandir

    def guarded(path: str) -> object:
        if path.endswith("closed/"):
            raise PermissionError(13, "Permission denied")
        if path.endswith("gone/"):
            raise FileNotFoundError(2, "No such file or directory")
        return real(path)

    monkeypatch.setattr("mnemark.files.scan.os.scandir", guarded)
    found = scan(tmp_path)
    assert [entry.path for entry in found.entries] == ["a.md"]
    assert found.problems == [Problem("closed", "folder cannot be read: Permission denied")]


def test_files_may_come_and_go_during_a_scan(tmp_path: Path) -> None:
    fill(tmp_path, *(f"d{folder}/{number}.md" for folder in range(10) for number in range(20)))
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            for folder in range(5, 10):
                (tmp_path / f"d{folder}").rename(tmp_path / "away")
                (tmp_path / "away").rename(tmp_path / f"d{folder}")
                (tmp_path / f"d{folder}/0.md").unlink()
                (tmp_path / f"d{folder}/0.md").touch()

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        for _ in range(50):
            found = scan(tmp_path)
            assert found.problems == []
            assert sum(entry.path < "d5" for entry in found.entries if entry.path[0] == "d") == 100
    finally:
        stop.set()
        disturber.join()


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        scan(tmp_path / "nowhere")


@posix
def test_strange_names_are_kept(tmp_path: Path) -> None:
    strange = ["two\nlines.md", "🦀 notes.md", "备忘.md", "-rf.md", "a#L1-L2.md"]
    fill(tmp_path, *strange)
    assert names(tmp_path) == sorted(strange)


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="names are Unicode there")
def test_a_name_that_is_no_text_is_reported_printably(tmp_path: Path) -> None:
    fill(tmp_path, "a.md")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("x")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe9")).mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe9/b.md")).write_text("x")
    found = scan(tmp_path)
    assert [entry.path for entry in found.entries] == ["a.md"]
    assert [problem.path for problem in found.problems] == ["caf\\udce9.md", "d\\udce9/b.md"]
    assert all("rename" in problem.reason for problem in found.problems)


@pytest.mark.skipif(sys.platform == "darwin", reason="the two forms are one name there")
def test_two_unicode_forms_of_a_name_are_two_files(tmp_path: Path) -> None:
    composed = "caf\u00e9.md"
    fill(tmp_path, composed, unicodedata.normalize("NFD", composed))
    assert len(names(tmp_path)) == 2


@posix
def test_a_tree_deeper_than_a_path_may_be_long_is_reported(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    opened = [here]
    for depth in range(60):
        os.mkdir("d" * 100, dir_fd=here)
        here = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        opened.append(here)
        if depth == 10:
            os.close(os.open("found.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    try:
        found = scan(tmp_path)
        assert [entry.path.rsplit("/", 1)[1] for entry in found.entries] == ["found.md"]
        assert len(found.problems) == 1
    finally:
        # pytest could not remove a tree whose paths are too long, so it goes folder by folder.
        os.unlink("found.md", dir_fd=opened[11])
        while len(opened) > 1:
            os.close(opened.pop())
            os.rmdir("d" * 100, dir_fd=opened[-1])
        os.close(opened[0])


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("drafts", ["a.md", "deep/a.md", "x/b.md"]),
        ("drafts/", ["a.md", "deep/a.md", "x/b.md"]),
        ("*.md", []),
        ("/a.md", ["deep/a.md", "drafts/a.md", "x/b.md", "x/drafts/c.md"]),
        ("x/*", ["a.md", "deep/a.md", "drafts/a.md"]),
        ("a.md", ["x/b.md", "x/drafts/c.md"]),
        ("[", ["a.md", "deep/a.md", "drafts/a.md", "x/b.md", "x/drafts/c.md"]),
    ],
)
def test_ignored_patterns(tmp_path: Path, pattern: str, kept: list[str]) -> None:
    fill(tmp_path, "a.md", "deep/a.md", "drafts/a.md", "x/b.md", "x/drafts/c.md")
    assert names(tmp_path, ignore=(pattern,)) == kept


def test_ignoring_a_folder_does_not_ignore_its_namesakes() -> None:
    ignored = ignorer(("drafts/", "*.tmp.md"))
    assert ignored("x/drafts/y.md")
    assert ignored("x/y.tmp.md")
    assert not ignored("drafts.md")
    assert not ignored("mydrafts/y.md")


def test_only_chosen_files_are_listed_and_only_their_folders_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(
        tmp_path, "CLAUDE.md", "other.md", "rules/a.md", "rules/b/c.md", "projects/p/memory/MEMORY.md",
        "projects/p/notes.md", "projects/p/memory/deep/x.md", "projects/loose.md", "sessions/2026/a.jsonl",
        "todos/1/a.md", "projects/p/memory/.secret.md",
    )  # fmt: skip
    chosen = only(("CLAUDE.md", "rules/**/*.md", "projects/*/memory/*.md"))
    read: list[str] = []
    real = os.scandir

    def listed(place: str) -> "AbstractContextManager[Iterator[os.DirEntry[str]]]":
        read.append(place)
        return real(place)

    monkeypatch.setattr(os, "scandir", listed)
    assert names(tmp_path, ignore=chosen) == [
        "CLAUDE.md", "projects/p/memory/MEMORY.md", "rules/a.md", "rules/b/c.md",
    ]  # fmt: skip
    assert not any("todos" in place or "sessions" in place or "deep" in place for place in read)
    assert names(tmp_path, ignore=(*chosen, "rules/")) == ["CLAUDE.md", "projects/p/memory/MEMORY.md"]
    assert ignorer(chosen)("sessions/2026/a.jsonl")
    assert not ignorer(chosen)("rules/a.md")


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [("**/*.md", True), ("a/**/**/d.md", True), ("**/**/b/**/d.md", True), ("**/x/**", False), ("**", False)],
)
def test_folders_of_any_depth_are_chosen(pattern: str, *, wanted: bool) -> None:
    chosen_ = chosen(only([pattern]))
    assert chosen_ is not None
    assert chosen_("a/b/c/d.md", folder=False) is wanted


@pytest.mark.timed
def test_many_folders_of_any_depth_take_no_longer() -> None:
    chosen_ = chosen(only(["/".join(["**"] * 40 + ["x.md"])]))
    assert chosen_ is not None
    begin = time.process_time()
    assert not chosen_("/".join("a" * 60), folder=False)
    assert time.process_time() - begin < 2
