"""A recall and a prompt end at what concerns the question; a moment that texts share is no reason."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemark.memory.memory import Memory

NOW = datetime(2026, 5, 8, 15, 0, tzinfo=UTC)
PRIVATE = "Uncle Bertil lost his licence last month, and nobody may mention that to him."
SAID = [
    "My favourite soup is leek and potato.",
    PRIVATE,
    "We usually have supper at half past six.",
    "The roofer sends his bill in two weeks.",
    "I took up fencing after the holidays.",
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, config={"timezone": "UTC"}) as found:
        for number, said in enumerate(SAID):
            found.session(f"cli:{number}").add("user", said, time=NOW.replace(minute=number))
        found.sync()
        yield found


def test_a_day_that_the_question_names_brings_no_other_matters(memory: Memory) -> None:
    question = "Which soup should I cook for supper on Friday?"
    assert PRIVATE not in memory.recall(question, deadline=30, now=NOW).text
    text = memory.prompt(question, deadline=30, now=NOW).recall
    assert PRIVATE not in text
    assert SAID[0] in text
    assert SAID[2] in text


def test_a_question_for_a_day_brings_all_of_it(memory: Memory) -> None:
    text = memory.recall("What did I tell you today?", deadline=30, now=NOW).text
    assert all(said in text for said in SAID)


def test_a_search_finds_the_rest(memory: Memory) -> None:
    found = memory.search("Which soup should I cook for supper on Friday?", now=NOW)
    assert PRIVATE in [hit.text for hit in found.hits]


def _scores(memory: Memory, question: str) -> dict[str, float]:
    return {hit.text: hit.score for hit in memory.search(question, now=NOW).hits}


@pytest.mark.parametrize("seconds", [0, 59])
def test_what_was_recorded_at_once_does_not_gain_by_it(tmp_path: Path, seconds: int) -> None:
    best, other = "The canoe was mended by Signe in the boat shed.", "Parsnips keep well in sand."
    scores = {}
    for name, moment in (("at once", NOW.replace(second=seconds)), ("years before", NOW.replace(year=2019))):
        with Memory.open(tmp_path / name) as memory:
            memory.session("cli:1").add("user", best, time=NOW)
            memory.session("cli:2").add("user", other, time=moment)
            memory.sync()
            scores[name] = _scores(memory, "Who mended the canoe in the boat shed?")
    assert scores["at once"] == scores["years before"]


def test_what_was_said_on_the_same_day_gains(tmp_path: Path) -> None:
    best, other = "The canoe was mended by Signe in the boat shed.", "Parsnips keep well in sand."
    with Memory.open(tmp_path) as memory:
        memory.session("cli:1").add("user", best, time=NOW)
        memory.session("cli:2").add("user", other, time=NOW.replace(hour=9))
        memory.session("cli:3").add("user", other + " Really.", time=NOW.replace(year=2019))
        memory.sync()
        scores = _scores(memory, "Who mended the canoe in the boat shed?")
    assert scores[other] > 2 * scores[other + " Really."]
