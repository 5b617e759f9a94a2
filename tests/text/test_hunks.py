"""Edits as hunks: done again and taken back on texts that have moved on."""

from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.hunks import apply, hunks, take_back

LINES = st.sampled_from(["a", "b", "## 标题", "", "- one", "- 二", "x y"])
TEXTS = st.lists(LINES, max_size=12).map("\n".join)
PLAIN = st.lists(LINES, max_size=7, unique=True).map("\n".join)


@given(TEXTS, TEXTS)
def test_there_and_back(old: str, new: str) -> None:
    changes = hunks(old, new)
    assert apply(old, changes) == new
    assert take_back(new, changes) == old


@given(PLAIN, PLAIN, st.lists(st.sampled_from(["first", "第一"]), min_size=1, max_size=3))
def test_lines_added_above_do_not_matter(old: str, new: str, above: list[str]) -> None:
    prefix = "".join(f"{line}\n" for line in above)
    changes = hunks("head\n" + old, "head\n" + new)
    assert apply(prefix + "head\n" + old, changes) == prefix + "head\n" + new
    assert take_back(prefix + "head\n" + new, changes) == prefix + "head\n" + old


def test_what_is_in_already_is_not_done_twice() -> None:
    old, new = "# Day\n\n- 09:00 up\n", "# Day\n\n- 09:00 up\n- 10:00 built\n"
    assert apply(new, hunks(old, new)) == new


def test_a_line_changed_since_is_not_overwritten() -> None:
    changes = hunks("a\nb\nc\n", "a\nB\nc\n")
    assert take_back("a\nB, by hand\nc\n", changes) is None
    assert apply("a\nb, by hand\nc\n", changes) is None


def test_other_lines_changed_since_are_kept() -> None:
    changes = hunks("one\ntwo\n", "one\ntwo\nthree\n")
    assert take_back("ONE\ntwo\nthree\nfour\n", changes) == "ONE\ntwo\nfour\n"


def test_what_was_added_at_the_end_is_not_added_twice() -> None:
    old, new = "by hand\n\n", "by hand\n\n- one\n- two\n"
    assert apply(new, hunks(old, new)) == new
    assert apply(new + "- by hand\n", hunks(old, new)) == new + "- by hand\n"
    assert apply(old + "- by hand\n", hunks(old, new)) == "by hand\n\n- one\n- two\n- by hand\n"
