"""What the panel changes: forget, pin, decide, undo. Each says what was done, and what takes it back."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from mnemark.files import off_record
from mnemark.files.names import split_ref
from mnemark.memory.forgetting.receipt import counted
from mnemark.present import receipts
from mnemark.present.facts import clause, inside
from mnemark.present.receipts import forgotten
from mnemark_faces.editing import content
from mnemark_faces.editing import save as store
from mnemark_faces.tui.cells import Sheet, one_line
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
    failed: bool = False
    """Whether it was not made after all."""


def would_forget(memory: "Memory", words: PanelWords, row: ListRow) -> Sheet | None:
    """Return what forgetting a row would hide, without changing anything; None if there is nothing."""
    found = forgotten(memory.workspace, memory.forget(row.about, dry_run=True), words)
    if found.action == "nothing":
        return None
    sheet = Sheet(words).title(words("This would be hidden: {what}", what=counted(found.items, words))).gap()
    for item in found.items[:_WORDS]:
        sheet.title(one_line(item.ref or item.id), "dim").text(f"  {one_line(item.words)}")
    if len(found.items) > _WORDS:
        sheet.note("… and {n} more", n=len(found.items) - _WORDS)
    sheet.gap().note("It stays in the files, and nothing finds it any more. u takes it back.")
    sheet.note("D deletes it from all files, for ever.")
    return sheet


def would_erase(memory: "Memory", words: PanelWords, row: ListRow) -> tuple[Sheet, int] | None:
    """Return what erasing a row would delete, where it stands, and how many items that are; None for none."""
    found = forgotten(memory.workspace, memory.forget(row.about, erase=True, dry_run=True), words)
    if found.action == "nothing":
        return None
    sheet = (
        Sheet(words)
        .title(words("This would be deleted for ever: {what}", what=counted(found.items, words)))
        .gap()
    )
    for item in found.items[:_WORDS]:
        sheet.title(one_line(item.ref or item.id), "dim").text(f"  {one_line(item.words)}")
    if found.places:
        sheet.heading("It stands in")
    _places(sheet, found, words)
    sheet.gap().note("Type {n} and press Enter to erase it. It cannot be brought back.", n=len(found.items))
    return sheet, len(found.items)


def erase(memory: "Memory", words: PanelWords, row: ListRow) -> Done:
    """Delete a row from all files; the receipt says where copies may remain."""
    receipt = memory.forget(row.about, erase=True)
    text = words("Erased: {what}", what=counted(receipt.items, words))
    sheet = Sheet(words).title(text)
    if receipt.places:
        sheet.heading("Removed from")
    _places(sheet, receipt, words)
    if receipt.waiting:
        sheet.heading("Not done yet; the next sync goes on with it")
    for one in receipt.waiting:
        sheet.text(words.told(one).text)
    return Done(text, sheet=sheet)


def _places(sheet: Sheet, receipt: "Receipt", words: PanelWords) -> None:
    sheet.rows((one_line(place.path), words.line(one_line(place.what))) for place in receipt.places[:_WORDS])
    if receipt.still:
        sheet.heading("Copies that may remain")
    for one in receipt.still:
        sheet.text(words.line(one))


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
    never: bool


def correct(memory: "Memory", words: PanelWords, row: ListRow, right: Right) -> Done:
    """Correct a fact, or say that it was never true; what is left as it was is not said."""
    fact = row.fact
    assert fact is not None  # noqa: S101 - only these can be corrected
    if right.never:
        done = memory.correct(row.about, never=True)
        return Done(words("It was never true: {what}", what=inside(row.text, words)), done.id)
    value = right.value if right.value != fact.value else None
    since = right.since if right.since != fact.since[:10] else None
    if value is None and since is None:
        return Done(words("Nothing was changed."))
    done = memory.correct(row.about, value, since=since)
    told = clause(done.after or done.before, words)
    return Done(words("Corrected: {what}", what=one_line(told)), done.id)


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
        text += "; " + words("the next sync changes {paths}", paths=one_line(", ".join(waiting)))
    return Done(text)
