import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.text.words.tokens import MOST_OF_CHARACTER, cut_to_tokens, estimate_tokens
from sampled import examples


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        # Counted once with Qwen's tokenizer.
        ("今日の朝、私たちは旅行の計画について話し合い、金曜日の夜に出発することにしました。", 24),
        ("Сегодня утром мы обсуждали план поездки в Санкт-Петербург и решили выехать в пятницу вечером.", 31),
        ("Während der Überprüfung fanden wir größere Schäden; wir müssen später zurückkehren.", 24),
    ],
)
def test_other_languages_are_in_the_right_range(text: str, counted: int) -> None:
    assert counted * 0.6 <= estimate_tokens(text) <= counted * 1.7


def test_nothing_costs_nothing_and_anything_costs_something() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("  ") == 0
    assert estimate_tokens("a") == 1
    assert estimate_tokens("\ud800") == 1


def test_ends_with_a_paragraph_then_a_sentence_then_a_word() -> None:
    paragraphs = "One two three four five. Six seven.\n\nEight nine ten.\n\nEleven twelve thirteen fourteen."
    assert cut_to_tokens(paragraphs, 19) == "One two three four five. Six seven.\n\nEight nine ten."
    assert cut_to_tokens("One two three four. Five six seven eight nine.", 8) == "One two three four."
    assert cut_to_tokens("alpha beta gamma delta epsilon", 4) == "alpha beta gamma delta"
    assert cut_to_tokens("我们换了数据库。新的版本快了很多，大家都很满意", 10) == "我们换了数据库。"


def test_a_budget_that_is_large_enough_changes_nothing() -> None:
    assert cut_to_tokens("as it is \n", 100) == "as it is \n"
    assert cut_to_tokens("anything", 0) == ""
    assert cut_to_tokens("", 5) == ""


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet=st.sampled_from("ab Z.9\n我们。,é😀{"), max_size=300), st.integers(-1, 60))
def test_a_cut_is_a_beginning_within_the_budget(text: str, budget: int) -> None:
    cut = cut_to_tokens(text, budget)
    assert text.startswith(cut)
    assert estimate_tokens(cut) <= max(budget, 0)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=100) | st.text(alphabet="a1A. \n好。😀\ue000\u2014", max_size=100))
def test_no_character_costs_more_than_the_bound(text: str) -> None:
    assert estimate_tokens(text) <= MOST_OF_CHARACTER * len(text) + 0.5


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=100), st.text(max_size=20))
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimate_tokens(text + more) >= estimate_tokens(text)
