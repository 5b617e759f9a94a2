"""Commands given in a repository whose agent is connected: they are about the memory that the agent uses."""

import json
from pathlib import Path
from typing import Any

import pytest

from forked import mnemark
from mnemark.errors import UsageError
from mnemark.files import layout, new_workspace, platform
from mnemark.files.new_workspace import new_scope
from mnemark_agents import homes
from mnemark_agents.connect import connect
from mnemark_interfaces import shortcut
from mnemark_interfaces.http.calls import ClientQuery, answer_query
from mnemark_interfaces.http.pool import Workspaces

from .conftest import Shell


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    monkeypatch.setenv("USERPROFILE", str(found))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in {*shortcut.SETTINGS, "CLAUDE_PROJECT_DIR"}:
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.fixture
def shop(home: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository beside a memory that Claude Code uses, both with a note."""
    root = home / "mnemark"
    new_workspace.init(root)
    (root / "mnemark.toml").write_text('embedder = "none"\n', "utf-8")
    (root / "MEMORY.md").write_text("# Mine\n\nThe coffee is from Turin.\n", "utf-8")
    connect.apply(connect.plan(connect.host_of("claude-code"), root))
    found = repository(home / "code/shop")
    (found / "README.md").write_text("# Shop\n\nSells coffee and tea.\n", "utf-8")
    monkeypatch.chdir(found)
    assert shell.folder != found
    return found


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return folder


def note(root: Path, repo: Path, text: str) -> str:
    scope = new_scope(root, str(repo.resolve()))
    (root / scope / "MEMORY.md").write_text(f"# Project\n\n{text}\n", "utf-8")
    return scope


def test_a_search_in_a_repository_asks_the_memory_of_its_agent(shell: Shell, home: Path, shop: Path) -> None:
    ran = shell("search", "coffee")
    assert "Turin" in ran.out
    assert "Sells" not in ran.out
    assert f"Memory of your agents: {home / 'mnemark'}" in ran.err
    assert not (shop / layout.PRIVATE).exists()

    assert note(home / "mnemark", shop, "The coffee API runs on port 8080.") == "projects/shop"
    ran = shell("search", "coffee")
    assert "8080" in ran.out
    assert "Turin" in ran.out
    assert f"{home / 'mnemark'} with projects/shop" in ran.err


def test_another_project_is_not_asked(shell: Shell, home: Path, shop: Path) -> None:
    note(home / "mnemark", repository(home / "code/other"), "The coffee API of the other runs on port 9090.")
    assert "9090" not in shell("search", "coffee").out
    assert "9090" in shell("search", "coffee", "--scope", "projects/other").out
    assert "9090" in shell("search", "coffee", "--scope", "*").out


def test_a_folder_in_a_repository_belongs_to_it(
    shell: Shell, home: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(home / "mnemark", shop, "The coffee API runs on port 8080.")
    (shop / "src").mkdir()
    monkeypatch.chdir(shop / "src")
    assert "8080" in shell("recall", "On which port does the coffee API run?").out


def test_what_is_remembered_goes_where_an_agent_would_put_it(shell: Shell, home: Path, shop: Path) -> None:
    assert shell("remember", "city", "Rome").code == 0
    assert not (home / "mnemark/projects").exists()
    assert shell("remember", "package manager", "pnpm", "--subject", "project", "--dry-run").code == 0
    assert not (home / "mnemark/projects").exists()
    assert shell("remember", "package manager", "pnpm", "--subject", "project").code == 0
    assert (home / "mnemark/projects/shop/PROJECT.md").exists()
    assert shell("add", "Never push to main in this repository.").out.startswith("projects/shop/memory/")
    assert shell("add", "I bought a blue bicycle.").out.startswith("memory/")
    listed = shell("facts", "--json").data["facts"]
    assert {(one["value"], one["scope"]) for one in listed} == {("Rome", ""), ("pnpm", "projects/shop")}
    assert "pnpm" in shell("prompt", "--budget", "2000").out
    assert "push to main" in shell("log").out
    assert sorted(path.name for path in shop.iterdir()) == [".git", "README.md"]


@pytest.mark.parametrize("above", [".", "code"])
def test_an_index_that_a_search_left_above_a_repository_hides_no_memory(
    shell: Shell, home: Path, shop: Path, monkeypatch: pytest.MonkeyPatch, above: str
) -> None:
    monkeypatch.chdir(home / above)
    assert "Sells" in shell("search", "coffee", "-w", ".").out
    assert (home / above / layout.PRIVATE).exists()
    monkeypatch.chdir(shop)
    assert "Turin" in shell("search", "coffee").out
    new_workspace.init(home / above)  # which is looked for up to the top of the repository
    assert "Turin" in shell("search", "coffee").out


def test_a_named_folder_and_a_workspace_stay_what_they_are(shell: Shell, home: Path, shop: Path) -> None:
    note(home / "mnemark", shop, "The coffee API runs on port 8080.")
    only_shared = shell("search", "coffee", "-w", str(home / "mnemark"))
    assert "Turin" in only_shared.out
    assert "8080" not in only_shared.out
    assert "Memory of your agents" not in only_shared.err
    here = shell("search", "coffee", "-w", ".")
    assert "Sells" in here.out
    assert "Turin" not in here.out
    assert "Turin" in shell("search", "coffee").out  # its index alone makes it no workspace
    new_workspace.init(shop)
    assert "Sells" in shell("search", "coffee").out


def test_the_home_folder_is_not_indexed(
    shell: Shell, home: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "letter.md").write_text("The coffee was cold.\n", "utf-8")
    monkeypatch.chdir(home)
    ran = shell("search", "coffee")
    assert "Turin" in ran.out
    assert "cold" not in ran.out
    assert not (home / layout.PRIVATE).exists()


def test_folders_without_agents_are_searched_as_before(shell: Shell, home: Path, shop: Path) -> None:
    connect.apply(connect.plan(connect.host_of("claude-code"), home / "mnemark", remove=True))
    assert "Sells" in shell("search", "coffee").out
    assert (shop / layout.PRIVATE).exists()


def test_notes_outside_of_repositories_are_searched_as_before(
    shell: Shell, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write("a.md", "The coffee of the notes.\n")
    monkeypatch.chdir(shell.folder)
    assert "of the notes" in shell("search", "coffee").out


def test_agents_with_two_memories_leave_the_choice(shell: Shell, home: Path, shop: Path) -> None:
    other = home / "second"
    new_workspace.init(other)
    connect.apply(connect.plan(connect.host_of("codex"), other))
    ran = shell("search", "coffee")
    assert ran.code == 3
    assert str(other) in ran.err
    assert str(home / "mnemark") in ran.err
    assert "-w" in ran.err


def test_a_repository_that_was_cloned_cannot_name_the_memory(shell: Shell, home: Path, shop: Path) -> None:
    connect.apply(connect.plan(connect.host_of("claude-code"), home / "mnemark", remove=True))
    trap = shop / "trap"
    new_workspace.init(trap)
    connect.apply(connect.plan(connect.host_of("claude-code"), trap, project=shop))
    shell("remember", "city", "Rome")
    assert not list((trap / "memory").glob("facts/*"))


def test_the_shortcut_and_the_daemon_answer_the_same(
    home: Path, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note(home / "mnemark", shop, "The coffee API runs on port 8080.")
    assert shortcut.run(["search", "coffee"])
    alone = capsys.readouterr()
    assert "8080" in alone.out
    query = ClientQuery(
        arguments=["search", "coffee"], folder=str(shop), workspace=None, terminals=(False, False),
        colour=False, environment=shortcut.environment(),
    )  # fmt: skip
    workspaces = Workspaces(watching=False)
    try:
        printed = answer_query(workspaces, query)["printed"]
    finally:
        workspaces.close()
    assert "".join(text for to_err, text in printed if not to_err) == alone.out
    assert any("with projects/shop" in text for to_err, text in printed if to_err)


def test_the_daemon_is_used_only_where_it_reads_the_same_settings() -> None:
    source = Path(homes.__file__).read_text("utf-8")
    named = {word for word in source.split('"') if word.isupper() and word.isidentifier()}
    assert named
    assert named <= set(shortcut.environment())


def test_a_daemon_with_another_memory_of_plug_ins_answers_only_for_a_named_one(
    home: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, named = (
        ClientQuery(
            arguments=["search", "coffee"], folder=str(shop), workspace=workspace, terminals=(False, False),
            colour=False, environment=shortcut.environment(named=workspace is not None),
        )
        for workspace in (None, str(home / "mnemark"))
    )  # fmt: skip
    monkeypatch.setenv("MNEMARK_WORKSPACE", str(home / "elsewhere"))
    workspaces = Workspaces(watching=False)
    try:
        assert answer_query(workspaces, named)["printed"]
        with pytest.raises(UsageError, match="another environment"):
            answer_query(workspaces, alone)
    finally:
        workspaces.close()


def test_a_connection_of_the_project_alone_counts(shell: Shell, home: Path, shop: Path) -> None:
    connect.apply(connect.plan(connect.host_of("claude-code"), home / "mnemark", remove=True))
    connect.apply(connect.plan(connect.host_of("claude-code"), home / "mnemark", project=shop))
    assert "Turin" in shell("search", "coffee").out


def test_settings_that_cannot_be_read_are_left_aside(shell: Shell, home: Path, shop: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex/hooks.json").write_text("{ not json", "utf-8")
    assert "Turin" in shell("search", "coffee").out
    assert json.loads((home / ".claude/settings.json").read_text("utf-8"))["hooks"]


def hooked(event: str, folder: Path, **data: Any) -> dict[str, Any]:
    """Return what a hook without -w answers an agent that works in a folder."""
    given = json.dumps({"session_id": "one", "cwd": str(folder), **data}).encode()
    done = mnemark("hook", event, "-a", "claude-code", "--alone", given=given, cwd=folder)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_a_hook_without_a_folder_uses_the_memory_of_the_agents(shell: Shell, home: Path, shop: Path) -> None:
    """As its help says, and as commands do there."""
    (shop / "src").mkdir()
    assert "Turin" in json.dumps(hooked("session-start", shop / "src"))
    did = {"tool_name": "Bash", "tool_input": {"command": "make coffee"}, "tool_response": {"stdout": "Done"}}
    assert hooked("tool", shop / "src", **did) == {}
    assert "make coffee" in shell("search", "make coffee", "--kind", "observation").out
    assert (home / "mnemark/projects/shop/PROJECT.md").exists()
    assert sorted(path.name for path in shop.iterdir()) == [".git", "README.md", "src"]


def test_a_hook_guesses_no_memory(home: Path, shop: Path, tmp_path: Path) -> None:
    other = home / "other"
    new_workspace.init(other)
    outside = tmp_path / "outside"
    outside.mkdir()
    assert hooked("session-start", outside) == {}, "no repository, so no memory of an agent's"
    connect.apply(connect.plan(connect.host_of("codex"), other))
    assert hooked("session-start", shop) == {}
    assert "your agents use several memories" in (platform.state_folder() / "hook.log").read_text("utf-8")
