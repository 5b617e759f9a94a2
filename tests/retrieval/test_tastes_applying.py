"""What the owner said of their tastes comes with a request that it concerns, and with no other message."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from mnemark.memory.memory import Memory
from mnemark.retrieval.routes.rules import MOST
from mnemark.types import Recall

SAID: Final = {
    "quiet": "I avoid guesthouses beside a disco, the noise keeps me awake.",
    "train": "I'd rather sit on a train for a day than fly.",
    "horror": "Horror films are not for me, I dream of them for weeks.",
    "doing": "I learn best by doing, I can't stand long lectures.",
    "paper": "I only read paper books, displays tire my eyes.",
    "bike": "I never buy electronics new.",
    "chili": "我胃不好，辣的菜一点都不能碰。",
    "crowds": "人多的景点我都绕着走。",
    "gifts": "送礼我只送吃的，不送摆设。",
    "index": "股票我从来不碰，只买指数基金。",
}
"""Turns of the owner, each of a talk of its own."""
CHOSEN: Final = {
    "pills": (
        "What helps with my back?",
        "Pills, a massage, or a yoga class.",
        "I'd go with the yoga class.",
    ),
    "plants": ("阳台种点什么好？", "月季、番茄、多肉都可以。", "第三个吧，我老出差。"),
}
FITTING: Final = [
    ("Where could I stay in Porto?", "quiet"),
    ("Plan my trip to Vienna, please", "train"),
    ("What should we watch tonight?", "horror"),
    ("How should I start with statistics?", "doing"),
    ("Recommend a novel for the weekend", "paper"),
    ("I need a new phone. Which one?", "bike"),
    ("晚上吃什么菜好？", "chili"),
    ("五一去哪里玩比较好？", "crowds"),
    ("妈妈生日送什么礼物好？", "gifts"),
    ("手里有点钱，怎么理财好？", "index"),
    ("My shoulder hurts, what should I do about the pain?", "pills"),
    ("办公室放什么植物好？", "plants"),
]
ORDINARY: Final = [
    "Who came to the party last Saturday?",
    "What did I cook for Anna's birthday?",
    "Where did we stay in Porto?",
    "我上个月买的自行车放在哪里？",
    "王磊的女儿叫什么？",
    "Which train did I miss in May?",
    "Thanks, that is all!",
]


def wording(name: str) -> str:
    return SAID[name] if name in SAID else CHOSEN[name][2]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root: Path = tmp_path_factory.mktemp("told")
    with Memory.open(root) as memory:
        chatter = memory.session("cli:chatter")
        for number in range(60):
            chatter.add("user", f"Today we talked about the garden, the cat and the choir, part {number}.")
            chatter.add("assistant", "That sounds like a full day.")
        for name, words in SAID.items():
            memory.session(f"cli:{name}").add("user", words)
        for name, (asked, offered, chosen) in CHOSEN.items():
            talk = memory.session(f"cli:{name}")
            talk.add("user", asked)
            talk.add("assistant", offered)
            talk.add("user", chosen)
        memory.sync(embed=True)
        yield memory


def applying(found: Recall) -> list[str]:
    return [hit.text for hit in found.hits if hit.meta.get("applies")]


@pytest.mark.parametrize(("message", "name"), FITTING)
def test_a_taste_comes_with_what_it_concerns(told: Memory, message: str, name: str) -> None:
    found = told.recall(message, deadline=20)
    assert wording(name) in applying(found)
    assert wording(name) in found.text
    assert len(applying(found)) <= MOST


@pytest.mark.parametrize("message", ORDINARY)
def test_no_other_message_gets_one(told: Memory, message: str) -> None:
    assert applying(told.recall(message, deadline=20)) == []


def test_a_search_is_given_none(told: Memory) -> None:
    assert not any(hit.meta.get("applies") for hit in told.search("Where could I stay in Porto?").hits)


def test_orders_come_first_and_all_share_three_places(tmp_path: Path) -> None:
    order = "When I ask about restaurants, always name the price"
    with Memory.open(tmp_path) as memory:
        memory.remember("rules", order, type="rule")
        memory.remember("dislikes", "raw onions in salad", type="preference")
        talk = memory.session("cli:main")
        for dish in ("lamb", "okra", "tripe", "liver"):
            talk.add("user", f"I never eat {dish}.")
        memory.sync(embed=True)
        hits = memory.recall("Which restaurant should I book for dinner?", deadline=20).hits
        assert [hit.meta.get("applies") for hit in hits].count(True) == MOST
        assert all(hit.meta.get("applies") for hit in hits[:MOST])
        assert hits[0].meta["value"] == order


def test_what_was_learned_of_a_turn_and_the_turn_come_once(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        talk = memory.session("cli:main")
        talk.add("user", "I love window seats.")
        talk.add("assistant", "Noted.")
        talk.end()
        found = memory.recall("Which seat should I book for the flight?", deadline=20)
        assert len(applying(found)) == 1
        assert "window seats" in found.text


@pytest.mark.parametrize(("role", "origin"), [("assistant", None), ("tool", "tool"), ("user", "web")])
def test_nobody_else_has_tastes(tmp_path: Path, role: str, origin: str | None) -> None:
    with Memory.open(tmp_path) as memory:
        memory.session("cli:main").add(role, SAID["quiet"], origin=origin)  # type: ignore[arg-type]
        memory.sync(embed=True)
        assert applying(memory.recall("Where could I stay in Porto?", deadline=20)) == []


def test_among_several_speakers_they_are_those_of_whom_the_request_names(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        talk = memory.session("cli:car")
        talk.add("Mira", "I never eat meat.", origin="owner")
        talk.add("Jonas", "I only eat meat.", origin="owner")
        memory.sync(embed=True)
        asked = "Mira asks: can you find us a restaurant for dinner?"
        assert applying(memory.recall(asked, deadline=20)) == ["I never eat meat."]


def test_what_happened_once_and_questions_are_no_tastes(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        talk = memory.session("cli:main")
        talk.add("user", "This morning I enjoyed the breakfast at the hotel.")
        talk.add("user", "Do I like hotels?")
        memory.sync(embed=True)
        assert applying(memory.recall("Where could I stay in Porto?", deadline=20)) == []


def test_a_taste_that_was_forgotten_is_not_brought(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        talk = memory.session("cli:main")
        turn = talk.add("user", SAID["quiet"])
        memory.sync(embed=True)
        assert applying(memory.recall("Where could I stay in Porto?", deadline=20)) == [turn.content]
        memory.forget(query="guesthouses", erase=True)
        assert applying(memory.recall("Where could I stay in Porto?", deadline=20)) == []
