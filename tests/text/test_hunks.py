"""Edits as hunks: done again and taken back on texts that have moved on."""

import time
from difflib import unified_diff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.markdown.hunks import apply, diff, hunks, take_back

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


@given(PLAIN, PLAIN)
def test_a_diff_reads_as_others_do(old: str, new: str) -> None:
    expected = unified_diff(old.splitlines(), new.splitlines(), "a/p.md", "b/p.md", lineterm="", n=2)
    if len(set(old.splitlines()) & set(new.splitlines())) < 2:  # else there may be several ways to say it
        assert diff("p.md", old, new) == "\n".join(expected)


def test_a_diff_of_ordinary_edits() -> None:
    old = "".join(f"line {n}\n" for n in range(30))
    new = old.replace("line 4\n", "").replace("line 20\n", "line 20\nnew\n").replace("line 29\n", "last\n")
    expected = unified_diff(old.splitlines(), new.splitlines(), "a/p.md", "b/p.md", lineterm="", n=2)
    assert diff("p.md", old, new) == "\n".join(expected)
    assert diff("p.md", "", "a\nb\n") == "--- a/p.md\n+++ b/p.md\n@@ -0,0 +1,2 @@\n+a\n+b"
    assert diff("p.md", old, old) == ""


@pytest.mark.timed
def test_edits_of_a_large_table_take_linear_time() -> None:
    row = "| a | b |\n|---|---|\n\n"
    old = row * 12_000
    new = "".join(row + "| c |\n" * (n % 7 == 0) for n in range(12_000))
    begin = time.process_time()
    edits = hunks(old, new)
    assert apply(old, edits) == new
    assert take_back(new, edits) == old
    assert take_back("head\n" + new, edits) == "head\n" + old
    assert diff("p", old, new)
    assert time.process_time() - begin < 10, "seconds; minutes before"
