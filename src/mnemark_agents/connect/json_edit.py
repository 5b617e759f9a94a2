"""Edit a JSON text in place, keeping every other byte.

Read is what agents read: JSON with comments and trailing commas (VS Code, Zed, Gemini CLI), and JSON5, with
keys without quotes and strings in single ones (OpenClaw). Repeated keys are refused, as agents disagree on
which counts.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from mnemark.errors import UsageError
from mnemark.text.lazy_pattern import lazy_pattern

_SPACE: Final = lazy_pattern(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*\*/)*")
"""White space and comments."""
_BLANK: Final = lazy_pattern(r"[\s\ufeff]*")
_REST_OF_LINE: Final = lazy_pattern(
    r"[ \t]*(?://[^\n\r\u2028\u2029]*|/\*(?:[^*\n\r]|\*(?!/))*\*/[ \t]*(?=[\r\n]|\Z))"
)
"""A comment behind a part, up to the end of its line."""
_LINE_ENDS: Final = lazy_pattern(r"[ \t]*(?:[\n\r\u2028\u2029]|\Z)")
_NAME: Final = lazy_pattern(r"(?!\d)[\w$]+")
_LONGEST_INTEGER: Final = 4_000
"""Digits; Python reads no integer of more than 4,300."""
_WORDS: Final = {"true": True, "false": False, "null": None}
_NUMBER: Final = lazy_pattern(
    r"[+-]?(?:Infinity|NaN|0[xX][0-9a-fA-F]+|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w$.])",
    re.ASCII,
)
_STRING: Final = lazy_pattern(r"""\"(?:[^"\\\n\r]|\\[\s\S])*\"|'(?:[^'\\\n\r]|\\[\s\S])*'""")
_COMMENT: Final = lazy_pattern(
    r"""\"(?:[^"\\\n\r]|\\[\s\S])*\"?|'(?:[^'\\\n\r]|\\[\s\S])*'?|"""
    r"(//[^\n\r\u2028\u2029]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)"
)
"""A string, or a comment (group 1); one not closed ends with the text (linear time)."""
_ESCAPE: Final = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_MAX_DEPTH: Final = 100


class NotJsonError(UsageError):
    """The text is not JSON, nor JSON with comments, nor JSON5."""


class Node(NamedTuple):
    """The span of a value, and the parts of an object or array."""

    start: int
    end: int
    value: Any
    keys: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()
    """Start offset of each part; in an object, of its key."""
    parts: "tuple[Node, ...]" = ()
    kind: str = ""
    """`{`, `[` or empty."""

    def child(self, key: str) -> "Node | None":
        """Return the value of a key."""
        return self.parts[self.keys.index(key)] if key in self.keys else None


def parse(text: str) -> Node:
    """Parse a JSON text into spans and values; raise NotJsonError where it is none."""
    node = _value(text, _skip(text, 0), 0)
    if _skip(text, node.end) != len(text):
        raise _wrong(text, node.end, "there is text after the JSON")
    return node


def comments(text: str) -> list[str]:
    """Return the comments of a JSON text, sorted: what its meaning lacks."""
    return sorted(found.rstrip() for found in _COMMENT.findall(text) if found)


def _wrong(text: str, at: int, what: str) -> NotJsonError:
    line = text.count("\n", 0, at) + 1
    return NotJsonError(f"it is not valid JSON: {what}, in line {line}")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> Node:
    kind = text[at : at + 1]
    if kind in {"{", "["} and depth < _MAX_DEPTH:
        return _container(text, at, depth, kind)
    if kind in {'"', "'"}:
        return Node(at, *_string(text, at))
    if number := _NUMBER.match(text, at):
        return Node(at, number.end(), _number(number[0]))
    word = _NAME.match(text, at)
    if word is None or word[0] not in _WORDS:
        raise _wrong(text, at, "a value is missing" if depth < _MAX_DEPTH else "it is nested too deeply")
    return Node(at, word.end(), _WORDS[word[0]])


def _number(text: str) -> int | float:
    bare = text.lstrip("+-")
    if bare[:2].lower() == "0x":
        return int(bare, 16) * (-1 if text[0] == "-" else 1)
    if bare.isdigit() and len(bare) < _LONGEST_INTEGER:
        return int(text)
    return float(text.replace("Infinity", "inf").replace("NaN", "nan"))


def _string(text: str, at: int) -> tuple[int, str]:
    """Return the end and the value of a string."""
    found = _STRING.match(text, at)
    if found is None:
        raise _wrong(text, at, "a quotation mark is missing")
    inner = found[0][1:-1]
    if "\\" in inner:
        inner = _ESCAPE.sub(_unescaped, inner).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return found.end(), inner


def _unescaped(found: re.Match[str]) -> str:
    if (code := found[1] or found[2]) is not None:
        return chr(int(code, 16))
    letter = found[3]
    if letter in {"u", "x"}:
        raise NotJsonError("it is not valid JSON: an escape in a string is incomplete")
    return "" if letter[0] in "\r\n\u2028\u2029" else _ESCAPED.get(letter, letter)


def _container(text: str, at: int, depth: int, kind: str) -> Node:
    close = "}" if kind == "{" else "]"
    keys: dict[str, None] = {}
    starts: list[int] = []
    parts: list[Node] = []
    place = _skip(text, at + 1)
    while text[place : place + 1] != close:
        starts.append(place)
        if kind == "{":
            place = _key(text, place, keys)
        parts.append(_value(text, place, depth + 1))
        place = _skip(text, parts[-1].end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != close:
            raise _wrong(text, place, "a comma is missing")
    values = [part.value for part in parts]
    value = dict(zip(keys, values, strict=True)) if kind == "{" else values
    return Node(at, place + 1, value, tuple(keys), tuple(starts), tuple(parts), kind)


def _key(text: str, place: int, keys: dict[str, None]) -> int:
    if text[place : place + 1] in {'"', "'"}:
        end, key = _string(text, place)
    elif name := _NAME.match(text, place):
        end, key = name.end(), name[0]
    else:
        raise _wrong(text, place, "a key is missing")
    colon = _skip(text, end)
    if text[colon : colon + 1] != ":" or key in keys:
        raise _wrong(text, place, f"the key {key!r} stands twice" if key in keys else "a colon is missing")
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
        NotJsonError: the text is not JSON, or a value on the way is not an object.
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
    """Remove the part at an index from an object or array, with its comma; comments stay."""
    begin, end = node.starts[index], node.parts[index].end
    lead = len(text[:begin].rstrip())
    after = _skip(text, end)
    if (
        len(node.parts) == 1
        and not text[node.start + 1 : begin].strip()
        and not text[end : node.end - 1].strip()
    ):
        return text[: node.start + 1] + text[node.end - 1 :]
    if text[after : after + 1] == ",":
        if index == 0 and len(node.parts) > 1 and (blank := _BLANK.match(text, after + 1)):
            return text[:begin] + text[end:after] + text[blank.end() :]
        return _joined(text, lead, begin, text[end:after] + text[after + 1 :])
    before = _joined(text, lead, begin, text[end:])
    comma = _skip(text, node.parts[index - 1].end) if index else lead
    return before[:comma] + before[comma + bool(index) :]


def _joined(text: str, lead: int, begin: int, rest: str) -> str:
    """Return the text up to `lead`, and the rest; a comment there ends with its line, not within the rest."""
    is_open = any(
        found.end() >= lead and (found[1] or "").startswith("//") for found in _COMMENT.finditer(text[:begin])
    ) and not _LINE_ENDS.match(rest)
    ends = begin if is_open else lead
    return text[:ends] + rest


def _added(text: str, node: Node, value: Any, depth: int, name: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _indentation(text)
    if node.parts:
        # Formatted like the parts before it: each on a line of its own, or all on one.
        first = node.starts[0]
        lead = text[len(text[:first].rstrip()) : first]
        last = node.parts[-1].end
        comma = _skip(text, last)
        trailing = text[comma : comma + 1] == ","
        behind = comma + 1 if trailing else last
        rest = _REST_OF_LINE.match(text, behind)
        place = rest.end() if rest else behind
        flat = (
            newline not in lead and not text[:place].endswith(("\n", "\r")) and not (rest and "//" in rest[0])
        )
        written = _formatted(value, text, depth + 1, flat=flat)
        gap = " " if flat else lead if newline in lead else newline + indent * (depth + 1)
        return (
            f"{text[:last]}{'' if trailing else ','}{text[last:place]}{gap}{name}{written}"
            f"{',' if trailing else ''}{text[place:]}"
        )
    inner, outer = newline + indent * (depth + 1), newline + indent * depth
    written = _formatted(value, text, depth + 1)
    before = text[: node.end - 1].rstrip()  # what is left of it may be a comment
    return f"{before}{inner}{name}{written}{outer}{text[node.end - 1 :]}"


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
