"""Of a model's answer only what a sentence of the turn says is believed."""

from datetime import UTC, datetime

import pytest

from mnemark.facts.model import Fact
from mnemark.memory.learning.model_checks import believed, believed_change
from mnemark.memory.learning.model_prompt import Changed, Proposed, TurnExcerpt
from mnemark.types import Origin, Turn


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
        ("I have no idea why. I work in Rome 3.14 km away!", "Rome", "fact"),
        ("I don't eat meat.", "don't eat meat", "fact"),
        ("If you write a message, keep it short.", "if you write a message, keep it short", "rule"),
        ("孩子们不在，我在罗马。", "罗马", "fact"),
    ],
)
def test_a_sentence_that_says_so_is(said: str, value: str, kind: str) -> None:
    assert holds(said, value, kind=kind)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("My brother moved to Lyon last week.", "Lyon"),
        ("我弟弟搬到里昂了。", "里昂"),
        ("Maybe I should move to Lyon.", "Lyon"),
        ("Bob: I live in Lyon", "Lyon"),
    ],
)
def test_what_is_doubted_or_another_is_said_to_do_is_not_the_owners(said: str, value: str) -> None:
    assert not holds(said, value)


KNOWN = (
    Fact(id="1", predicate="employer", value="Costa"),
    Fact(id="2", predicate="city", value="Chicago"),
    Fact(id="3", predicate="rules", value="answer in tables", type="rule"),
)


def changes(
    said: str, known: int, value: str = "", *, quote: str = "", origin: Origin = "owner"
) -> list[tuple[str, str, bool]]:
    """What a change leaves that a model proposes: predicate, value, and whether it is over."""
    turn = Turn(id="t", role="user", origin=origin, content=said, time=datetime(2026, 3, 11, tzinfo=UTC))
    proposed = Changed(1, known, quote or said, value)
    found = believed_change(proposed, [TurnExcerpt(turn=turn, ref="r", scope="")], KNOWN)
    return [] if found is None else [(one.predicate, one.value, one.over) for one in found[1]]


def test_a_known_fact_ends_or_gets_a_new_value() -> None:
    assert changes("Handed in my notice on Monday.", 1) == [("employer", "Costa", True)]
    assert changes("We finally made it to Denver!", 2, "Denver") == [("city", "Denver", False)]
    both = [("rules", "answer in tables", True), ("rules", "answer in lists", False)]
    assert changes("No tables any more, answer in lists.", 3, "answer in lists") == both


@pytest.mark.parametrize(
    ("said", "known", "value", "quote"),
    [
        ("Should I hand in my notice?", 1, "", ""),
        ("Maybe I'll hand in my notice.", 1, "", ""),
        ("We made it home.", 2, "Denver", ""),
        ("We made it to Denver.", 2, "Denver", "We live in Denver."),
        ("My sister moved to Denver.", 2, "Denver", ""),
        ("We made it to Denver.", 9, "Denver", ""),
    ],
)
def test_a_change_that_the_turn_does_not_state_is_none(said: str, known: int, value: str, quote: str) -> None:
    assert changes(said, known, value, quote=quote) == []


def test_only_the_owner_changes_what_is_known() -> None:
    assert changes("You handed in your notice.", 1, origin="agent") == []
    assert changes("The owner left Costa.", 1, origin="web") == []
