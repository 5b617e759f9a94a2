"""A turn that only asks what is asked now is no evidence, and no part of a recall; a search finds it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemark.memory.memory import Memory
from mnemark.retrieval.block import block
from mnemark.retrieval.echoes import wants_questions
from mnemark.retrieval.words import by_words_of
from mnemark.types import Hit, Recall
from mnemark_agents.hook.event import FLOOR

ASKED = "When does the ferry to Tromso leave?"
ASKED_BEFORE = [ASKED, "when does the ferry leave to Tromso??", "And the ferry to Tromso?"]
TOLD = "The ferry to Tromso leaves the northern harbour at seven in the morning."


@pytest.fixture(params=["bundled", "none"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": request.param}) as found:
        for number, said in enumerate([*ASKED_BEFORE, "The lighthouse was painted white last summer."]):
            found.session(f"cli:{number}").add("user", said)
        found.sync()
        yield found


def _ways(memory: Memory) -> list[Callable[[str], Recall]]:
    """Return the recall with all routes, and that of a hook without a daemon."""
    return [
        lambda text: memory.recall(text, deadline=30),
        lambda text: by_words_of(memory.root, text),
    ]


def test_no_recall_holds_the_question_itself_and_none_is_sure_of_an_answer(memory: Memory) -> None:
    for ask in _ways(memory):
        found = ask(ASKED)
        assert not {hit.text for hit in found.hits} & set(ASKED_BEFORE)
        assert found.on_topic < FLOOR


def test_a_search_finds_it_and_is_not_sure_of_an_answer_either(memory: Memory) -> None:
    found = memory.search(ASKED)
    assert {hit.text for hit in found.hits[:3]} == set(ASKED_BEFORE)
    assert found.on_topic < FLOOR


def test_beside_an_answer_the_answer_is_left_and_believed(memory: Memory) -> None:
    memory.session("cli:other").add("user", TOLD)
    memory.sync()
    for ask in _ways(memory):
        found = ask(ASKED)
        assert found.hits[0].text == TOLD
        assert not {hit.text for hit in found.hits} & set(ASKED_BEFORE)
        assert found.on_topic >= FLOOR


@pytest.mark.parametrize(
    "question", ["What did I ask about the ferry to Tromso?", "我问过什么关于 Tromso ferry 的事？"]
)
def test_a_question_about_what_was_asked_is_answered_by_it(memory: Memory, question: str) -> None:
    for ask in _ways(memory):
        assert {hit.text for hit in ask(question).hits} & set(ASKED_BEFORE)


@pytest.mark.parametrize(
    ("question", "is_of_questions"),
    [
        ("What did I ask about the ferry?", True),
        ("Which of my questions about the ferry are open?", True),
        ("你还记得我问了什么吗？", True),
        ("What should I ask the doctor?", False),
        ("这个问题怎么解决？", False),
        ("怎么访问服务器？", False),
        ("my " * 100_000, False),
    ],
)
def test_which_questions_are_about_questions(question: str, *, is_of_questions: bool) -> None:
    assert wants_questions(question) is is_of_questions


@pytest.mark.parametrize(
    "said",
    [
        "The ferry to Tromso leaves at seven, so can Anna and the twins still catch the bus?",
        "Ferry to Tromso leaves at seven.",
    ],
)
def test_a_question_that_tells_something_stays(memory: Memory, said: str) -> None:
    memory.session("cli:other").add("user", said)
    memory.sync()
    for ask in _ways(memory):
        assert said in [hit.text for hit in ask(ASKED).hits]


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Is the staging server on port 8080?", "On which port is the staging server?"),
        ("Did Anna adopt a greyhound from the shelter?", "Which dog did Anna adopt from the shelter?"),
        ("Why does pytest hang on test_sync?", "Which test does pytest hang on?"),
        ("测试服务器的端口是8080吗？", "测试服务器的端口是多少？"),
        ("安娜从收容所领养的狗是灰狗吗？", "安娜从收容所领养的狗是什么狗？"),
    ],
)
def test_a_question_that_holds_its_answer_stays(memory: Memory, said: str, question: str) -> None:
    memory.session("cli:other").add("user", said)
    memory.sync()
    for ask in _ways(memory):
        found = ask(question)
        assert found.hits[0].text == said
        assert found.on_topic >= FLOOR


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Do you remember anything about Ottilie?", "Do you know who Ottilie is?"),
        ("Hi there! Can you tell me where my passport is? Thanks!", "Where's my passport?"),
        ("do you know the name of my dentist", "Who is my dentist?"),
        ("I was wondering what time the ferry to Tromso goes.", ASKED),
        ("Remind me who Ottilie is.", "Who is Ottilie again?"),
        ("你还记得海蒂吗？", "你知道海蒂是谁吗？"),
        ("请告诉我海蒂是谁", "海蒂是谁来着？"),
    ],
)
def test_a_question_in_other_words_is_no_answer_either(tmp_path: Path, before: str, question: str) -> None:
    other = "The lighthouse was painted white last summer."
    with Memory.open(tmp_path) as memory:
        for number, said in enumerate((before, other)):
            memory.session(f"cli:{number}").add("user", said)
        for synced in (False, True):
            if synced:
                memory.sync()
            for ask in _ways(memory)[: 1 + synced]:
                found = ask(question)
                assert before not in [hit.text for hit in found.hits]
                assert found.on_topic < FLOOR
        assert memory.search(question).hits[0].text == before


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Can you book the flight to Rome on the 5th?", "When do I fly to Rome?"),
        ("Didn't I move to Lyon last spring?", "Where did I move?"),
        ("Is Ottilie my dentist? No.", "Is Ottilie my dentist?"),
        ("Remind me to call Ottilie.", "Who do I call?"),
        ("What I use is Neovim", "Do I use Neovim?"),
        ("提醒我周五给海蒂打电话", "我周五给谁打电话？"),
    ],
)
def test_what_tells_something_beside_asking_is_an_answer(tmp_path: Path, before: str, question: str) -> None:
    with Memory.open(tmp_path) as memory:
        memory.session("cli:0").add("user", before)
        memory.sync()
        for ask in _ways(memory):
            assert [hit.text for hit in ask(question).hits] == [before]


def test_a_question_stands_behind_a_statement_on_the_same(memory: Memory) -> None:
    asks = "Does Anna take the ferry to Tromso on Mondays?"
    tells = "Last year in October, after a storm that lasted all week, Anna took the ferry to Tromso."
    for number, said in enumerate((asks, tells)):
        memory.session(f"cli:anna{number}").add("user", said)
    memory.sync()
    for ask in _ways(memory):
        texts = [hit.text for hit in ask("Which ferry does Anna take to Tromso?").hits]
        assert texts.index(tells) < texts.index(asks)


def test_a_keyword_finds_the_turn_that_is_nothing_else(memory: Memory) -> None:
    session = memory.session("cli:other")
    session.add("assistant", "Which container runtime do you use?")
    session.add("user", "OrbStack")
    memory.sync()
    for ask in _ways(memory):
        assert "OrbStack" in [hit.text for hit in ask("OrbStack").hits]


def test_what_was_said_often_hides_nothing_behind_it(memory: Memory) -> None:
    command = "Repair the failing test of the parser"
    for number in range(30):
        memory.session(f"cli:same{number}").add("user", command)
    memory.session("cli:other").add("user", "The parser needs a newer fixture for that, said Anna on Monday.")
    memory.sync()
    for ask in _ways(memory):
        found = [hit.text for hit in ask(command).hits]
        assert found[0] == "The parser needs a newer fixture for that, said Anna on Monday."
        assert command not in found


def test_a_chinese_question_that_was_asked_before(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        memory.session("cli:1").add("user", "我的护照放在哪里？")
        memory.session("cli:2").add("user", "我的护照放在书房的抽屉里。")
        memory.sync()
        for ask in _ways(memory):
            assert [hit.text for hit in ask("我的护照放在哪里？").hits] == ["我的护照放在书房的抽屉里。"]


def test_a_command_that_was_given_before(memory: Memory) -> None:
    command = "Repair the failing test of the parser"
    memory.session("cli:1").add("user", command)
    memory.session("cli:2").add("user", "The failing test of the parser needs a newer fixture.")
    memory.sync()
    for ask in _ways(memory):
        assert [hit.text for hit in ask(f"{command} ").hits][:1] == [
            "The failing test of the parser needs a newer fixture."
        ]
    assert command in [hit.text for hit in memory.search(command).hits]


def test_the_block_leaves_out_a_question_that_is_far_behind() -> None:
    def turn(text: str, score: float) -> Hit:
        return Hit(
            ref=f"sessions/a.jsonl#L{score}", path="sessions/a.jsonl",
            start_line=int(score * 1000), end_line=int(score * 1000),
            kind="turn", title="", date=None, origin="owner", scope="", score=score, text=text, snippet=text,
            meta={"role": "user"},
        )  # fmt: skip

    best = turn("The ferry to Tromso leaves at seven.", 0.9)
    asks = turn("Which ferry did Anna take?", 0.4)
    tells = turn("Anna took the night ferry. Shall we do the same?", 0.41)
    assert block([best, tells, asks], budget=800).hits == (best, tells)
    assert block([asks], budget=800).hits == (asks,)
