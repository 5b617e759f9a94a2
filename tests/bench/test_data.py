from datetime import datetime
from pathlib import Path

import pytest

from bench import tiny
from mnemark.errors import NotFoundError, UsageError
from mnemark_bench.data import SetQuestion, find_sets, load_set


def asked(date: str | None) -> datetime | None:
    return SetQuestion(qid="", query="", scopes=[], gold_ids=[], gold_sessions=[], query_date=date).asked_at


def test_a_month_means_its_last_minute() -> None:
    assert asked("2024-02") == datetime.fromisoformat("2024-02-29T23:59")
    assert asked("2024-02-03") == datetime.fromisoformat("2024-02-03T23:59")
    assert asked("2024-02-03T09:30:00") == datetime.fromisoformat("2024-02-03T09:30")
    assert asked(None) is None


def test_what_cannot_be_scored_is_counted_by_reason(tmp_path: Path) -> None:
    data = load_set(tiny.write(tmp_path / "tiny"))
    assert [question.qid for question in data.questions] == ["q1", "q2", "q3", "q4"]
    assert data.skipped == {"not answerable": 1, "evidence not in the corpus": 1}


def test_a_limit_takes_questions_from_everywhere(tmp_path: Path) -> None:
    data = load_set(tiny.write(tmp_path / "tiny"), limit=2)
    assert [question.qid for question in data.questions] == ["q1", "q3"]
    assert data.skipped["over the limit"] == 2


def test_a_folder_of_sets(tmp_path: Path) -> None:
    tiny.write(tmp_path / "b")
    tiny.write(tmp_path / "a")
    assert [found.name for found in find_sets(tmp_path)] == ["a", "b"]
    assert find_sets(tmp_path / "a") == [tmp_path / "a"]


def test_questions_of_another_set(tmp_path: Path) -> None:
    first, second = tiny.write(tmp_path / "one"), tiny.write(tmp_path / "two")
    assert load_set(first, questions_from=second).name == "two on one"


def test_wrong_folders_and_lines_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no folder"):
        find_sets(tmp_path / "missing")
    with pytest.raises(UsageError, match="holds no corpus"):
        find_sets(tmp_path)
    broken = tiny.write(tmp_path / "broken")
    with (broken / "queries.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n")
    with pytest.raises(UsageError, match=r"queries\.jsonl, line 7"):
        load_set(broken)
