"""Where an added line goes in a day's note."""

from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.markdown.generated import outside, put
from mnemark.text.markdown.writing import OBSERVATIONS, added

ROWS = st.lists(
    st.sampled_from(
        ["# 2026-02-14", "", "- 09:00 早", "## 会议", "words", "```", "# no heading", OBSERVATIONS]
    ),
    max_size=8,
)
ENDS = st.sampled_from(["\n", "\r\n"])


def _with_session(text: str, name: str = "session-1") -> str:
    return put(text, name, ["## 11:50 s1: 解析器", "", "- 目标：改解析器"])


@given(ROWS, ENDS, st.sampled_from(["", "\n"]), st.integers(0, 2))
def test_all_that_was_there_stays(rows: list[str], end: str, last: str, parts: int) -> None:
    text = end.join(rows) + (last and end)
    for number in range(parts):
        text = _with_session(text, f"session-{number}")
    new, number = added(text, ["- 12:00 买牛奶", "  两瓶"])
    lines = new.splitlines()
    at = lines.index("- 12:00 买牛奶")
    assert (lines[at + 1], number) == ("  两瓶", at + 1)
    kept = [line for line in lines[:at] + lines[at + 2 :] if line]
    assert kept == [line for line in text.splitlines() if line]
    assert new.count("\r\n") in {0, new.count("\n")}
    assert "- 12:00 买牛奶" in outside(new)


def test_below_what_people_wrote_and_above_summaries() -> None:
    text = _with_session(_with_session("# 2026-02-14\n\n- 09:00 早\n"), "session-2")
    new, number = added(text, ["- 12:00 买牛奶"])
    assert number == 4
    assert new.startswith("# 2026-02-14\n\n- 09:00 早\n- 12:00 买牛奶\n\n<!-- mnemark:begin session-1 ")
    again = added(new, ["- 12:01 x"])[0]
    assert again.startswith("# 2026-02-14\n\n- 09:00 早\n- 12:00 买牛奶\n- 12:01 x\n\n<!--")


def test_a_day_that_began_with_a_session() -> None:
    new, number = added(_with_session("# 2026-02-14\n"), ["- 12:00 买牛奶"])
    assert (number, new.startswith("# 2026-02-14\n\n- 12:00 买牛奶\n\n<!-- mnemark:begin")) == (3, True)
    assert added(_with_session(""), ["- 12:00 x"])[0].startswith("- 12:00 x\n\n<!-- mnemark:begin")


def test_above_what_tools_did() -> None:
    text = f"# 2026-02-14\n\n{OBSERVATIONS}\n\n- 11:00 exec: make\n"
    assert added(text, ["- 12:00 x"])[0] == text.replace(OBSERVATIONS, f"- 12:00 x\n\n{OBSERVATIONS}")


def test_below_a_heading_that_a_person_wrote_last() -> None:
    text = _with_session("# 2026-02-14\n") + "\n## 晚上\n\n散步"
    assert added(text, ["- 21:00 x"])[0] == f"{text}\n\n- 21:00 x\n"
    # What stands in a block of code is no heading: the last one is the session's.
    code = _with_session("# d\n") + "\n```sh\n# no heading\n```\n"
    assert added(code, ["- x"])[0].startswith("# d\n\n- x\n\n<!-- mnemark:begin")


def test_nothing_but_lists_is_joined() -> None:
    assert added("# d\n", ["- a"]) == ("# d\n\n- a\n", 3)
    assert added("# d\n\n- a\n", ["- b"]) == ("# d\n\n- a\n- b\n", 4)
    assert added("# d\n\n- a\n", ["words"]) == ("# d\n\n- a\n\nwords\n", 5)
    assert added("words", ["- a"]) == ("words\n\n- a\n", 3)
    assert added("- a\r\n", ["- b"]) == ("- a\r\n- b\r\n", 2)
