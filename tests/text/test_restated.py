"""Which sentences say what another says: framed or shortened ones, never one with another meaning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.text.words.restated import SaidSentences, sentences

GATE = "the code word of the harbour gate is pelican, and Ann keeps the spare key"


def repeats(said: str, again: str, *, speaker: str = "", other: str = "") -> bool:
    return SaidSentences(sentences(said, speaker)).repeats(sentences(again, other))


@pytest.mark.parametrize(
    ("said", "again"),
    [
        (f"Please note: {GATE}.", GATE),
        (f"Please note: {GATE}.", f"- Asked: Please note: {GATE}"),
        (f"# Gate\n\n- Asked: {GATE}\n- Bob has a boat", f"{GATE.capitalize()}!"),
        ("I keep two cats at home.", "The user keeps two cats at home"),
        ("Ann still keeps a spare key.", "Ann keeps the spare key"),
        ("My editor is Helix 24.07. I moved to Leeds.", "User moved to Leeds. editor: Helix 24.07"),
        ("我喜欢喝咖啡，每天两杯。", "用户喜欢喝咖啡"),
        ("请记住：港口大门的口令是鹈鹕。", "- 目标：港口大门的口令是鹈鹕"),
        ("港口大门的口令是鹈鹕", "请记住：港口大门的口令是鹈鹕。"),
        (GATE, f"Okay. Please note: {GATE}."),
        (GATE, f"By the way, {GATE}."),
    ],
)
def test_a_sentence_in_another_frame(said: str, again: str) -> None:
    assert repeats(said, again)


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("I use Python 3.11 at work", "I use Python 3.12 at work"),
        ("I use Python 3.11 at work", "I use Python 3 at work"),
        ("The rent is 1,000 euros a month", "The rent is 1 euros month"),
        ("I do not like green tea", "I like green tea"),
        ("I like green tea", "I don't like green tea"),
        ("Do you know that Ann keeps the key?", "Ann keeps the key"),
        ("Maybe Ann keeps the spare key", "Ann keeps the spare key"),
        ("Ann gave Bob the key", "Bob gave Ann the key"),
        ("I lived in Leeds with Ann", "I live in Leeds with Ann"),
        ("Ann keeps the spare key", "Ann keeps the spare key. Bob has the other"),
        ("Ann keeps the spare key", "Ann keeps the spare key. 2019"),
        ("Ann came, and Bob saw a heron, and we lost the spare key", "Ann lost the spare key"),
        ("Yes, on Tuesday with Ann", "On Tuesday."),
        ("我不喜欢喝咖啡", "我喜欢喝咖啡"),
        ("房租是900元一个月", "房租是950元一个月"),
        ("可能下周去北京出差", "下周去北京出差"),
        ("Ann's birthday party on Tuesday", "Remember Ann's birthday party on Tuesday"),
        ("", ""),
    ],
)
def test_a_sentence_with_another_meaning(said: str, again: str) -> None:
    assert not repeats(said, again)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ann’s 12,500 boats – v2.0", ("ann", "12,500", "boat", "v2.0")),
        ("我家WiFi密码是ab'c，用3,000米", ("家", "wifi", "密码", "ab'c", "用", "3,000", "米")),
        ("ひらがな 한국어 été", ("ひら", "らが", "がな", "한국", "국어", "été")),
    ],
)
def test_words_and_pairs_of_characters_stand_in_order(text: str, words: tuple[str, ...]) -> None:
    assert [one.words for one in sentences(text)] == [words]


def test_who_speaks_counts_where_it_is_known() -> None:
    assert repeats(GATE, GATE, speaker="Ann", other="")
    assert not repeats("I keep two cats", "I keep two cats", speaker="Ann", other="Bob")


@given(st.text(), st.text())
def test_any_text_is_safe_and_says_itself(text: str, more: str) -> None:
    found = sentences(text)
    assert all(map(SaidSentences(found).says, found))
    assert all(map(SaidSentences([*found, *sentences(more)]).says, found))
