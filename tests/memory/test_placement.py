"""What is about the person goes with them; what is about a project stays in it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.extraction.candidate import Candidate
from mnemark.extraction.extract import extract
from mnemark.memory.learning.candidates import CandidateWriter, SourcedCandidate
from mnemark.memory.learning.placement import StatedFact, is_of_project, scope_for

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PROJECT = """
    we use pnpm here
    We use pnpm in this repo.
    This project uses pnpm.
    Our package manager is pnpm.
    Never push to main.
    Always run the tests before committing.
    Don't use emojis in commit messages.
    From now on, write commit messages in English.
    From now on, use two spaces for indentation.
    In this project, always answer in English.
    We decided to go with PostgreSQL for the order service.
    We decided to drop support for the old importer.
    Let's go with Redis for the cache.
    We're on Python 3.12.
    The test command is `make test`.
    The staging server is staging-2.example.org.
    Remember that the staging server is at 10.0.0.7.
    Remember that the deploy key rotates monthly.
    We switched from Jenkins to CircleCI.
    We no longer use Jenkins.
    Our tech lead is Maria.
    Always write tests first.
    Never use abbreviations in variable names.
    Every PR must have a changelog entry.
    Don't use semicolons in TypeScript files.
    这个项目用 pnpm
    我们用 pnpm
    我们项目用 Python 3.12。
    我们决定用 PostgreSQL。
    我们的数据库是 MySQL。
    测试命令是 make test
    以后提交前都要跑测试。
    永远不要直接推送到 main 分支。
    每次提交都要写测试。
    请记住，我们用 pnpm。
    以后写代码都要加类型注解。
    所有接口都必须写文档。
"""
PERSON = """
    I use Zed
    I no longer use Zed.
    I live in Leeds.
    I'm allergic to peanuts.
    My wife Ann is allergic to peanuts.
    My manager is Tom.
    My GitHub username is ann42.
    I like hiking.
    I prefer tabs over spaces.
    I use pnpm.
    I work at Fabrikam as a data analyst.
    We moved to Berlin.
    We have two kids.
    We decided to get married in May.
    From now on, answer in German.
    Always explain briefly what you changed in the code.
    Always ask me before deleting files.
    Always ask me before you commit.
    Always use conventional commits in all my projects.
    Please remember: I don't eat meat.
    Remember that Ann's birthday is on 5 May.
    Always use British English.
    Never mention my employer in reports.
    Please always format dates as ISO 8601.
    我用 Zed
    我住在上海。
    以后用中文回答。
    以后叫我老王。
    提交代码之前一定要先问我。
    请记住，我不吃辣。
    以后回复代码问题时都要给完整示例。
    以后日期格式都用 ISO。
    我们决定明年结婚。
    所有项目的提交信息都必须用英文写。
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def said(sentence: str) -> list[StatedFact]:
    found = extract(sentence, time=NOW)
    return [
        StatedFact(one.subject, one.predicate, one.value, one.type, one.topic, one.quote) for one in found
    ]


@pytest.mark.parametrize("sentence", lines(PROJECT))
def test_what_is_about_the_project(sentence: str) -> None:
    found = said(sentence)
    assert found
    assert [is_of_project(one) for one in found] == [True] * len(found)
    assert {scope_for(one, "projects/shop") for one in found} == {"projects/shop"}


@pytest.mark.parametrize("sentence", lines(PERSON))
def test_what_is_about_the_person(sentence: str) -> None:
    found = said(sentence)
    assert found
    assert [is_of_project(one) for one in found] == [False] * len(found)
    assert {scope_for(one, "projects/shop") for one in found} == {""}
    assert {scope_for(one, "users/ann") for one in found} == {"users/ann"}, "other scopes keep what they had"


@pytest.mark.parametrize(
    ("subject", "predicate", "value", "kind", "project"),
    [
        ("project", "package manager", "pnpm", "fact", True),
        ("user", "package manager", "pnpm", "fact", True),  # models leave the subject out
        ("user", "", "This repository uses pnpm", "fact", True),
        ("user", "", "deploys go through GitHub Actions", "fact", True),
        ("user", "test command", "make test", "fact", True),
        ("API server", "port", "8080", "fact", True),
        ("user", "", "never commit generated files", "rule", True),
        ("user", "", "提交信息要写工单号", "rule", True),
        ("user", "", "本仓库用 pnpm", "fact", True),
        ("user", "editor", "Zed", "fact", False),
        ("user", "name", "Ann", "fact", False),
        ("user", "", "The user likes short answers", "preference", False),
        ("user", "", "prefers to be asked before code is changed", "preference", False),
        ("user", "likes", "clean code", "preference", False),
        ("Ann", "birthday", "5 May", "fact", False),
        ("Ruby", "relation", "daughter", "fact", False),  # also a language
        ("user", "", "my other project uses Django", "fact", False),
        ("user", "", "my project uses Django", "fact", True),
        ("Bob", "job", "backend developer", "fact", False),
        ("user", "language", "German", "preference", False),
        ("user", "", "call me Bob", "rule", False),
        ("user", "城市", "上海", "fact", False),
    ],
)
def test_what_models_say_without_a_sentence(
    subject: str, predicate: str, value: str, kind: str, *, project: bool
) -> None:
    assert is_of_project(StatedFact(subject, predicate, value, kind)) is project


def test_notes_of_a_project_and_what_a_model_reads_are_placed_alike(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        today = memory.workspace.now()
        note = tmp_path / f"projects/shop/memory/{today:%Y-%m-%d}.md"
        note.parent.mkdir(parents=True)
        note.write_text(
            f"# {today:%Y-%m-%d}\n\n- I live in Leeds.\n- Our package manager is pnpm.\n", "utf-8"
        )
        planned = memory.consolidate(dry_run=True)
        assert {edit.path for edit in planned.edits} >= {
            "memory/facts/user.md", "projects/shop/memory/facts/project.md",
        }  # fmt: skip
        memory.consolidate()
        talk = memory.session("one", project="shop")
        talk.add("user", "I live in York now. We deploy with Podman.")
        ref = f"{talk.path}#L2"
        found = [
            SourcedCandidate(
                Candidate(
                    subject=subject, predicate=predicate, value=value, since=today, confidence=0.7,
                    importance=0.5, quote=quote,
                ),
                ref, "projects/shop", "owner", today,
            )
            for subject, predicate, value, quote in (
                ("user", "city", "York", "I live in York now."),
                ("user", "deploys with", "Podman", "We deploy with Podman."),
            )
        ]  # fmt: skip
        kept = CandidateWriter(memory.workspace).keep(found, by="model")
        assert [(one.status, one.scope) for one in kept] == [("learned", ""), ("learned", "projects/shop")]
        shared = [str(fact) for fact in memory.facts()]
        own = [str(fact) for fact in memory.facts(scope="projects/shop") if fact.scope]
    assert shared == ["user city: York"]
    assert sorted(own) == ["project package manager: pnpm", "user deploys with: Podman"]


def test_with_one_memory_everything_stays_where_it_was_said(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none", "projects": False}) as memory:
        talk = memory.session("one", project="shop")
        talk.add("user", "I live in Leeds.")
        memory.learn()
        assert [fact.scope for fact in memory.facts(scope="projects/shop")] == ["projects/shop"]


@pytest.mark.parametrize(
    ("predicate", "value", "sentence", "project"),
    [
        ("name", "Dana", "I'm Dana, I run a small shop in Porto and this repo is its web shop", False),
        ("城市", "杭州", "我在杭州，这个项目是我的博客", False),
        ("package manager", "pnpm", "I'm Dana and this repo uses pnpm", True),
        ("rules", "answer in English", "In this project, always answer in English", True),
    ],
)
def test_who_somebody_is_goes_with_them_though_the_sentence_names_the_project(
    predicate: str, value: str, sentence: str, *, project: bool
) -> None:
    assert is_of_project(StatedFact("user", predicate, value, sentence=sentence)) is project
