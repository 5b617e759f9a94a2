"""Mounts: a folder's settings open nothing outside of it; what users accept stands in a file of theirs."""

import errno
import os
from pathlib import Path

import pytest

from mnemark.errors import ConfigError, MnemarkError, ReadOnlyError
from mnemark.files import platform, trust, user_config
from mnemark.files.config import load, load_reported
from mnemark.files.mounts import Mounted, accept, forget, mounts_of, refuse


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own configuration, not there yet."""
    place = tmp_path / "user/config.toml"
    monkeypatch.setenv("MNEMARK_CONFIG", str(place))
    return place


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "inner").mkdir(parents=True)
    (tmp_path / "private").mkdir()
    trust.trust(folder)
    return folder


def found(root: Path) -> dict[str, Mounted]:
    return mounts_of(root, load(root).mounts)


@pytest.mark.parametrize("path", ["../private", "~", "/etc", "inner/../../private", "link"])
@pytest.mark.parametrize("file", ["mnemark.toml", "config.json"])
@pytest.mark.usefixtures("own")
def test_settings_of_a_folder_open_nothing_outside_of_it(root: Path, path: str, file: str) -> None:
    (root / "link").symlink_to(root.parent / "private")
    text = (
        f'[mounts]\nx = "{path}"\n'
        if file == "mnemark.toml"
        else f'{{"memory": {{"mounts": {{"x": "{path}"}}}}}}'
    )
    (root / file).write_text(text)
    assert found(root) == {}
    (problem,) = load_reported(root).problems
    assert "mount x" in problem.reason
    folder = os.path.realpath(root / Path(path).expanduser())
    assert f"`mnemark mount {folder} --name x -w {root}`" in problem.reason


@pytest.mark.usefixtures("own")
def test_a_folder_inside_needs_nobody(root: Path) -> None:
    (root / "mnemark.toml").write_text('[mounts]\nx = "inner"\n')
    assert found(root) == {"x": Mounted(root / "inner")}
    assert load_reported(root).problems == ()


@pytest.mark.usefixtures("own")
def test_what_the_user_accepted_is_for_one_workspace(root: Path, tmp_path: Path) -> None:
    accept(root, "notes", tmp_path / "private", ("*.md", "memory/**/*.md"))
    assert found(root) == {"notes": Mounted(tmp_path / "private", ("*.md", "memory/**/*.md"))}
    other = tmp_path / "cloned"
    other.mkdir()
    (other / "mnemark.toml").write_text(f'[mounts]\nnotes = "{tmp_path}/private"\n')
    assert found(other) == {}


@pytest.mark.usefixtures("own")
def test_settings_that_name_an_accepted_folder_are_no_problem(root: Path, tmp_path: Path) -> None:
    (root / "mnemark.toml").write_text('[mounts]\nteam = "../private"\n')
    accept(root, "team", tmp_path / "private")
    assert found(root) == {"team": Mounted(tmp_path / "private")}
    assert load_reported(root).problems == ()


def test_the_rest_of_the_file_is_kept(own: Path, root: Path) -> None:
    text = '# mine\nhosts = ["a.example"]  # why\n\n[llm]\ncommand = "codex"\n# end\n'
    own.parent.mkdir()
    own.write_text(text)
    accept(root, "a", root / "x")
    refuse(root, "b")
    accept(root.parent / "other", "a", root / "y")
    assert own.read_text().startswith(text)
    assert user_config.load().hosts == ("a.example",)
    refuse(root, "a")  # changed his mind
    assert user_config.of_workspace(root, user_config.load()) == {"a": False, "b": False}
    forget(root, "a")
    forget(root, "b")
    forget(root, "never")
    forget(root.parent / "other", "a")
    assert own.read_text().startswith(text)
    assert not any(user_config.load().mounts.values())


def test_odd_paths_are_read_back(own: Path, tmp_path: Path) -> None:
    for name in ('a"b', "c\\d", "e]f", "空 格", "x.y"):
        folder = tmp_path / name
        folder.mkdir()
        accept(folder, "notes-1.2", folder / 'q"\\uote', ("[x]*.md",))
        assert user_config.of_workspace(folder, user_config.load()) == {
            "notes-1.2": user_config.MountConfig(str(folder / 'q"\\uote'), ("[x]*.md",))
        }
    assert own.stat().st_mode & 0o077 == 0


def test_a_file_written_otherwise_is_left_alone(own: Path, root: Path) -> None:
    own.parent.mkdir()
    text = f'[mounts]\n"{root}" = {{ a = false }}\n'
    own.write_text(text)
    with pytest.raises(ConfigError, match="by hand"):
        accept(root, "a", root / "x")
    assert own.read_text() == text


def test_a_wrong_entry_is_told(own: Path, root: Path) -> None:
    own.parent.mkdir()
    own.write_text(f'[mounts."{root}"]\na = {{ fold = "x" }}\n')
    with pytest.raises(ConfigError, match="mounts"):
        load(root)


@pytest.mark.parametrize(
    ("path", "files", "held"),
    [
        ("MEMORY.md", (), True),
        ("users/ann/MEMORY.md", (), False),
        ("settings.json", (), False),
        (".credentials.md", (), False),
        ("CLAUDE.md", ("CLAUDE.md",), True),
        ("claude.md", ("CLAUDE.md",), True),
        ("other.md", ("CLAUDE.md",), False),
        ("projects/-home-x/memory/a.md", ("projects/*/memory/**/*.md",), True),
        ("projects/-home-x/memory/b/c/a.md", ("projects/*/memory/**/*.md",), True),
        ("projects/-home-x/notes.md", ("projects/*/memory/**/*.md",), False),
        ("projects/-home-x/memory/a.jsonl", ("projects/*/memory/**/*",), False),
        ("projects/x/y/memory/a.md", ("projects/*/memory/*.md",), False),
    ],
)
def test_what_a_mount_holds(path: str, files: tuple[str, ...], held: bool) -> None:  # noqa: FBT001
    assert Mounted(Path("x"), files).holds(path) is held


@pytest.mark.usefixtures("own")
def test_a_full_disk_is_told_as_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(platform, "write_private", full)
    with pytest.raises(MnemarkError, match="the disk is full") as caught:
        accept(root, "notes", root.parent / "private")
    assert not isinstance(caught.value, ReadOnlyError)
