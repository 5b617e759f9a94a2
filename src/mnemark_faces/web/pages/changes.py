"""Changes: all that was written, with diffs, and taking it back."""

from itertools import groupby

from mnemark.memory.journal.changes import KINDS
from mnemark_faces.web.at import At, Go, PageContent


def changes(at: At) -> PageContent:
    """Show changes, the latest first."""
    kinds = [one for one in at.all_asked("kind") if one in KINDS]
    page = at.memory.browse.changes(kinds=kinds, after=at.asked("after"))
    days = [(day, list(rows)) for day, rows in groupby(page.rows, key=lambda row: row.time[:10])]
    return PageContent("changes.html", {"page": page, "days": days, "kinds": kinds, "all_kinds": KINDS}, page)


def change(at: At) -> PageContent:
    """Show what a change did."""
    found = at.memory.browse.change(at.asked("id"))
    return PageContent("change.html", {"row": found.row, "parts": found.parts}, found)


def undo(at: At) -> Go:
    """Take a change, or those of a run, back."""
    done = [one for identifier in at.all_sent("id") for one in at.memory.undo(identifier)]
    at.tell(at.words.count(len(done), "Undone: {n} change", "Undone: {n} changes"))
    return at.back("changes")


def pin(at: At) -> Go:
    """Keep something from being archived."""
    done = at.memory.pin(at.sent("ref"))
    at.tell("Pinned: it will not be archived.", undo=done.id)
    return at.back("item", ref=at.sent("ref"))
