"""Parse front matter: the `---` block of simple YAML values at the top of a Markdown file.

Supported: `key: value`, quoted strings, numbers, booleans, null, inline and block lists, block scalars; a
nested mapping is kept as text. A YAML library would add a dependency, a way to run code, and dates typed by
their format. Any other line makes the whole block plain text, with a problem that names the line.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

import msgspec

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.blocks import heading_text, line_starts, scan

Scalar = str | int | float | bool | None
Value = Scalar | tuple[Scalar, ...]

LARGEST: Final = 64 * 1024
"""Maximum characters of front matter. A longer block is a thematic break followed by text."""


class FrontMatter(msgspec.Struct, frozen=True):
    """The fields of a file's front matter, by lower-case key.

    `end` is the offset in characters of the first character after the block, `end_line` its last line
    (1-based); both are 0 if there is none or if it is invalid. `lines` are the first and last line of each
    field.
    """

    fields: Mapping[str, Value] = {}
    lines: Mapping[str, tuple[int, int]] = {}
    end_line: int = 0
    end: int = 0
    problem: str | None = None


class _BrokenError(Exception):
    """Front matter is invalid; the message is shown to people."""


_NONE: Final = FrontMatter()
_LINE: Final = lazy_pattern(r"([^\r\n]*)(\r\n?|\n|\Z)")
_PLAIN_KEY: Final = r"""(?:[^\s"'#\-\[\]{},&*!|>%@`:]|-\w)[^:\r\n]{0,199}?"""
_KEY: Final = lazy_pattern(
    rf"""(?:"([^"]{{1,200}})"|'([^']{{1,200}})'|({_PLAIN_KEY}))[ \t]*:(?:[ \t]+(.*))?$"""
)
_INT: Final = lazy_pattern(r"[+-]?\d{1,18}$")
_FLOAT: Final = lazy_pattern(r"[+-]?\d{1,18}\.\d{1,18}$")
_COMMENT: Final = lazy_pattern(r"(?:^|[ \t])#")
_QUOTED: Final = lazy_pattern(r""""(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'""", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/", "0": "\0"}
_ESCAPE: Final = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)


def front_matter(text: str) -> FrontMatter:
    """Parse the front matter of `text`, after an optional byte order mark; never raises."""
    start = 1 if text.startswith("\ufeff") else 0
    head = text[start : start + LARGEST]
    if not head.startswith("---"):
        return _NONE
    lines: list[str] = []
    end = 0
    for match in _LINE.finditer(head):
        line = match[1].rstrip(" \t")
        if not lines and line != "---":
            return _NONE
        if lines and line in ("---", "..."):
            end = match.end()
            break
        if match.end() == len(head) and not match[2]:
            break
        lines.append(line)
    if not end:
        return _unclosed(lines)
    try:
        fields = _fields(lines[1:])
    except _BrokenError as broken:
        return FrontMatter(problem=str(broken))
    if fields is None:
        return _NONE
    values, places = fields
    return FrontMatter(values, places, len(lines) + 1, start + end)


def _unclosed(lines: list[str]) -> FrontMatter:
    """Return the problem of a missing end, or nothing if the first line was only a thematic break."""
    if len(lines) > 1 and _KEY.match(lines[1]):
        return FrontMatter(problem="front matter is not closed: no line '---' after line 1")
    return _NONE


def _fields(lines: list[str]) -> tuple[dict[str, Value], dict[str, tuple[int, int]]] | None:
    """Parse the fields and their places; return None if the first is not `key: value`: no front matter."""
    fields: dict[str, Value] = {}
    places: dict[str, tuple[int, int]] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line or line.lstrip(" \t").startswith("#"):
            at += 1
            continue
        match = _KEY.match(line)
        if match is None:
            if not fields:
                return None
            raise _BrokenError(f"front matter: line {at + 2} is not 'key: value'")
        rest = (match[4] or "").strip(" \t")
        below = at + 1
        while below < len(lines) and _continues(lines[below], lines, below):
            below += 1
        key = (match[1] or match[2] or match[3]).strip().lower()
        fields[key] = _value(rest, lines[at + 1 : below], at + 2)
        places[key] = (at + 2, below + 1)
        at = below
    return fields, places


def _continues(line: str, lines: list[str], at: int) -> bool:
    """Return whether a line belongs to the key above: indented, a list item, or blank before such a line."""
    if line.startswith((" ", "\t", "- ")) or line in ("-", "]"):
        return True
    return not line and at + 1 < len(lines) and lines[at + 1].startswith((" ", "\t", "- "))


def _value(rest: str, below: list[str], number: int) -> Value:
    rest = _strip_comment(rest)
    below = [line for line in below if not line.lstrip(" \t").startswith("#")]
    body = [line.strip(" \t") for line in below]
    if rest[:1] in ("|", ">") and len(rest) <= 3:
        return ("\n" if rest[0] == "|" else " ").join(body).strip()
    if rest.startswith("[["):
        return " ".join([rest, *body]).strip()  # wiki links written bare, as Obsidian users do
    if rest.startswith("["):
        return _inline_list(" ".join([rest, *(_strip_comment(line) for line in body)]).strip(), number)
    filled = [line for line in body if line]
    if not rest and filled and all(line == "-" or line.startswith("- ") for line in filled):
        return tuple(_scalar(_strip_comment(line[1:].strip(" \t")), number) for line in filled)
    if not rest and filled:
        # A nested mapping is kept as its text: legal YAML, which nothing here needs to understand.
        return "\n".join(line.strip("\r\n") for line in below).strip("\n")
    return _scalar(" ".join([rest, *filled]), number)


def _strip_comment(value: str) -> str:
    """Remove a trailing `# comment` outside quotes."""
    if value[:1] in ("'", '"'):
        close = _closing_quote(value)
        rest = value[close + 1 :]
        return value[: close + 1] if close and rest[:1] in " \t" and rest.lstrip(" \t")[:1] == "#" else value
    if value.startswith("[") or "#" not in value:
        return value
    match = _COMMENT.search(value)
    return value[: match.start()].rstrip(" \t") if match else value


def _closing_quote(value: str, start: int = 0) -> int:
    """Return the index of the quote that closes the one at `start`; 0 if none does."""
    found = _QUOTED.match(value, start)
    return found.end() - 1 if found else 0


def _scalar(value: str, number: int) -> Scalar:
    if value[:1] in ("'", '"'):
        if _closing_quote(value) != len(value) - 1:
            raise _BrokenError(f"front matter: the quoted value at line {number} is not closed")
        inner = value[1:-1]
        return inner.replace("''", "'") if value[0] == "'" else _ESCAPE.sub(_unescape, inner)
    lower = value.lower()
    if lower in ("", "~", "null"):
        return None
    if lower in ("true", "false"):
        return lower == "true"
    if _INT.match(value):
        # Digits with a leading zero are text (phone numbers, postal codes).
        return value if value.lstrip("+-").startswith("0") and value not in ("0", "+0", "-0") else int(value)
    return float(value) if _FLOAT.match(value) else value


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2])


def _inline_list(value: str, number: int) -> tuple[Scalar, ...]:
    items: list[Scalar] = []
    at, start = 1, 1
    blank = True  # whether the item has only white space so far
    while at < len(value):
        char = value[at]
        if char in "'\"" and blank:
            close = _closing_quote(value, at)
            if not close:
                break
            at, blank = close, False
        elif char in ",]":
            item = value[start:at].strip()
            if item or char == ",":
                items.append(_scalar(item, number))
            if char == "]":
                if _strip_comment("x" + value[at + 1 :]) == "x":
                    return tuple(items)
                break
            start, blank = at + 1, True
        else:
            blank = blank and char.isspace()
        at += 1
    raise _BrokenError(f"front matter: the list at line {number} is not closed")


_OF_PROGRAMS: Final = lazy_pattern(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,40}", re.IGNORECASE
)
"""A UUID, a time to the second."""


def telling_fields(fm: FrontMatter, title: str, date: str | None) -> list[str]:
    """Return the keys of what a reader learns from front matter: no tags, title or date of the note again."""

    def tells(value: Value) -> bool:
        words = str(value)
        known = words.casefold() == title.casefold() or (date is not None and words[:10] == date[:10])
        return value not in (None, "", ()) and not known and not _OF_PROGRAMS.fullmatch(words)

    return [key for key, value in fm.fields.items() if key != "tags" and tells(value)]


_LARGE_HEADING: Final = lazy_pattern(r"(?:^|\r) {0,3}(?:#(?:[ \t\r]|$)|=)", re.MULTILINE)
"""What every heading of level 1 has; most lines like it are one."""


def document_title(text: str, fm: FrontMatter, path: str) -> str:
    """Return the title of a document: from its front matter, else its first level-1 heading or file name."""
    named = fm.fields.get("title")
    if named is not None and not isinstance(named, tuple) and str(named).strip():
        return " ".join(str(named).split())
    head = text[fm.end : fm.end + LARGEST]
    for block in scan(line_starts(head)[0]) if _LARGE_HEADING.search(head) else ():
        if block.kind == "heading" and block.level == 1 and block.title:
            return heading_text(block.title)
    stem = PurePosixPath(path.replace("\\", "/")).stem
    return " ".join(re.sub(r"_+", " ", re.sub(r"(?<=\w)-(?=[^\W\d])|(?<=[^\W\d])-(?=\w)", " ", stem)).split())
