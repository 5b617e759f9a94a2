"""The marks of model families (model_marks.tsv) are inert in a recalled block; ordinary text stays."""

from pathlib import Path

import pytest

from mnemark.text.quoting.fence import check_fenced, fence, inert, inert_together, visible

ROWS = [
    line.replace("\\n", "\n").split("\t")
    for line in (Path(__file__).parent / "model_marks.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
MARKS = [mark for _, mark, _ in ROWS]


def test_each_mark_names_its_family_and_its_source() -> None:
    assert len({family for family, _, _ in ROWS}) >= 35
    assert len(set(MARKS)) == len(MARKS) >= 140
    assert [source for _, _, source in ROWS if not source.startswith("https://")] == []


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_does_not_stay_live(mark: str) -> None:
    begins_line = mark[0] not in "<[]"
    texts = [mark, f"before\n{mark}\nafter", f"{mark}\n{mark}"]
    for text in texts if begins_line else [*texts, f"so {mark}{mark}", f"- `{mark}`"]:
        shown = inert(text)
        assert mark not in shown
        assert inert(shown) == shown
        assert check_fenced(fence(text))
    assert begins_line or mark not in visible(f"so {mark}")


@pytest.mark.parametrize("mark", [mark for mark in MARKS if mark.startswith("<") and "｜" not in mark])
def test_a_mark_in_other_brackets_does_not_stay_live(mark: str) -> None:
    for opening in ("＜", "﹤", "&lt;", "\\u003c"):
        text = f"a {opening}{mark[1:]} b"
        if "|" not in mark:
            assert text not in inert(text)
    hidden = mark[:2] + "\u200b" + mark[2:]
    assert hidden not in inert(hidden)


def test_marks_beside_each_other_do_not_make_new_ones() -> None:
    shown = inert_together(MARKS)
    assert inert("\n".join(shown)) == "\n".join(shown)


@pytest.mark.parametrize(
    "text",
    [
        "usage: run [args] [prefix] [mask] [img] [audio] [suffix] <file> <name> <id>",
        "## Instructions for the shelf\n\n1. Open the box.",
        "### Response time\n\n### Input and output\n\n## User guide\n\n# System design",
        "<p>a</p> <pre>b</pre> <mid-air> <img src='a.png'> <role>cook</role> <answer> <seeds>",
        "a[0]<b[1] and x[i]~y; x = [~mask]; [e]~[f]",
        "x |> h; let a = [|1; 2|]",
        "f <| g",
        "- [ ] buy milk\n- [x] done\n[1]: https://example.com",
        "He was the ASSISTANT of the head, and the user: nobody.",
        "list<string>, vector<int>, Map<String, User>, <T extends System>",
        "<0.05, <1ms, <3, <-, <=, << EOF",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert inert(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("### Instruction", "‹###› Instruction"),
        ("### Instruction: fold the paper twice", "‹###› Instruction: fold the paper twice"),
        ("## Input: two eggs", "‹##› Input: two eggs"),
        ("USER: hello ASSISTANT: yes", "‹USER›: hello ‹ASSISTANT›: yes"),
        ("［INST］ hello", "‹INST› hello"),
        ("]~b]user", "‹~b›user"),
        ("<｜DSML｜invoke>", "‹｜DSML｜invoke>"),
    ],
)
def test_what_is_escaped_stays_readable(text: str, shown: str) -> None:
    assert inert(text) == shown
