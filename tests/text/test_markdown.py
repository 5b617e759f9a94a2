import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mnemark.errors import UsageError
from mnemark.text.markdown.blocks import heading_text, line_starts, scan
from mnemark.text.markdown.cut import cut
from mnemark.text.markdown.passages import passages, text_passages
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Passage
from sampled import examples

PARSER = MarkdownIt("commonmark").enable("table")

LINES = st.sampled_from(
    """# One ¦## Two ¦### Three ### ¦#no heading ¦Title ¦=== ¦--- ¦*** ¦- item ¦  - nested ¦
    1. first ¦2) second¦12. twelfth ¦> quote ¦> - in quote ¦> ``` ¦``` ¦```` ¦~~~ ¦
    ```python ¦    code ¦   three ¦\tTab ¦| a | b |¦|---|---| ¦|x | y| ¦|-|-| ¦ ¦
    lazy text ¦<!-- note ¦--> ¦<div> ¦</div> ¦<b> ¦text <b> ¦[ref]: /url ¦- + nest¦
    Some words. More words! ¦这是一句话。还有一句？ ¦`a` ¦# ¦- ¦+ plus ¦* # heading in item ¦- ``` ¦
      ``` ¦      deep¦<script> ¦</script> ¦a\\|b | c| ¦:-: ¦:--""".replace("\n    ", "").split("¦")
)
DOCUMENTS = st.lists(LINES, max_size=25).map("\n".join)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
TEXTS = st.one_of(
    st.tuples(DOCUMENTS, ENDS).map(lambda pair: pair[0].replace("\n", pair[1])),
    st.text(alphabet=st.sampled_from("ab 我。.!\n\r\t#-`>|*1~<é\u0301👩\u200d"), max_size=200),
    st.text(max_size=100),
)


def check(text: str, found: list[Passage], limit: int) -> None:
    assert "".join(p.text for p in found) == text
    assert [p.ordinal for p in found] == list(range(len(found)))
    for p in found:
        assert p.text
        assert text[p.start : p.end] == p.text
        assert estimate_tokens(p.text) <= limit or len(p.text) == 1
        before = text[: p.start].replace("\r\n", "\n").replace("\r", "\n")
        whole = text[: p.end - 1].replace("\r\n", "\n").replace("\r", "\n")
        if not text[: p.start].endswith("\r"):  # else this passage starts with the second half of a line end
            assert p.start_line == before.count("\n") + 1
        if not (text[: p.end - 1].endswith("\r") and p.text.endswith("\n")):
            assert p.end_line == whole.count("\n") + 1
        assert p.start_line <= p.end_line
    for a, b in pairwise(found):
        assert a.end == b.start
        assert a.end_line <= b.start_line


@given(TEXTS, st.sampled_from([1, 3, 12, 40, 256]))
@settings(max_examples=examples(250), deadline=None)
def test_passages_are_the_text(text: str, limit: int) -> None:
    check(text, passages(text, limit=limit), limit)
    check(text, text_passages(text, limit=limit), limit)


@given(DOCUMENTS)
@settings(max_examples=examples(300), deadline=None)
def test_headings_are_those_of_commonmark(text: str) -> None:
    lines, _ = line_starts(text)
    ours = [(b.first, b.level) for b in scan(lines) if b.kind == "heading"]
    theirs = [
        (token.map[0], int(token.tag[1]))
        for token in PARSER.parse(text)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    assert ours == theirs


REAL = """---
title: x
---
Intro above.

Setext *title*
over two lines
===

## A list

- one
  continued

  second paragraph
- two
lazy
  1. nested
     ```
     # not a heading
     ```

Table:

| a | b |
|---|:-:|
| 1 | 2 |
no pipe, still a row

> quote
lazy quote
> ```
> # no
> ```
after

<details>
# not a heading

# A heading
</details>

<!--
# hidden
-->
~~~ md
# fenced
```
~~~
    indented is no code here? yes

***
"""


def test_blocks_start_where_commonmark_says() -> None:
    body = REAL[REAL.index("Intro") :]
    lines, _ = line_starts(body)
    theirs = [t.map[0] for t in PARSER.parse(body) if t.level == 0 and t.map]
    assert [b.first for b in scan(lines)] == theirs
    assert [b.kind for b in scan(lines)] == [
        "paragraph", "heading", "heading", "list", "paragraph", "table", "quote", "paragraph",
        "html", "heading", "html", "html", "fence", "code", "rule",
    ]  # fmt: skip


def test_title_is_the_heading_path() -> None:
    body = "word " * 120 + "\n\n"
    text = f"above {body}# A *b*\n{body}## [C](url) `d`\n{body}### E\n{body}F\n===\n{body}## \n{body}"
    titles = [p.title for p in passages(text, limit=160)]
    assert titles == ["", "A b", "A b › C d", "A b › C d › E", "F", "F"]


def test_markup_leaves_heading_text() -> None:
    assert heading_text(
        "**Bold** [[page|shown]] [[page]] ![alt](x.png) snake_case 2*3 <!-- id: 1 --> \\# x"
    ) == ("Bold shown page alt snake_case 2*3 # x")
    assert len(heading_text("长" * 10_000)) == 200


def test_headings_go_with_the_text_below() -> None:
    text = "# Title\n\n## Section\n\n### Sub\n\n" + "Some words here. " * 20 + "\n"
    found = passages(text)
    assert [p.text for p in found] == [text]
    assert found[0].title == "Title › Section › Sub"


def test_a_heading_stays_with_a_paragraph_that_is_too_long() -> None:
    found = passages("# Title\n\n" + "Some words are here. " * 200, limit=100)
    assert found[0].text.startswith("# Title\n\nSome words")
    assert all(p.text.rstrip().endswith(".") for p in found)


def test_a_last_heading_without_text_goes_with_what_is_above() -> None:
    assert len(passages("## A\n\n" + "text " * 60 + "\n\n### Empty\n")) == 1
    assert len(passages("## A\n\n" + "text " * 60 + "\n\n### Empty\n\n# B\n\n" + "text " * 60)) == 2


def test_sections_of_level_two_stay_apart_unless_tiny() -> None:
    long = "Words that fill a section up to more than thirty-two tokens. " * 4
    assert len(passages(f"## A\n{long}\n## B\n{long}\n")) == 2
    assert len(passages(f"## A\nshort\n## B\n{long}\n")) == 1
    assert [p.title for p in passages(f"# T\n### A\n{long}\n### B\n{long}\n")] == ["T"]
    assert len(passages(f"# T\n## S\n### A\n{long}\n## U\n### B\n{long}\n")) == 2


def test_fences_tables_and_lists_stay_whole_where_they_fit() -> None:
    prose = "Prose that goes on for a while and then some. " * 4
    fence = "```\n" + "x = compute(1)\n" * 6 + "```\n"
    table = "| a | b |\n|---|---|\n" + "| cell | other |\n" * 6
    items = "- an item of the list\n" * 8
    text = f"{prose}\n{fence}\n{prose}\n{table}\n{prose}\n{items}"
    found = [p.text for p in passages(text, limit=90)]
    for block in (fence, table, items):
        assert sum(block.strip() in p for p in found) == 1


def test_a_line_that_ends_in_a_colon_stays_with_its_list() -> None:
    prose = "Prose that goes on for a while and then some more of it. " * 4 + "\n\n"
    found = passages(prose + "What we need:\n\n" + "- an item of the list\n" * 10, limit=110)
    assert found[-1].text.startswith("What we need:")


def test_long_lists_are_cut_between_items() -> None:
    text = "".join(f"- item {i} says something\n  and goes on here\n" for i in range(60))
    found = passages(text, limit=60)
    assert len(found) > 5
    assert all(p.text.startswith("- item") for p in found)


def test_an_item_that_starts_where_a_part_is_full_starts_the_next() -> None:
    first, second, third = (f"- {name * length}\n" for name, length in (("a", 57), ("b", 34), ("c", 100)))
    parts = cut(first + second + third, (0, 200), "list", (100, 100), lambda part: float(len(part)))
    assert next(parts)[1] == len(first + second) == 97


def test_long_chinese_paragraphs_are_cut_after_sentences() -> None:
    text = "今天我们讨论了向量检索的方案，最后决定先用全文检索。" * 40
    found = passages(text, limit=80)
    assert len(found) > 5
    assert all(p.text.endswith("。") for p in found)


def test_no_scrap_is_left_at_the_end() -> None:
    for words in range(150, 400, 7):
        assert all(estimate_tokens(p.text) > 12 for p in passages("word " * words, limit=100))


def test_front_matter_belongs_to_the_first_passage_and_is_no_heading() -> None:
    text = "---\ntitle: T\ntags: [a]\n---\n# H\n\ntext\n"
    assert [(p.title, p.start_line, p.end_line) for p in passages(text)] == [("H", 1, 7)]


def test_plain_text_knows_no_markdown() -> None:
    found = text_passages("# not a heading\n\ntext\n\n```\n\nmore", limit=256)
    assert [p.title for p in found] == [""]
    assert len(text_passages(("word " * 50 + "\n\n") * 4, limit=80)) == 4


def test_nothing_in_nothing_out() -> None:
    assert passages("") == []
    assert text_passages("") == []
    assert [p.text for p in passages("\n \n")] == ["\n \n"]


def test_a_limit_below_one_is_an_error() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        passages("x", limit=0)


HOSTILE = {
    "one line": "a" * 1_000_000,
    "one line of words": "word " * 200_000,
    "spaces": " " * 1_000_000,
    "nested quotes": "\n".join(">" * (i % 2_000) + " a" for i in range(1_000)),
    "quote marks": ">" * 500_000 + "x",
    "headings": "".join(f"{'#' * (i % 6 + 1)} h{i}\n" for i in range(50_000)),
    "unclosed fences": "~~~~a\n```\n" * 50_000,
    "open fences": "```\n" * 50_000,
    "open comments": "<!-- \n" * 100_000,
    "open tags": "<a b='" * 100_000,
    "nested lists": "".join(" " * (i % 200) + "- a\n" for i in range(10_000)),
    "pipes": "|" * 500_000 + "\n" + "-|" * 100_000,
    "heading of hashes": "# " + " #" * 300_000 + " x",
    "brackets": "# " + "[a](b" * 100_000,
    "stars": "* " * 200_000 + "x",
    "long setext": "a\n" * 100_000 + "===",
    "full stops": "." + " " * 500_000 + "a",
    "accents": "a" + "\u0301" * 200_000,
    "front matter": "---\na: [" + "b," * 30_000 + "\n---\n",
}


@pytest.mark.timed
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    text = HOSTILE[name]
    started = time.perf_counter()
    found = passages(text)
    # Measured at 0.02-0.5 s; anything quadratic takes minutes at these sizes.
    assert time.perf_counter() - started < 15
    assert "".join(p.text for p in found) == text
