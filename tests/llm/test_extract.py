import json
from typing import Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linear import within
from mnemark.llm.extract import InvalidAnswer, read, without_thoughts
from sampled import examples


class Item(msgspec.Struct):
    text: str
    weight: float = 1.0
    kind: Literal["fact", "rule"] = "fact"


class Items(msgspec.Struct):
    items: list[Item] = []
    note: str | None = None


class Node(msgspec.Struct):
    name: str
    below: list["Node"] = []


ONE = Items([Item("tea")])
PLAIN = '{"items": [{"text": "tea"}]}'


@pytest.mark.parametrize(
    "answer",
    [
        PLAIN,
        f"\ufeff  {PLAIN}\n",
        f"```json\n{PLAIN}\n```",
        f"Here it is:\n\n```\n{PLAIN}\n```\nAnything else?",
        f"好的，结果如下：{PLAIN}。还需要什么吗？",
        f"The set {{}} is empty, {{this}} is none, and the answer is {PLAIN}",
        f'Schema: {{"type": "object", "properties": {{"items": {{"type": "array"}}}}}}. Answer: {PLAIN}',
        f"{PLAIN} I left {{}} out.",
        f'<think>Maybe {{"items": [{{"text": "coffee, or something longer than tea"}}]}}?</think>\n{PLAIN}',
        f"The user likes something hot.\n</think>\n\n{PLAIN}",
        '{"items": [{"text": "tea", "weight": "1.0", "mood": "calm"}], "extra": {"a": 1}}',
    ],
)
def test_the_object_is_found_among_talk(answer: str) -> None:
    assert read(answer, Items) == ONE


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty"),
        ("Nothing to remember.", "no JSON object"),
        ('{"items": [{"text": "tea"}', "broken"),
        ('{"items": [{"text": "tea"},]}', "broken"),
        ("{'items': []}", "broken"),
        ('[{"text": "tea"}]', "none of the names items, note"),
        ('{"items": [{"text": null}]}', "Expected `str`"),
        ('{"items": [{"text": "tea", "kind": "wish"}]}', "Invalid enum value"),
        ('{"items": {"text": "tea"}}', "Expected `array`"),
        ("<think>still thinking {", "no JSON object|broken|empty"),
        pytest.param('{"note":' * 100_000, "nested|broken", marks=pytest.mark.deep, id="deep"),
    ],
)
def test_what_does_not_fit_is_said(answer: str, why: str) -> None:
    with pytest.raises(InvalidAnswer, match=why):
        read(answer, Items)


@pytest.mark.parametrize(
    "answer",
    [
        '{"name": "a", "below": [{"name": "b"}, {"name": "c", "bel',
        '{"name": "a", "below": [{"name": "b"}',
        '{"name": "the form {\\"name\\": 1} or {"',
        '{"name": "say {} and {name',
    ],
)
def test_a_part_of_a_broken_answer_is_no_answer(answer: str) -> None:
    with pytest.raises(InvalidAnswer, match="broken"):
        read(answer, Node)


@pytest.mark.deep
@pytest.mark.timed
@pytest.mark.parametrize("unit", ["{", '{"a" ', '{"a":', '{"a":[{"b":1},]} ', '{"x":1} '])
def test_nonsense_does_not_take_long(unit: str) -> None:
    def refused() -> None:
        with pytest.raises(InvalidAnswer):
            read(unit * (400_000 // len(unit)), Items)

    assert within(2, refused), "seconds"


def test_thoughts_are_left_out_of_free_text() -> None:
    assert without_thoughts("<think>Hm.\n\nTea?</think>\n\nTea.") == "Tea."
    assert without_thoughts("<think>Hm. Tea") == ""
    assert without_thoughts('{"note": "the mark </think> ends thoughts"}').startswith("{")


texts = st.text(max_size=20)
answers = st.builds(Items, st.lists(st.builds(Item, texts, st.floats(0, 1)), max_size=4), st.none() | texts)


@settings(max_examples=examples(100))
@given(answers, texts.filter(lambda text: "{" not in text), texts, st.sampled_from(["", "```"]))
def test_any_answer_survives_talk_around_it(value: Items, before: str, after: str, fence: str) -> None:
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
    assert read(f"Well. {before} {fence}{text}{fence} {after}", Items) == value
