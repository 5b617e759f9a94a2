"""Lines of notes that belong together, and refs that name lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mnemark.memory.read import split_ref
from mnemark.types import Json, Turn

_BULLET: Final = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
PART: Final = "\n\f\n"
"""Stands between the texts of one turn."""


def only_from(source: str, lines: Mapping[str, set[int]]) -> bool:
    """Whether all refs of a source are among the turns of these lines."""
    parts = [split_ref(part.strip()) for part in source.split(",") if part.strip()]
    return bool(parts) and all(
        last is not None and set(range(first, last + 1)) <= lines.get(path, set())
        for path, first, last in parts
    )


def block(lines: list[str], number: int) -> tuple[int, int]:
    """First and last line (1-based) of the bullet that a line belongs to; of other text, the line itself."""
    first = number
    while first > 1 and not _BULLET.match(lines[first - 1]) and lines[first - 1][:1] in {" ", "\t"}:
        first -= 1
    match = _BULLET.match(lines[first - 1])
    if match is None:
        return number, number
    last, depth = first, len(match["indent"].expandtabs(4))
    while last < len(lines) and lines[last].strip():
        width = len(lines[last]) - len(lines[last].lstrip())
        if _BULLET.match(lines[last]) or width <= depth:
            break
        last += 1
    return first, max(last, number)


def part(lines: list[str], number: int) -> tuple[int, int]:
    """First and last line of the bullet that a line is, or of the part under the heading above it."""
    if _BULLET.match(lines[number - 1]):
        return block(lines, number)
    first = next((n for n in range(number, 0, -1) if lines[n - 1].startswith("## ")), number)
    last = next(
        (n for n in range(number + 1, len(lines) + 1) if lines[n - 1].startswith("## ")), len(lines) + 1
    )
    return first, last - 1


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
