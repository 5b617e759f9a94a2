"""Before and after something that happened: by its date, whatever words the answer has."""

from datetime import datetime
from pathlib import Path

import pytest

from mnemark.memory.memory import Memory
from mnemark.retrieval.query import event_terms
from mnemark.text.dates.ranges import order_hint

NOTES = {
    "2026-01-12": "Sold the old bicycle.",
    "2026-03-01": "Renewed the passport and paid the gym.",
    "2026-03-05": "Shanghai trip: walked along the Bund with Wei.",
    "2026-03-09": "Signed up for a pottery course.",
    "2026-04-02": "整理书架，捐了一批旧书。",
    "2026-04-06": "去杭州旅行，看了西湖。",
    "2026-04-10": "开始学吉他。",
    "2026-05-20": "Painted the kitchen.",
}
NOW = datetime(2026, 6, 1)  # noqa: DTZ001 - wall time


@pytest.fixture(params=["bundled", "none"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Memory:
    for day, text in NOTES.items():
        path = tmp_path / "memory" / f"{day}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {day}\n\n{text}\n", encoding="utf-8")
    path = tmp_path / "users" / "bo" / "memory" / "2026-03-06.md"
    path.parent.mkdir(parents=True)
    path.write_text("# 2026-03-06\n\nSomebody else's secret plan.\n")
    return Memory.open(tmp_path, config={"embedder": request.param})


@pytest.mark.parametrize(
    ("question", "told", "wanted", "other"),
    [
        ("what did I do after the Shanghai trip", "2026-03-05", "2026-03-09", "2026-03-01"),
        ("what did I do before the Shanghai trip?", "2026-03-05", "2026-03-01", "2026-03-09"),
        ("杭州旅行之后我做了什么", "2026-04-06", "2026-04-10", "2026-04-02"),
        ("杭州旅行之前我做了什么？", "2026-04-06", "2026-04-02", "2026-04-10"),
    ],
)
def test_the_right_side_of_an_event_is_found(
    memory: Memory, question: str, told: str, wanted: str, other: str
) -> None:
    with memory:
        found = [hit.path for hit in memory.search(question, now=NOW).hits]
    places = {day: found.index(f"memory/{day}.md") for day in NOTES if f"memory/{day}.md" in found}
    assert places[told] == 0
    assert wanted in places
    assert places[wanted] < places.get(other, len(found))
    assert not any(path.startswith("users/") for path in found)


def test_what_is_filtered_out_stays_out(memory: Memory) -> None:
    with memory:
        found = memory.search("what did I do after the Shanghai trip", now=NOW, until="2026-03-07")
    assert {str(hit.date)[:10] for hit in found.hits} <= {day for day in NOTES if day <= "2026-03-07"}


@pytest.mark.parametrize(
    "question",
    [
        "what did I do after lunch at the zoo",
        "what happened before",
        "after the trip",
        "之后",
        "the day after",
    ],
)
def test_without_a_clear_event_search_goes_as_ever(memory: Memory, question: str) -> None:
    with memory:
        memory.search(question, now=NOW)
    assert set(event_terms(question, order_hint(question))) <= {"lunch", "zoo", "trip"}
