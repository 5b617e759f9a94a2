"""The tables of words, names and formats hold together: a wrong row is found here, not where it is read."""

from collections import Counter

import pytest

from mnemark.facts.keys import plain_words, predicate_key, subjects
from mnemark.facts.predicates import predicates
from mnemark.text import DATA, rows, word_lists
from mnemark.text.dates.calendar import FESTIVALS, FIRST_YEAR, LAST_YEAR, festival, festival_name

TABLES = sorted(path.stem for path in DATA.glob("*.tsv"))


@pytest.mark.parametrize("name", TABLES)
def test_cells_have_no_blanks_around_them_and_no_row_comes_twice(name: str) -> None:
    table = list(rows(name))
    assert [cell for row in table for cell in row if cell != cell.strip()] == []
    assert [row for row, count in Counter(map(tuple, table)).items() if count > 1] == []


def test_a_name_is_one_predicates() -> None:
    table = predicates().values()
    assert len(table) == len(list(rows("predicates")))
    assert {row.holds for row in table} == {"one", "many", "kind", "wide", "words"}
    named = Counter(plain_words(name) for row in table for name in (row.key, *row.names))
    assert [name for name, count in named.items() if count > 1] == []
    assert [name for row in table if row.others for name in row.names if predicate_key(name) == name] == []
    assert [row.key for row in table if bool(row.topic) != bool(row.chinese)] == []


def test_a_name_is_one_subjects_and_a_value_is_one_keys() -> None:
    subject_names = Counter(name for _, names in subjects().values() for name in names.split(", ") if name)
    values = Counter(name for names in rows("twins") for name in names)
    assert [name for named in (subject_names, values) for name, count in named.items() if count > 1] == []
    assert [names for names in rows("twins") if len(names) < 2] == []


def test_festivals_have_days_in_each_year_of_the_table() -> None:
    assert len(FESTIVALS) == len(list(rows("festivals")))
    for name in FESTIVALS:
        first, end = festival(name, FIRST_YEAR + 1)
        assert first < end
        assert festival(name, LAST_YEAR)[0].year in {LAST_YEAR, LAST_YEAR + 1}
    assert festival_name("除夕") == "new year's eve (lunar)"


@pytest.mark.parametrize("name", ["secret_words", "stop_words"])
def test_lists_are_not_empty_and_in_small_letters(name: str) -> None:
    lists = word_lists(name)
    assert all(lists.values())
    assert [word for words in lists.values() for word in words if word != word.lower()] == []
