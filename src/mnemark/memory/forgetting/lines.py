"""Group lines of notes that belong together, and refs that name lines."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mnemark.files.names import split_ref
from mnemark.types import Json, Turn

_BULLET: Final = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
Lines = tuple[int, int]
"""First and last, from 1."""
PART: Final = "\n\f\n"
"""Stands between the texts of one turn."""


def only_from(source: str, lines: Mapping[str, set[int]]) -> bool:
    """Whether all refs of a source are among the turns of these lines."""
    refs = [split_ref(part.strip()) for part in source.split(",") if part.strip()]
    return bool(refs) and all(
        last is not None and _are_all_in(first, last, lines.get(path, set())) for path, first, last in refs
    )


def _are_all_in(first: int, last: int, known: set[int]) -> bool:
    # A ref is written by anyone: what is counted are the lines that are known, not those that it claims.
    return 0 <= last - first < len(known) and all(number in known for number in range(first, last + 1))


def blocks(lines: Sequence[str]) -> list[Lines]:
    """For each line, the first and last line (1-based) of its bullet; of other text, the line itself."""
    found: list[Lines] = []
    first, last = 1, 0
    for number, line in enumerate(lines, 1):
        bullet = _BULLET.match(line)
        if bullet or line[:1] not in {" ", "\t"}:
            first = number
            last = _bullet_end(lines, number, len(bullet["indent"].expandtabs(4))) if bullet else 0
        found.append((first, max(last, number)) if last else (number, number))
    return found


def _bullet_end(lines: Sequence[str], first: int, depth: int) -> int:
    last = first
    while last < len(lines) and lines[last].strip():
        width = len(lines[last]) - len(lines[last].lstrip())
        if _BULLET.match(lines[last]) or width <= depth:
            break
        last += 1
    return last


def parts(lines: Sequence[str]) -> list[Lines]:
    """For each line, the first and last of the bullet it is, or of the part under the heading above it."""
    found = blocks(lines)
    heads = [number for number, line in enumerate(lines, 1) if line.startswith("## ")]
    for number, line in enumerate(lines, 1):
        if not _BULLET.match(line):
            after = bisect_right(heads, number)
            start = heads[after - 1] if after else number
            found[number - 1] = start, heads[after] - 1 if after < len(heads) else len(lines)
    return found


def turn_text(turn: Turn) -> str:
    """All that is said in a turn: its content, then the texts in its calls, results, attachments and meta."""
    return "\n".join(
        [turn.content, *_texts([turn.tool_calls, turn.tool_results, turn.attachments, turn.meta])]
    )


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from _texts(one)
