"""What a note says of its owner in passing comes first where the owner asks for it, among hundreds."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from mnemark.memory.memory import Memory

STATES: Final = [
    ("Where do I live?", "I live in a mill near Basel."),
    ("Who do I work for?", "I work for Nordwind as a surveyor."),
    ("What is my account on the forum?", "My account is @larkspur, I rarely post there."),
    ("What am I allergic to?", "I'm allergic to walnuts."),
    ("What car do I drive?", "I now drive an old Skoda."),
    ("Which languages do I speak?", "I speak Catalan and some Finnish."),
    ("What is my blood type?", "My blood type is B negative."),
    ("Who is my dentist?", "My dentist is Dr. Amsel."),
    ("What instrument do I play?", "I've been playing the viola for years."),
    ("Where am I studying?", "I'm studying at the evening college in Trier."),
    ("我住在哪里？", "我现在住在嘉兴，离老城不远。"),
    ("我在哪里上班？", "我在一家测绘公司上班，已经六年了。"),
    ("我的论坛账号是什么？", "我的论坛账号是百灵鸟77。"),
    ("我对什么过敏？", "我对芒果和花粉过敏。"),
    ("我开什么车？", "我开一辆旧的斯柯达。"),
    ("我会说哪些语言？", "我会说闽南话和一点芬兰语。"),
    ("我的血型是什么？", "我的血型是AB型。"),
    ("我的牙医是谁？", "我的牙医是林大夫，在解放路。"),
    ("我在学什么乐器？", "我在学中提琴，每周两节课。"),
    ("我给谁打工？", "我给隔壁的王老板打工，做了三年。"),
]
_SUBJECTS: Final = (
    *("the house", "a car", "the forum", "my notes", "the dentist", "a language course", "the orchestra"),
    *("an account", "blood pressure", "work", "the college", "allergies"),
)
_MATTERS: Final = (
    "where people live",
    "how they work",
    "what to drive",
    "what is spoken there",
    "what I read of it",
    "why I play less",
    "which account to close",
    "what it is like to live abroad",
)
_SUBJECTS_ZH: Final = ("住房", "上班", "账号", "过敏", "汽车", "语言", "血型", "牙医", "乐器", "打工")
_MATTERS_ZH: Final = ("住在城外的人", "公司里的事", "开车的规矩", "学语言的办法", "我读到的文章", "给谁写信")
_OTHERS: Final = [
    "> I live in Paris and I work for a bank.",
    "Bob: I live in Rome, I drive a van and I speak Dutch.",
    'She wrote "I live in Oslo" on the card.',
    "If I live in Spain one day, I want a garden.",
    "小王：我住在南京，我给舅舅打工。",
    "“我住在深圳”，他说。",
]


def _distractors(draw: random.Random) -> Iterator[str]:
    for _ in range(300):
        yield (
            f"Some thoughts on {draw.choice(_SUBJECTS)}: {draw.choice(_MATTERS)}, and I should ask about "
            f"{draw.choice(_SUBJECTS)} and {draw.choice(_MATTERS)}."
        )
        about, beside = draw.choice(_SUBJECTS_ZH), draw.choice(_SUBJECTS_ZH)
        yield f"说说{about}：{draw.choice(_MATTERS_ZH)}，我想再看看{beside}。"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root: Path = tmp_path_factory.mktemp("vault")
    draw = random.Random(7)
    others = list(_distractors(draw))
    notes = root / "notes"
    notes.mkdir()
    for number, text in enumerate(others):
        notes.joinpath(f"{number}.md").write_text(f"# Note {number}\n\n{text}\n", "utf-8")
    for number, text in enumerate(_OTHERS):
        notes.joinpath(f"others-{number}.md").write_text(f"{text}\n", "utf-8")
    for number, (_, state) in enumerate(STATES):
        around = draw.sample(others, 4)
        text = "\n\n".join([f"# Day {number}", *around[:2], f"- {state}", *around[2:]])
        notes.joinpath(f"day-{number}.md").write_text(f"{text}\n", "utf-8")
    with Memory.open(root) as memory:
        memory.sync(embed=True)
        yield memory


@pytest.mark.parametrize(("question", "state"), STATES)
def test_what_tells_it_comes_first(vault: Memory, question: str, state: str) -> None:
    assert state in vault.search(question).hits[0].text


@pytest.mark.parametrize(
    "question", ["Where do I live?", "我住在哪里？", "Who do I work for?", "我给谁打工？"]
)
def test_other_peoples_words_and_conditions_are_not_raised(vault: Memory, question: str) -> None:
    hits = vault.search(question, k=60, explain=True).hits
    raised = [hit.text for hit in hits if hit.why["boosts"].get("tie", 0) > 0]
    assert raised == [hits[0].text]
    assert any(state in raised[0] for _, state in STATES)


def test_what_tools_and_pages_print_is_not_the_owners(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        talk = memory.session("cli:main")
        talk.observe(
            "fetch", {"url": "https://example.org/blog"}, "Hello! I live in Quito. I live in a flat."
        )
        talk.add("user", "Where one can live well is a question of money, I guess: I live in Ghent.")
        talk.add("assistant", "I live in your terminal.")
        memory.sync(embed=True)
        assert "Ghent" in memory.search("Where do I live?").hits[0].text


def test_the_question_itself_tells_nothing(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        talk = memory.session("cli:main")
        talk.add("user", "Who is my dentist?")
        talk.add("assistant", "You have not told me.")
        talk.add("user", "By the way, Dr. Amsel is my dentist.")
        memory.sync(embed=True)
        assert "Amsel" in memory.search("Who is my dentist?").hits[0].text
