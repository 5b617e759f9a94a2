"""Cut out of a text what only programs read: data in base64, data URIs, ids of blocks, what plugins keep.

Such data is long and mixes capitals, small letters and digits: hashes, keys and tokens are words like others.
No line is removed, so that the numbers of lines stay.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.markdown.blocks import line_starts

_SHORTEST: Final = 1024
"""Characters of data without a data URI, at least; the key of RSA with 4,096 bits has 716."""
_WINDOW: Final = 200
"""A stretch of `_SHORTEST` characters holds one of this length that starts at a multiple of it."""
_MIN_SHARE: Final = 0.05
"""Share of capitals, of small letters and of digits, at least; base64 has .41, .41 and .16."""
_MARK: Final = "…"
_URI: Final = lazy_pattern(
    r"\bdata:[\w.+/-]{0,80}+(?:;[\w=.-]{1,60}+){0,4}+,[^\s\"'<>()\[\]]{64,}+", re.ASCII
)
_RUN: Final = lazy_pattern(r"(?<![\w+/=-])[\w+/=-]{1024,}+", re.ASCII)
_PACKED: Final = lazy_pattern(r"[\w+/=-]{60,}+$", re.ASCII)
"""A line of data that was broken into lines."""
_REST: Final = lazy_pattern(r"[\w+/=-]++$", re.ASCII)
"""The last line of such data."""
_UUID: Final = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_ID_LINE: Final = lazy_pattern(
    rf"[ \t]*+(?:id::[ \t]++{_UUID}|collapsed::[ \t]++(?:true|false)|:ID:[ \t]++{_UUID}|:(?:PROPERTIES|END):)"
    r"[ \t]*+$"
)
"""A line of Logseq or Org that names a block for programs."""
_BLOCK_ID: Final = lazy_pattern(
    rf"[ \t]?\(\({_UUID}\)\)|[ \t]\^(?=[a-zA-Z]{{0,8}}[0-9])[0-9a-zA-Z]{{6,8}}(?=[ \t]*+$)"
)
"""A reference to such a block, and the id that Obsidian puts behind one."""
_ID_SIGNS: Final = ("id:: ", "ed:: ", "((", ":ID:", " ^")
_FENCE: Final = "```"
_JSON: Final = lazy_pattern(r"`{3}(?:[\w-]{0,20}json)?$")
_COMMENT: Final = "%%"


class Readable(NamedTuple):
    """A text without its blobs."""

    text: str
    cuts: tuple[int, ...] = ()
    """Offsets in `text` of what follows each cut."""
    missing: tuple[int, ...] = ()
    """How many characters are missing up to there."""

    def original(self, offset: int) -> int:
        """Return the offset in the original text of one in `text`: behind a cut rather than before it."""
        passed = bisect_right(self.cuts, offset)
        return offset + (self.missing[passed - 1] if passed else 0)


def readable(text: str) -> Readable:
    """Return a text without its blobs: "…" stands for one within a line, lines of nothing else are empty."""
    if not _may_hold_blobs(text):
        return Readable(text)
    lines, starts = line_starts(text)
    ids = {number for number, line in enumerate(lines) if ":" in line and _ID_LINE.match(line)}
    gone = {*_plugin_data(lines), *_packed(lines), *ids}
    parts: list[str] = []
    cuts: list[int] = []
    missing: list[int] = []
    at = length = 0
    for number, (line, start) in enumerate(zip(lines, starts, strict=True)):
        for first, last, mark in [(0, len(line), "")] if number in gone else _in_line(line):
            parts += (text[at : start + first], mark)
            length += start + first - at + len(mark)
            at = start + last
            cuts.append(length)
            missing.append(at - length)
    return Readable("".join((*parts, text[at:])), tuple(cuts), tuple(missing))


def _may_hold_blobs(text: str) -> bool:
    """Return whether a text may have blobs, without reading each of its characters."""
    windows = (text[at : at + _WINDOW] for at in range(0, len(text) - _WINDOW, _WINDOW))
    return (
        any(sign in text for sign in _ID_SIGNS)
        or (_COMMENT in text and _FENCE in text)
        or _URI.search(text) is not None
        or any(" " not in window and window.isascii() for window in windows)
    )


def _plugin_data(lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines of JSON, also compressed, in comments of Obsidian, and of the marks of these comments.

    Plugins keep drawings and the settings of boards so.
    """
    comment = fence = -1
    held = False
    for number, line in enumerate(lines):
        body = line.strip()
        if fence >= 0:
            if body == _FENCE:
                yield from range(fence, number + 1)
                fence, held = -1, True
        elif comment >= 0 and _JSON.match(body):
            fence = number
        elif body.count(_COMMENT) % 2:
            if held:
                yield from (comment, number)
            comment, held = -1 if comment >= 0 else number, False


def _packed(lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines of data that was broken into lines."""
    group: list[int] = []
    for number, line in enumerate((*lines, "")):
        if _PACKED.match(line):
            group.append(number)
            continue
        if group and _is_data("".join(lines[one] for one in group)):
            yield from (*group, number) if _REST.match(line) else group
        group = []


def _in_line(line: str) -> Iterator[tuple[int, int, str]]:
    """Yield where data or an id is in a line, and what stands for it."""
    data = [match.span() for match in _URI.finditer(line)]
    data = data or [match.span() for match in _RUN.finditer(line) if _is_data(match[0])]
    if data:
        yield from ((first, last, _MARK) for first, last in data)
    elif "((" in line or "^" in line:
        yield from ((*match.span(), "") for match in _BLOCK_ID.finditer(line))


def _is_data(run: str) -> bool:
    """Return whether a run of letters and digits is data."""
    head = run[:_SHORTEST]
    kinds = (str.isupper, str.islower, str.isdigit)
    return len(run) >= _SHORTEST and all(sum(map(kind, head)) >= _MIN_SHARE * len(head) for kind in kinds)
