"""A prompt is no question: of a whole message, what it asks is searched first."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemark import Memory
from mnemark.retrieval.focus import focus

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
NOW = START + timedelta(days=120)
TOLD = [
    "The tiler for the bathroom is called Okafor, he comes in May.",
    "We had soup at the harbour and the ferry was late again.",
    "My bike chain broke on the way to the allotment this morning.",
    "The neighbours lent us their ladder for the cherry tree.",
    "I slept badly, the street lamp shines into the room.",
    "浴室的瓷砖工姓欧,五月来。",
    "昨天在码头喝了汤,渡轮又晚点了。",
    "早上去菜园的路上自行车链条断了。",
]
CHATTER_TOLD = [text for text in TOLD if "tiler" not in text and "瓷砖" not in text]
CHATTER = (
    "I slept badly again and the street lamp is driving me mad. "
    "The ferry was late, so we had soup at the harbour. "
)
MORE = " After that we picked cherries with the neighbours until it rained, and the bike is still broken."
CHATTER_ZH = "早上自行车又坏了,走路去的菜园。渡轮晚点,我们在码头喝了汤。"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = Memory.open(tmp_path_factory.mktemp("messages"))
    for day, text in enumerate(TOLD + CHATTER_TOLD * 3):
        memory.session(f"day-{day}").add("user", text, time=START + timedelta(days=day))
    memory.sync()
    return memory


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        (f"{CHATTER}What is the tiler for the bathroom called?", "Okafor"),
        (f"{CHATTER}What is the tiler for the bathroom called?{MORE}", "Okafor"),
        (f"{CHATTER * 30}{MORE * 40} So what's the name of the bathroom tiler?", "Okafor"),
        (f"{CHATTER}Tell me what the tiler for the bathroom is called.", "Okafor"),
        (f"{CHATTER_ZH}浴室的瓷砖工姓什么？", "姓欧"),
        (f"{CHATTER_ZH * 20}浴室的瓷砖工姓什么？今天先这样。", "姓欧"),
    ],
)
def test_the_question_of_a_message_is_answered(memory: Memory, message: str, answer: str) -> None:
    assert answer in memory.search(message, now=NOW, k=3).hits[0].text
    assert answer in memory.recall(message, now=NOW, deadline=20).text


def test_a_time_in_what_is_told_restricts_nothing(memory: Memory) -> None:
    message = (
        "On 6 January the ferry was late and we had soup. Anyway, which tiler does our bathroom get in May?"
    )
    assert "tiler" in memory.search(message, now=NOW).hits[0].text


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("Where is my ladder?", "Where is my ladder?"),
        ("It rained. Where is my long green ladder?", "Where is my long green ladder?"),
        ("On 5 May there was a party. Who came?", "On 5 May there was a party. Who came?"),
        ("I saw Dr. Smith at the harbour.", "I saw Dr. Smith at the harbour."),
        ("We ate. We drank. We slept.", "We ate. We drank. We slept."),
        ("下雨了。我的绿色长梯子放在哪里了？", "我的绿色长梯子放在哪里了？"),
        ("", ""),
        ("  \n", "  \n"),
        (
            "Nothing new here. In March Dana sold her bakery in Ghent. Which supplier did she recommend?",
            "In March Dana sold her bakery in Ghent. Which supplier did she recommend?",
        ),
        (
            "We were late again. Which supplier did Dana recommend to her sister?",
            "Which supplier did Dana recommend to her sister?",
        ),
        (
            "今天好累。三月王芳卖掉了面包店。她推荐了哪家供应商？",
            "三月王芳卖掉了面包店。 她推荐了哪家供应商？",
        ),
    ],
)
def test_what_a_message_asks(message: str, asked: str) -> None:
    assert focus(message) == asked


def test_a_message_that_asks_nothing_is_searched_by_each_of_its_sentences(memory: Memory) -> None:
    message = "The tiler for our bathroom wrote to me. It is cold. The moon was out. The choir sang."
    assert "tiler" in memory.search(message, now=NOW).hits[0].text


def test_an_empty_folder_and_a_huge_message(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        assert not memory.search("a. b? " * 200_000).hits
