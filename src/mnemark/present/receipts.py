"""Say what was taken back or forgotten, in sentences."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from mnemark.files import layout
from mnemark.files.names import split_ref
from mnemark.memory.browse.change_rows import row
from mnemark.memory.forgetting import receipt as receipts
from mnemark.memory.forgetting.receipt import ErasedPlace, ForgottenItem, Receipt, beginning
from mnemark.memory.journal.changes import ChangeLog
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.memory.undo import revert
from mnemark.memory.undo.revert import Reverted
from mnemark.memory.undo.undo import Undone
from mnemark.present import changes, facts
from mnemark.present.sources import place
from mnemark.present.words import Translated, Words

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


def undoing(ws: OpenWorkspace, id: str, words: Words) -> str:  # noqa: A002 - the word of the file format
    """Return what is about to be undone: a change, those of a run, or a merge."""
    log = ChangeLog(ws.journal)
    log.refresh()
    group = log.group(id)
    if not group:
        return words("Undoing the merge of the other memory.")
    found = row(ws, log, id, group, {})
    told = changes.sentence(found, words, ws).rstrip(".。")
    return words("Undoing “{change}” of {time}.", change=told, time=found.time[:16].replace("T", " "))


def undone(ws: OpenWorkspace, one: Undone, words: Words) -> str:
    """Return what an undo did: "No longer known: you live in Lisbon."; of an edit with its diff."""
    if one.what == "edit":
        about = f"{', '.join((*one.paths, *one.waiting))}\n{one.text}".rstrip()
    elif one.what == "merge":
        about = words.number(len(one.paths))
    else:
        about = changes.listed(ws, one.facts, words) or one.text or words("messages and notes")
    return words(_UNDONE[one.what], what=about)


def told(ws: OpenWorkspace, done: Iterable[Undone]) -> list[Undone]:
    """Return what an undo did with its sentences as texts, for programs: in the language of the facts.

    Of an edit the text is the diff.
    """
    found = [replace(one, facts=tuple(changes.redacted(fact, ws) for fact in one.facts)) for one in done]
    return [
        one if one.what == "edit" else replace(one, text=undone(ws, one, facts.words_for(*one.facts)))
        for one in found
    ]


def summary(ws: OpenWorkspace, done: Sequence[Undone], words: Words) -> str:
    """Return what an undo did in a sentence, and of edits or several changes how many they were."""
    if len(done) == 1 and done[0].what != "edit":
        return undone(ws, done[0], words)
    return words.count(len(done), "Undone: {n} change", "Undone: {n} changes")


def forgotten(ws: OpenWorkspace, receipt: Receipt, words: Words | None = None) -> Receipt:
    """Return a receipt that tells its facts in sentences, as far as it tells their words.

    Args:
        ws: the workspace.
        receipt: what was forgotten, or would be.
        words: of the reader's language; by default that of each fact.
    """
    items, related, kept = (
        _in_sentences(ws, one, words) for one in (receipt.items, receipt.related, receipt.kept)
    )
    return replace(receipt, items=items, related=related, kept=kept)


def reverted(ws: OpenWorkspace, done: Reverted, words: Words | None = None) -> Reverted:
    """Return what was taken back with its facts in sentences, as `forgotten` does."""
    hidden, gone = (_in_sentences(ws, one, words) for one in (done.hidden, done.facts))
    return replace(done, hidden=hidden, facts=gone)


def _in_sentences(
    ws: OpenWorkspace, items: Sequence[ForgottenItem], words: Words | None
) -> tuple[ForgottenItem, ...]:
    log = ws.fact_store.log

    def said(one: ForgottenItem) -> str:
        is_told = one.kind == "fact" and one.words
        fact = (log.of(one.id).last or log.reviewed(one.id)) if is_told else None
        return one.words if fact is None else beginning(changes.sentence_of(ws, fact, words))

    return tuple(replace(one, words=said(one)) for one in items)


def receipt_text(receipt: Receipt, words: Words, *, closing: bool = True) -> str:
    """Return a receipt for people; see `mnemark.memory.forgetting.receipt.told`."""
    return "\n".join(receipts.told(receipt, words, closing=closing))


def reverted_text(done: Reverted, words: Words) -> str:
    """Return for people what a revert took back."""
    return "\n".join(revert.told(done, words))


def kind(one: ForgottenItem) -> str:
    """Return what an item is, as a key of the words: what tools did is a turn that nobody said."""
    found = layout.place(split_ref(one.ref)[0]) if one.ref else None
    return "tool call" if one.kind == "turn" and found is not None and found.role == "journal" else one.kind


def places(ws: OpenWorkspace, found: Iterable[ErasedPlace], words: Words) -> Sequence[str]:
    """Return where words stand, or stood: people's files by name, those that mnemark makes in a number."""
    paths = dict.fromkeys(one.path for one in found)
    own = [path for path in paths if not path.startswith(f"{layout.PRIVATE}/")]
    named = list(dict.fromkeys(place(ws, path, words) for path in own))
    if derived := len(paths) - len(own):
        made = words.count(derived, "1 file that mnemark makes itself", "{n} files that mnemark makes itself")
        named.append(made)
    return named


def copy(ws: OpenWorkspace, told: str, words: Words) -> Translated:
    """Return what a receipt says of a copy that may remain, with its place in words."""
    ref, mark, rest = told.partition(": ")
    if not mark or layout.place(split_ref(ref)[0]) is None:
        return words.told(told)
    said, where = words.told(told), place(ws, ref, words)
    if not said.lang:
        return Translated(said.text.replace(ref, where))
    said = words.told(rest)
    return Translated(f"{where}: {said.text}", said.lang)
