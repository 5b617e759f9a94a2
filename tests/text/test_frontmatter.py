import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.text.markdown.frontmatter import FrontMatter, document_title, front_matter
from sampled import examples


def test_simple_values() -> None:
    text = """---
title: "A: \\"quoted\\" title"   # comment
Tags: [a, 'b, c', "d", 3]
aliases:
  - One
  - "Two: 2"
date: 2026-02-13
count: 12
share: 0.5
zip: 01234
draft: true
empty:
note: 'it''s'
url: https://example.org/#part
text: |
  two
  lines
links: [[page]], [[other]]
---
# Body
"""
    fm = front_matter(text)
    assert fm.problem is None
    assert fm.fields == {
        "title": 'A: "quoted" title',
        "tags": ("a", "b, c", "d", 3),
        "aliases": ("One", "Two: 2"),
        "date": "2026-02-13",
        "count": 12,
        "share": 0.5,
        "zip": "01234",
        "draft": True,
        "empty": None,
        "note": "it's",
        "url": "https://example.org/#part",
        "text": "two\nlines",
        "links": "[[page]], [[other]]",
    }
    assert text[fm.end :] == "# Body\n"
    assert fm.end_line == 19


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(end: str) -> None:
    text = "\ufeff" + end.join(["---", "a: 1", "", "list:", "- x", "- y", "...", "body"])
    fm = front_matter(text)
    assert fm.fields == {"a": 1, "list": ("x", "y")}
    assert (fm.end_line, text[fm.end :]) == (7, "body")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "---",
        "---\n",
        "----\na: b\n---\n",
        "text\n---\na: b\n---\n",
        "---\n\nA rule above text.\n\n---\n",
    ],
)
def test_none(text: str) -> None:
    assert front_matter(text) == FrontMatter()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("---\ntitle: x\n\nBody without end", "not closed"),
        ("---\ntitle: x\nnonsense here\n---\nBody", "line 3"),
        ("---\ntags: [a, b\n---\nBody", "line 2 is not closed"),
        ('---\na: b\ntitle: "x\n---\nBody', "line 3 is not closed"),
    ],
)
def test_broken_is_text_with_a_problem(text: str, words: str) -> None:
    fm = front_matter(text)
    assert (fm.end, fm.end_line, fm.fields) == (0, 0, {})
    assert fm.problem
    assert words in fm.problem


def test_empty_front_matter_is_a_block() -> None:
    assert front_matter("---\n---\nBody").end == 8


@given(
    st.lists(
        st.sampled_from(
            ["---", "a: b", "c:", "- d", "  - e", "f: [g, 'h'", "]", "'", '"', "", "i", "# j", "\r"]
        )
    )
)
@settings(max_examples=examples(200), deadline=None)
def test_never_raises_and_ends_at_a_line(lines: list[str]) -> None:
    text = "---\n" + "\n".join(lines)
    fm = front_matter(text)
    assert fm.end == 0 or text[: fm.end].rstrip("\r\n").endswith(("---", "..."))
    assert (fm.end == 0) == (fm.end_line == 0)


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("---\ntitle: From  matter\n---\n# Heading", "a.md", "From matter"),
        ("---\ntags: [x]\n---\nintro\n\n## Two\n\n# The *One*\n", "a.md", "The One"),
        ("Below\n===\ntext", "a.md", "Below"),
        ("old\r   # Line ends\rtext", "a.md", "Line ends"),
        ("text\r\n\r\n#\tA tab\r\n", "a.md", "A tab"),
        ("a\n\n    # code\n", "a.md", "a"),
        ("```\n# no\n```\ntext", "notes/vector-search_notes.md", "vector search notes"),
        ("", "memory/2026-02-13-trip-to-rome.md", "2026-02-13 trip to rome"),
        ("", "memory/2026-02-13.md", "2026-02-13"),
        ("", "笔记\\向量检索.md", "向量检索"),
        ("---\ntitle: [a]\n---\n", "x.md", "x"),
        ("---\ntitle: 2024\n---\n", "x.md", "2024"),
    ],
)
def test_title(text: str, path: str, title: str) -> None:
    assert document_title(text, front_matter(text), path) == title
