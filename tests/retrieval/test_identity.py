"""The note that a query names stands first, however often others use these words."""

from pathlib import Path

import pytest

from mnemark import Memory

CONFIG = {"embedder": "none"}
OTHERS = {
    f"log/{number}.md": f"# Week {number}\n\n{text}\n"
    for number, text in enumerate(
        (
            "Flutter, flutter, flutter: we compared Flutter with others and kept Flutter.",
            "Django here, Django there: Django is what we use, using Django with everything.",
            "The green harbour plan: harbour, plan, harbour plan, and again the harbour plan in green.",
            "量子力学的课很难。量子力学作业,量子力学考试,还是量子力学。",
            "The tools were the best tools, and other tools for tools.",
        )
    )
}
NAMED = {
    "flutter.md": "# Notes on a kit\n\nMakes apps for phones.\n",
    "python/Using just with Django.md": "A runner of commands, for migrations and the like.\n",
    "python/django.md": "A framework.\n",
    "zone.md": "---\naliases: [Green Harbour Plan, GHP]\n---\nWhat the town decided in May.\n",
    "物理/量子力学.md": "老师推荐的书单。\n",
    "tool.md": "What helps a hand.\n",
    "tools.md": "A list.\n",
    "you.md": "A film.\n",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    root: Path = tmp_path_factory.mktemp("named")
    for path, text in (OTHERS | NAMED).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    memory = Memory.open(root, config=CONFIG)
    memory.sync()
    return memory


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("flutter", "flutter.md"),
        ("What is Flutter?", "flutter.md"),
        ("notes on a kit", "flutter.md"),
        ("Using just with Django", "python/Using just with Django.md"),
        ("Django", "python/django.md"),
        ("green harbour plan", "zone.md"),
        ("GHP", "zone.md"),
        ("量子力学", "物理/量子力学.md"),
        ("量子力学是什么？", "物理/量子力学.md"),
        ("tool", "tool.md"),
        ("Tools", "tools.md"),
        ("What is a tool?", "tool.md"),
        ("you", "you.md"),
        ("Do I have notes on Flutter?", "flutter.md"),
        ("What did I write about Django?", "python/django.md"),
        ("show me everything I know about the green harbour plan", "zone.md"),
        ("有没有量子力学的笔记？", "物理/量子力学.md"),
        ("关于量子力学我记过什么？", "物理/量子力学.md"),
    ],
)
def test_the_note_that_a_query_names_is_first(memory: Memory, query: str, path: str) -> None:
    assert memory.search(query).hits[0].path == path
    recalled = memory.recall(query, deadline=20)
    assert recalled.hits[0].path == path


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Who compared Flutter with others?", "log/0.md"),
        ("量子力学作业", "log/3.md"),
    ],
)
def test_a_question_with_more_words_than_a_name_is_answered_by_what_has_them(
    memory: Memory, query: str, path: str
) -> None:
    assert memory.search(query).hits[0].path == path


def test_a_name_does_not_reach_into_another_scope(tmp_path: Path) -> None:
    for path in ("users/ann/flutter.md", "log.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("We talked about flutter.\n", encoding="utf-8")
    with Memory.open(tmp_path, config=CONFIG) as memory:
        assert [hit.path for hit in memory.search("flutter").hits] == ["log.md"]
        assert memory.search("flutter", scope="users/ann").hits[0].path == "users/ann/flutter.md"
