"""What a person says in a sentence, outside of a conversation, is read as in one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemark import Memory
from mnemark.errors import UsageError
from mnemark.memory.learning.told import remember_told


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"embedder": "none"}) as opened:
        yield opened


def known(memory: Memory) -> list[str]:
    return sorted(map(str, memory.facts()))


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("I live in Porto.", ["user city: Porto"]),
        ("我对花生过敏", ["user allergies: 花生"]),
        ("Never push to main on Fridays.", ["user rules: Never push to main on Fridays"]),
        ("the sea is near my house", ["user: the sea is near my house"]),
    ],
)
def test_a_sentence_is_kept_as_the_owners_word(memory: Memory, sentence: str, facts: list[str]) -> None:
    told = remember_told(memory.workspace, sentence)
    assert known(memory) == facts == [str(fact) for fact in told.facts]
    assert {fact.origin for fact in memory.facts()} == {"owner"}
    for change in told.changes:
        memory.undo(change)
    assert known(memory) == []


def test_a_sentence_ends_what_it_says_is_over(memory: Memory) -> None:
    remember_told(memory.workspace, "I like coffee.")
    told = remember_told(memory.workspace, "I don't like coffee any more.")
    assert [str(fact) for fact in told.ended] == ["user likes: coffee"]
    assert known(memory) == []
    (change,) = told.changes
    memory.undo(change)
    assert known(memory) == ["user likes: coffee"]


def test_what_is_known_leaves_nothing_to_take_back(memory: Memory) -> None:
    remember_told(memory.workspace, "I live in Porto.")
    assert remember_told(memory.workspace, "I live in Porto.").changes == ()
    assert known(memory) == ["user city: Porto"]


def test_an_empty_sentence_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError):
        remember_told(memory.workspace, "  ")


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=60).filter(lambda text: text.strip() and text.isprintable()))
def test_whatever_is_said_leaves_something_or_ends_something(memory: Memory, text: str) -> None:
    told = remember_told(memory.workspace, text)
    assert told.facts or told.ended
