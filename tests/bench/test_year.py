"""A year of use keeps what is true, and nothing else in the core memory."""

import pytest

from mnemark_bench import simulated_year


@pytest.mark.slow
def test_a_year_gets_no_worse_and_holds_no_error() -> None:
    months = list(simulated_year.run(None, say=lambda _: None))
    assert len(months) == 12
    assert months[-1].turns >= 3_000
    for month in months:
        assert month.by_hand
        assert month.wrong == ()
        assert month.first == 1.0
        assert month.found >= 0.94
        assert month.found >= month.plain
    assert months[-1].prompt < 500
