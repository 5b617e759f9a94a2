import itertools
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.facts.model import Fact
from mnemark.facts.timeline import FactVersion, confirmed, timeline
from sampled import examples

_DAYS = st.one_of(st.just(""), st.integers(1, 9).map(lambda day: f"2026-02-0{day}"))
_FACTS = st.lists(
    st.builds(
        lambda predicate, value, since, recorded: (predicate, value, since, recorded),
        st.sampled_from(["city", "住在", "likes", ""]),
        st.sampled_from(["Bonn", "Berlin", "Köln"]),
        _DAYS,
        st.integers(1, 9).map(lambda day: f"2026-02-0{day}T12:00:00+00:00"),
    ),
    max_size=7,
).map(
    lambda rows: [
        Fact(id=f"01{at:03}", predicate=row[0], value=row[1], since=row[2], recorded=row[3])
        for at, row in enumerate(rows)
    ]
)


def dated(identifier: str, value: str, since: str, **fields: str) -> Fact:
    return Fact(id=identifier, predicate="city", value=value, since=since, **fields)  # type: ignore[arg-type]


def at(held: list[FactVersion], day: str) -> list[str]:
    return [one.fact.value for one in held if one.at(datetime.fromisoformat(day).replace(tzinfo=UTC))]


@given(_FACTS)
@settings(max_examples=examples(200))
def test_one_value_at_a_time_and_none_lost(facts: list[Fact]) -> None:
    held = timeline(facts, UTC)
    assert sorted(one.fact.id for one in held) == sorted(fact.id for fact in facts)
    start = datetime(2026, 1, 30, tzinfo=UTC)
    for hours in range(0, 24 * 13, 7):
        moment = start + timedelta(hours=hours)
        for _, group in itertools.groupby(held, key=lambda one: one.fact.key):
            true = [one for one in group if one.at(moment)]
            assert len([one for one in true if one.fact.since]) <= 1
            assert len({(one.fact.recorded, one.fact.since) for one in true}) <= 1


@given(_FACTS, st.randoms())
@settings(max_examples=examples(100))
def test_the_order_things_are_learned_in_does_not_matter(facts: list[Fact], random: object) -> None:
    dates = [fact for fact in facts if fact.since]
    other = list(dates)
    random.shuffle(other)  # type: ignore[attr-defined]
    key = lambda one: one.fact.id  # noqa: E731 - both sides sort alike
    assert sorted(timeline(dates, UTC), key=key) == sorted(timeline(other, UTC), key=key)


@given(_FACTS)
@settings(max_examples=examples(100))
def test_what_was_written_down_reads_the_same(facts: list[Fact]) -> None:
    once = timeline([fact for fact in facts if fact.since], UTC)
    again = timeline([one.fact for one in once], UTC)
    assert [(one.fact, one.begin, one.end) for one in again] == [
        (one.fact, one.begin, one.end) for one in once
    ]


def test_ties_go_to_the_greater_id() -> None:
    held = timeline([dated("02", "Berlin", "2026-02-01"), dated("01", "Bonn", "2026-02-01")], UTC)
    assert at(held, "2026-02-01") == ["Berlin"]
    assert at(held, "2026-01-31") == []


def test_a_gap_stays_a_gap() -> None:
    held = timeline(
        [dated("01", "Bonn", "2026-01-01", until="2026-01-10"), dated("02", "Berlin", "2026-02-01")], UTC
    )
    assert at(held, "2026-01-09") == ["Bonn"]
    assert at(held, "2026-01-10") == []
    assert held[1].fact.supersedes == ""


def test_what_nobody_dated_is_true_until_someone_says_otherwise() -> None:
    undated = Fact(id="01", predicate="city", value="Bonn", recorded="2026-02-05T00:00:00+00:00")
    assert at(timeline([undated], UTC), "2001-01-01") == ["Bonn"]
    later = dated("02", "Berlin", "2026-02-01", supersedes="01")
    held = timeline([undated, later], UTC)
    assert (at(held, "2026-01-31"), at(held, "2026-02-10")) == (["Bonn"], ["Berlin"])
    without = timeline([undated, dated("02", "Berlin", "2026-02-01")], UTC)
    assert at(without, "2026-02-10") == ["Bonn"]


def test_two_lines_a_person_wrote_at_once_both_hold() -> None:
    one = Fact(id="01", predicate="phone", value="1", recorded="2026-02-05T00:00:00+00:00")
    two = Fact(id="02", predicate="phone", value="2", recorded="2026-02-05T00:00:00+00:00")
    assert at(timeline([one, two], UTC), "2026-03-01") == ["1", "2"]


@given(st.floats(0, 0.99), st.floats(0, 1))
def test_confirming_never_makes_less_sure_and_never_certain(before: float, by: float) -> None:
    assert before - 0.001 <= confirmed(before, by) <= 0.99


def test_facts_read_as_parts_of_sentences() -> None:
    assert str(Fact(id="1", predicate="python version", value="3.12")) == "user python version: 3.12"
    assert str(Fact(id="1", value="tests run before a commit")) == "user: tests run before a commit"


@pytest.mark.timed
def test_thousands_of_values_that_nobody_dated_take_no_time() -> None:
    facts = [Fact(id=f"{n:05}", predicate="city", value=str(n), recorded="2036-01-01") for n in range(8_000)]
    begin = time.process_time()
    held = timeline(facts, UTC)
    assert time.process_time() - begin < 5, "seconds; half a minute for a thousand before"
    assert all(one.end is None for one in held), "nothing says which of them is the newer"
