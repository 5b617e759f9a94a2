"""Three-way merge by lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.files.merge import lacks, merge3

TEXTS = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d\r"]), max_size=8).map(b"\n".join)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"a\n", b"a\nx\n", b"a\ny\n", b"a\ny\nx\n"),
        (b"a\nb\n", b"A\nb\n", b"a\nb\nc\n", b"A\nb\nc\n"),
        (b"a\nb\nc\n", b"a\nc\n", b"a\nb\nc\nd\n", b"a\nc\nd\n"),
        (b"a\n", b"a\nx\n", b"a\nx\ny\n", b"a\nx\ny\n"),
        (b"", b"x\n", b"y\n", b"y\nx\n"),
        (b"a", b"a\nx", b"a\ny", b"a\ny\nx"),
        (b"a\n", b"b\n", b"c\n", None),
        (b"a\nb\n", b"b\n", b"A\nb\n", None),
        (b"a\nb\nc\n", b"a\n\nc\n", b"a\nb\nx\nc\n", b"a\n\nx\nc\n"),
    ],
)
def test_merging(base: bytes, ours: bytes, theirs: bytes, merged: bytes | None) -> None:
    assert merge3(base, ours, theirs) == merged


@given(TEXTS, TEXTS)
def test_one_sided_changes_are_taken_as_they_are(base: bytes, new: bytes) -> None:
    assert merge3(base, new, base) == new
    assert merge3(base, base, new) == new
    assert merge3(base, new, new) == new


@given(TEXTS, TEXTS, TEXTS)
def test_a_clean_merge_brings_in_every_added_line(base: bytes, ours: bytes, theirs: bytes) -> None:
    merged = merge3(base, ours, theirs)
    if merged is not None:
        added = (set(ours.split(b"\n")) | set(theirs.split(b"\n"))) - set(base.split(b"\n"))
        assert added <= set(merged.split(b"\n"))


def test_merging_again_adds_nothing() -> None:
    base, ours, theirs = b"a\n", b"a\nx\n", b"a\ny\n"
    once = merge3(base, ours, theirs)
    assert once is not None
    assert merge3(base, theirs, once) == merge3(base, ours, once) == once


def test_a_version_lacks_an_edit_only_if_all_of_it_is_missing() -> None:
    before, after = b"a\nb\n", b"a\nB\nc\n"
    assert lacks(b"a\nb\nown\n", before, after)
    assert not lacks(b"a\nB\nown\n", before, after)
    assert not lacks(b"a\nb\nc\n", before, after)
    assert not lacks(b"own\n", before, after)
    assert not lacks(b"anything", before, before)


def test_long_texts_merge_in_time() -> None:
    base = b"".join(b"line %d\n\n" % number for number in range(20_000))
    merged = merge3(base, base + b"end\n", b"start\n" + base)
    assert merged == b"start\n" + base + b"end\n"
