"""Add a line to a day's note: with what people wrote, not in a session's summary."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_BEGIN: Final = re.compile(r"[ \t]*<!-- mnemark:begin [\w-]+[ |]")
_END: Final = re.compile(r"[ \t]*<!-- mnemark:end [\w-]+ -->")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_CODE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM: Final = re.compile(r"[-*+] ")
_LISTED: Final = re.compile(r"(?:[-*+] |  )[^\n]*$")
"""A line of a list."""
OBSERVATIONS: Final = "## Observations"
"""Stands above what tools did, which mnemark writes down."""


class _Heading(NamedTuple):
    line: int
    """0-based: its own, or that of the marker above the part it is in."""
    ours: bool


def added(text: str, lines: Sequence[str]) -> tuple[str, int]:
    """`text` with these lines, and the line (from 1) of the first: at its end, but above our sections there.

    So a note that is added after a session ended does not read as a part of its summary. Where the last
    heading is a person's, the lines stand below it. All that was there stays, byte for byte; items of a list
    follow each other, all else is set off by an empty line.
    """
    stop = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += stop
    rows = text.split("\n")[:-1]
    at = _place(rows)
    above = at
    while above > 0 and not rows[above - 1].strip():
        above -= 1
    before = rows[above - 1] if above else ""
    if lines and _ITEM.match(lines[0]) and _LISTED.match(before):
        at, gap = above, []
    else:
        gap = [""] if before and above == at else []
    tail = [""] if at < len(rows) and rows[at].strip() else []
    end = stop[:-1]
    new = [line + end for line in (*gap, *lines, *tail)]
    return "\n".join([*rows[:at], *new, *rows[at:], ""]), at + len(gap) + 1


def _place(rows: Sequence[str]) -> int:
    """The line above which to add."""
    place = len(rows)
    for heading in reversed(_headings(rows)):
        if not heading.ours:
            break
        place = heading.line
    return place


def _headings(rows: Sequence[str]) -> list[_Heading]:
    found: list[_Heading] = []
    part = -1
    code = ""
    for number, row in enumerate(rows):
        if fence := _CODE.match(row):
            if not code:
                code = fence[1]
            elif row.strip().startswith(code) and not row.strip().strip(code[0]):
                code = ""
        elif not code and _BEGIN.match(row):
            part = number
        elif not code and _END.match(row):
            part = -1
        elif not code and _HEADING.match(row):
            ours = part >= 0 or row.strip() == OBSERVATIONS
            found.append(_Heading(part if part >= 0 else number, ours))
    return found
