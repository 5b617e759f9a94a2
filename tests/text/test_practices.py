"""What the user of a coding agent says once about how they work is learned; what is said of a task is not."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemark.extraction.addressed import is_addressed
from mnemark.extraction.candidate import Candidate
from mnemark.extraction.extract import by_rules as extract
from mnemark.memory.learning.placement import StatedFact, is_of_project
from mnemark.text.quoting.fence import fence

HERE = Path(__file__).parent
NOW = datetime(2026, 3, 11, 10, tzinfo=UTC)


def learned(text: str, **options: str) -> list[Candidate]:
    """Return what would be stored: of orders, those that are plainly standing or addressed to the agent."""
    return [
        one
        for one in extract(text, time=NOW, **options)  # type: ignore[arg-type]
        if one.type != "rule" or one.standing or is_addressed(one.quote)
    ]


def shown(found: Iterable[Candidate]) -> list[str]:
    return [f"{'-' * one.over}{one.subject} {one.predicate}: {one.value}" for one in found]


def test_what_is_said_once_of_a_project_is_learned() -> None:
    wrong = []
    for line in (HERE / "practices_learned.tsv").read_text("utf-8").splitlines():
        sentence, *expected = line.split("\t")
        found = shown(one for one in learned(sentence) if not one.over)
        if found != expected:
            wrong.append((sentence, found))
    assert wrong == []


def test_what_may_be_about_a_task_or_others_is_not_learned() -> None:
    lines = (HERE / "practices_not_learned.txt").read_text("utf-8").splitlines()
    found = {line: shown(learned(line.replace("\\n", "\n"))) for line in lines}
    assert {line: facts for line, facts in found.items() if facts} == {}


@pytest.mark.parametrize(
    ("order", "task"),
    [
        ("Use tabs, not spaces.", "Add a login form."),
        ("Run `make lint` before you push.", "Fix the flaky test in the parser."),
        ("Prefer composition over inheritance.", "Can you clean up the handlers?"),
        ("Don't edit generated files.", "Rename the field to total."),
        ("Functions should have type hints.", "Write a script that exports the invoices."),
        ("提交前先跑测试。", "修一下登录页的报错。"),
        ("不要改 src/gen 里的文件。", "帮我加个按钮。"),
        ("变量名用英文。", "写一个导出脚本。"),
    ],
)
def test_an_order_that_may_be_about_a_task_holds_in_general_only_alone(order: str, task: str) -> None:
    assert learned(order)
    assert learned(f"{task} {order}") == []
    assert learned(f"{order} {task}") == []
    assert learned(f"{order}\n```\ncode\n```") == []
    assert learned(f"Thanks! {order}"), "what says nothing changes nothing"


def test_an_order_that_names_the_project_holds_beside_a_task() -> None:
    found = learned("Add a login form. Don't use default exports in this codebase.")
    assert shown(found) == ["user rules: Don't use default exports in this codebase"]
    found = learned("Whenever you touch the parser, run the fuzz tests. Now add a token for comments.")
    assert shown(found) == ["user rules: Whenever you touch the parser, run the fuzz tests"]


def test_several_orders_are_learned_together_also_as_a_list() -> None:
    rules = ("Use tabs, not spaces.", "Run `make lint` before you push.", "Use conventional commits.")
    said = "\n- ".join(("Some rules for this repo:", *rules))
    assert shown(learned(said)) == [
        "project indentation: tabs, not spaces",
        "user rules: Run `make lint` before you push",
        "user rules: Use conventional commits",
    ]


@pytest.mark.parametrize(
    "pasted",
    [
        "# Contributing\n\nRun `make lint` before you push. Tests are run with `make test`.",
        "Can you check this?\n\n## Setup\nMigrations live in db/migrate.",
        "Steps to reproduce:\n1. Our CI runs on GitLab.",
        "Their guide:\nMigrations live in db/migrate. Never force-push to main.",
        "Never force-push to main. (https://example.org/contributing)",
        "Bob: never force-push to main.",
        '"Never force-push to main."',
        "> Never force-push to main.",
        "他们的规范：\n提交前先跑测试。数据库迁移放在 db/migrate。",
    ],
)
def test_documents_links_and_words_of_others_teach_nothing(pasted: str) -> None:
    assert learned(pasted) == []


@pytest.mark.parametrize("said", ["Never force-push to main.", "Our CI runs on GitLab.", "提交前先跑测试。"])
def test_only_the_owner_gives_orders_and_tells_of_the_project(said: str) -> None:
    assert learned(said)
    assert learned(said, role="assistant", origin="agent") == []
    assert learned(said, origin="tool") == []
    assert learned(fence(said)) == []


def test_what_is_to_be_remembered_is_read_as_what_it_is() -> None:
    assert shown(learned("Remember that tests are run with `make test`.")) == [
        "project test command: make test"
    ]
    said = "Remember to run `make lint` before every push."
    assert shown(learned(said)) == ["user rules: run `make lint` before every push"]


@pytest.mark.parametrize(
    ("said", "project"),
    [
        ("Never force-push to main.", True),
        ("Use tabs, not spaces.", True),
        ("Prefer named exports over default exports.", True),
        ("提交前先跑测试。", True),
        ("My branch names start with kx/.", False),
        ("I sign my commits.", False),
        ("我的分支名都以 kx/ 开头。", False),
    ],
)
def test_habits_of_the_person_go_with_them(said: str, *, project: bool) -> None:
    (one,) = learned(said)
    statement = StatedFact(one.subject, one.predicate, one.value, one.type, one.topic, one.quote)
    assert is_of_project(statement) is project
