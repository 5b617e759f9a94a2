"""Which hits stand in a block of recalled text, and with which words."""

import re
from collections.abc import Sequence
from typing import Final

from mnemark.text.quoting.fence import inert, visible
from mnemark.types import Hit

_ROW: Final = re.compile(r"^- (?P<path>.+?)#L(?P<first>\d+)(?:-L(?P<last>\d+))?(?: ·|$)")
_TURN: Final = re.compile(r"^  L(?P<line>\d+) ")


def shown(text: str, hits: Sequence[Hit]) -> list[tuple[Hit, str]]:
    """Return the hits that a block shows, each with the words that stand under its ref."""
    there: dict[tuple[str, int], str] = {}
    path, line = "", 0
    for row in text.split("\n"):
        if head := _ROW.match(row):
            path, line = head["path"], int(head["first"])
            there.setdefault((path, line), row.partition(" | ")[2])
        elif path and row.startswith("  "):
            if turn := _TURN.match(row):
                line = int(turn["line"])
            there[path, line] = there.get((path, line), "") + "\n" + row
    found = ((hit, there.get((visible(hit.path), hit.start_line))) for hit in hits)
    return [(hit, words) for hit, words in found if words is not None]


def is_whole(hit: Hit, words: str) -> bool:
    """Return whether words of a block hold the whole text of a hit."""
    return _words(inert(hit.text)) in _words(words)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))
