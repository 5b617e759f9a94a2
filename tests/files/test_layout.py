"""What a path of a workspace means, and which names are safe."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.errors import NotFoundError, ReadOnlyError, UsageError
from mnemark.files import layout, new_workspace


def seen(path: str) -> tuple[str, str, str, str | None]:
    place = layout.place(path)
    assert place is not None
    return place.role, place.kind, place.scope, place.dated


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("MEMORY.md", ("longterm", "note", "", None)),
        ("memory/MEMORY.md", ("longterm", "note", "", None)),
        ("memory.md", ("longterm", "note", "", None)),
        ("USER.md", ("identity", "note", "", None)),
        ("AGENTS.md", ("identity", "note", "", None)),
        ("AGENT.md", ("identity", "note", "", None)),
        ("SCRATCHPAD.md", ("scratchpad", "note", "", None)),
        ("memory/2026-02-13.md", ("daily", "note", "", "2026-02-13")),
        ("memory/2026-02-13-架构评审.md", ("daily", "note", "", "2026-02-13")),
        ("memory/2026-02-13-1030.md", ("daily", "note", "", "2026-02-13")),
        ("memory/2026-02.md", ("daily", "note", "", "2026-02-28")),
        ("memory/2026-02-30.md", ("note", "note", "", None)),
        ("memory/2026-13-01.md", ("note", "note", "", None)),
        ("memory/2026-02-00.md", ("note", "note", "", None)),
        ("memory/2026-02-131.md", ("note", "note", "", None)),
        ("memory/facts/user.md", ("fact", "fact", "", None)),
        ("memory/episodes/2026-02-13-deploy.md", ("episode", "episode", "", "2026-02-13")),
        ("memory/attachments/01J.md", ("attachment", "attachment", "", None)),
        ("memory/archive/2025-01-01.md", ("archive", "note", "", "2025-01-01")),
        ("memory/archive/facts/user.md", ("archive", "fact", "", None)),
        ("memory/review/web.md", ("review", "note", "", None)),
        ("memory/reports/2026-02-13.md", ("report", "note", "", "2026-02-13")),
        ("personas/jarvis.md", ("persona", "note", "", None)),
        ("sessions/cli-main-3f2a.jsonl", ("session", "turn", "", None)),
        ("journal/laptop.jsonl", ("journal", "note", "", None)),
        ("docs/plan.txt", ("note", "note", "", None)),
        ("daily/2026-02-13.markdown", ("note", "note", "", "2026-02-13")),
        ("journals/2026_02_13.md", ("note", "note", "", "2026-02-13")),
        ("journals/2026_02_30.md", ("note", "note", "", None)),
        ("log/2026.2.3 plans.md", ("note", "note", "", "2026-02-03")),
        ("log/20260213.md", ("note", "note", "", "2026-02-13")),
        ("log/202602131045 reeds.md", ("note", "note", "", "2026-02-13")),
        ("log/12345678.md", ("note", "note", "", None)),
        ("log/20260213345.md", ("note", "note", "", None)),
        ("日记/2026年2月3日.md", ("note", "note", "", "2026-02-03")),
        ("日记/2026年2月.md", ("note", "note", "", "2026-02-28")),
        ("memory/2026_02_13.md", ("note", "note", "", "2026-02-13")),
        ("users/ann/MEMORY.md", ("longterm", "note", "users/ann", None)),
        ("agents/bot/memory/facts/x.md", ("fact", "fact", "agents/bot", None)),
        ("projects/站点/sessions/a.jsonl", ("session", "turn", "projects/站点", None)),
        ("users/README.md", ("note", "note", "", None)),
        ("users/ann/projects/x/MEMORY.md", ("note", "note", "users/ann", None)),
    ],
)
def test_a_path_says_what_it_is(path: str, expected: tuple[str, str, str, str | None]) -> None:
    assert seen(path) == expected


@pytest.mark.parametrize(
    "path",
    [
        ".git/x.md",
        "a/.obsidian/x.md",
        ".mnemark/x.md",
        "node_modules/pkg/README.md",
        ".trash/x.md",
        ".hidden.md",
        "photo.png",
        "data.jsonl",
        "memory/x.jsonl",
        "journal/deep/x.jsonl",
        "",
    ],
)
def test_what_is_no_memory_has_no_place(path: str) -> None:
    assert layout.place(path) is None


def test_quarantine_and_copies_are_not_searchable_and_the_archive_only_when_asked() -> None:
    def flags(path: str) -> tuple[bool, bool]:
        place = layout.place(path)
        assert place is not None
        return place.searchable, place.archived

    assert flags("memory/review/x.md") == (False, False)
    assert flags("memory/MEMORY.sync-conflict-20260213-101500-ABCDEF7.md") == (False, False)
    assert flags("sessions/a.sync-conflict-20260213-101500-ABCDEF7.jsonl") == (False, False)
    assert flags("memory/archive/x.md") == (True, True)
    assert flags("users/ann/memory/archive/x.md") == (True, True)
    assert flags("users/ann/sessions/archive/x.jsonl") == (True, True)
    assert flags("sessions/x.jsonl") == (True, False)
    assert flags("memory/2026-02-13.md") == (True, False)


def test_another_case_or_unicode_form_does_not_leak_a_scope_into_the_root() -> None:
    assert layout.scope_of("Users/ann/secret.md") == "users/ann"
    assert layout.scope_of("users/Ame\u0301lie/x.md") == layout.scope_of("users/Am\u00e9lie/x.md")


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_any_string_has_a_place_or_none(path: str) -> None:
    place = layout.place(path)
    assert place is None or place.scope == layout.scope_of(path)


@pytest.mark.parametrize(
    "rel",
    [
        "",
        "../x.md",
        "a/../../x.md",
        "/etc/passwd",
        "a\0.md",
        "C:/x.md",
        "c:x.md",
        "..\\x.md",
        "\\\\host\\x",
        "..",
    ],
)
def test_unsafe_names_are_refused_with_a_reason(tmp_path: Path, rel: str) -> None:
    with pytest.raises(UsageError, match=r"Name a file inside the workspace"):
        layout.safe_path(tmp_path, rel)


@given(st.text(max_size=20).map(lambda text: f"../{text}") | st.text(max_size=30))
def test_a_name_that_is_let_through_stays_inside(rel: str) -> None:
    try:
        layout.check_name(rel)
    except UsageError as error:
        str(error).encode()  # the message can be printed, whatever the name
    else:
        top = Path("/workspace")
        assert Path(os.path.normpath(top / rel)).is_relative_to(top)


def test_links_may_lead_inside_but_not_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "w", tmp_path / "out"
    root.mkdir()
    outside.mkdir()
    (root / "real").mkdir()
    (root / "inner").symlink_to(root / "real")
    (root / "outer").symlink_to(outside)
    (root / "loop").symlink_to(root / "loop")

    assert layout.safe_path(root, "inner/new.md") == root / "inner/new.md"
    with pytest.raises(UsageError, match="leads out"):
        layout.safe_path(root, "outer/new.md")
    if sys.version_info < (3, 13):  # later versions resolve a loop to itself
        with pytest.raises(UsageError, match="cannot be followed"):
            layout.safe_path(root, "loop/new.md")


def test_the_root_may_itself_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert layout.safe_path(tmp_path / "link", "memory/x.md") == tmp_path / "link/memory/x.md"


@pytest.mark.parametrize(
    "marks", [["mnemark.toml"], [".mnemark/x", "journal/m.jsonl"], [".mnemark/x", "sessions/s.jsonl"]]
)
def test_the_root_is_found_from_anywhere_below(tmp_path: Path, marks: list[str]) -> None:
    _write(tmp_path, *marks)
    deep = tmp_path / "memory/facts/deep"
    deep.mkdir(parents=True)
    assert layout.find_root(deep) == tmp_path
    assert layout.find_root(tmp_path / "memory") == tmp_path


@pytest.mark.parametrize(
    "marks", [[".mnemark/index.db"], ["MEMORY.md"], ["memory/MEMORY.md"], ["sessions/s.jsonl"]]
)
def test_an_index_or_a_note_alone_makes_no_memory_of_a_folder(tmp_path: Path, marks: list[str]) -> None:
    """A search makes an index in any folder, and each clone may hold a MEMORY.md."""
    _write(tmp_path, *marks)
    deep = tmp_path / "code/deep"
    deep.mkdir(parents=True)
    for folder in (tmp_path, deep):
        with pytest.raises(NotFoundError):
            layout.find_root(folder)
    assert not layout.is_workspace(tmp_path)


@pytest.mark.parametrize("marks", [["mnemark.toml"], [".mnemark/x", "journal/m.jsonl"]])
@pytest.mark.parametrize("inner", ["inner", "users/ann", "memory"])
def test_the_nearest_workspace_is_found_from_inside_of_it(
    tmp_path: Path, marks: list[str], inner: str
) -> None:
    new_workspace.init(tmp_path)
    _write(tmp_path / inner, *marks)
    (tmp_path / inner / "deep").mkdir()
    assert layout.find_root(tmp_path / inner / "deep") == tmp_path / inner
    assert layout.workspace_around(tmp_path / inner) == tmp_path
    assert layout.workspace_around(tmp_path) is None


def test_a_search_in_a_folder_of_a_workspace_does_not_take_it_from_the_other(tmp_path: Path) -> None:
    new_workspace.init(tmp_path)
    _write(tmp_path / "notes", "memory/MEMORY.md", ".mnemark/index.db")
    assert layout.find_root(tmp_path / "notes/memory") == tmp_path
    assert not layout.border(tmp_path, "notes/memory/MEMORY.md")


def test_nothing_is_looked_for_above_a_repository(tmp_path: Path) -> None:
    new_workspace.init(tmp_path)
    _write(tmp_path / "repository", ".git/HEAD", "src/a.py")
    for folder in ("repository", "repository/src"):
        with pytest.raises(NotFoundError):
            layout.find_root(tmp_path / folder)
    _write(tmp_path / "repository", "mnemark.toml")
    assert layout.find_root(tmp_path / "repository/src") == tmp_path / "repository"


def test_nothing_is_looked_for_above_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_workspace.init(tmp_path)
    home = tmp_path / "home/ann"
    (home / "code").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for folder in (home, home / "code"):
        with pytest.raises(NotFoundError):
            layout.find_root(folder)
    new_workspace.init(home)
    assert layout.find_root(home / "code") == home
    assert layout.find_root(tmp_path / "home") == tmp_path


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_another_user_above_is_not_used(tmp_path: Path) -> None:
    new_workspace.init(tmp_path)
    (tmp_path / "mine").mkdir()
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(NotFoundError):
        layout.find_root(tmp_path / "mine")
    assert layout.find_root(tmp_path) == tmp_path  # who stands in it, means it


def test_the_index_of_a_mount_is_no_workspace(tmp_path: Path) -> None:
    new_workspace.init(tmp_path)
    mount = tmp_path / ".mnemark/mounts/team"
    _write(mount, ".mnemark/x", "journal/m.jsonl")
    assert layout.find_root(mount) == tmp_path


def _write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def test_the_environment_names_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_workspace.init(tmp_path / "w")
    monkeypatch.setenv("MNEMARK_WORKSPACE", str(tmp_path / "w"))
    assert layout.find_root() == tmp_path / "w"
    monkeypatch.delenv("MNEMARK_WORKSPACE")
    monkeypatch.chdir(tmp_path / "w/memory")
    assert layout.find_root() == tmp_path / "w"


def test_no_workspace_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="mnemark init"):
        layout.find_root(tmp_path)


def test_init_makes_a_minimal_workspace_once(tmp_path: Path) -> None:
    root = tmp_path / "new"
    assert sorted(new_workspace.init(root)) == ["MEMORY.md", "mnemark.toml"]
    assert (root / ".mnemark/.gitignore").read_text() == "*\n"
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert new_workspace.init(root) == []
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/MEMORY.md").write_text("mine")
    (tmp_path / "mnemark.toml").write_text("# mine")
    assert new_workspace.init(tmp_path) == []
    assert not (tmp_path / "MEMORY.md").exists()  # one long-term memory is enough
    assert (tmp_path / "mnemark.toml").read_text() == "# mine"


def test_init_on_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReadOnlyError, match="Choose another folder"):
        new_workspace.init(tmp_path / "file")


def test_a_syncthing_folder_leaves_the_index_at_home(tmp_path: Path) -> None:
    assert layout.sync_warning(tmp_path) is None
    (tmp_path / ".stfolder").mkdir()
    assert layout.sync_warning(tmp_path) is not None
    new_workspace.init(tmp_path)
    assert "(?d).mnemark" in (tmp_path / ".stignore").read_text()
    assert layout.sync_warning(tmp_path) is None


def test_an_existing_stignore_is_a_persons_and_only_reported(tmp_path: Path) -> None:
    (tmp_path / ".stfolder").mkdir()
    (tmp_path / ".stignore").write_text("*.iso\n")
    new_workspace.init(tmp_path)
    assert (tmp_path / ".stignore").read_text() == "*.iso\n"
    problem = layout.sync_warning(tmp_path)
    assert problem is not None
    assert "(?d).mnemark" in problem.reason
