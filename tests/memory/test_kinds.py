"""Predicates that name a kind hold several values: a second rule, preference or project ends no other."""

from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.errors import NotFoundError
from mnemark.facts.keys import holds_many, predicate_key
from mnemark.facts.predicates import VERBS, many, predicates, singular_of
from mnemark_interfaces import tools_run
from sampled import sampled

NAMES = {key: row.names for key, row in predicates().items() if row.holds in {"kind", "wide"}}
NAMED = sorted({*NAMES, *map(singular_of, NAMES)})
OTHERS = sorted({name for names in NAMES.values() for name in names})
NARROWER = (
    "coding rule", "food preference", "side project", "team member", "food allergy", "build error",
    "编码规则", "饮食偏好", "开源项目", "食物过敏",
)  # fmt: skip
ONE = (
    "city", "编辑器", "python version", "language", "current project", "my current project", "当前项目",
    "主要目标", "best friend", "favorite song", "main goal", "editor preference", "语言偏好", "bank account",
    "docs link", "build tool", "server", "project name", "rule 1", "error count",
)  # fmt: skip


def current(memory: Memory, as_of: str | None = None) -> list[str]:
    return [fact.value for fact in memory.facts(as_of=as_of)]


def test_all_names_of_a_kind_have_one_key_that_holds_many() -> None:
    for key, names in NAMES.items():
        assert {predicate_key(name) for name in (key, singular_of(key), *names)} == {key}
        assert holds_many(key)


def test_what_holds_many_in_the_plural_does_in_the_singular() -> None:
    one = {"server", "language"}  # of a project, of answers
    singulars = {singular_of(word) for word in many() - VERBS}
    assert {word for word in singulars if not holds_many(word)} == one


@pytest.mark.parametrize("predicate", sampled([*NAMED, *OTHERS, *NARROWER], 9))
def test_a_second_value_ends_no_other(predicate: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        first = memory.remember(predicate, "run the tests before a commit")
        second = memory.remember(predicate, "keep the door closed")
        assert (first.supersedes, second.supersedes) == ("", "")
        assert len(current(memory)) == 2
        again = memory.remember(predicate, "Keep the door closed.")
        assert again.id == second.id
        memory.undo(second.id)
        assert current(memory) == ["run the tests before a commit"]
        memory.forget(id=first.id)
        assert current(memory) == []


@pytest.mark.parametrize("predicate", ONE)
def test_what_one_has_one_of_is_replaced(predicate: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        first = memory.remember(predicate, "borealis")
        assert memory.remember(predicate, "atlas").supersedes == first.id
        assert current(memory) == ["atlas"]


CONTRADICTIONS = [
    ("rule", "use tabs", "never use tabs"),
    ("rule", "Don't push to main", "push to main"),
    ("coding rule", "keep functions under 40 lines", "keep functions under 60 lines"),
    ("preference", "tea over coffee", "coffee over tea"),
    ("preferences", "use tabs, not spaces", "use spaces, not tabs"),
    ("rules", "language: English", "language: German"),
    ("规则", "用制表符", "不要用制表符"),
    ("规则", "函数最多 40 行", "函数最多 60 行"),
    ("偏好", "用空格不用制表符", "用制表符不用空格"),
]


@pytest.mark.parametrize(("predicate", "before", "after"), CONTRADICTIONS)
def test_what_contradicts_a_rule_ends_it(predicate: str, before: str, after: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember(predicate, "answer within a day", since="2026-01-01")
        first = memory.remember(predicate, before, since="2026-02-01")
        second = memory.remember(predicate, after, since="2026-03-01")
        assert second.supersedes == first.id
        assert sorted(current(memory)) == sorted(["answer within a day", after])
        assert sorted(current(memory, as_of="2026-02-10")) == sorted(["answer within a day", before])
        memory.undo(second.id)
        assert sorted(current(memory)) == sorted(["answer within a day", before])


def test_a_rule_that_arrives_late_is_history(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember("rule", "never use tabs", since="2026-03-01")
        late = memory.remember("rule", "use tabs", since="2026-01-01")
        assert late.until[:10] == "2026-03-01"
        assert current(memory) == ["never use tabs"]
        assert current(memory, as_of="2026-02-01") == ["use tabs"]


@pytest.mark.parametrize(
    ("predicate", "one", "other"),
    [
        ("rule", "do not touch server 1", "do not touch server 2"),
        ("rule", "commit messages: imperative mood", "commit messages: no emojis"),
        ("note", "todo: buy milk", "todo: call Ann"),
        ("error", "TypeError: x is None", "TypeError: y is None"),
        ("project", "atlas 1", "atlas 2"),
        ("preference", "tea", "coffee"),
        ("preference", "dark mode", "dark chocolate"),
        ("规则", "不要动服务器1", "不要动服务器2"),
    ],
)
def test_what_is_alike_contradicts_nothing(predicate: str, one: str, other: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember(predicate, one)
        memory.remember(predicate, other)
        assert sorted(current(memory)) == sorted([one, other])


@pytest.mark.parametrize("again", ["always use tabs", "Please use tabs!", "use tabs"])
def test_what_says_the_same_in_other_words_is_no_other_rule(again: str, tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        first = memory.remember("rule", "use tabs")
        assert memory.remember("rules", again).id == first.id


def test_the_caller_says_what_is_replaced(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        dark = memory.remember("preference", "dark mode")
        memory.remember("preference", "tea over coffee")
        ref = next(fact.ref for fact in memory.facts() if fact.id == dark.id)
        light = memory.remember("theme", "light", replaces=ref)
        assert light.supersedes == dark.id
        assert sorted(current(memory)) == ["light", "tea over coffee"]
        assert "dark mode" in [fact.value for fact in memory.facts(history=True)]
        with pytest.raises(NotFoundError, match="mnemark facts"):
            memory.remember("preference", "sepia", replaces="memory/facts/user.md#L999")
        assert "sepia" not in current(memory)
        memory.undo(light.id)
        assert sorted(current(memory)) == ["dark mode", "tea over coffee"]


def test_what_is_contradicted_and_named_ends_once(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        tabs = memory.remember("rule", "use tabs")
        memory.remember("rule", "never use tabs", replaces=tabs.id)
        assert len(memory.workspace.fact_store.log.ends()) == 1
        assert current(memory) == ["never use tabs"]


def test_a_value_that_is_known_may_replace_another(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        dark, light = (memory.remember("preference", value) for value in ("dark mode", "light mode"))
        assert memory.remember("preference", "light mode", replaces=dark.id).id == light.id
        assert current(memory) == ["light mode"]


def test_an_agent_ends_no_rule_of_the_owner_s_but_may_propose_it(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.remember("rule", "use tabs")
        dark = memory.remember("preference", "dark mode")
        for asked in (
            {"predicate": "rule", "value": "never use tabs"},
            {"predicate": "preference", "value": "light mode", "replaces": dark.id},
        ):
            done = tools_run.call(memory, "memory_remember", asked)["structuredContent"]
            assert done["status"] == "waits for review"
        assert sorted(current(memory)) == ["dark mode", "use tabs"]
        for waiting in list(memory.review()):
            memory.accept(waiting.id)
        assert sorted(current(memory)) == ["light mode", "never use tabs"]


def test_over_mcp_both_stay(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        for value in ("run the tests first", "no force push"):
            done = tools_run.call(memory, "memory_remember", {"predicate": "rule", "value": value})
            assert "supersedes" not in done["structuredContent"]
        assert sorted(current(memory)) == ["no force push", "run the tests first"]


def test_in_one_call_both_stay_and_what_contradicts_ends_the_one_before(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        values = ("use tabs", "no force push", "never use tabs", "Never use tabs.")
        memory.remember_many({"predicate": "rule", "value": value} for value in values)
        assert sorted(current(memory)) == ["never use tabs", "no force push"]


def test_prompts_pages_and_recall_show_both(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        for value in ("tea over coffee", "dark mode"):
            memory.remember("preference", value)
        memory.sync()
        found = memory.recall("what are my preferences?", deadline=20.0)
        assert found.believable
        for text in (found.text, memory.prompt().text):
            assert "tea over coffee" in text
            assert "dark mode" in text
        memory.consolidate()
        page = (tmp_path / "USER.md").read_text("utf-8")
        assert "tea over coffee" in page
        assert "dark mode" in page


def test_two_bullets_written_by_hand_both_hold(tmp_path: Path) -> None:
    path = tmp_path / "memory/facts/user.md"
    path.parent.mkdir(parents=True)
    path.write_text("- rule: run the tests first\n- 规则: 不要强推\n- rules:\n  - no force push\n", "utf-8")
    with Memory.open(tmp_path) as memory:
        memory.sync()
        assert current(memory) == ["run the tests first", "不要强推", "no force push"]
        memory.remember("rule", "two reviewers")
        assert len(current(memory)) == 4
