"""Say what was taken back, in sentences."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo.undo import Undone
from mnemark.present import changes, facts
from mnemark.present.words import Words

_UNDONE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "remember": "No longer known: {what}",
        "retract": "Holds again: {what}",
        "otherwise": "No longer in doubt: {what}",
        "accept": "Waits for review again: {what}",
        "reject": "Waits for review again: {what}",
        "forget": "Found by searches again: {what}",
        "edit": "Taken back: {what}",
        "merge": "The merge is taken back; files that were changed: {what}",
        "pin": "No longer kept for good: {what}",
        "correct": "The correction is taken back: {what}",
    }
)
"""What an undo did, by what it undid."""


def undone(ws: OpenWorkspace, one: Undone, words: Words) -> str:
    """Return what an undo did: "No longer known: you live in Lisbon."; of an edit with its diff."""
    if one.what == "edit":
        about = f"{', '.join((*one.paths, *one.waiting))}\n{one.text}".rstrip()
    elif one.what == "merge":
        about = words.number(len(one.paths))
    else:
        named = changes.facts_of(ws, [one.id, one.text])
        mark = "；" if words.language == "zh" else "; "
        about = mark.join(facts.clause(fact, words) for fact in named) or words.told(one.text).text
    return words(_UNDONE[one.what], what=about)
