"""The trained reader: what it is made of, and what it must and must not read of messages."""

import time
from datetime import UTC, datetime
from importlib import resources

import pytest

from mnemark.embed.bundled import BundledEmbedder
from mnemark.extraction.extract import extract
from mnemark.extraction.reader.kept import kept_as
from mnemark.extraction.reader.lexicon import lexicon
from mnemark.extraction.reader.network import DATA, network
from mnemark.extraction.reader.reader import read
from mnemark.extraction.reader.reading import cut
from mnemark.extraction.reader.tokens import LONGEST, tokens

SAID = datetime(2026, 3, 2, 10, tzinfo=UTC)


def test_the_weights_belong_to_the_word_table_and_are_small() -> None:
    assert network().embedder == BundledEmbedder().name
    assert DATA.stat().st_size < 4_000_000


def test_every_key_is_kept_somehow_or_named_here() -> None:
    leave_nothing = {"step", "forget", "private"}  # of the summary; of what is to be forgotten
    assert set(network().keys) - leave_nothing == set(kept_as())


def test_names_of_the_lexicon_are_written_as_they_are_compared() -> None:
    text = (resources.files("mnemark") / "data" / "lexicon.tsv").read_text("utf-8")
    names = [line.partition("\t")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(names) == len({name.replace(" ", "") for name in names})
    wrong = [name for name in names if "".join(token.form for token in tokens(name)) != name.replace(" ", "")]
    assert not wrong


def test_the_longest_name_from_each_place_counts() -> None:
    found = tokens("new york, 爸 and 纽约")
    classes = lexicon().classes(found)
    assert classes[0] == ["B-city"]
    assert classes[1] == ["I-city"]
    assert "B-kin" in classes[3]


def test_a_reading_is_of_words_of_the_message() -> None:
    for text in ("", " ", "\n", "?", "👍🏽", "ﬁ", "我", "a" * 10_000, "I live in Porto. " * 500):
        for one in read(text).readings:
            assert 0 <= one.start < one.end <= len(text)
            assert 0 <= one.probability <= 1
        assert len(tokens(text)) <= LONGEST


def test_values_are_cut_where_they_begin_and_end() -> None:
    import numpy as np

    tags = np.array([[0.9, 0.1, 0], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1], [0.9, 0.05, 0.05]])
    assert list(cut(tags, np.array([0.9, 0.1, 0.1, 0.1, 0.99]))) == [(1, 3), (3, 4)]


@pytest.mark.timed
def test_a_message_is_read_in_about_a_millisecond() -> None:
    said = ["I work at a bakery in Porto and start at four.", "我在一家银行当柜员，周末去爬山。"] * 20
    for text in said:
        read(text)
    best = 1.0
    for _ in range(5):
        begun = time.process_time()
        for text in said:
            read(text)
        best = min(best, (time.process_time() - begun) / len(said))
    assert best < 0.003  # machines that test are shared


def lines(text: str) -> list[str]:
    return [
        f"{one.subject} | {one.predicate} | {one.value}{' (over)' if one.over else ''}"
        for one in extract(text, time=SAID)
        if not one.against
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("welder on nights, living in porto so no calls before noon pls", "user | city | porto"),
        ("my son has asthma, whats a good sport for him", "son | health | asthma"),
        ("坐标成都，养了两只猫", "user | city | 成都"),
        ("我对花生过敏，周末烧烤吃点啥好", "user | allergies | 花生"),
    ],
)
def test_messages_as_people_type_them_are_read(text: str, line: str) -> None:
    assert line in lines(text)


@pytest.mark.parametrize(
    "text",
    [
        "if i moved to lisbon, could i keep my uk pension?",
        'Correct the english: "I am have two daughter and work like cook in Graz"',
        "only for this answer, use bullet points",
        "要是我去葡萄牙养老，退休金够花吗",
        "真想学开飞机，可惜没那个钱",
    ],
)
def test_what_is_supposed_quoted_or_of_the_day_leaves_nothing(text: str) -> None:
    assert lines(text) == []


@pytest.mark.parametrize(
    ("text", "decided"),
    [
        ("It was late, so we decided to keep going.", False),
        ("We found an old mill on the way and decided to check it out.", False),
        ("We decided to grab lunch first.", False),
        ("We decided to stay in tonight.", False),
        ("We decided on Tuesday to turn back because of the rain.", False),
        ("We decided to hold the retro on Thursday.", True),
        ("我们决定明天上线", True),
        ("我们决定先休息一下", False),
        ("我们决定今晚不做饭了", False),
        ("We decided to use PostgreSQL for the billing service.", True),
        ("Decision: keep the index in one file.", True),
        ("Final decision: keep the index in one file.", True),
        ("最终决定：索引放在一个文件里。", True),
        ("定下来了，支持离线模式", True),
    ],
)
def test_a_decision_of_the_moment_is_none_of_the_project(text: str, *, decided: bool) -> None:
    found = extract(text, time=SAID)
    assert any(one.predicate == "decisions" for one in found) is decided


def test_half_a_character_is_read_past() -> None:
    assert read("\ud800 i live in Rome").readings


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("business name is Stillwater Acoustics", "name"), ("公司名是静水声学", "name"),
        ("妈妈七十岁生日送什么好？她喜欢昆曲和兰花，不吃甜食", "diet"), ("她最喜欢的绘本是《团圆》", ""),
        ("好主意，买了8月12号《牡丹亭》两张票，在厦门大剧院", "address"),
        ("Ida turned 8 on 2 May. which bike size", "appointments"),
    ],
)  # fmt: skip
def test_what_is_of_another_or_has_no_such_form_is_not_the_owners(text: str, wrong: str) -> None:
    assert wrong not in {one.predicate for one in extract(text, time=SAID) if one.subject == "user"}


def test_what_the_writer_says_after_somebody_else_is_the_writers() -> None:
    found = {
        (one.subject, one.predicate, one.value) for one in extract("she left, so I moved to Porto", time=SAID)
    }
    assert ("user", "city", "Porto") in found


def test_the_verb_of_a_taste_may_change_in_a_list() -> None:
    found = [(one.predicate, one.value) for one in extract("I like teal, hate gradients", time=SAID)]
    assert found == [("likes", "teal"), ("dislikes", "gradients")]
