"""Write into Markdown: lines of a daily note, before generated sections, and links between pages."""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Final

from mnemark.text.lazy_pattern import lazy_pattern

_BEGIN: Final = lazy_pattern(r"[ \t]*<!-- mnemark:begin [\w-]+[ |]")
_END: Final = lazy_pattern(r"[ \t]*<!-- mnemark:end [\w-]+ -->")
_HEADING: Final = lazy_pattern(r" {0,3}#{1,6}(?:[ \t]|$)")
_CODE: Final = lazy_pattern(r" {0,3}(`{3,}|~{3,})")
_ITEM: Final = lazy_pattern(r"[-*+] ")
_LIST_LINE: Final = lazy_pattern(r"(?:[-*+] |  )[^\n]*$")
OBSERVATIONS: Final = "## Observations"
"""Heading of the section of tool executions that mnemark writes."""


def added(text: str, lines: Sequence[str]) -> tuple[str, int]:
    """Insert lines at the end of `text`, before generated sections; return it and their first line (from 1).

    So a note added after the end of a session is not read as part of its summary; if a person wrote the last
    heading, the lines are appended below it. The old text is unchanged, byte for byte; list items follow
    each other, other lines are separated by an empty line.
    """
    stop = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += stop
    rows = text.split("\n")[:-1]
    at = _insert_at(rows)
    above = at
    while above > 0 and not rows[above - 1].strip():
        above -= 1
    before = rows[above - 1] if above else ""
    if lines and _ITEM.match(lines[0]) and _LIST_LINE.match(before):
        at, gap = above, []
    else:
        gap = [""] if before and above == at else []
    tail = [""] if at < len(rows) and rows[at].strip() else []
    end = stop[:-1]
    new = [line + end for line in (*gap, *lines, *tail)]
    return "\n".join([*rows[:at], *new, *rows[at:], ""]), at + len(gap) + 1


def _insert_at(rows: Sequence[str]) -> int:
    """Return the line where the generated sections at the end start, or the number of lines."""
    place = part = -1
    for number, row in _prose(rows):
        if _BEGIN.match(row):
            part = number
        elif _END.match(row):
            part = -1
        elif _HEADING.match(row):
            if part < 0 and row.strip() != OBSERVATIONS:
                place = -1
            elif place < 0:
                place = part if part >= 0 else number
    return place if place >= 0 else len(rows)


def _prose(rows: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line outside fenced code."""
    code = ""
    for number, row in enumerate(rows):
        if fence := _CODE.match(row):
            if not code:
                code = fence[1]
            elif row.strip().startswith(code) and not row.strip().strip(code[0]):
                code = ""
        elif not code:
            yield number, row


_SIGNS = lazy_pattern(r"[\s()<>\\%]")
_BRACKETS = str.maketrans({"[": "(", "]": ")"})


def link(words: str, path: str, page: str) -> str:
    """Return a link to `path`, relative to the folder of `page`; both are relative to the workspace.

    >>> link("Wedding [Tuscany]", "memory/episodes/2026-02-13-wedding.md", "memory/2026-02-13.md")
    '[Wedding (Tuscany)](episodes/2026-02-13-wedding.md)'
    """
    target = posixpath.relpath(path, posixpath.dirname(page) or ".")
    encoded = _SIGNS.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), target)
    return f"[{' '.join(words.translate(_BRACKETS).split())}]({encoded})"
