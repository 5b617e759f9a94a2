"""Which facts say the same: precision first, and cost that grows with the number of texts, not its square."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.words.similarity import ALIKE, key_of, similar

WORDS = st.sampled_from(["tea", "coffee", "green", "hot", "morning", "cup", "茶", "咖啡"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user likes hiking", "likes to hike."),
        ("Prefers short answers", "prefers short answer"),
        ("用户喜欢简短的回答", "喜欢简短回答"),
        ("Runs tests before committing", "run tests before committing!"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert similar([one, "something else", other]).same == [[0, 2]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("prefers tabs over spaces", "prefers spaces over tabs"),
        ("uses Python 3.11", "uses Python 3.12"),
        ("likes tea", "does not like tea"),
        ("喜欢吃辣", "不喜欢吃辣"),
        ("meeting with Anna", "meeting with Bob"),
        ("我从杭州搬到上海", "我从上海搬到杭州"),
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert similar([one, other]).same == []


def test_groups_are_kept_apart() -> None:
    assert similar(["likes tea", "likes tea"], ["a", "b"]).same == []


@given(st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), max_size=12))
def test_no_pair_is_missed(texts: list[str]) -> None:
    found = similar(texts)
    firsts = sorted(set(range(len(texts))) - {at for group in found.same for at in group[1:]})
    sets = {at: set(key_of(texts[at])) for at in firsts if key_of(texts[at])}
    wanted = {
        (one, other)
        for one, other in combinations(sets, 2)
        if len(sets[one] & sets[other]) / len(sets[one] | sets[other]) >= ALIKE
    }
    assert {(pair.one, pair.other) for pair in found.alike} == wanted


def test_cost_grows_with_the_texts() -> None:
    def compared(count: int) -> int:
        words = [f"w{at * 7919 % (count * 2)} v{at * 104729 % count} topic{at % 40}" for at in range(count)]
        return similar(words).compared

    assert compared(8000) < 10 * compared(1000) + 8000
