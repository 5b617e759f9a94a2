"""Whether memory has something on a question, and the answer: from three turns on, with any ranking."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.memory.memory import Memory
from mnemark.retrieval.presets import PRESETS
from mnemark.retrieval.ranking.confidence import Evidence, confidence, share
from mnemark.retrieval.words import by_words_of
from mnemark_agents.hook.event import FLOOR, is_question
from mnemark_agents.hook.shown import new_block

SURE, UNSURE = 0.45, FLOOR


@pytest.fixture(params=["bundled", "none"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": request.param}) as found:
        session = found.session("cli:main")
        session.add("user", "We decided to use PostgreSQL for the billing service.")
        session.add("assistant", "Noted.")
        session.add("user", "服务器放在上海机房，下周三上线。")
        yield found


@pytest.mark.parametrize(
    "question",
    ["what did we decide for the billing service?", "postgresql", "服务器在哪个机房", "什么时候上线"],
)
def test_three_turns_are_enough_to_be_sure(memory: Memory, question: str) -> None:
    assert memory.search(question).on_topic > SURE


@pytest.mark.parametrize(
    "question", ["who won the football match?", "what is my dog's name", "今天晚饭吃什么"]
)
def test_three_turns_that_say_nothing_of_it(memory: Memory, question: str) -> None:
    assert memory.search(question).on_topic < UNSURE


def test_another_time_than_asked_is_believed_less(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-03-02.md").write_text("# 2026-03-02\n\nBought oats.\n")
    (tmp_path / "memory" / "2026-05-11.md").write_text("# 2026-05-11\n\nRepaired the garden fence.\n")
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        right = memory.search("repaired the garden fence in May", explain=True)
        wrong = memory.search("repaired the garden fence in March", explain=True)
    assert [found.hits[0].why["answer"]["outside"] for found in (right, wrong)] == [0.0, 1.0]
    assert wrong.believable < right.believable


FERRIES = [
    "The ferry to Tromso leaves the northern harbour at seven in the morning.",
    "Anna lost her suitcase in Bergen and got it back a week later.",
    "The lighthouse was painted white and red last summer.",
]


@pytest.fixture(params=["bundled", "none"])
def ferries(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": request.param}) as found:
        for number, said in enumerate(FERRIES):
            found.session(f"cli:{number}").add("user", said)
        found.sync()
        yield found


def test_with_one_word_exchanged_it_is_believed_less(ferries: Memory) -> None:
    right, wrong = "When does the ferry to Tromso leave?", "When does the ferry to Bergen leave?"
    for ask in (ferries.search, lambda text: by_words_of(ferries.root, text)):
        assert ask(right).on_topic > ask(wrong).on_topic
        assert ask(right).believable > ask(wrong).believable


def test_what_is_said_beside_the_question_does_not_hide_its_answer(ferries: Memory) -> None:
    asked = "When does the ferry to Tromso leave?"
    said = f"I am packing for a holiday with my brother and two friends, so tell me please: {asked}"
    assert FERRIES[0] in new_block(ferries.recall(said, deadline=30), frozenset(), 800)[0]


def test_a_long_question_repeats_a_smaller_share_of_itself_in_its_answer() -> None:
    short = Evidence(score=0.4, cosine=0.1, passages=100, terms=4, words=12)
    assert confidence(short._replace(terms=16)) > confidence(short)


def test_a_long_passage_says_less_than_a_short_one_with_the_same_words() -> None:
    short = Evidence(score=0.4, cosine=0.1, passages=100, terms=6, words=12)
    assert confidence(short._replace(words=200)) < confidence(short)


def test_in_a_large_memory_the_best_passage_is_better_by_chance() -> None:
    few = Evidence(score=0.4, cosine=0.1, passages=100, terms=6, words=12)
    assert confidence(few._replace(passages=100_000)) < confidence(few)


def test_both_ways_of_searching_know_the_same_of_the_question_and_the_passage(tmp_path: Path) -> None:
    with Memory.open(tmp_path, config={"embedder": "none"}) as memory:
        memory.session("cli:main").add("user", FERRIES[0])
        memory.sync()
        question = "Which harbour does the ferry to Bergen leave?"
        full = memory.search(question, explain=True)
        quick = by_words_of(tmp_path, question)
    answer = full.hits[0].why["answer"]
    assert answer["terms"] == 4
    assert answer["words"] == 7
    assert quick.on_topic == pytest.approx(full.on_topic, abs=0.05)


def talk(folder: Path, *turns: tuple[str, str]) -> None:
    """A conversation of two, among others."""
    with Memory.open(folder, config={"embedder": "none"}) as memory:
        session = memory.session("chat")
        for speaker, text in turns:
            session.add(speaker, text)
        for number in range(6):
            session.add("Ana", f"The train was late again, so I read {number} pages.")
            session.add("Ben", f"I painted {number} boards of the fence.")
        memory.sync()


def believed(folder: Path, question: str) -> list[tuple[float, float]]:
    """The confidence of both ways of searching, and the part of the speaker in the full one."""
    with Memory.open(folder, config={"embedder": "none"}) as memory:
        full = memory.search(question, explain=True)
    answer = full.hits[0].why["answer"]
    return [
        (full.believable, answer["other"]),
        (by_words_of(folder, question).believable, answer["other"]),
    ]


@pytest.mark.parametrize(
    ("told", "asked", "right", "wrong"),
    [
        ("I adopted a grey parrot from the shelter.", "What did {} adopt from the shelter?", "Ana", "Ben"),
        ("Thanks, Ben! I adopted a grey parrot from the shelter.", "What did {} adopt?", "Ana", "Ben"),
        ("I adopted a grey parrot from the shelter.", "what did {} adopt from the shelter?", "Zoë", "José"),
        ("我从收容所领养了一只灰鹦鹉。", "{}从收容所领养了什么？", "王芳", "王强"),
    ],
)
def test_what_somebody_else_said_is_believed_less(
    tmp_path: Path, told: str, asked: str, right: str, wrong: str
) -> None:
    talk(tmp_path, (right, told), (wrong, "Lovely, how old is it?" if told.isascii() else "真好，多大了？"))
    for (true, none), (false, other) in zip(
        believed(tmp_path, asked.format(right)), believed(tmp_path, asked.format(wrong)), strict=True
    ):
        assert none == 0
        assert other > 0
        assert false < true - 0.1


@pytest.mark.parametrize(
    ("told", "asked", "of"),
    [
        ("Ben adopted a grey parrot from the shelter.", "What did {} adopt?", "Ben"),
        ("My brother Ben, he adopted a grey parrot!", "What did {} adopt?", "Ben"),
        ("Ben, you left your umbrella at my place.", "Where is {}'s umbrella?", "Ben"),
        (
            "And congrats on the new job at Siemens, Ben!",
            "Where is the new job of {}?",
            "Ben",
        ),
        ("王强，听说你换到华为工作了？", "{}在哪里工作？", "王强"),
        ("王强说他下个月要去日本出差。", "{}下个月去哪里出差？", "王强"),
    ],
)
def test_what_somebody_else_told_of_them_is_believed(tmp_path: Path, told: str, asked: str, of: str) -> None:
    talk(tmp_path, ("Ana" if told.isascii() else "王芳", told), (of, "Yes." if told.isascii() else "是的。"))
    assert [other for _, other in believed(tmp_path, asked.format(of))] == [0, 0]
    assert all(value > UNSURE for value, _ in believed(tmp_path, asked.format(of)))


def test_it_does_not_hang_on_the_ranking(memory: Memory) -> None:
    question = "what did we decide for the billing service?"
    found = {name: memory.search(question, preset=name).on_topic for name in PRESETS}
    assert min(found.values()) > SURE


ENGLISH = [
    ("我住在哪个城市？", "I moved to the city of Rotterdam in March and live in a flat near the harbour."),
    ("我的狗叫什么名字？", "My dog is called Biscuit and he is a beagle."),
    ("我们的婚礼是什么时候？", "Our wedding is planned for the twelfth of June."),
    ("账单服务用的是什么数据库？", "The database of the billing service runs on PostgreSQL."),
    ("我姐姐做什么工作？", "My sister works as a nurse in a children's hospital."),
    ("我对什么食物过敏？", "I am allergic to peanuts and shellfish."),
    ("车库的屋顶什么时候修的？", "We repaired the roof of the garage last autumn."),
]
CHINESE = [
    ("When do I go swimming?", "我每周三晚上去游泳。"),
    ("Where is my passport?", "我的护照放在书房的抽屉里。"),
    ("What does my daughter study?", "女儿在上海学习建筑。"),
    ("How often does the server's password change?", "服务器的密码每九十天更换一次。"),
    ("What is my favourite coffee?", "我最喜欢的咖啡是埃塞俄比亚的。"),
    ("When is grandfather's birthday?", "爷爷的生日是十月五号。"),
    ("When is the quarterly financial report due?", "下周要交季度财务报告。"),
    ("What car do I drive?", "我开的是一辆蓝色的电动汽车。"),
]
SMALL_TALK = [
    *(
        "hi, how are you",
        "Hi! How are you?",
        "thanks!",
        "Thank you very much.",
        "what a nice day",
        "what's up?",
    ),
    *(
        "How was your day?",
        "你好",
        "你好吗？",
        "谢谢",
        "你今天怎么样？",
        "早上好！今天天气真好",
        "哈哈，太好了",
    ),
]
OFF_TOPIC = [
    "Who won the football match?",
    "What is the capital of Peru?",
    "光速是多少？",
    "今天晚饭吃什么？",
]


@pytest.mark.parametrize("others", [0, 40], ids=["a first session", "among other notes"])
@pytest.mark.parametrize("pairs", [ENGLISH, CHINESE, ENGLISH + CHINESE], ids=["english", "chinese", "both"])
def test_questions_across_languages_are_answered_and_small_talk_is_not(
    tmp_path: Path, pairs: list[tuple[str, str]], others: int
) -> None:
    with Memory.open(tmp_path) as memory:
        session = memory.session("cli:main")
        for _, said in pairs:
            session.add("user", said)
        for number in range(others):
            note = f"# Shelf {number}\n\nBox {number} holds screws.\n\n第{number}号箱子里是油漆。\n"
            (tmp_path / f"shelf-{number}.md").write_text(note, "utf-8")
        memory.sync()

        def given(question: str) -> str:
            found = memory.recall(question, deadline=30)
            return new_block(found, frozenset(), 800)[0] if is_question(question) else ""

        right = [said in given(question) for question, said in pairs]
        assert sum(right) >= 0.8 * len(right)
        assert not [said for said in SMALL_TALK if given(said)]
        assert len([said for said in OFF_TOPIC if given(said)]) <= 1  # dinner is near an evening's swim


DEPLOYMENTS = [
    ("The release of the billing service goes out on Tuesdays.", "账单服务每周二发布。"),
    ("Anna approved the new layout of the login page.", "安娜批准了登录页面的新布局。"),
    ("My dog is called Biscuit and he is a beagle.", "我的狗叫豆豆。"),
    ("Every night the database is copied to a second site.", "数据库每天晚上备份到另一个机房。"),
]


@pytest.mark.parametrize("language", [0, 1], ids=["english", "chinese"])
@pytest.mark.parametrize(
    "question",
    ["Summarize the layout of the login page", "总结一下登录页面的布局", "请帮我回顾一下登录页面的布局"],
)
def test_an_overview_is_given_in_the_other_language_too(tmp_path: Path, question: str, language: int) -> None:
    with Memory.open(tmp_path) as memory:
        session = memory.session("cli:main")
        for said in DEPLOYMENTS:
            session.add("user", said[language])
        memory.sync()
        found = memory.recall(question, deadline=30)
        block = new_block(found, frozenset(), 800)[0]
    assert DEPLOYMENTS[1][language] in block


def test_an_overview_of_what_is_not_there_is_not_given(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        session = memory.session("cli:main")
        for said in DEPLOYMENTS:
            session.add("user", said[0])
        memory.sync()
        for question in (
            "Summarize the football season",
            "Give me an overview of the tax return",
            "总结一下",
        ):
            found = memory.recall(question, deadline=30)
            assert not is_question(question) or not new_block(found, frozenset(), 800)[0]


@pytest.mark.parametrize(
    ("plain", "with_its_form"),
    [
        (
            "Timeline of the greenhouse",
            "List all steps of the greenhouse in the order I brought them up, five items",
        ),
        ("温室的来龙去脉", "按先后顺序列出我们聊过的温室，五点，每点一句话"),
    ],
)
def test_the_form_of_an_overview_is_not_looked_for(tmp_path: Path, plain: str, with_its_form: str) -> None:
    with Memory.open(tmp_path) as memory:
        session = memory.session("garden:1")
        session.add("user", "The greenhouse will stand behind the shed. 温室放在棚子后面。")
        session.add("user", "The greenhouse got its glass today. 温室今天装了玻璃。")
        session.add("user", "My sister moved to Leeds. 我姐姐搬到利兹了。")
        asked, listed = (memory.search(question).on_topic for question in (plain, with_its_form))
        assert listed >= asked - 0.1
        assert (
            memory.search(with_its_form.replace("greenhouse", "tax return").replace("温室", "报税")).on_topic
            < UNSURE
        )


texts = st.text("ab 数据", max_size=60)


@given(st.dictionaries(texts.filter(bool), st.floats(0.01, 9), max_size=6), texts)
def test_shares_are_shares(terms: dict[str, float], text: str) -> None:
    present = frozenset(term for term in terms if term in text)
    assert 0 <= share(terms, present) <= 1 + 1e-9


@given(
    st.builds(
        Evidence,
        score=st.floats(0, 3),
        cosine=st.none() | st.floats(-1, 1),
        passages=st.integers(0, 10_000_000),
        terms=st.integers(0, 400),
        words=st.integers(0, 65_535),
        outside=st.sampled_from([0.0, 1.0]),
        other=st.floats(0, 1),
        crossed=st.sampled_from([0.0, 1.0]),
        turn=st.sampled_from([0.0, 1.0]),
    ),
    st.floats(0, 1),
)
def test_more_evidence_is_never_believed_less(evidence: Evidence, more: float) -> None:
    found = confidence(evidence)
    assert 0 <= min(found) <= max(found) <= 1
    for stronger in (
        evidence._replace(score=evidence.score + more),
        evidence._replace(other=min(evidence.other, more)),
        evidence._replace(outside=0.0),
    ):
        assert confidence(stronger).on_topic >= found.on_topic
        assert confidence(stronger).believable >= found.believable


def test_the_answer_is_told_with_reserve() -> None:
    there = Evidence(score=0.9, cosine=0.4, passages=500, terms=4, words=12)
    nothing = Evidence(score=0.02, cosine=0.0, passages=5_000, terms=4, words=60)
    assert confidence(there).believable < confidence(there).on_topic
    assert confidence(nothing).believable > confidence(nothing).on_topic
