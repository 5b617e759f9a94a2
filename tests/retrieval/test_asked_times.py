"""A time in a query restricts the answer only where it is asked for."""

from datetime import datetime
from pathlib import Path

import pytest

from mnemark.memory.memory import Memory
from mnemark.retrieval.query import asked_times

NOW = datetime(2026, 6, 10, 12)  # noqa: DTZ001 - wall time


@pytest.mark.parametrize(
    ("query", "times"),
    [
        ("what did I eat yesterday", ["yesterday"]),
        ("Yesterday was long. What did I eat last week?", ["last week"]),
        ("It was lovely last summer. I still have no idea. Where are my skis?", []),
        ("On 5 May there was a party. Who came?", ["5 May"]),
        ("I am so tired today.\nI feel that nobody likes me.", []),
        ("昨天好累。我上周吃了什么？", ["上周"]),
        ("今天天气真好！我真正想问的是：医生叫什么？", []),
        ("5月3日有个聚会。谁来了？", ["5月3日"]),
        ("Who was born in May 2020?", []),
        ("谁的生日在9月24日？", []),
    ],
)
def test_times_are_those_asked_for(query: str, times: list[str]) -> None:
    assert [found.text.lower() for found in asked_times(query, NOW)] == [time.lower() for time in times]


def test_a_time_in_passing_does_not_lift_what_has_its_date(tmp_path: Path) -> None:
    said = {
        "2026-06-09": "The doctor called about the car park.",
        "2026-02-01": "The doctor for my knee is Lin, I like the doctor.",
        "2026-03-01": "The garden needs water.",
        "2026-04-01": "The violin is out of tune.",
    }
    with Memory.open(tmp_path) as memory:
        for day, text in said.items():
            session = memory.session(day)
            session.add("user", text, time=datetime.fromisoformat(f"{day}T10:00:00+00:00"))
        memory.sync()
        found = memory.search("We came home late yesterday. Which doctor did I like for my knee?", now=NOW)
        assert "Lin" in found.hits[0].text
        found = memory.search("Which doctor called yesterday?", now=NOW)
        assert "car park" in found.hits[0].text
