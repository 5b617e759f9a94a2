"""Commits and searches in repositories of all forms, and the ones in which git is not run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mnemark.errors import MnemarkError
from mnemark.files import git
from mnemark.files.needles import BytePatterns

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
WORD = BytePatterns(["Ann's word"])


def run(folder: Path, *arguments: str) -> str:
    named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    command = ["git", "-C", str(folder), *named, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def made(root: Path, *options: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    run(root, "init", "-q", "-b", "main", *options)
    (root / "MEMORY.md").write_text("one\n")
    run(root, "add", ".")
    run(root, "commit", "-q", "-m", "one")
    return root


def written(root: Path) -> str:
    (root / "MEMORY.md").write_text("Ann's word\n")
    return git.commit(root, ["MEMORY.md"], "mnemark two")


def check_committed(root: Path) -> None:
    assert written(root) == ""
    assert run(root, "log", "-1", "--format=%s by %an") == "mnemark two by mnemark"
    assert run(root, "log", "-g", "-1", "--format=%gs").endswith(": mnemark two")
    assert run(root, "status", "--porcelain") == ""
    assert git.last_commits(root, ["MEMORY.md"]) == {"MEMORY.md": "mnemark two"}
    found = git.history(root, WORD)
    assert found is not None
    assert found.objects == 1
    run(root, "fsck", "--strict")


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person whom git does not know."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",), ("--shared=group",)])
def test_a_repository(tmp_path: Path, options: tuple[str, ...]) -> None:
    check_committed(made(tmp_path / "memory", *options))


def test_the_first_commit_of_a_repository(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q")
    check_committed(tmp_path)


def test_a_detached_head_packed_refs_and_a_branch(tmp_path: Path) -> None:
    root = made(tmp_path / "memory")
    run(root, "checkout", "-q", "-b", "side/branch")
    run(root, "pack-refs", "--all")
    run(root, "gc", "-q")
    check_committed(root)
    run(root, "checkout", "-q", "--detach", "main")
    check_committed(root)
    assert run(root, "log", "-1", "--format=%s", "main") == "one"


def test_a_linked_worktree_and_a_submodule(tmp_path: Path) -> None:
    main = made(tmp_path / "main")
    run(main, "worktree", "add", "-q", str(tmp_path / "memory"))
    check_committed(tmp_path / "memory")
    run(
        main,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "-q",
        "add",
        str(made(tmp_path / "other")),
        "sub",
    )
    check_committed(main / "sub")


def test_a_shallow_clone(tmp_path: Path) -> None:
    origin = made(tmp_path / "origin")
    written(origin)
    run(tmp_path, "clone", "-q", "--depth=1", origin.as_uri(), "memory")
    (tmp_path / "memory/MEMORY.md").write_text("three\n")
    assert git.commit(tmp_path / "memory", ["MEMORY.md"], "mnemark three") == ""
    assert run(tmp_path / "memory", "log", "--format=%s").splitlines() == ["mnemark three", "mnemark two"]


def test_who_commits_is_who_git_knows(tmp_path: Path) -> None:
    """In an included file, for this folder alone, with quotes in the name."""
    root = made(tmp_path / "memory")
    (tmp_path / "more").write_text('[user]\n\tname = "Ann \\"A\\\\\\\\B\\" #1"\n\temail = a@example.org\n')
    (tmp_path / "gitconfig").write_text(f'[includeIf "gitdir:{root}/"]\n\tpath = more\n')
    assert written(root) == ""
    assert run(root, "log", "-1", "--format=%an <%ae>") == 'Ann "A\\\\B" #1 <a@example.org>'
    run(root, "config", "user.name", "Bea")
    (root / "MEMORY.md").write_text("three\n")
    assert git.commit(root, ["MEMORY.md"], "mnemark three") == ""
    assert run(root, "log", "-1", "--format=%an <%ae>") == "Bea <a@example.org>"


def test_what_replace_refs_hide_is_found(tmp_path: Path) -> None:
    root = made(tmp_path / "memory")
    written(root)
    run(root, "replace", run(root, "rev-parse", "HEAD:MEMORY.md"), run(root, "rev-parse", "HEAD~:MEMORY.md"))
    found = git.history(root, WORD)
    assert found is not None
    assert found.objects == 1


def refused(root: Path, said: str) -> None:
    state = {path: path.read_bytes() for path in root.parent.rglob("*") if path.is_file()}
    (root / "MEMORY.md").write_bytes(b"Ann's word\n")
    problem = git.commit(root, ["MEMORY.md"], "mnemark two")
    assert said in problem, problem
    (root / "MEMORY.md").write_bytes(state[root / "MEMORY.md"])
    assert {path: path.read_bytes() for path in root.parent.rglob("*") if path.is_file()} == state


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("place", [".", ".git"])
def test_a_repository_of_another_user(tmp_path: Path, place: str) -> None:
    root = made(tmp_path / "memory")
    os.chown(root / place, 12_345, 12_345)
    refused(root, "belongs to another user")
    with pytest.raises(MnemarkError, match="belongs to another user"):
        git.history(root, WORD)
    assert git.last_commits(root, ["MEMORY.md"]) == {}
    (tmp_path / "gitconfig").write_text(f'[safe]\n\tdirectory = "{root}"\n')
    assert written(root) == ""


def test_a_bare_repository_in_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    run(tmp_path, "init", "-q", "--bare", "memory")
    (root / "MEMORY.md").write_text("one\n")
    refused(root, "files of a bare repository")
    history = git.history(root, WORD)
    assert history is None or root not in (history.root, *history.root.parents)


def test_a_repository_elsewhere(tmp_path: Path) -> None:
    """A copied folder could have mnemark commit into another repository of the person."""
    other, root = made(tmp_path / "other"), made(tmp_path / "memory")
    shutil.rmtree(root / ".git")
    (root / ".git").write_text(f"gitdir: {other}/.git\n")
    refused(root, "does not name this folder")
    (root / ".git").unlink()
    (root / ".git").symlink_to(other / ".git")
    refused(root, "does not name this folder")
    (root / ".git").unlink()
    shutil.copytree(other / ".git", root / ".git")
    (root / ".git/commondir").write_text(f"{other}/.git\n")
    refused(root, "does not name this folder")


@pytest.mark.parametrize("name", ["logs/HEAD", "logs/refs/heads/main", "refs/heads", "index", "logs"])
def test_links_in_a_repository(tmp_path: Path, name: str) -> None:
    """Through a link in its folder git would write to any file, such as a line of a log to `.bashrc`."""
    root = made(tmp_path / "memory")
    (root / ".git" / name).rename(tmp_path / "elsewhere")
    (root / ".git" / name).symlink_to(tmp_path / "elsewhere")
    refused(root, "is a link")


def test_formats_that_are_not_known(tmp_path: Path) -> None:
    root = made(tmp_path / "memory")
    run(root, "config", "core.repositoryFormatVersion", "1")
    run(root, "config", "extensions.new", "1")
    refused(root, "the extension new, unknown to mnemark")
    (root / ".git/config").write_text(
        '[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\trefStorage = "reftable:///elsewhere"\n'
    )
    refused(root, "the extension refstorage, unknown to mnemark")
    (root / ".git/config").write_text("[core\n")
    refused(root, "git config failed: ")
