"""Say what was forgotten and what was taken back, in the words of a reader."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mnemark.facts.model import Fact
from mnemark.memory.forgetting import receipt as receipts
from mnemark.memory.forgetting.receipt import Receipt
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo import revert
from mnemark.memory.undo.revert import Reverted
from mnemark.memory.undo.runs import Undoing
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
UNDOING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "remember": "Undoing the fact: {fact}",
        "retract": "Undoing the end of: {fact}",
        "otherwise": "Undoing the doubt about: {fact}",
        "correct": "Undoing the correction of: {fact}",
        "accept": "Undoing what you accepted last in review.",
        "reject": "Undoing what you rejected last in review.",
        "forget": "Undoing what was hidden last.",
        "edit": "Undoing {steps}: {paths}.",
        "pin": "Undoing the last pin.",
        "run": "Undoing the consolidation of {day} ({changes}).",
        "merge": "Undoing the merge of the other memory.",
    }
)
"""What an undo is about to do."""


def undone(ws: OpenWorkspace, one: Undone, words: Words) -> str:
    """Return what an undo did: "No longer known: you live in Lisbon."; of an edit with its diff."""
    if one.what == "edit":
        about = f"{', '.join((*one.paths, *one.waiting))}\n{one.text}".rstrip()
    elif one.what == "merge":
        about = words.number(len(one.paths))
    else:
        about = words.clauses(facts.clause(fact, words) for fact in _facts(ws, one))
        about = about or (words.line(one.text) if one.what == "forget" else one.text)
    return words(_UNDONE[one.what], what=about)


def _facts(ws: OpenWorkspace, one: Undone) -> list[Fact]:
    """Return the facts that a change was about: of a correction, the one that was wrong."""
    correction = ws.fact_store.log.tables.corrections.get(one.id)
    return changes.facts_of(ws, [one.id if correction is None else correction.wrong, one.text])


def undoing(target: Undoing, words: Words) -> str:
    """Return what an undo is about to do: "Undoing the fact: you live in Lisbon."."""
    return words(
        UNDOING[target.what],
        fact=words.clauses(facts.clause(fact, words) for fact in target.facts) or words("a fact"),
        steps=words.listed(map(words, target.steps)),
        paths=words.listed(target.paths),
        day=target.day,
        changes=words.count(target.changes, "1 change", "{n} changes"),
    )


def forgotten(receipt: Receipt, words: Words, *, closing: bool = True) -> str:
    """Return a receipt for people; see `mnemark.memory.forgetting.receipt.told`."""
    return "\n".join(receipts.told(receipt, words, closing=closing))


def reverted(done: Reverted, words: Words) -> str:
    """Return for people what a revert took back."""
    return "\n".join(revert.told(done, words))
