"""What a sentence tells before it asks."""

from datetime import UTC, datetime

import pytest

from mnemark.extraction.extract import by_rules as extract

NOW = datetime(2026, 3, 11, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I'm vegetarian, what can I cook?", [("diet", "vegetarian")]),
        ("I live in Berlin and have two kids, any tips?", [("city", "Berlin"), ("children", "two kids")]),
        ("Hi, since I work at Bosch, can I get a discount?", [("employer", "Bosch")]),
        ("I'm allergic to nuts, so which desserts can I have?", [("allergies", "nuts")]),
        ("I like tea, how about you?", [("likes", "tea")]),
        ("我吃素，晚饭做什么好？", [("diet", "吃素")]),
        ("我有两个孩子，周末去哪玩比较好？", [("children", "两个孩子")]),
        ("因为我对花生过敏，能吃什么零食呢", [("allergies", "花生")]),
        ("我喜欢咖啡，你呢？", [("likes", "咖啡")]),
    ],
)
def test_a_fact_before_a_question_is_read(text: str, found: list[tuple[str, str]]) -> None:
    assert [(one.predicate, one.value) for one in extract(text, time=NOW)] == found


@pytest.mark.parametrize(
    "text",
    [
        "I live in Berlin, right?",
        "I'm allergic to nuts, am I?",
        "If I'm vegetarian, what can I cook?",
        "What if I'm vegetarian, what can I cook?",
        "Should I say I'm vegetarian, or is that rude?",
        "I thought I was allergic to nuts, what now?",
        "My friend says I'm vegetarian, is that so?",
        "He is vegetarian, what can I cook?",
        "我住在北京，对吗？",
        "我住在北京，还是上海？",
        "如果我吃素，晚饭做什么好？",
        "我吃素吗，还是吃荤？",
        "我平时在家，有没有适合的活？",
        "客户说他吃素，晚饭做什么好？",
    ],
)
def test_what_is_asked_or_supposed_is_not(text: str) -> None:
    assert extract(text, time=NOW) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "I'm allergic to peanuts, btw I am looking for a lunch place near the office",
            [("allergies", "peanuts")],
        ),
        ("The build is red again, by the way, I live in Porto.", [("city", "Porto")]),
        ("I live in Porto, by the way.", [("city", "Porto")]),
        ("I'm vegetarian since January, by the way.", [("diet", "vegetarian")]),
        ("If I were vegan, btw that is not so, what would I eat?", []),
    ],
)
def test_an_aside_is_a_sentence_of_its_own(text: str, found: list[tuple[str, str]]) -> None:
    assert [(one.predicate, one.value) for one in extract(text, time=NOW)] == found
