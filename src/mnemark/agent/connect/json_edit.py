"""Edit a JSON text in place, keeping every other byte.

Comments, trailing commas and repeated keys are refused, as they are not strict JSON.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from mnemark.errors import UsageError
from mnemark.text.lazy_pattern import lazy_pattern

_SPACE: Final = lazy_pattern(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_MAX_DEPTH: Final = 100


class NotJsonError(UsageError):
    """The text is not strict JSON."""


class Node(NamedTuple):
    """The span of a value, and the parts of an object or array."""

    start: int
    end: int
    keys: tuple[str, ...]
    starts: tuple[int, ...]
    """Start offset of each part; in an object, of its key."""
    parts: "tuple[Node, ...]"
    kind: str
    """`{`, `[` or empty."""

    def child(self, key: str) -> "Node | None":
        """Return the value of a key."""
        return self.parts[self.keys.index(key)] if key in self.keys else None


def parse(text: str) -> Node:
    """Parse a JSON text into spans; raise NotJsonError where it is not strict."""
    begin = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, begin, 0)
    if _skip(text, node.end) != len(text):
        raise NotJsonError("there is text after the JSON")
    return node


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _decode(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise NotJsonError(f"it is not valid JSON: {error}") from None


def _value(text: str, at: int, depth: int) -> Node:
    kind = text[at : at + 1]
    if kind in {"{", "["} and depth < _MAX_DEPTH:
        return _container(text, at, depth, kind)
    return Node(at, _decode(text, at)[1], (), (), (), "")


def _container(text: str, at: int, depth: int, kind: str) -> Node:
    close = "}" if kind == "{" else "]"
    keys: dict[str, None] = {}
    starts: list[int] = []
    parts: list[Node] = []
    place = _skip(text, at + 1)
    while text[place : place + 1] != close or parts:
        starts.append(place)
        if kind == "{":
            place = _key(text, place, keys)
        parts.append(_value(text, place, depth + 1))
        place = _skip(text, parts[-1].end)
        if text[place : place + 1] == close:
            break
        if text[place : place + 1] != ",":
            raise NotJsonError(f"it is not valid JSON: a comma is missing at character {place}")
        place = _skip(text, place + 1)
    return Node(at, place + 1, tuple(keys), tuple(starts), tuple(parts), kind)


def _key(text: str, place: int, keys: dict[str, None]) -> int:
    key, end = _decode(text, place)
    colon = _skip(text, end)
    if not isinstance(key, str) or text[colon : colon + 1] != ":" or key in keys:
        raise NotJsonError(f"it is not valid JSON: a key is missing at character {place}")
    keys[key] = None
    return _skip(text, colon + 1)


def at(text: str, path: Sequence[str]) -> Node | None:
    """Return the value at a path of keys, or None."""
    node: Node | None = parse(text)
    for key in path:
        node = node.child(key) if node is not None and node.kind == "{" else None
    return node


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Set the value at a path of keys, creating missing objects.

    Raises:
        NotJsonError: the text is not strict JSON, or a value on the way is not an object.
    """
    node = parse(text)
    for depth, key in enumerate(path):
        if node.kind != "{":
            raise NotJsonError(f"{'.'.join(path[:depth]) or 'it'} is not an object")
        inner = node.child(key)
        if inner is None:
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return _added(text, node, value, depth, f"{json.dumps(key, ensure_ascii=False)}: ")
        node = inner
    return text[: node.start] + _formatted(value, text, len(path)) + text[node.end :]


def append(text: str, path: Sequence[str], value: Any) -> str:
    """Append a value to the array at a path of keys, which is created if missing."""
    node = at(text, path)
    if node is None:
        return put(text, path, [value])
    if node.kind != "[":
        raise NotJsonError(f"{'.'.join(path)} is not a list")
    return _added(text, node, value, len(path), "")


def cut(text: str, node: Node, index: int) -> str:
    """Remove the part at an index from an object or array."""
    if len(node.parts) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if index:
        return text[: node.parts[index - 1].end] + text[node.parts[index].end :]
    return text[: node.starts[0]] + text[node.starts[1] :]


def _added(text: str, node: Node, value: Any, depth: int, name: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _indentation(text)
    if node.parts:
        # Formatted like the parts before it: each on a line of its own, or all on one.
        lead = text[node.start + 1 : node.starts[0]]
        last = node.parts[-1].end
        flat = newline not in lead
        written = _formatted(value, text, depth + 1, flat=flat)
        return f"{text[:last]},{lead if not flat else ' '}{name}{written}{text[last:]}"
    inner, outer = newline + indent * (depth + 1), newline + indent * depth
    written = _formatted(value, text, depth + 1)
    return f"{text[: node.start + 1]}{inner}{name}{written}{outer}{text[node.end - 1 :]}"


def _indentation(text: str) -> str:
    """Return the text's indentation of one level."""
    found = re.search(r"[{\[]\r?\n([ \t]+)", text)
    return found[1] if found else "  "


def _formatted(value: Any, text: str, depth: int, *, flat: bool = False) -> str:
    if flat:
        return json.dumps(value, ensure_ascii=False)
    indent = _indentation(text)
    lines = json.dumps(value, ensure_ascii=False, indent=indent).split("\n")
    newline = "\r\n" if "\r\n" in text else "\n"
    return (newline + indent * depth).join(lines)
