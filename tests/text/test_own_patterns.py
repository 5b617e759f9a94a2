"""A person's patterns find what Python's `re` finds, in linear time whatever the pattern and the text."""

import json
import random
import re
import time
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.errors import ConfigError
from mnemark.files.config import load
from mnemark.text.redaction.own_patterns import own_pattern
from mnemark.text.redaction.redact import DEFAULT, redact
from sampled import examples, sampled

_PATTERNS: Final = [
    *(r"EMP-\d{6}", r"\bEMP-\d+\b", r"(?i)emp-\w+", r"(?a)\b\w+\b", r"\Bb\B", r"\s\S\d?\D", r"[^ab]+?c"),
    *(r"(a|aa)+$", r"(a+)+b", r"(|a)*b", r"(a*)*b", r"(a?){5}b", r"(?:a{0,2}){2}x", r"a{2,3}?b?", r"a*b|a"),
    *(
        r"^x.*?y",
        r"(?m)^a+$",
        r"(?P<n>a|b)+c\Z",
        r"\Aa|a\Z",
        r"a.b",
        r"(?s)a.b",
        r"(?i:A)b",
        r"(?x) a  b # c",
    ),
    *(
        r"(?:ab|a)(?:bc|c)?",
        r"(?:a|b|ab)*?c",
        r"[\u4e00-\u9fff]{2}",
        r"\b中",
        r"(?:)+?a",
        r"(?i)É|ß",
        r"a$\n",
    ),
]


@pytest.mark.parametrize("pattern", _PATTERNS)
@given(text=st.text(alphabet="abcxyABÉéß \n中1EMP-", max_size=30) | st.text(max_size=20))
@settings(max_examples=examples(60), deadline=None)
def test_the_same_is_found_as_by_python(pattern: str, text: str) -> None:
    wanted = [found.span() for found in re.finditer(pattern, text) if found.group()]
    assert list(own_pattern(pattern).spans(text)) == wanted


_MEGABYTE: Final = 1 << 20
_BOUND: Final = 40.0
"""Seconds of processor time for a megabyte; the slowest takes six on two cores of 2020."""


@pytest.mark.timed
@pytest.mark.parametrize(
    "pattern",
    [
        *("(a|aa)+$", "(a+)+b", "(a*)*c", "((ab)+c*)+d", r"(\w+\s?)*!", "a*c|a", "(.*)(.*)(.*)(.*)(.*)c"),
        *("(a?){190}c|a", "[ab]{390}a", "(?:[ab]|c){98}a", "(a|b)*a(a|b){100}c", r"\b(?:(?:[ab]|c)d?){50}a"),
    ],
)
@pytest.mark.parametrize("text", ["a", "random"])
@pytest.mark.parametrize("part", sampled((32, 8), 2))
def test_no_pattern_and_text_take_long(pattern: str, text: str, part: int) -> None:
    size = _MEGABYTE // part
    hostile = "".join(random.Random(7).choices("ab", k=size)) if text == "random" else "a" * size
    begin = time.process_time()
    list(own_pattern(pattern).spans(hostile + "!"))
    assert time.process_time() - begin < _BOUND / part


@pytest.mark.timed
def test_a_megabyte_is_redacted_in_time() -> None:
    begin = time.process_time()
    found = redact("a" * _MEGABYTE + "!", DEFAULT.with_patterns(["(a|aa)+$", "((ab)+c*)+d", "(a*)*c"]))
    assert time.process_time() - begin < _BOUND
    assert found.findings == ()


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a(?=b)", "match the text around it"),
        ("(?<=key )a", "match the text around it"),
        ("a(?!b)", "say what may stand there"),
        ("(?<!b)a", "say what may stand there"),
        (r"(a)\1", "write the repeated part out"),
        ("(?P<one>a)(?P=one)", "write the repeated part out"),
        ("(a)?b(?(1)c|d)", "write two patterns"),
        ("(?>a|ab)c", "write (?:…)"),
        ("a++b", "write a+"),
        ("(a{100}){100}", "lower the numbers"),
        ("a{99999999999}", "is not a valid regular expression"),
        ("(a", "is not a valid regular expression"),
        ("a?", "matches the empty text"),
        (r"\bx*", "matches the empty text"),
        ("a" * 501, "is longer than 500 characters"),
    ],
)
def test_what_cannot_be_had_is_named_with_the_fix(tmp_path: Path, pattern: str, why: str) -> None:
    (tmp_path / "mnemark.toml").write_text(f"redact = [{json.dumps(pattern)}]\n", "utf-8")
    with pytest.raises(ConfigError) as told:
        load(tmp_path)
    assert why in str(told.value)
    assert str(told.value).startswith("mnemark.toml: redact: ")
    assert pattern[:9] in str(told.value).replace("\\\\", "\\")


def test_a_text_that_is_no_unicode_is_searched_too() -> None:
    assert redact("\ud800EMP-123456", DEFAULT.with_patterns([r"EMP-\d{6}"])).text == (
        "\ud800[redacted:custom:00000000]"
    )
