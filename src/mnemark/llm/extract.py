"""Extract JSON from a model's answer and decode it as the requested type."""

import json
from collections.abc import Iterator

import msgspec

from mnemark.llm.base import T

_THINK_END = "</think>"
_DECODER = json.JSONDecoder()
_MAX_ERRORS = 32
"""Maximum number of `{` that start no valid object: parsing from each may read the whole text."""


class InvalidAnswer(Exception):  # noqa: N818 - the model's answer is at fault, not our code
    """The answer does not fit; the message is sent to the model."""


def without_thoughts(text: str) -> str:
    """Remove the reasoning that some models write first, between `<think>` and `</think>`.

    Some servers drop the opening tag. If the closing tag is missing, the result is empty.
    """
    text = text.strip("\ufeff \t\r\n")
    if text.startswith("<think>"):
        return text.partition(_THINK_END)[2].strip()
    if not text.startswith(("{", "```")) and _THINK_END in text:
        return text.partition(_THINK_END)[2].strip()
    return text


def read(text: str, schema: type[T]) -> T:
    """Decode the longest JSON object in the answer `text` that fits `schema`, the last of equally long ones.

    An object with none of the type's fields does not fit, unless it is empty: types whose fields all have
    defaults would accept anything. Quoted numbers and booleans are converted.

    Raises:
        InvalidAnswer: no object fits.
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
        raise InvalidAnswer(wrong or _syntax_error(text))
    return best[1]


def _objects(text: str) -> Iterator[tuple[str, set[str]]]:
    """Yield each outermost, complete JSON object in `text` with its keys.

    After a syntax error the search continues behind it, not within the object, so that a part of a broken
    answer is not taken for the answer.
    """
    at, mistakes = text.find("{"), 0
    while at >= 0 and mistakes < _MAX_ERRORS:
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


def _syntax_error(text: str) -> str:
    """Return the reason why `text` has no JSON object, as told to the model."""
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
