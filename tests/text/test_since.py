"""Since when a fact holds: by the time words of its own clause, and of no other."""

from datetime import UTC, datetime

import pytest

from mnemark.extraction.extract import by_rules as extract

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)
TODAY = "2026-11-25"


def since(text: str, value: str) -> str:
    """The day since when the fact with that value holds."""
    found = [one for one in extract(text, time=NOW) if one.value == value and not one.over]
    return f"{found[0].since:%Y-%m-%d}"


@pytest.mark.parametrize(
    ("text", "value", "day"),
    [
        ("I moved to Porto in May.", "Porto", "2026-05-01"),
        ("Last May, I moved to Porto.", "Porto", "2026-05-01"),
        ("I moved to Porto, Portugal in May.", "Porto, Portugal", "2026-05-01"),
        ("I moved to Porto in May and now work at Siemens.", "Porto", "2026-05-01"),
        ("I got a dog yesterday and I moved to Porto in May.", "Porto", "2026-05-01"),
        ("I got a dog yesterday and I moved to Porto in May.", "dog", "2026-11-24"),
        ("去年五月，我搬到了上海。", "上海", "2025-05-01"),
        ("我去年五月从北京搬到上海，现在在华为工作。", "上海", "2025-05-01"),
        ("我2025年住在里斯本，现在住在波尔图。", "里斯本", "2025-01-01"),
    ],
)
def test_a_time_of_its_own_clause(text: str, value: str, day: str) -> None:
    assert since(text, value) == day


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I live in Porto now, in 2025 I lived in Lisbon.", "Porto"),
        ("I live in Porto, the school wanted a form by 11 November.", "Porto"),
        ("I lived in Lisbon in 2025 and live in Porto now.", "Porto"),
        ("I work at Siemens now and in March I was still at Bosch.", "Siemens"),
        ("I have two cats now; in 2020 I had a dog.", "two cats"),
        ("I've been living in Porto since March, and I got a dog yesterday.", "Porto"),
        ("我现在住在波尔图，2025年的时候住在里斯本。", "波尔图"),
        ("我2025年住在里斯本，现在住在波尔图。", "波尔图"),
        ("我去年五月从北京搬到上海，现在在华为工作。", "华为"),
    ],
)
def test_a_time_of_another_clause_dates_nothing(text: str, value: str) -> None:
    assert since(text, value) == TODAY


@pytest.mark.parametrize(
    ("text", "value"),
    [("My cousin Amina was here on Friday.", "cousin"), ("My wife Ana turned 40 in May.", "wife")],
)
def test_who_somebody_is_has_no_date(text: str, value: str) -> None:
    assert since(text, value) == TODAY
