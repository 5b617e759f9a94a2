"""Names with the full stop of an abbreviation: learned whole, or as far as they surely go."""

from datetime import UTC, datetime

import pytest

from mnemark.extraction.extract import by_rules as extract

NOW = datetime(2026, 3, 11, 10, tzinfo=UTC)


def facts(text: str) -> dict[str, str]:
    return {one.predicate: one.value for one in extract(text, time=NOW) if one.predicate and not one.over}


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I work at St. Anna hospital.", "employer", "St. Anna hospital"),
        ("I work as a nurse at Mt. Sinai hospital.", "employer", "Mt. Sinai hospital"),
        ("I work for J. Smith Ltd. in Bonn.", "employer", "J. Smith Ltd"),
        ("I work for J.P. Morgan.", "employer", "J.P. Morgan"),
        ("I work at Smith & Co. as a nurse.", "employer", "Smith & Co"),
        ("I work at Smith & Co. as a nurse.", "job", "nurse"),
        ("I work for Initrode Inc. and live in Bonn.", "city", "Bonn"),
        ("I work for Initrode Inc. and live in Bonn.", "employer", "Initrode Inc"),
        ("I live in St. Gallen.", "city", "St. Gallen"),
        ("My manager is Dr. Weber.", "manager", "Dr. Weber"),
        ("My name is J. R. Weber.", "name", "J. R. Weber"),
        ("I like tea vs. coffee.", "likes", "tea vs. coffee"),
    ],
)
def test_a_full_stop_inside_of_a_name_does_not_cut_it(text: str, predicate: str, value: str) -> None:
    assert facts(text)[predicate] == value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I work at Main St. My dog is brown.", {"employer": "Main St"}),
        ("I work at Initrode Co. My boss is Tom.", {"employer": "Initrode Co", "manager": "Tom"}),
        ("I take vitamin C. I live in Bonn.", {"city": "Bonn"}),
        ("No. I live in Bonn.", {"city": "Bonn"}),
        ("I work at Initrode. St. Anna is far.", {"employer": "Initrode"}),
    ],
)
def test_a_full_stop_that_ends_the_sentence_still_does(text: str, found: dict[str, str]) -> None:
    assert facts(text) == found
