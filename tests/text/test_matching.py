"""What two texts have in common: like difflib where that is quick, and always in time."""

import random
import time
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.text import lines as diff
from mnemark.text.lines import changes, common

LINES = st.lists(st.sampled_from(["", "a", "b", "| |", "- one"]) | st.text(max_size=2), max_size=30)


def _assert_sound(one: list[str], other: list[str]) -> None:
    at = to = 0
    for run in common(one, other):
        assert run.one >= at
        assert run.other >= to
        assert run.size > 0
        assert one[run.one : run.one + run.size] == other[run.other : run.other + run.size]
        at, to = run.one + run.size, run.other + run.size
    rebuilt, at = [], 0
    for gap in changes(one, other):
        rebuilt += [*one[at : gap.a], *other[gap.c : gap.d]]
        at = gap.b
    assert rebuilt + one[at:] == other


@given(LINES, LINES)
def test_changes_turn_the_one_into_the_other(one: list[str], other: list[str]) -> None:
    _assert_sound(one, other)


@given(LINES, LINES)
def test_so_they_do_without_time_for_the_matcher(one: list[str], other: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff, "_MOST_WORK", 20)
        _assert_sound(one, other)


@given(st.lists(st.text(max_size=1), max_size=20), st.lists(st.text(max_size=1), max_size=20))
def test_as_much_is_found_as_difflib_finds_between_the_ends(one: list[str], other: list[str]) -> None:
    found = sum(run.size for run in common(one, other))
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    if one[:1] != other[:1] and one[-1:] != other[-1:]:
        assert found == sum(block.size for block in blocks)


def test_edits_of_a_long_file_are_found_exactly() -> None:
    old = [f"line {number}" for number in range(30_000)]
    new = [*old[:7], "new", *old[7:15_000], *old[15_003:]]
    assert changes(old, new) == [(7, 7, 7, 8), (15_000, 15_003, 15_001, 15_001)]


@pytest.mark.timed
@pytest.mark.parametrize("name", ["blank lines", "a table", "few lines at random", "turned round"])
def test_lines_that_repeat_take_no_more_than_linear_time(name: str) -> None:
    chance = random.Random(3)
    size = 20_000
    old, new = {
        "blank lines": (["", "x"] * size, ["x", "", ""] * size),
        "a table": (["| a | b |", "|---|---|", "| c |"] * size, ["| c |", "| a | b |"] * size),
        "few lines at random": (chance.choices("abcdef", k=size), chance.choices("abcdef", k=size)),
        "turned round": ([str(n) for n in range(size)], [str(n) for n in range(size, 0, -1)]),
    }[name]
    begin = time.process_time()
    _assert_sound(old, new)
    assert time.process_time() - begin < 8, "seconds; minutes before"
