"""Facts in search and recall: found by what they are about, the value that holds before the one before it."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from mnemark.memory.memory import Memory
from mnemark.retrieval.routes.fact_questions import parse_question
from mnemark.types import Hit

PAIRS = [
    msgspec.json.decode(line)
    for line in (Path(__file__).parent / "facts_questions.jsonl").read_bytes().splitlines()
]
TURNS = """
Where is the best place to live in Europe, by the numbers? I read an article about it.
The python in the zoo is three metres long and has a new version of its cage.
My neighbour's birthday party is on Saturday, remember to buy a present.
Mira asked which editor of the newspaper wrote about the flood.
The shell on the beach was bigger than my hand.
The city council voted on the new budget and the deadline for comments.
Could you work on the slides while I am at work? The job queue is stuck again.
We talked about the license plate of the car and where the boss parks.
My wife says the database of recipes has no chilli.
I like how the default branch of the river flows west; do you like it?
The time zone bug in the calendar is fixed, the name of the test was wrong.
What language do people speak in Brazil? Portuguese.
在欧洲住在哪里最便宜?我看到一篇文章。
动物园里的蟒蛇换了新的笼子。
邻居的生日会在周六,别忘了买礼物。
报纸的编辑写了关于洪水的文章。
我们讨论了公司楼下的餐厅,大家都喜欢那里的面。
项目会议改到周三,数据库迁移明天再说。
老婆说香菜太贵了,猫在沙发上睡觉。
上海的时区和北京一样,电话会议九点开始。
医生说过敏季节快到了,记得带药。
老师布置的作业截止到周五。
""".strip().splitlines()


class Asked(NamedTuple):
    question: str
    value: str
    old: str


ASKED = [Asked(question, pair["value"], pair.get("old", "")) for pair in PAIRS for question in pair["ask"]]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("facts"), config={"timezone": "Asia/Shanghai"}) as memory:
        session = memory.session("cli:main")
        for number in range(10):
            for turn in TURNS:
                session.add("user", f"{turn} ({number})")
        said = []
        for pair in PAIRS:
            about = {"subject": pair["subject"], "predicate": pair["predicate"]}
            if "old" in pair:
                said.append({**about, "value": pair["old"], "since": "2026-01-01"})
            said.append({**about, "value": pair["value"], "since": "2026-03-01"})
        memory.remember_many(said)
        memory.sync()
        yield memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "agent", config={"timezone": "Asia/Shanghai"}) as opened:
        yield opened


def values(hits: tuple[Hit, ...]) -> list[str]:
    return [str(hit.meta.get("value", "")) for hit in hits]


def shares(memory: Memory) -> tuple[float, float]:
    """Share of the questions whose fact is the first hit, and among the first three."""
    found = [values(memory.search(one.question, k=3).hits) for one in ASKED]
    first = sum(hits[:1] == [one.value] for hits, one in zip(found, ASKED, strict=True))
    among = sum(one.value in hits for hits, one in zip(found, ASKED, strict=True))
    return first / len(ASKED), among / len(ASKED)


def test_questions_find_their_facts_in_both_languages(
    filled: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(ASKED) >= 60
    first, among = shares(filled)
    with monkeypatch.context() as without:
        without.setattr("mnemark.retrieval.routes.facts.matches", lambda *_: [])
        plain_first, _ = shares(filled)
    assert first >= 0.9
    assert among >= 0.95
    assert first > plain_first + 0.2


def test_the_value_that_holds_is_before_the_one_it_replaced(filled: Memory) -> None:
    changed = [one for one in ASKED if one.old]
    assert len(changed) >= 25
    for one in changed:
        for question in (one.question, f"{one.old} {one.question}", one.old):
            found = values(filled.search(question, k=20).hits)
            if one.old in found:
                assert one.value in found[: found.index(one.old)], question


def test_asked_as_of_a_day_the_value_of_that_day_is_the_answer(filled: Memory) -> None:
    for one in ASKED:
        if one.old:
            found = values(filled.search(one.question, as_of="2026-02-01").hits)
            assert one.value not in found, one.question
            assert found[:1] == [one.old] or one.old in found[:3], one.question


def test_questions_about_others_do_not_bring_in_the_users_facts(filled: Memory) -> None:
    for question in (
        "the python in the zoo",
        "动物园里的蟒蛇",
        "which editor of the newspaper wrote about the flood",
    ):
        assert filled.search(question).hits[0].kind == "turn", question


def test_a_hit_says_what_it_replaced_and_since_when(memory: Memory) -> None:
    memory.remember("python version", "3.10", since="2026-01-01")
    memory.remember("python version", "3.12", since="2026-02-20")
    found = memory.recall("what python version do I use", deadline=10)
    now, past = found.hits
    assert now.meta["replaces"] == {"value": "3.10", "until": "2026-02-20T00:00:00+08:00"}
    assert (now.meta["subject"], now.meta["predicate"], now.meta["value"]) == (
        "user",
        "python version",
        "3.12",
    )
    assert (now.meta["current"], past.meta["current"]) == (True, False)
    assert "3.12 (since 2026-02-20; before: 3.10 until 2026-02-20)" in found.text
    assert "3.10 (past: 2026-01-01 until 2026-02-20; then: 3.12)" in found.text
    assert "<!--" not in found.text


def test_a_fact_is_found_by_the_very_next_search(memory: Memory) -> None:
    memory.search("anything")
    for city in ("Bonn", "Graz", "Turin"):
        memory.remember("city", city)
        assert values(memory.search("where do I live").hits)[0] == city
        assert values(memory.search(city).hits)[0] == city


def test_a_fact_whose_file_is_busy_is_found_all_the_same(memory: Memory) -> None:
    path = memory.root / "memory/facts/user.md"
    path.parent.mkdir(parents=True)
    path.write_text("# User\n- **city**: Bonn\n", encoding="utf-8")
    assert values(memory.search("where do I live").hits)[0] == "Bonn"
    path.write_text("# User\n- **city**: Bonn\n\n", encoding="utf-8")  # somebody is saving just now
    fact = memory.remember("city", "Graz")
    assert memory.workspace.fact_store.log.pending() == [fact.id]
    found = memory.search("where do I live").hits
    assert values(found)[0] == "Graz"
    assert found[0].meta["pending"] is True
    assert values(memory.search("Graz").hits)[0] == "Graz"


def test_a_value_changed_by_hand_is_the_current_one(memory: Memory) -> None:
    memory.remember("city", "Bonn", since="2026-01-01")
    path = memory.root / "memory/facts/user.md"
    path.write_text(path.read_text(encoding="utf-8").replace("Bonn", "Graz"), encoding="utf-8")
    os.utime(path, (time.time() - 5,) * 2)
    memory.sync()
    hit = memory.search("where do I live").hits[0]
    assert (hit.meta["value"], hit.meta["replaces"]["value"]) == ("Graz", "Bonn")
    assert hit.origin == "file"
    (waiting,) = memory.review()
    assert (waiting.action, waiting.against) == ("changed", "Bonn")


def test_a_bullet_struck_through_is_past(memory: Memory) -> None:
    path = memory.root / "memory/facts/user.md"
    path.parent.mkdir(parents=True)
    path.write_text("- ~~**phone**: old one~~\n- **phone**: new one\n", encoding="utf-8")
    os.utime(path, (time.time() - 5,) * 2)
    found = memory.search("old one phone number").hits
    assert values(found)[:2] == ["new one", "old one"]
    assert "past" in found[1].text


def test_scopes_and_filters_hold_for_facts(memory: Memory) -> None:
    memory.remember("city", "Bonn", scope="users/ann")
    memory.remember("editor", "Vim", since="2026-01-01", origin="agent")
    assert "Bonn" not in values(memory.search("where do I live").hits)
    assert values(memory.search("where do I live", scope="users/ann").hits)[0] == "Bonn"
    assert values(memory.search("which editor do I use", origins=["owner"]).hits) == []
    assert values(memory.search("which editor do I use", since="2026-02-01").hits) == []
    assert memory.search("which editor do I use", kinds=["turn"]).hits == ()


def test_a_forgotten_fact_is_not_brought_back_by_the_route(memory: Memory) -> None:
    fact = memory.remember("city", "Bonn")
    memory.forget(id=fact.id)
    assert values(memory.search("where do I live").hits) == []


def test_each_fact_once_and_k_holds(memory: Memory) -> None:
    memory.remember_many([{"predicate": "likes", "value": f"tea number {n}"} for n in range(30)])
    found = memory.search("what do I like", k=5).hits
    assert len(found) == len({hit.ref for hit in found}) == 5
    assert memory.search("what do I like", k=1).hits[0].kind == "fact"


def test_explained_hits_name_the_route(memory: Memory) -> None:
    memory.remember("city", "Bonn")
    (hit,) = memory.search("我住在哪", explain=True).hits
    assert hit.why["routes"]["facts"]["rank"] == 1
    assert hit.why["boosts"]["facts"] > 0


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        ("which repository holds the user interface", set()),
        ("哪个仓库放用户界面", set()),
        ("where does the user live", {"user"}),
        ("what is the user's city", {"user"}),
        ("用户住在哪个城市", {"user"}),
    ],
)
def test_a_user_interface_is_not_the_user(question: str, subjects: set[str]) -> None:
    assert parse_question(question).subjects & {"user"} == subjects
