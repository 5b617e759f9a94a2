"""Of a model's answer only what a sentence of the turn says is believed."""

from datetime import UTC, datetime

import pytest

from mnemark.memory.learning.model_prompt import Proposed, TurnExcerpt, believed
from mnemark.types import Turn


def holds(said: str, value: str, quote: str = "", kind: str = "fact") -> bool:
    turn = Turn(id="t", role="user", origin="owner", content=said, time=datetime(2026, 3, 11, tzinfo=UTC))
    proposed = Proposed(1, "user", "city", value, quote or said, kind)  # type: ignore[arg-type]
    return believed(proposed, [TurnExcerpt(turn=turn, ref="r", scope="")], []) is not None


@pytest.mark.parametrize(
    ("said", "value", "quote"),
    [
        ("Do I live in Paris?", "Paris", ""),
        ("If I lived in Paris, I would walk more.", "Paris", ""),
        ("I do not live in Paris.", "Paris", "in Paris"),
        ("I no longer live in Paris. It was fun.", "Paris", ""),
        ("I went out today. They say Rome is nice.", "Rome today", "They say Rome is nice."),
        ("I live in Rome. Paris is nice.", "Paris", "I live in Rome."),
        ("我住在巴黎吗？", "巴黎", ""),
        ("我不住在巴黎，别再这么说了。", "巴黎", "住在巴黎"),
    ],
)
def test_a_sentence_that_does_not_say_so_is_no_support(said: str, value: str, quote: str) -> None:
    assert not holds(said, value, quote)


@pytest.mark.parametrize(
    ("said", "value", "kind"),
    [
        ("I no longer live in Paris, I am now in Rome.", "Rome", "fact"),
        ("I have no idea why. My kids go to school in Rome 3.14 km away!", "Rome", "fact"),
        ("I don't eat meat.", "don't eat meat", "fact"),
        ("If you write a message, keep it short.", "if you write a message, keep it short", "rule"),
        ("孩子们在罗马上学，我不在。", "罗马", "fact"),
    ],
)
def test_a_sentence_that_says_so_is(said: str, value: str, kind: str) -> None:
    assert holds(said, value, kind=kind)
