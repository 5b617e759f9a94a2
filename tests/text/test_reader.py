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
        for one in read(text):
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
        if not one.change
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("living in tulsa btw so dont expect replies before 8pm", "user | city | tulsa"),
        ("nurse, 34, allergic to penicillin", "user | allergies | penicillin"),
        ("坐标成都，养了两只猫", "user | city | 成都"),
        ("我对青霉素过敏，给我推荐个消炎药", "user | allergies | 青霉素"),
    ],
)
def test_messages_as_people_type_them_are_read(text: str, line: str) -> None:
    assert line in lines(text)


@pytest.mark.parametrize(
    "text",
    [
        "if i lived in tokyo, would i be able to afford a 1br?",
        'Fix the grammar: "I has a dog named Rex and live in Denver"',
        "just this once, give me the answer in French",
        "如果我在日本生活，一个月二十万日元够吗",
        "好想养只柯基啊，可惜租房不让",
    ],
)
def test_what_is_supposed_quoted_or_of_the_day_leaves_nothing(text: str) -> None:
    assert lines(text) == []
