"""What a question is about, without the words that ask for an overview."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.words.stopwords import topic


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Summarize our decisions about the database", "our decisions about the database"),
        ("Could you please give me a brief, clear overview of how we deploy?", "how we deploy?"),
        ("I'd like a timeline of my moves", "my moves"),
        ("Walk me through the release", "the release"),
        ("List everything about backups", "backups"),
        ("Tell me everything you know about Anna", "Anna"),
        ("We met today. Please recap what Anna said.", "We met today.  what Anna said."),
        ("总结一下我们关于数据库的决定", "我们关于数据库的决定"),
        ("请帮我梳理登录页面的改版", "登录页面的改版"),
        ("概括最近的进展", "最近的进展"),
    ],
)
def test_words_that_ask_for_an_overview_are_no_part_of_its_topic(question: str, about: str) -> None:
    assert topic(question).strip() == about


@pytest.mark.parametrize(
    "question",
    [
        "Summarize",
        "总结一下",
        "Give me a summary of it",
        "Where is the summary of the meeting?",
        "Show me the way to the harbour",
        "总结会议什么时候开",
        "What did I order through the shop?",
        "我点了什么菜",
    ],
)
def test_other_questions_stay_whole(question: str) -> None:
    assert topic(question) == question


def test_what_stands_far_behind_is_not_read_and_not_lost() -> None:
    pasted = "x" * 3_000 + " summarize this"
    assert topic(pasted) == pasted
    assert topic(f"Summarize the log: {pasted}").endswith(pasted)


@given(st.text("sumarizeovw总结一下 .?\n", max_size=60))
def test_the_topic_is_part_of_the_question(text: str) -> None:
    left = topic(text)
    assert left == text or len(left) < len(text)
    assert set(left) <= set(text)
