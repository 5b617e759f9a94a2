"""Expansion of a question's terms into the other language."""

import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.embed import dictionary
from mnemark.embed.dictionary import MOST, expand
from mnemark.embed.sections import Sections, read_sections
from mnemark.text.words.segment import query_terms
from sampled import examples


def words(question: str, to: str) -> dict[str, float]:
    return dict(expand(query_terms(question), "en" if to == "en" else "zh"))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("天气", "weather"),
        ("她喜欢喝咖啡", "coffee"),
        ("北京", "Beijing"),
        ("數據庫", "database"),
        ("医院", "hospital"),
    ],
)
def test_chinese_terms_give_english_ones_as_the_index_has_them(question: str, expected: str) -> None:
    assert query_terms(expected)[0] in words(question, "en")


@pytest.mark.parametrize(
    ("question", "expected"), [("weather", "天气"), ("running databases", "数据库"), ("coffee", "咖啡")]
)
def test_english_terms_give_chinese_ones(question: str, expected: str) -> None:
    assert expected in words(question, "zh")


@pytest.mark.parametrize(
    ("question", "parts"), [("王小明去哪里了", ["Wang", "Xiaoming"]), ("欧阳修的诗", ["Ouyang", "Xiu"])]
)
def test_names_are_given_by_pinyin(question: str, parts: list[str]) -> None:
    found = words(question, "en")
    assert {query_terms(part)[0] for part in parts} <= found.keys()


def test_weights_fall_with_the_sense_and_come_best_first() -> None:
    found = expand(query_terms("开心的天气"), "en")
    weights = [weight for _, weight in found]
    assert weights == sorted(weights, reverse=True)
    assert 0 < weights[-1] < weights[0] <= 1


def test_function_words_and_unknown_terms_add_nothing() -> None:
    assert expand(query_terms("的了是吗"), "en") == []
    assert expand(["the", "zzzzqq", "3.12"], "zh") == []
    assert expand([], "en") == []


def test_one_term_adds_a_bounded_number() -> None:
    assert len(expand(query_terms("good"), "zh")) <= MOST


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text(max_size=6), max_size=12), st.sampled_from(["en", "zh"]))
def test_any_terms_are_safe_and_each_word_comes_once(terms: list[str], to: str) -> None:
    found = expand(terms, "en" if to == "en" else "zh")
    assert len({term for term, _ in found}) == len(found)
    assert all(0 < weight <= 1 for _, weight in found)


def test_threads_that_begin_at_once_read_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, together = [], threading.Barrier(4)

    def slowly(path: Path) -> Sections:
        read.append(path)
        time.sleep(0.1)
        return read_sections(path)

    def ask() -> None:
        together.wait()
        assert expand(["数据库"], to="en")

    monkeypatch.setattr(dictionary, "read_sections", slowly)
    dictionary._read_dictionary.cache_clear()
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read) == 1
