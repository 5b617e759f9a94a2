"""Many texts are found in bytes, also where they begin alike."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.files.needles import BytePatterns


@given(
    st.lists(st.text("ab", min_size=1, max_size=4), min_size=30, max_size=60, unique=True),
    st.text("ab-", max_size=40),
)
def test_many_that_begin_alike_are_found_as_a_few_are(ends: list[str], tail: str) -> None:
    texts = [f"message {end}" for end in ends]
    data = f"x message {tail} message".encode()
    assert BytePatterns(texts).found_in(data) == any(text.encode() in data for text in texts)
    assert BytePatterns(texts).present(data.decode()) == sorted(
        (text for text in texts if text.encode() in data), key=len, reverse=True
    )


@pytest.mark.timed
def test_a_chat_whose_messages_begin_alike_is_searched_in_the_time_of_its_length() -> None:
    texts = [f"message number {number} about boats" for number in range(20_000)]
    data = b"\n".join(f"message number {number} about ships".encode() for number in range(20_000))
    patterns = BytePatterns(texts)
    began = time.perf_counter()
    assert not patterns.found_in(data)
    assert time.perf_counter() - began < 5.0
