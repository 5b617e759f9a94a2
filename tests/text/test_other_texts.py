"""Texts that are not Markdown: cut at their headings, tables row by row, and nothing of them is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.markdown.other_texts import FORMATS, own_title, passages_of
from mnemark.types import Passage

LONG = "The boiler in the cellar was serviced in March by the plumber. " * 30
ORG = f"""#+title: House notes
* TODO Boiler   :house:heating:
{LONG}
** Valve
{LONG}
* Garden
{LONG}
"""
ADOC = f"= House\n\n== Boiler\n\n{LONG}\n\n=== Valve\n\n{LONG}\n\n== Garden\n\n{LONG}\n"
RST = (
    f"=====\nHouse\n=====\n\nBoiler\n------\n\n{LONG}\n\nValve\n~~~~~\n\n{LONG}\n\nGarden\n------\n\n{LONG}\n"
)
TEX = (
    f"\\title{{House}}\n\\section{{Boiler}}\n{LONG}\n\\subsection*{{Valve}}\n{LONG}\n"
    f"\\section[G]{{Garden}}\n{LONG}\n"
)


def titles(path: str, text: str) -> list[str]:
    return list(dict.fromkeys(one.title for one in passages_of(path, text, limit=200)))


@pytest.mark.parametrize(
    ("path", "text", "expected", "title"),
    [
        ("a.org", ORG, ["TODO Boiler", "TODO Boiler › Valve", "Garden"], "House notes"),
        ("a.adoc", ADOC, ["House › Boiler", "House › Boiler › Valve", "House › Garden"], "House"),
        ("a.rst", RST, ["House › Boiler", "House › Boiler › Valve", "House › Garden"], "House"),
        ("a.tex", TEX, ["Boiler", "Boiler › Valve", "Garden"], "House"),
    ],
)
def test_headings_are_titles(path: str, text: str, expected: list[str], title: str) -> None:
    assert [one for one in titles(path, text) if one] == expected
    assert own_title(path, text) == title


def test_borders_of_tables_are_no_headings() -> None:
    table = "===== =====\nMonth Bar\n===== =====\nMarch 1.5\n===== =====\n\nText\nmore text\n----\n"
    assert titles("a.rst", table) == [""]


def rows(text: str, path: str = "a.csv") -> list[tuple[str, str]]:
    return [
        (f"L{one.start_line}-L{one.end_line}", one.text.strip()) for one in passages_of(path, text, limit=60)
    ]


def test_a_row_stands_alone_with_the_names_of_its_columns() -> None:
    text = 'Name,City,Note\nAnn,Lisbon,\n\n"Bo, Jr.",Hamburg,"two\nlines"\n李雷,上海,阀门\n'
    assert rows(text) == [
        ("L1-L1", "Name; City; Note"),
        ("L2-L2", "Name: Ann; City: Lisbon"),
        ("L4-L5", "Name: Bo, Jr.; City: Hamburg; Note: two lines"),
        ("L6-L6", "Name: 李雷; City: 上海; Note: 阀门"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.csv", "2026-03-01;1.5\n2026-03-02;1.6\n", ["2026-03-01; 1.5", "2026-03-02; 1.6"]),
        ("a.tsv", "Name\tBar\nMarch\t1,5\n", ["Name; Bar", "Name: March; Bar: 1,5"]),
        ("a.csv", "only,one\n", ["only; one"]),
        ("a.csv", 'a,b\n"never closed,1\nx,2\n', ["a; b", 'a: "never closed; b: 1', "a: x; b: 2"]),
        ("a.csv", "", []),
    ],
)
def test_tables_as_people_write_them(path: str, text: str, expected: list[str]) -> None:
    if "never" in text:
        text += "y,3\n" * 60
        expected = [*expected, *["a: y; b: 3"] * 60]
    assert [row for _, row in rows(text, path)] == expected


def test_a_very_long_row_is_cut_and_keeps_its_line() -> None:
    found = passages_of("a.csv", f"Name,Note\nAnn,{LONG}\n", limit=60)
    assert len(found) > 3
    assert {(one.start_line, one.end_line) for one in found[1:]} == {(2, 2)}


def holds(text: str, found: list[Passage]) -> None:
    assert "".join(one.text for one in found) == text
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]


PIECES = st.sampled_from(
    [
        "* a",
        "** b",
        "= c",
        "== d",
        "title",
        "-----",
        "=====",
        "\\section{e}",
        ":ID: x",
        "",
        "a,b",
        '"q',
        "\t",
        "- x",
    ]
)


@given(st.lists(PIECES, max_size=30), st.sampled_from(["\n", "\r\n", "\r"]))
def test_nothing_of_a_text_is_lost(lines: list[str], end: str) -> None:
    text = end.join(lines)
    for suffix in (".org", ".adoc", ".rst", ".tex", ".yaml"):
        holds(text, passages_of(f"a{suffix}", text, limit=8))


@given(st.text(max_size=400))
def test_any_text_is_cut_in_any_format(text: str) -> None:
    for suffix in FORMATS:
        own_title(f"a{suffix}", text)
        for one in passages_of(f"a{suffix}", text, limit=8):
            assert 1 <= one.start_line <= one.end_line


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters='\r\n",;\t|'), max_size=8),
                         min_size=2, max_size=4), max_size=8))  # fmt: skip
def test_every_cell_is_found(table: list[list[str]]) -> None:
    text = "".join(",".join(row) + "\n" for row in table)
    said = " ".join(one.text for one in passages_of("a.csv", text, limit=256))
    for row in table:
        for cell in row:
            assert " ".join(cell.split()) in said
