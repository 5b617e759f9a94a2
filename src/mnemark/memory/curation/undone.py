"""List what a person took back of earlier consolidations: it is not done again."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from mnemark.memory import file_edits
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.text.markdown.hunks import Hunk

_STEP: Final = "consolidate: "
_ID: Final = re.compile(r"\bid: ([0-9A-Z]{26})\b")


class Undone(NamedTuple):
    """Of the edits that were taken back."""

    entries: frozenset[tuple[str, str]]
    """Path and line of entries that had been added to a generated part."""
    facts: frozenset[str]
    """Ids of facts whose bullets had been taken out or changed."""
    moves: frozenset[str]
    """Paths of files that had been moved."""


def undone(ws: OpenWorkspace) -> Undone:
    """What the ledger says was taken back; what was done again since by a person's own hand is theirs."""
    mine = [one for one in file_edits.entries(ws) if one.state == "undone" and one.step.startswith(_STEP)]
    edits = ws.edits
    made = {one.id: edits.hunks(one) for one in mine}
    return Undone(
        frozenset((one.path, line.strip()) for one in mine for line in _added(made[one.id])),
        frozenset(found for hunks in made.values() for hunk in hunks for found in _ids(hunk.old)),
        frozenset(one.path for one in mine if one.to),
    )


def _added(hunks: Iterable[Hunk]) -> list[str]:
    return [line for hunk in hunks for line in hunk.new if line.startswith("- ") and line not in hunk.old]


def _ids(lines: Iterable[str]) -> list[str]:
    return [found for line in lines for found in _ID.findall(line)]
