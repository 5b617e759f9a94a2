"""Identifiers: growing, and the same for the same content."""

from datetime import UTC, datetime, timedelta, timezone
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.files import ids


def test_ids_grow_strictly_and_have_the_shape() -> None:
    made = [ids.new_id() for _ in range(5000)]
    assert made == sorted(set(made))
    assert all(ids.is_id(one) for one in made)


def test_ids_grow_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ids.new_id()
    monkeypatch.setattr("time.time_ns", lambda: 0)
    assert ids.new_id() > before


def test_threads_never_share_an_id() -> None:
    made: list[str] = []
    threads = [Thread(target=lambda: made.extend(ids.new_id() for _ in range(500))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 2000


def test_an_id_tells_when_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert abs(ids.time_of(ids.new_id()) - datetime.now(UTC)) < timedelta(seconds=5)
    # The example of the specification.
    assert ids.time_of("01ARYZ6S41TSV4RRFFQ69G5FAV") == datetime(2016, 7, 30, 22, 36, 16, 385000, UTC)


@pytest.mark.parametrize(
    "text", ["", "81ARYZ6S41TSV4RRFFQ69G5FAV", "01ARYZ6S41TSV4RRFFQ69G5FAU", "01ARYZ6S41"]
)
def test_what_is_no_id(text: str) -> None:
    assert not ids.is_id(text)
    with pytest.raises(ValueError, match="no ULID"):
        ids.time_of(text)


@given(st.binary(), st.none() | st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1)))  # noqa: DTZ001 - naive on purpose
def test_derived_ids_are_the_same_each_time(content: bytes, moment: datetime | None) -> None:
    derived = ids.derived_id(content, moment)
    assert derived == ids.derived_id(content, moment)
    assert derived != ids.derived_id(content + b"x", moment)
    assert ids.is_id(derived)


def test_derived_ids_sort_by_their_moment_and_zones_agree() -> None:
    noon = datetime(2026, 2, 13, 12, tzinfo=UTC)
    assert ids.derived_id(b"z", noon) < ids.derived_id(b"a", noon + timedelta(seconds=1))
    shanghai = noon.astimezone(timezone(timedelta(hours=8)))
    assert ids.derived_id(b"a", noon) == ids.derived_id(b"a", shanghai)


def test_packed_ids_are_a_set() -> None:
    made = [ids.new_id() for _ in range(500)]
    others = ["", "no ulid", made[0].lower(), made[0][:-1], made[0] + "0", "I" * 26]
    held = ids.PackedIds().union(made[1::2]).union([*made[3::4], others[1]])
    assert [one for one in made if one in held] == made[1::2]
    assert [one for one in others if one in held] == [others[1]]
    assert held
    assert not ids.PackedIds()
    assert None not in held


@given(st.sets(st.binary(min_size=1, max_size=3)), st.sets(st.binary(min_size=1, max_size=3)))
def test_packed_ids_hold_what_was_added_and_nothing_else(first: set[bytes], more: set[bytes]) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    one, two = ({ids.derived_id(content, moment) for content in some} for some in (first, more))
    before = ids.PackedIds().union(one)
    both = before.union(two)
    assert all(name in both for name in one | two)
    assert all(name in before for name in one)
    assert not any(name in before for name in two - one)
