"""Generated parts: what people wrote stays, what they took out stays out, and twice is once."""

from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.markdown.generated import find, outside, put

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
