"""Which repository a folder is a part of, and which scope is its memory: no file can claim another's."""

import errno
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.errors import MnemarkError, ReadOnlyError, UsageError
from mnemark.files import layout, new_workspace, platform
from mnemark.files.new_workspace import folder_name_of, new_scope
from mnemark.files.projects import (
    Project,
    path_line,
    paths_in,
    project_at,
    repository_at,
    scope_of,
    scope_of_session,
)
from mnemark.files.scopes import folder_name


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name in ("GIT_DIR", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    found = tmp_path / "home/mnemark"
    new_workspace.init(found)
    return found


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    return folder


def test_a_folder_belongs_to_the_nearest_repository(root: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "home/code/shop")
    (shop / "src/deep").mkdir(parents=True)
    (tmp_path / "home/code/loose/.git").mkdir(parents=True)  # no repository: git would not take it for one
    assert repository_at(root, shop / "src/deep") == str(shop)
    assert repository_at(root, str(shop)) == str(shop)
    assert repository_at(root, shop / "gone/already") == str(shop)
    inner = repository(shop / "vendor/inner")
    assert repository_at(root, inner) == str(inner)
    for nowhere in (tmp_path, tmp_path / "home/code", tmp_path / "home/code/loose", "", "src", "a\0b"):
        assert repository_at(root, nowhere) == "", nowhere
    (tmp_path / "way").symlink_to(shop)
    assert repository_at(root, tmp_path / "way/src") == str(shop)


def test_home_and_what_holds_the_memory_are_no_projects(root: Path, tmp_path: Path) -> None:
    repository(root / "inside")
    assert repository_at(root, root / "inside") == ""
    outer = repository(tmp_path / "outer")
    new_workspace.init(outer / "docs/memory")
    assert repository_at(outer / "docs/memory", outer / "src") == ""
    assert repository_at(root, outer) == str(outer)
    git(root, "init", "-q")
    assert repository_at(root, root) == ""
    git(tmp_path / "home", "init", "-q")
    (tmp_path / "home/code").mkdir()
    assert repository_at(root, tmp_path / "home/code") == ""
    git(tmp_path, "init", "-q")
    assert repository_at(root, tmp_path / "elsewhere") == "", "it contains the home folder"


@pytest.mark.parametrize("paths", ["absolute", "relative"])
def test_a_worktree_belongs_to_its_main_repository(root: Path, tmp_path: Path, paths: str) -> None:
    shop, tree = repository(tmp_path / "code/shop"), tmp_path / "trees/fix"
    git(shop, "worktree", "add", "-q", str(tree))
    if paths == "relative":  # as git writes with `worktree.useRelativePaths`
        entry = shop / ".git/worktrees/fix"
        (tree / ".git").write_text(f"gitdir: {os.path.relpath(entry, tree)}\n")
        (entry / "gitdir").write_text(f"{os.path.relpath(tree / '.git', entry)}\n")
    assert repository_at(root, tree) == str(shop)
    git(shop, "worktree", "add", "-q", ".trees/other")
    assert repository_at(root, shop / ".trees/other") == str(shop)


def test_worktrees_of_a_bare_repository_are_one_project(root: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(tmp_path, "clone", "-q", "--bare", str(shop), "bare.git")
    for name in ("one", "two"):
        git(tmp_path / "bare.git", "worktree", "add", "-q", "-b", name, str(tmp_path / name))
        assert repository_at(root, tmp_path / name) == str(tmp_path / "bare.git")
    assert folder_name_of(str(tmp_path / "bare.git")) == "bare"


def test_a_submodule_is_a_project_of_its_own(root: Path, tmp_path: Path) -> None:
    shop, library = repository(tmp_path / "shop"), repository(tmp_path / "library")
    git(shop, "submodule", "--quiet", "add", str(library), "lib")
    assert (shop / "lib/.git").is_file()
    assert repository_at(root, shop / "lib") == str(shop / "lib")


def test_a_forged_git_file_claims_no_other_project(root: Path, tmp_path: Path) -> None:
    victim = repository(tmp_path / "victim")
    git(victim, "worktree", "add", "-q", str(tmp_path / "tree"))
    entry = victim / ".git/worktrees/tree"
    evil = tmp_path / "evil"
    evil.mkdir()
    for line in (f"gitdir: {victim}/.git", f"gitdir: {entry}", "gitdir: ", "nonsense", "gitdir: a\0b"):
        (evil / ".git").write_text(line)
        assert repository_at(root, evil) == str(evil), line
    own = evil / "own/worktrees/x"  # its own entry points back, and names the victim's repository
    own.mkdir(parents=True)
    (own / "gitdir").write_text(str(evil / ".git"))
    (own / "commondir").write_text(str(victim / ".git"))
    (evil / ".git").write_text(f"gitdir: {own}")
    assert repository_at(root, evil) == str(evil)
    (evil / "own/link").symlink_to(entry)
    (evil / ".git").write_text(f"gitdir: {evil}/own/link")
    assert repository_at(root, evil) == str(evil)
    (evil / ".git").unlink()
    (evil / ".git").symlink_to(victim / ".git")
    assert repository_at(root, evil) == str(evil)
    (evil / ".git").unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(evil / ".git")
        assert repository_at(root, evil) == ""


def test_a_project_has_a_scope_once_something_is_written(root: Path, tmp_path: Path) -> None:
    shop, other = repository(tmp_path / "a/shop"), repository(tmp_path / "b/shop")
    assert project_at(root, shop) == Project("", str(shop))
    assert not (root / "projects").exists()
    assert new_scope(root, str(shop)) == "projects/shop"
    assert new_scope(root, str(other)) == "projects/shop-2"
    assert new_scope(root, str(shop)) == "projects/shop"
    assert project_at(root, shop / "src") == Project("projects/shop")
    assert project_at(root, other) == Project("projects/shop-2")
    assert project_at(root, tmp_path) == Project()


def test_what_a_person_made_is_not_taken_for_a_project_of_that_name(root: Path, tmp_path: Path) -> None:
    (root / "projects/shop/memory").mkdir(parents=True)
    (root / "projects/store").mkdir()
    shop, store = repository(tmp_path / "shop"), repository(tmp_path / "store")
    assert new_scope(root, str(shop)) == "projects/shop-2"
    assert new_scope(root, str(store)) == "projects/store", "an empty folder is what a killed process left"
    (root / "projects/shop/PROJECT.md").write_text(f"---\npath: {tmp_path}/mine\n---\n")
    mine = repository(tmp_path / "mine")
    assert project_at(root, mine) == Project("projects/shop"), "a person said so"


def test_a_moved_repository_keeps_its_memory_by_one_edit(root: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    new_scope(root, str(shop))
    shop.rename(tmp_path / "home/store")
    assert project_at(root, tmp_path / "home/store") == Project("", str(tmp_path / "home/store"))
    page = root / "projects/shop/PROJECT.md"
    text = page.read_text("utf-8")
    assert text.count("path:") == 1
    page.write_text(text.replace(str(shop), "~/store"), "utf-8")
    assert project_at(root, tmp_path / "home/store") == Project("projects/shop")
    second = repository(tmp_path / "second")
    page.write_text(text.replace("path:", f"path: '{second}'\npath:"), "utf-8")
    assert scope_of(root, str(second)) == "projects/shop"


@pytest.mark.parametrize(
    "name",
    ["店铺", "x y", "#1", '"quoted"', "new\nline", "tab\t", " padded ", "a" * 200, ".dot", "node_modules"],
)
def test_strange_names_of_repositories_are_read_back(root: Path, tmp_path: Path, name: str) -> None:
    there = tmp_path / "code" / name
    (there / ".git").mkdir(parents=True)
    (there / ".git/HEAD").write_text("ref: refs/heads/main\n")
    scope = new_scope(root, repository_at(root, there))
    assert list(paths_in(root, scope.partition("/")[2])) == [str(there)]
    assert project_at(root, there) == Project(scope)
    assert layout.place(f"{scope}/memory/2026-03-01.md") is not None


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text_is_read_back(root: Path, tmp_path: Path) -> None:
    there = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    Path(there, ".git").mkdir(parents=True)
    Path(f"{there}/.git/HEAD").write_text("ref: refs/heads/main\n")
    scope = new_scope(root, repository_at(root, there))
    scope.encode()
    assert project_at(root, there) == Project(scope)


@given(st.text(min_size=1, max_size=300))
def test_any_name_makes_a_folder_name(name: str) -> None:
    made = folder_name_of(f"/code/{name}")
    assert folder_name(f"{made}-2") == f"{made}-2"
    assert folder_name(made) == made
    assert layout.place(f"projects/{made}/memory/2026-03-01.md") is not None
    line = path_line(f"/code/{name}")
    assert "\n" not in line


def test_a_link_out_and_a_workspace_inside_hold_no_project(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    shop = repository(tmp_path / "shop")
    new_workspace.init(root / "projects/inner")
    (root / "projects/inner/PROJECT.md").write_text(f"path: {shop}\n")
    assert project_at(root, shop) == Project("", str(shop))
    (root / "projects/x").symlink_to(outside)
    with pytest.raises(UsageError, match="leads out of the workspace"):
        new_scope(root, str(shop))
    assert list(outside.iterdir()) == []


def test_a_full_disk_is_told_as_one(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(platform, "write_private", full)
    with pytest.raises(MnemarkError, match="the disk is full") as caught:
        new_scope(root, str(repository(tmp_path / "shop")))
    assert not isinstance(caught.value, ReadOnlyError)


def test_two_hooks_at_once_make_one_scope(root: Path, tmp_path: Path) -> None:
    shops = [repository(tmp_path / f"{number}/shop") for number in range(3)]
    with ThreadPoolExecutor(12) as pool:
        made = list(pool.map(lambda number: new_scope(root, str(shops[number % 3])), range(24)))
    assert {(number % 3, scope) for number, scope in enumerate(made)} == {
        (number, project_at(root, shop).scope) for number, shop in enumerate(shops)
    }
    assert len(set(made)) == 3


def test_a_session_is_found_in_whichever_scope_it_began(root: Path, tmp_path: Path) -> None:
    name = "sessions/one.jsonl"
    assert scope_of_session(root, name) is None
    scope = new_scope(root, str(repository(tmp_path / "shop")))
    (root / scope / "sessions").mkdir()
    (root / scope / name).write_text("")
    assert scope_of_session(root, name) == scope
    (root / "sessions").mkdir()
    (root / name).write_text("")
    assert scope_of_session(root, name) == ""


@pytest.mark.parametrize("path", ["~\0", '"~\\u0000"', '"~\\ud800"', '"/\\ud800"', "~" + "x" * 9_000])
def test_a_path_that_none_can_have_stops_nobody(root: Path, tmp_path: Path, path: str) -> None:
    shop = repository(tmp_path / "shop")
    (root / "projects/a").mkdir(parents=True)
    (root / "projects/a/PROJECT.md").write_text(f"path: {path}\n")
    assert project_at(root, shop) == Project("", str(shop))
    assert project_at(root, new_scope(root, str(shop))) == Project()
    assert project_at(root, shop) == Project("projects/shop")


def test_a_folder_that_none_can_have_is_no_project(root: Path) -> None:
    for folder in ("/\ud800", "/x\0y", "relative", "", "/" + "x/" * 9_000):
        assert project_at(root, folder) == Project()


@pytest.mark.parametrize("path", [".", "..", "./.", "shop"])
def test_a_path_that_depends_on_where_an_agent_stands_names_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Else a project that somebody brought in would be that of every repository."""
    (tmp_path / "shop/.git").mkdir(parents=True)
    (tmp_path / "w/projects/aaa").mkdir(parents=True)
    (tmp_path / "w/projects/aaa/PROJECT.md").write_text(f"path: {path}\n")
    monkeypatch.chdir(tmp_path / "shop")
    assert scope_of(tmp_path / "w", str(tmp_path / "shop")) == ""
    monkeypatch.chdir(tmp_path)
    assert scope_of(tmp_path / "w", str(tmp_path / "shop")) == ""
