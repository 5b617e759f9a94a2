"""Extract the JSON from a model's answer, and check it against the type asked for."""

import json
from collections.abc import Iterator

import msgspec

from mnemark.llm.base import T

_THOUGHT_ENDS = "</think>"
_DECODER = json.JSONDecoder()
_MISTAKES = 32
"""Braces that open no object, before giving up: each one costs a look at the whole text."""


class InvalidAnswer(Exception):  # noqa: N818 - a verdict on the model's answer, not an error of ours
    """The answer is not what was asked for; the message says to the model what is wrong."""


def without_thoughts(text: str) -> str:
    """Return what follows the thoughts that some models write between `<think>` and `</think>`.

    Some servers cut the opening mark off; a thought that never ended leaves nothing.
    """
    text = text.strip("\ufeff \t\r\n")
    if text.startswith("<think>"):
        return text.partition(_THOUGHT_ENDS)[2].strip()
    if not text.startswith(("{", "```")) and _THOUGHT_ENDS in text:
        return text.partition(_THOUGHT_ENDS)[2].strip()
    return text


def read(text: str, schema: type[T]) -> T:
    """Return the object in the answer `text` that fits `schema`; the longest, where several do.

    An object that shares no name with the type does not fit, unless it is empty: types whose fields all have
    defaults would take anything. Numbers and booleans in quotes are taken for what they are.

    Raises:
        InvalidAnswer: there is none.
    """
    text = without_thoughts(text)
    names = {field.encode_name for field in msgspec.structs.fields(schema)}
    best: tuple[int, T] | None = None
    wrong = ""
    for part, keys in _objects(text):
        if keys and not keys & names:
            wrong = wrong or f"the object has none of the names {', '.join(sorted(names))}"
            continue
        try:
            value = msgspec.json.decode(part, type=schema, strict=False)
        except (msgspec.DecodeError, RecursionError) as error:
            wrong = str(error) or "it is nested too deeply"
            continue
        if best is None or len(part) >= best[0]:
            best = len(part), value
    if best is None:
        raise InvalidAnswer(wrong or _broken(text))
    return best[1]


def _objects(text: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the complete JSON objects in `text`, outermost only, each with its names.

    After a mistake the search goes on behind it, not within, so that a part of a broken answer is not taken
    for an answer.
    """
    at, mistakes = text.find("{"), 0
    while at >= 0 and mistakes < _MISTAKES:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if error.msg.startswith("Unterminated string"):
                return  # the rest is the inside of a string
            end, mistakes = max(error.pos, at + 1), mistakes + 1
        except RecursionError:
            return
        else:
            yield text[at:end], set(value)
        at = text.find("{", end)


def _broken(text: str) -> str:
    """Say why there is no object in `text`."""
    if not text:
        return "the answer was empty"
    at = text.find("{")
    if at < 0:
        return "there is no JSON object in the answer"
    try:
        _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return f"the JSON is broken: {error.msg} at character {error.pos - at}"
    except RecursionError:
        return "the JSON is nested too deeply"
    return "there is no JSON object in the answer"
