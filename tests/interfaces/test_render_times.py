"""Times as people read them."""

from datetime import UTC, timedelta, timezone

import pytest

from mnemark_interfaces.render import minute, on_clock

SHANGHAI = timezone(timedelta(hours=8))


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        ("2026-11-26T05:37:12.820000+00:00", "2026-11-26 13:37"),
        ("2026-11-26T13:37:12+08:00", "2026-11-26 13:37"),
        ("2026-11-26", "2026-11-26"),
        ("", ""),
        ("then", "then"),
    ],
)
def test_a_time_is_shown_on_the_clock_of_the_workspace(time: str, shown: str) -> None:
    assert minute(on_clock(time, SHANGHAI)) == shown
    assert on_clock("2026-11-26T05:37:00+00:00", UTC) == "2026-11-26T05:37:00+00:00"
