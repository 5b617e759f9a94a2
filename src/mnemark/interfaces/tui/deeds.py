"""What the panel changes: forget, pin, decide, undo. Each says what was done, and what takes it back."""

from typing import TYPE_CHECKING, NamedTuple

from mnemark.interfaces.tui.cells import Sheet, one_line
from mnemark.interfaces.tui.rows import Row
from mnemark.interfaces.tui.words import Words

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_WORDS = 60


class Done(NamedTuple):
    """A change that was made."""

    text: str
    undo: str = ""
    """Id for `undo`; empty where nothing takes it back."""


def would_forget(memory: "Memory", words: Words, row: Row) -> Sheet | None:
    """Return what forgetting a row would hide, without changing anything; None if there is nothing."""
    from mnemark.memory.forgetting.receipt import counted

    found = memory.forget(row.about, dry_run=True)
    if found.action == "nothing":
        return None
    sheet = Sheet(words).title(words("This would be hidden: {what}", what=counted(found.items))).gap()
    for item in found.items[:_WORDS]:
        sheet.title(one_line(item.ref or item.id), "dim").text(f"  {one_line(item.words)}")
    if len(found.items) > _WORDS:
        sheet.note("… and {n} more", n=len(found.items) - _WORDS)
    sheet.gap().note("It stays in the files, and nothing finds it any more. u takes it back.")
    sheet.note(
        "To delete it from all files, for ever: {command}", command=f"mnemark forget --erase {row.about}"
    )
    return sheet


def forget(memory: "Memory", words: Words, row: Row) -> Done:
    """Hide a row from all searches."""
    from mnemark.memory.forgetting.receipt import counted

    receipt = memory.forget(row.about)
    if receipt.action == "nothing":
        return Done(words("Nothing was found to forget."))
    return Done(words("Forgotten: {what}", what=counted(receipt.items)), receipt.id)


def pin(memory: "Memory", words: Words, row: Row) -> Done:
    """Keep a row from being archived."""
    return Done(words("Pinned, it will not be archived: {what}", what=row.text), memory.pin(row.about).id)


def accept(memory: "Memory", words: Words, row: Row) -> Done:
    """Accept what waits."""
    fact = memory.accept(row.decide)
    return Done(words("Accepted: {what}", what=row.text), fact.id if fact is not None else "")


def reject(memory: "Memory", words: Words, row: Row) -> Done:
    """Reject what waits."""
    memory.reject(row.decide)
    return Done(words("Rejected: {what}", what=row.text), row.decide)


def undo(memory: "Memory", words: Words, identifier: str) -> Done:
    """Take a change back, or those of a run."""
    done = memory.undo(identifier)
    waiting = [path for one in done for path in one.waiting]
    text = words.count(len(done), "Undone: {n} change", "Undone: {n} changes")
    if waiting:
        text += "; " + words("the next sync changes {paths}", paths=one_line(", ".join(waiting)))
    return Done(text)
