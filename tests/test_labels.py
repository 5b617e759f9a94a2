"""The labelled messages that the reader of messages is trained on."""

from collections import Counter
from functools import cache

import pytest
from tools.reader.briefs import Briefs
from tools.reader.labels import Message, load, parse


@cache
def messages() -> tuple[Message, ...]:
    return tuple(load())


def test_all_are_well_formed_and_no_message_stands_twice() -> None:
    assert len(messages()) > 9_000


def test_spans_are_words_of_the_message_in_order() -> None:
    for message in messages():
        ends = [0, *(mark.end for mark in message.marks)]
        assert all(end <= mark.start for end, mark in zip(ends, message.marks, strict=False)), message.place
        spans = [message.text[mark.start : mark.end] for mark in message.marks]
        assert all(span.strip() for span in spans), message.place


def test_few_begin_or_end_like_another() -> None:
    plain = [message.text.casefold().split() for message in messages() if message.text.isascii()]
    for part in (slice(3), slice(-3, None)):
        most = Counter(tuple(words[part]) for words in plain if len(words) > 5).most_common(1)[0]
        assert most[1] < len(plain) / 100, most


@pytest.mark.parametrize(
    "line",
    [
        "talk",
        "talk\tnothing is marked",
        "chat\thello",
        "talk\tin ⟦town:Bonn⟧",
        "talk\t⟦city!moved:Bonn⟧",
        "talk\t⟦Bonn⟧",
    ],
)
def test_what_is_wrong_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(line, "x:1")


def test_a_batch_has_the_same_briefs_at_each_call() -> None:
    first, again, other = (list(Briefs("en", hand, "001").draw(9)) for hand in ("a", "a", "b"))
    assert first == again != other
