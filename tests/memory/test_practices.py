"""What is said once of a project is kept in its memory, and a later statement takes its place."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def facts_after(folder: Path, said: Sequence[str]) -> list[str]:
    """Return the facts of a project after something was said in it each day, with their scope."""
    with Memory.open(folder, config={"embedder": "none"}) as memory:
        for day, sentence in enumerate(said):
            memory.session(f"s{day}", project="shop").add("user", sentence, time=START + timedelta(days=day))
        memory.learn()
        return sorted(f"{fact.scope or 'person'}: {fact}" for fact in memory.facts(scope="projects/shop"))


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (
            "In this repo we use pnpm, never npm.",
            "We moved from pnpm to bun.",
            "project package manager: bun",
        ),
        (
            "The tests are run with `make test`.",
            "Tests are now run with `just test`.",
            "project test command: just test",
        ),
        ("Our CI runs on GitLab.", "CI moved to GitHub Actions.", "project ci: GitHub Actions"),
        ("We use jest for tests.", "We switched from Jest to Vitest.", "project test framework: Vitest"),
        ("Use tabs, not spaces.", "Use spaces, not tabs.", "project indentation: spaces, not tabs"),
        (
            "Migrations live in db/migrate.",
            "Migrations now live in db/versions.",
            "project migrations path: db/versions",
        ),
        (
            "We deploy from the main branch.",
            "We deploy from the release branch.",
            "project deploy branch: release",
        ),
        (
            "We deploy from the main branch.",
            "We deploy from release, not from main.",
            "project deploy branch: release",
        ),
        (
            "We release from main.",
            "Releases are cut from `stable`, never from main.",
            "project release branch: stable",
        ),
        ("We use flake8 for linting.", "我们用 ruff 做代码检查。", "project linter: ruff"),
        ("Our default branch is main.", "默认分支是 develop。", "project 默认分支: develop"),
        ("我们的 CI 跑在 GitLab 上。", "CI runs on GitHub Actions.", "project ci: GitHub Actions"),
    ],
)
def test_a_later_statement_takes_the_place_of_an_earlier_one(
    tmp_path: Path, before: str, after: str, kept: str
) -> None:
    assert len(facts_after(tmp_path / "before", [before])) == 1
    assert facts_after(tmp_path / "both", [before, after]) == [f"projects/shop: {kept}"]


def test_orders_stay_in_the_project_and_habits_go_with_the_person(tmp_path: Path) -> None:
    said = ["Never force-push to main.", "不要改 src/gen 里的文件。", "My branch names start with kx/."]
    assert facts_after(tmp_path, said) == [
        "person: user branch names: start with kx/",
        "projects/shop: user rules: Never force-push to main",
        "projects/shop: user rules: 不要改 src/gen 里的文件",
    ]
    text = (tmp_path / "projects/shop/memory/facts/user.md").read_text("utf-8")
    assert "- **rules**: Never force-push to main <!--" in text
    assert "type: rule" in text


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (["We use npm in this repo.", "We no longer use npm."], []),
        (["We use Jest for tests.", "We don't use Jest anymore."], []),
        (["我们用 npm。", "我们不再用 npm 了。"], []),
        (["We use npm in this repo.", "我们已经不用 npm 了。"], []),
        (
            ["We use Jest for tests.", "We no longer use Jest, it's all vitest now."],
            ["test framework: vitest"],
        ),
        (["我们用 SQLite。", "我们不再用 SQLite 了，评论功能换成别的。"], []),
        (["We use npm in this repo.", "We no longer use yarn."], ["package manager: npm"]),
        (["We no longer use npm.", "We use npm in this repo."], ["package manager: npm"]),
        (["We use npm in this repo.", "We don't use npm."], ["package manager: npm"]),
        (["We use npm in this repo.", "If we no longer use npm, tell me."], ["package manager: npm"]),
        (["We use npm in this repo.", "Do we no longer use npm?"], ["package manager: npm"]),
    ],
)
def test_a_program_that_is_used_no_more_ends(tmp_path: Path, said: Sequence[str], left: list[str]) -> None:
    mark = "projects/shop: project "
    told = [line.removeprefix(mark) for line in facts_after(tmp_path, said) if line.startswith(mark)]
    assert [line for line in told if not line.startswith("decisions: ")] == left
