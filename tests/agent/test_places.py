"""Where programs keep memories, and which of their files are memory."""

from pathlib import Path

import pytest

from mnemark_agents.connect.places import OtherMemory, places

KEPT = {
    "claude-code": (
        ".claude/CLAUDE.md", ".claude/projects/-home-ann-shop/memory/MEMORY.md",
        ".claude/projects/-home-ann-shop/memory/deploy.md", ".claude/rules/python.md",
    ),
    "codex": (
        ".codex/AGENTS.md", ".codex/memories/MEMORY.md", ".codex/memories/memory_summary.md",
        ".codex/memories/rollout_summaries/2026-10-02-a.md",
    ),
    "gemini-cli": (".gemini/GEMINI.md", ".gemini/tmp/shop/memory/MEMORY.md"),
    "openclaw": (
        ".openclaw/workspace/MEMORY.md", ".openclaw/workspace/USER.md",
        ".openclaw/workspace/memory/2026-10-01.md",
    ),
    "nanobot": (".nanobot/workspace/USER.md", ".nanobot/workspace/memory/MEMORY.md"),
    "basic-memory": ("basic-memory/coffee.md", "basic-memory/recipes/bread.md"),
}  # fmt: skip
LEFT = (
    ".claude/settings.json", ".claude/.credentials.json", ".claude/history.jsonl", ".claude/todos/x.md",
    ".claude/projects/-home-ann-shop/3f1.jsonl", ".claude/plugins/a/README.md", ".claude/agents/x.md",
    ".codex/auth.json", ".codex/config.toml", ".codex/sessions/2026/11/22/rollout-1.jsonl",
    ".codex/memories/raw_memories.md", ".codex/memories/.git/x.md", ".codex/prompts/x.md",
    ".gemini/oauth_creds.json", ".gemini/tmp/shop/chats/s.json", ".gemini/tmp/shop/memory/.inbox/x.md",
    ".openclaw/openclaw.json", ".openclaw/workspace/SOUL.md", ".openclaw/workspace/skills/x/SKILL.md",
    ".openclaw/agents/main/sessions/s.jsonl", ".openclaw/credentials/x.md",
    ".nanobot/workspace/SOUL.md", ".nanobot/workspace/memory/history.jsonl", ".nanobot/sessions/x.jsonl",
    "basic-memory/canvas.canvas",
)  # fmt: skip
VARIABLES = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCLAW_WORKSPACE_DIR", "OPENCLAW_STATE_DIR",
    "OPENCLAW_PROFILE", "BASIC_MEMORY_HOME",
)  # fmt: skip


def fill(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"# {path}\n")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def listed(found: list[OtherMemory]) -> dict[str, tuple[str, ...]]:
    return {one.name: tuple(str(one.folder / path) for path in one.found) for one in found}


def test_what_is_memory_is_found_and_nothing_else(home: Path) -> None:
    fill(home, *LEFT, *(path for paths in KEPT.values() for path in paths))
    found = places(home / "mnemark")
    assert listed(found) == {name: tuple(str(home / path) for path in paths) for name, paths in KEPT.items()}
    assert all(one.own for one in found)


def test_nothing_is_found_where_nothing_is(home: Path) -> None:
    fill(home, *LEFT)
    (home / ".claude/CLAUDE.md").write_text("")
    assert places(home / "mnemark", home) == []


@pytest.mark.parametrize(
    ("variable", "name", "path"),
    [
        ("CLAUDE_CONFIG_DIR", "claude-code", "elsewhere/CLAUDE.md"),
        ("CODEX_HOME", "codex", "elsewhere/AGENTS.md"),
        ("GEMINI_CLI_HOME", "gemini-cli", "elsewhere/.gemini/GEMINI.md"),
        ("OPENCLAW_WORKSPACE_DIR", "openclaw", "elsewhere/MEMORY.md"),
        ("OPENCLAW_STATE_DIR", "openclaw", "elsewhere/workspace/MEMORY.md"),
        ("BASIC_MEMORY_HOME", "basic-memory", "elsewhere/a.md"),
    ],
)
def test_variables_of_the_programs_are_respected(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, name: str, path: str
) -> None:
    fill(home, ".claude/CLAUDE.md", ".codex/AGENTS.md", path)
    monkeypatch.setenv(variable, str(home / "elsewhere"))
    assert listed(places(home / "mnemark"))[name] == (str(home / path),)


def test_a_profile_of_openclaw_has_its_own_workspace(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(home, ".openclaw-work/workspace/MEMORY.md")
    monkeypatch.setenv("OPENCLAW_PROFILE", "work")
    assert listed(places(home / "mnemark")) == {
        "openclaw": (str(home / ".openclaw-work/workspace/MEMORY.md"),)
    }


def test_workspaces_that_settings_name_are_found(home: Path) -> None:
    fill(home, "claw/MEMORY.md", "bot/memory/MEMORY.md", "notes/a.md", "work/b.md", "basic-memory/unused.md")
    for name, text in {
        ".openclaw/openclaw.json": '{"agents": {"defaults": {"workspace": "%s/claw"}}}',
        ".nanobot/config.json": '{"agents": {"defaults": {"workspace": "%s/bot"}}}',
        ".basic-memory/config.json": '{"projects": {"main": {"path": "%s/notes"}, "work & co": "%s/work"}}',
    }.items():
        (home / name).parent.mkdir()
        (home / name).write_text(text.replace("%s", home.as_posix()))
    assert listed(places(home / "mnemark")) == {
        "openclaw": (str(home / "claw/MEMORY.md"),),
        "nanobot": (str(home / "bot/memory/MEMORY.md"),),
        "basic-memory": (str(home / "notes/a.md"),),
        "basic-memory-work-co": (str(home / "work/b.md"),),
    }


@pytest.mark.parametrize("text", ["{agents: {}}", "[]", '{"agents": []}', '{"projects": 1}', "\0", ""])
def test_settings_that_cannot_be_read_change_nothing(home: Path, text: str) -> None:
    fill(home, ".openclaw/workspace/MEMORY.md", "basic-memory/a.md")
    (home / ".openclaw/openclaw.json").write_text(text)
    fill(home, ".basic-memory/config.json")
    (home / ".basic-memory/config.json").write_text(text)
    assert set(listed(places(home / "mnemark"))) == {"openclaw", "basic-memory"}


def test_a_workspace_is_not_its_own_mount(home: Path) -> None:
    fill(home, ".openclaw/workspace/MEMORY.md", "basic-memory/a.md", "basic-memory/mine/b.md")
    assert set(listed(places(home / ".openclaw/workspace"))) == {"basic-memory"}
    assert set(listed(places(home / "basic-memory/mine"))) == {"openclaw"}


def test_files_of_a_project_are_not_the_users_own(home: Path) -> None:
    fill(
        home, "code/my shop/.git/HEAD", "code/my shop/AGENTS.md", "code/my shop/README.md",
        "code/my shop/.cursor/rules/style.mdc", "code/my shop/.cursor/rules/README.txt",
        "code/my shop/.claude/rules/a/b.md", "code/my shop/.claude/settings.local.json",
        "code/my shop/src/AGENTS.md",
    )  # fmt: skip
    shop = home / "code/my shop"
    found = places(home / "mnemark", shop / "src")
    assert listed(found) == {
        "my-shop": (str(shop / "AGENTS.md"), str(shop / "src/AGENTS.md")),
        "my-shop.claude": (str(shop / ".claude/rules/a/b.md"),),
        "my-shop.cursor": (str(shop / ".cursor/rules/style.mdc"),),
    }
    assert not any(one.own for one in found)
    assert places(home / "mnemark", home) == []


def test_rules_for_agents_are_found_where_they_lie(home: Path) -> None:
    fill(
        home, "shop/.git/HEAD", "shop/.cursorrules", "shop/.windsurfrules", "shop/.env", "shop/.other.md",
        "shop/.github/copilot-instructions.md", "shop/.github/instructions/py.instructions.md",
        "shop/.github/ISSUE_TEMPLATE.md", "shop/.github/workflows/ci.yml", "shop/.windsurf/rules/a.md",
        "shop/pkg/[id]/CLAUDE.md", "shop/pkg/README.md", "shop/node_modules/x/CLAUDE.md",
    )  # fmt: skip
    found = places(home / "mnemark", home / "shop")
    shop = home / "shop"
    assert listed(found) == {
        "shop": tuple(str(shop / one) for one in (".cursorrules", ".windsurfrules", "pkg/[id]/CLAUDE.md")),
        "shop.windsurf": (str(shop / ".windsurf/rules/a.md"),),
        "shop.github": (
            str(shop / ".github/copilot-instructions.md"),
            str(shop / ".github/instructions/py.instructions.md"),
        ),
    }
    assert not any(one.own for one in found)


def test_what_a_file_imports_is_offered_with_it(home: Path) -> None:
    fill(
        home,
        "shop/.git/HEAD",
        "outside.md",
        "shop/code.py",
        "shop/docs/b.md",
        "shop/docs/c/d.txt",
        "shop/not.md",
    )
    (home / "shop/CLAUDE.md").write_text(
        "See @docs/a.md. Mail ann@not.md or `@not.md`.\n@../outside.md @~/outside.md @code.py @gone.md\n"
        "```\n@not.md\n```\n@./CLAUDE.md\n"
    )
    (home / "shop/docs/a.md").write_text("Also @b.md and @c/d.txt\n")
    (home / "shop/docs/b.md").write_text("Round: @a.md\n")
    (one,) = places(home / "mnemark", home / "shop")
    assert one.found == ("CLAUDE.md", "docs/a.md", "docs/b.md", "docs/c/d.txt")
    assert one.files[-3:] == ("docs/a.md", "docs/b.md", "docs/c/d.txt")


def test_what_the_users_own_file_imports_is_found(home: Path) -> None:
    fill(home, ".claude/mine.md", ".claude/.credentials.json")
    (home / ".claude/CLAUDE.md").write_text("@mine.md @.credentials.json\n")
    (one,) = places(home / "mnemark")
    assert (one.name, one.found) == ("claude-code", ("CLAUDE.md", "mine.md"))
