"""What the panel changes: forget, pin, decide, undo. Each says what was done, and what takes it back."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.content import Content

from mnemark.errors import NotFoundError
from mnemark.facts.keys import subject_key
from mnemark.facts.model import refs_in
from mnemark.files import off_record
from mnemark.files.names import split_ref
from mnemark.memory.forgetting.receipt import counted
from mnemark.present import changes, receipts
from mnemark.present.facts import clause, inside, sentence
from mnemark.present.plain import plain
from mnemark.present.sources import place
from mnemark_faces.editing import content
from mnemark_faces.editing import save as store
from mnemark_faces.tui.cells import Sheet, brief, one_line
from mnemark_faces.tui.panes_change import change_row
from mnemark_faces.tui.rows import ListRow
from mnemark_faces.tui.words import PanelWords

if TYPE_CHECKING:
    from mnemark.memory.forgetting.receipt import Receipt
    from mnemark.memory.memory import Memory

_WORDS = 60
_PAUSE: Final = timedelta(hours=1)


class Done(NamedTuple):
    """A change that was made."""

    text: str
    undo: str = ""
    """Id for `undo`; empty where nothing takes it back."""
    sheet: Sheet | None = None
    """What to show of it, such as a receipt."""
    at: str = ""
    """Key of the row that is chosen then; empty where the choice stays."""
    failed: bool = False
    """Whether it was not made after all."""


def would_forget(memory: "Memory", words: PanelWords, row: ListRow) -> Sheet:
    """Return what forgetting a row would hide, without changing anything.

    Raises:
        NotFoundError: there is nothing to hide.
    """
    found = memory.forget(row.about, dry_run=True)
    _check(found, words)
    what = counted(found.items, words)
    sheet = Sheet(words).title(words("This would be hidden: {what}", what=what))
    _items(sheet, memory, words, found)
    sheet.gap().note("It stays in the files, and nothing finds it any more. u takes it back.")
    sheet.note("D deletes it from all files, for ever.")
    return sheet


def would_erase(memory: "Memory", words: PanelWords, row: ListRow) -> tuple[Sheet, int]:
    """Return what erasing a row would delete, where it stands, and how many items that are.

    Raises:
        NotFoundError: there is nothing to erase.
    """
    found = memory.forget(row.about, erase=True, dry_run=True)
    _check(found, words)
    what = counted(found.items, words)
    sheet = Sheet(words).title(words("This would be deleted for ever: {what}", what=what))
    _items(sheet, memory, words, found)
    sheet.gap().note("Type {n} and press Enter to erase it. It cannot be brought back.", n=len(found.items))
    if found.places:
        sheet.heading("It stands in")
    _places(sheet, memory, words, found)
    return sheet, len(found.items)


def erase(memory: "Memory", words: PanelWords, row: ListRow) -> Done:
    """Delete a row from all files; the receipt says where copies may remain."""
    receipt = memory.forget(row.about, erase=True)
    text = words("Erased: {what}", what=counted(receipt.items, words))
    sheet = Sheet(words).title(text)
    if receipt.places:
        sheet.heading("Removed from")
    _places(sheet, memory, words, receipt)
    if receipt.waiting:
        sheet.heading("Not done yet; the next sync goes on with it")
    for one in receipt.waiting:
        sheet.text(words.told(one).text)
    return Done(text, sheet=sheet)


def _check(found: "Receipt", words: PanelWords) -> None:
    if found.action == "nothing":
        raise NotFoundError(words("Nothing was found to forget."))


def _items(sheet: Sheet, memory: "Memory", words: PanelWords, found: "Receipt") -> None:
    """Add what would go: each in its words, with where it stands."""
    for item in receipts.forgotten(memory.workspace, found, words).items[:_WORDS]:
        sheet.gap().text(one_line(plain(item.words)))
        if item.ref:
            sheet.text(place(memory.workspace, item.ref, words), "dim")
    if len(found.items) > _WORDS:
        sheet.note("… and {n} more", n=len(found.items) - _WORDS)


def _places(sheet: Sheet, memory: "Memory", words: PanelWords, receipt: "Receipt") -> None:
    """Add where it stands, or stood, and where it may remain."""
    for name in receipts.places(memory.workspace, receipt.places, words)[:_WORDS]:
        sheet.text(name)
    if receipt.still:
        sheet.heading("Copies that may remain")
    for one in receipt.still:
        sheet.text(receipts.copy(memory.workspace, one, words).text)


def editable(memory: "Memory", row: ListRow) -> tuple[str, bytes]:
    """Return the file that a row stands in, and its bytes.

    Raises:
        NotFoundError, UsageError: it cannot be edited.
    """
    path, _, _ = split_ref(memory.why(row.about).ref)
    return path, content(memory, path)


def save(memory: "Memory", words: PanelWords, path: str, new: bytes, known: str) -> Done:
    """Save an edited file, unless another program saved it meanwhile."""
    if store(memory, path, new, known) is None:
        return Done(words("Saved {path}.", path=one_line(path)))
    return Done(words("Another program saved {path} meanwhile.", path=one_line(path)), failed=True)


def forget(memory: "Memory", words: PanelWords, row: ListRow) -> Done:
    """Hide a row from all searches."""
    receipt = memory.forget(row.about)
    if receipt.action == "nothing":
        return Done(words("Nothing was found to forget."))
    return Done(words("Forgotten: {what}", what=counted(receipt.items, words)), receipt.id)


def pin(memory: "Memory", words: PanelWords, row: ListRow) -> Done:
    """Keep a row from being archived."""
    told = words("Pinned, it will not be archived: {what}", what=inside(row.text, words))
    return Done(told, memory.pin(row.about).id)


def accept(memory: "Memory", words: PanelWords, row: ListRow) -> Done:
    """Accept what waits."""
    memory.accept(row.decide, suspect=row.suspect)
    return Done(words("Accepted: {what}", what=inside(row.text, words)), row.decide)


def reject(memory: "Memory", words: PanelWords, row: ListRow) -> Done:
    """Reject what waits."""
    memory.reject(row.decide)
    return Done(words("Rejected: {what}", what=inside(row.text, words)), row.decide)


class Right(NamedTuple):
    """What a person says is right instead of a fact."""

    value: str
    since: str
    subject: str
    never: bool
    """Whether it was never true."""
    changed: bool
    """Whether it was so, and has changed: what was before is kept."""


def correct(memory: "Memory", words: PanelWords, row: ListRow, right: Right) -> Done:
    """Correct a fact, say that it was never true, or what it is now; what is left as it was is not said."""
    fact = row.fact
    assert fact is not None  # noqa: S101 - only these can be corrected
    if right.never:
        done = memory.correct(row.about, never=True)
        return Done(words("It was never true: {what}", what=inside(row.text, words)), done.id)
    value = right.value if right.value and right.value != fact.value else None
    since = right.since if right.since != fact.since[:10] else None
    subject = right.subject or "user"
    other = None if subject_key(subject) == subject_key(fact.subject) else subject
    if value is None and since is None and other is None:
        return Done(words("Nothing was changed."))
    if right.changed:
        after = memory.remember(
            fact.predicate, value or fact.value, subject=other or fact.subject, type=fact.type,
            scope=fact.scope, since=since, replaces=fact.id,
        )  # fmt: skip
        told = one_line(clause(after, words))
        return Done(words("Changed: {what}", what=told), after.id, at=after.id)
    done = memory.correct(row.about, value, since=since, subject=other)
    told = one_line(clause(done.after or done.before, words))
    at = done.after.id if done.after is not None else ""
    return Done(words("Corrected: {what}", what=told), done.id, at=at)


def learned_from(memory: "Memory", words: PanelWords, row: ListRow) -> tuple[ListRow, ...]:
    """Return the facts that hold and were learned from a passage, as rows to correct."""
    path, first, last = split_ref(row.about)
    found = {
        fact.id: fact
        for scope in memory.workspace.scopes()
        for fact in memory.facts(scope=scope)
        for its_path, begin, end in map(split_ref, refs_in(fact.source))
        if its_path == path and begin <= (last or first) and first <= (end or begin)
    }
    return tuple(
        ListRow(key, Content(), Sheet(words), about=key, text=brief(sentence(fact, words)), fact=fact)
        for key, fact in found.items()
    )


def last_night(memory: "Memory", words: PanelWords) -> ListRow | None:
    """Return what was tidied last night, as a change; None if nothing was, or it was undone."""
    row = changes.last_night(memory.workspace, memory.browse.log)
    return None if row is None else change_row(memory, row, words)


def pause(memory: "Memory", words: PanelWords) -> Done:
    """Go off the record for an hour, or go on recording."""
    if off_record.end(memory.root):
        return Done(words("What is said is recorded again."))
    off_record.begin(memory.root, datetime.now(UTC) + _PAUSE)
    return Done(words("Off the record for an hour: nothing is recorded or learned. o ends it."))


def undo(memory: "Memory", words: PanelWords, identifier: str) -> Done:
    """Take a change back, or those of a run."""
    done = memory.undo(identifier)
    waiting = [path for one in done for path in one.waiting]
    text = receipts.summary(memory.workspace, done, words)
    if waiting:
        named = ", ".join(place(memory.workspace, path, words) for path in waiting)
        text += "; " + words("the next sync changes {paths}", paths=one_line(named))
    return Done(text)
