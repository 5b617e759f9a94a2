import re

import pytest

from mnemark.types import Hit, Problem, Recall
from mnemark_interfaces import output, render

HIT = Hit(
    ref="memory/2026-02-13.md#L4-L6",
    path="memory/2026-02-13.md",
    start_line=4,
    end_line=6,
    kind="note",
    title="日记 › Vectors",
    date="2026-02-13T15:20:00+08:00",
    origin="file",
    scope="users/ann",
    score=0.678,
    text="We keep vectors apart.",
    snippet="We keep vectors apart. 數據庫迁移了。",
    meta={"suspect": True},
    why={
        "routes": {"lexical": {"score": 0.5, "rank": 1}, "dense": {"score": 0.25, "rank": 12}},
        "fused": 0.55,
        "boosts": {"recency": 0.01},
        "terms": {"vector": {"idf": 2.5, "here": True}, "zeppelin": {"idf": 9.0, "here": False}},
    },
)
ANSWER = Recall(hits=(HIT,), mode="lexical+dense", complete=True, believable=0.9)


def test_a_hit_as_people_see_it(capsys: pytest.CaptureFixture[str]) -> None:
    render.hits(ANSWER, "vectors", explain=True)
    assert (
        capsys.readouterr().out
        == """\
memory/2026-02-13.md#L4-L6  2026-02-13 15:20  日记 › Vectors  users/ann  looks like instructions  0.68
    We keep vectors apart. 數據庫迁移了。
      route      rank  score
      lexical    1     0.500
      dense      12    0.250
      fused            0.550
      × recency        +0.010
      matching words (rarity): vector 2.5
      missing words: zeppelin
"""
    )


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("vector", "We keep [vectors] apart. 數據庫迁移了。"),
        ("数据库", "We keep vectors apart. [數據庫]迁移了。"),
        ("keeping 迁移", "We [keep] vectors apart. 數據庫[迁移]了。"),
        ("nothing", "We keep vectors apart. 數據庫迁移了。"),
    ],
)
def test_matched_words_stand_out_whatever_their_form(
    query: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "has_colour", lambda stream: True)
    marked = render.emphasised(HIT.snippet, render.terms_of(query))
    assert re.sub(r"\x1b\[1m(.*?)\x1b\[0m", r"[\1]", marked) == shown


def test_columns_are_aligned_by_what_a_terminal_shows() -> None:
    assert render.table([("数据", "1"), ("abc", "22"), ("é", "3")]) == [
        "数据  1",
        "abc   22",
        "é     3",
    ]


def test_a_long_list_of_problems_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    render.problems(Problem(f"{number}.md", "is binary") for number in range(13))
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "skipped: 0.md: is binary"
    assert (len(shown), shown[-1]) == (11, "… and 3 more; `mnemark status --json` lists all of them")


@pytest.mark.parametrize(
    ("environment", "colour"), [({}, "yes"), ({"NO_COLOR": "1"}, "no"), ({"TERM": "dumb"}, "no")]
)
def test_colour_only_where_it_is_wanted(
    environment: dict[str, str], colour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    class Terminal:
        def isatty(self) -> bool:
            return True

    assert output.has_colour(Terminal()) is (colour == "yes")  # type: ignore[arg-type] # only asked whether it is one


def test_progress_is_for_terminals_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "PROGRESS_AFTER", 0.0)
    with output.Progress() as progress:
        progress.tell("Indexing", 1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    with output.Progress() as progress:
        progress.tell("Indexing", 500, 2000, " files")
    assert capsys.readouterr().err == "\r\x1b[KIndexing  25%  500 of 2,000 files\r\x1b[K"


def test_short_work_shows_no_progress(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    with output.Progress() as progress:
        progress.tell("Indexing", 1, 2)
    assert capsys.readouterr().err == ""
