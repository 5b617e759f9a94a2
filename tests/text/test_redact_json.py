import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemark.errors import UsageError
from mnemark.text.redaction.json import redact_json
from sampled import examples

PASSWORD = "[redacted:password:00000000]"


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ({"password": "correct horse the battery"}, {"password": PASSWORD}),
        ({"password": 12345678}, {"password": PASSWORD}),
        ({"password": ["hunter22", "hunter23"]}, {"password": [PASSWORD, PASSWORD]}),
        (
            {"password": {"old": "hunter22", "new": "hunter23"}},
            {"password": {"old": PASSWORD, "new": PASSWORD}},
        ),
        ({"password": None, "secret": True}, {"password": None, "secret": True}),
        ({"password": "${PASSWORD}"}, {"password": "${PASSWORD}"}),
        ({"name": "DB_PASSWORD", "value": "tigerlily"}, {"name": "DB_PASSWORD", "value": PASSWORD}),
        ({"密码": "tigerlily"}, {"密码": PASSWORD}),
        ({"pin": 482193}, {"pin": "[redacted:pin:00000000]"}),
        ({"max_tokens": 4096, "key": "name"}, {"max_tokens": 4096, "key": "name"}),
        ({"command": "mysql -u root -pRootpw123"}, {"command": f"mysql -u root -p{PASSWORD}"}),
        (
            {"Authorization": "Basic YW5uOmh1bnRlcjI="},
            {"Authorization": "Basic [redacted:authorization:00000000]"},
        ),
        (["text", 1, 2.5, None, False], ["text", 1, 2.5, None, False]),
    ],
)
def test_keys_name_secrets(value: Any, clean: Any) -> None:
    before = copy.deepcopy(value)
    assert redact_json(value) == clean
    assert value == before


def test_two_keys_that_are_secrets_both_stay() -> None:
    assert len(redact_json({"a1@example.com": 1, "a2@example.com": 2})) == 2


def test_deep_values_end_in_a_mark() -> None:
    value: Any = "hunter2"
    for _ in range(100_000):
        value = [value]
    clean = redact_json(value)
    depth = 0
    while isinstance(clean, list):
        clean = clean[0]
        depth += 1
    assert clean == "[redacted:too-deep:00000000]"
    assert depth == 100


@pytest.mark.parametrize("value", [b"bytes", {1: "a"}, {"a": {1, 2}}, object()])
def test_what_json_does_not_have_is_refused(value: Any) -> None:
    with pytest.raises(UsageError):
        redact_json(value)


_KEYS = st.sampled_from(
    ["password", "token", "name", "key", "value", "Value", "note", "Authorization", "Cookie", "pin", "密码",
     "max_tokens", "my password is hunter2", "password: hunter22", "a@b.example", ":", ""]
)  # fmt: skip
_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.sampled_from(
    ["hunter22", "my password is hunter2", "Bearer abcdefgh12345678", "password", "482193", "${X}", "a=b1;",
     "Cookie: sid=abcdefgh12345678; x=", "密码是 kettle42", '"', "[redacted:key:00000000]", "ann@b.example"]
)  # fmt: skip
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(_VALUES)
@settings(max_examples=examples(200), deadline=None)
def test_twice_is_once(value: Any) -> None:
    once = redact_json(value)
    assert redact_json(once) == once


@pytest.mark.parametrize(
    "given",
    [
        {"password": None, "value": 0, "name": "my password is hunter2"},
        {"password": {"value": 0, "name": "001"}},
        {"password": {"value": -100, "name": "Bearer abcdefgh12345678"}},
    ],
)
def test_a_name_is_judged_as_it_will_stand(given: Any) -> None:
    once = redact_json(given)
    assert redact_json(once) == once
