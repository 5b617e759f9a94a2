"""Settings are TOML, also where they are read without a parser."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemark.text import toml

_PIECES = st.sampled_from(
    ["# ", "#", "\n", "\r\n", "\r", " ", "\t", "a = 1", "[a]", "说", "\x00", "\x0c", "\u00a0", "\x85"]
)


@given(st.one_of(st.text(max_size=40), st.lists(_PIECES, max_size=12).map("".join)))
def test_a_text_means_what_the_parser_says(text: str) -> None:
    try:
        meant = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(tomllib.TOMLDecodeError):
            toml.loads(text)
    else:
        assert toml.loads(text) == meant
