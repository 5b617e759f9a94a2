"""Generated parts: what people wrote stays, what they took out stays out, and twice is once."""

from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.markdown.generated import find, mark, outside, put

WORDS = st.sampled_from(["- likes tea", "- 住在杭州", "## Preferences", "", "- uses uv", "- 喜欢简短的回答"])
LINES = st.lists(WORDS, max_size=6)
TEXT = st.lists(st.sampled_from(["# Memory", "", "by hand", "手写的一行", "- mine"]), max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])


@given(TEXT, LINES, LINES, ENDS)
def test_put_again_changes_nothing_and_others_text_stays(
    text: list[str], first: list[str], second: list[str], end: str
) -> None:
    old = end.join([*text, ""])
    once = put(old, "core", first)
    assert put(once, "core", first) == once
    twice = put(once, "core", second)
    assert put(twice, "core", second) == twice
    assert outside(twice).split() == old.split()
    assert twice.startswith(old)


@given(TEXT, TEXT, LINES, LINES)
def test_text_around_a_part_is_kept_byte_for_byte(
    above: list[str], below: list[str], first: list[str], second: list[str]
) -> None:
    top, rest = "".join(f"{line}\n" for line in above), "".join(f"{line}\n" for line in below)
    part = put("", "core", first or ["x"])
    found = put(top + part + rest, "core", second)
    assert found.startswith(top)
    assert found.endswith(rest)


def test_a_line_written_inside_moves_below_and_stays() -> None:
    text = put("# Memory\n", "core", ["- one", "- two"])
    edited = text.replace("- two\n", "- two\n- 我自己写的\n")
    found = put(edited, "core", ["- three"])
    assert found.endswith("<!-- mnemark:end core -->\n\n- 我自己写的\n")
    assert "- one" not in found
    assert put(found, "core", ["- three"]) == found


def test_a_line_taken_out_does_not_come_back() -> None:
    text = put("", "core", ["- one", "- two"]).replace("- one\n", "")
    found = put(text, "core", ["- one", "- two", "- three"])
    part = find(found, "core")
    assert part is not None
    assert part.lines == ("- two", "- three")
    again = find(put(found, "core", ["- one"]), "core")
    assert again is not None
    assert again.lines == ()


def test_a_broken_marker_swallows_nothing() -> None:
    broken = "<!-- mnemark:begin core | 111111 -->\nby hand\n"
    found = put(broken, "core", ["- one"])
    assert found.startswith(broken)
    assert put(found, "core", ["- two"]).startswith(broken)


def test_parts_of_other_names_are_others() -> None:
    text = put(put("", "core", ["- one"]), "profile", ["- 二"])
    kept = find(put(text, "core", ["- x"]), "profile")
    assert kept is not None
    assert kept.lines == ("- 二",)
    assert outside(text).strip() == ""


def test_marks_of_the_version_before_are_read_and_stay_until_the_part_is_rewritten() -> None:
    lines = ["- likes tea", "- 住在杭州"]
    old = f"# M\n\n<!-- mnemark:begin core | {mark(lines[0])} {mark(lines[1])} | without: 3f2a9c -->\n"
    old += "- likes tea\n- by hand\n- 住在杭州\n<!-- mnemark:end core -->\n"
    part = find(old, "core")
    assert part is not None
    assert (part.lines, part.added, part.removed) == (tuple(lines), ("- by hand",), frozenset({"3f2a9c"}))
    tidy = old.replace("- by hand\n", "")
    assert put(tidy, "core", lines) == tidy
    new = put(tidy, "core", [*lines, "- 喝茶"])
    found = find(new, "core")
    assert found is not None
    assert (found.lines, found.removed) == ((*lines, "- 喝茶"), frozenset({"3f2a9c"}))
    assert len(new.splitlines()[2]) < len(tidy.splitlines()[2])


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])), max_size=30))
def test_each_line_is_recognised_by_its_mark(lines: list[str]) -> None:
    lines = [line for line in lines if line.strip() and "mnemark:" not in line]
    part = find(put("", "core", lines), "core")
    assert (part.lines if part else ()) == tuple(lines)
