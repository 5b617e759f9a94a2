"""`mnemark merge`, `connect git` and the merge driver, as a person and as git call them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Shell

GIT = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for ssh")
LINE = '{"id":"01KM000000000000000000000%d","role":"user","content":"%s"}\n'


@pytest.fixture
def other(shell: Shell, tmp_path: Path) -> Path:
    """A memory beside the shell's, copied from it, and changed."""
    shell("init")
    shell.write("plan.md", "# Plan\n\nport: 8080\n")
    shell.write("sessions/chat.jsonl", LINE % (1, "hello"))
    folder = tmp_path / "other"
    shutil.copytree(shell.folder, folder, ignore=shutil.ignore_patterns(".mnemark"))
    with (folder / "sessions/chat.jsonl").open("a", encoding="utf-8") as log:
        log.write(LINE % (2, "from there"))
    (folder / "plan.md").write_text("# Plan\n\nport: 9090\n", "utf-8")
    return folder


def test_a_merge_says_what_comes_and_is_taken_back(shell: Shell, other: Path) -> None:
    before = (shell.folder / "plan.md").read_bytes()
    shown = shell("merge", str(other), "--dry-run")
    assert shown.out.startswith("Would bring: 1 message, 2 joined files\n")
    assert "Nothing was changed" in shown.err
    assert "mnemark undo" not in shown.err
    assert (shell.folder / "plan.md").read_bytes() == before
    merged = shell("merge", str(other))
    assert merged.out.startswith("Merged: 1 message, 2 joined files\n")
    assert "plan.md: both versions of some lines stand in it" in merged.out
    assert "from there" in (shell.folder / "sessions/chat.jsonl").read_text("utf-8")
    assert shell("merge", str(other)).out == "Nothing is new there.\n"
    undone = shell("undo")
    assert "The merge is taken back" in undone.out
    assert (shell.folder / "plan.md").read_bytes() == before


def test_a_merge_is_no_recording_and_works_off_the_record(shell: Shell, other: Path) -> None:
    assert shell("pause").code == 0
    said = "This memory is off the record, and stays so"
    assert said in shell("merge", str(other), "--dry-run").err
    merged = shell("merge", str(other))
    assert (merged.code, merged.out.startswith("Merged: 1 message, 2 joined files\n")) == (0, True)
    assert said in merged.err
    assert "from there" in shell("search", "from there").out
    assert shell("merge", str(other), "--json").data["off_record"] is True
    assert shell("add", "a line").code == 5, "it stays off the record"
    assert shell("pause", "--end").code == 0
    again = shell("merge", str(other))
    assert (again.out, said in again.err) == ("Nothing is new there.\n", False)
    assert "from there" in shell("search", "from there").out, "nothing that came is lost"


def test_a_copy_on_the_same_machine_is_merged_as_from_another(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMARK_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shell("init")
    shell("add", "The boiler code is zq4471.")
    copy = tmp_path / "stick"
    shutil.copytree(shell.folder, copy)
    assert shell("trust", str(copy), "--yes").code == 0
    for folder, city in ((shell.folder, "Paris"), (copy, "Rome")):
        assert shell("remember", "city", city, "-w", str(folder)).code == 0
    line = next(
        f"{one.relative_to(copy).as_posix()}#L{number}"
        for one in copy.glob("memory/*.md")
        for number, text in enumerate(one.read_text("utf-8").splitlines(), 1)
        if "zq4471" in text
    )
    assert shell("forget", line, "--erase", "--yes", "-w", str(copy)).code == 0
    merged = shell("merge", str(copy))
    assert "1 erasure of the other side was carried out here" in merged.out
    assert "Paris" in shell("review").out
    holding = [one for one in shell.folder.rglob("*") if one.is_file() and b"zq4471" in one.read_bytes()]
    assert holding == []
    assert len(list((shell.folder / "journal").glob("*.jsonl"))) >= 2


def test_without_another_memory_it_says_what_to_name(shell: Shell, other: Path) -> None:
    for words in ((), (str(other), "--repair")):
        ran = shell("merge", *words)
        assert (ran.code, "name the other memory" in ran.err) == (2, True)
    assert shell("merge", "桌面").code == 3
    assert "this memory itself" in shell("merge", ".").err


def test_marks_and_copies_are_repaired(shell: Shell, other: Path) -> None:
    assert "No marks of git" in shell("merge", "--repair").out
    shell.write("note.md", "# N\n<<<<<<< HEAD\nred\n=======\nblue\n>>>>>>> b\n")
    name = "plan.sync-conflict-20260213-101500-ABCDEF7.md"
    shutil.copy(other / "plan.md", shell.folder / name)
    shown = shell("merge", "--repair", "--dry-run", "--json").data
    assert len(shown["joined"]) == 2
    assert (shell.folder / name).exists()
    shell("merge", "--repair")
    assert not (shell.folder / name).exists()
    text = (shell.folder / "note.md").read_text("utf-8")
    assert "<<<<" not in text
    assert "red" in text
    assert "blue" in text


@POSIX
def test_a_memory_on_another_machine_comes_by_ssh(
    shell: Shell, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bin/ssh"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\nexec sh -c "$*"\n', "utf-8")
    script.chmod(0o700)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    assert shell("merge", f"ssh:desktop:{other}").out.startswith("Merged: 1 message")
    assert shell("merge", f"ssh://desktop{other}").out == "Nothing is new there.\n"
    wrong = shell("merge", "ssh:desktop:/nothing there")
    assert wrong.code
    assert "could not be copied" in wrong.err
    assert not list((shell.folder / ".mnemark").glob("*merged*"))


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(["git", *who, "-C", str(root), *words], check=True, capture_output=True)
    return done.stdout.decode()


@GIT
def test_a_merge_that_would_only_erase_says_that_nothing_was_changed(shell: Shell, other: Path) -> None:
    shell("merge", str(other))
    shell("forget", "--query", "from there", "--erase", "--yes", "-w", str(other))
    shown = shell("merge", str(other), "--dry-run")
    assert "1 erasure of the other side would be carried out here" in shown.out
    assert shown.err == "Nothing was changed. Run it again without --dry-run to apply this.\n"


def test_a_pull_joins_what_both_wrote(shell: Shell, other: Path, tmp_path: Path) -> None:
    root, clone = shell.folder, tmp_path / "clone"
    git(root, "init", "-q", "-b", "main")
    assert "*.jsonl merge=mnemark" in shell("connect", "git", "--dry-run").out
    assert not (root / ".gitattributes").exists()
    assert "A pull joins" in shell("connect", "git").err
    assert "connected already" in shell("connect", "git").err
    git(root, "add", "-A")
    git(root, "commit", "-qm", "base")
    git(tmp_path, "clone", "-q", str(root), str(clone))
    shell("connect", "git", "-w", str(clone))
    shutil.copytree(other, clone, dirs_exist_ok=True)
    git(clone, "commit", "-qam", "there")
    shell.write("sessions/chat.jsonl", LINE % (1, "hello") + LINE % (3, "from here"))
    shell.write("plan.md", "# Plan\n\n- tea\n\nport: 8080\n")
    git(root, "commit", "-qam", "here")
    git(root, "pull", "-q", "--no-rebase", "--no-edit", str(clone), "main")
    log = (root / "sessions/chat.jsonl").read_text("utf-8")
    assert log == LINE % (1, "hello") + LINE % (2, "from there") + LINE % (3, "from here")
    assert (root / "plan.md").read_text("utf-8") == "# Plan\n\n- tea\n\nport: 9090\n"
    assert "as any others" in shell("connect", "git", "--remove").err
    assert not (root / ".gitattributes").exists()
    assert "merge.mnemark" not in git(root, "config", "--local", "--list")


@GIT
def test_git_is_connected_in_a_repository_only(shell: Shell) -> None:
    shell("init")
    ran = shell("connect", "git")
    assert (ran.code, "is in no git repository" in ran.err) == (2, True)
