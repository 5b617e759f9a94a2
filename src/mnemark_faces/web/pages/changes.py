"""Changes in sentences, by what made them, and taking them back."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from mnemark.facts.model import refs_in
from mnemark.files.layout import in_scope
from mnemark.files.names import split_ref
from mnemark.files.sessions import SessionLog
from mnemark.memory.browse.change_rows import ChangeRow
from mnemark.memory.journal.changes import KINDS
from mnemark.present import receipts
from mnemark.present.changes import of_part, sentence, sentence_below_talk, told_detail, told_page
from mnemark.present.sources import place
from mnemark_faces.web.at import At, Go, PageContent
from mnemark_faces.web.telling import by_day, title_of

_BY_TALK: Final = frozenset({"remember", "propose", "conflict", "otherwise", "write"})
"""Kinds of changes that a talk may have made."""


class Made(NamedTuple):
    """The changes that one thing made: a talk, a night, an import, or one by itself."""

    time: str
    title: str
    """Of the talk; empty for one change by itself."""
    path: str
    """Of the talk's log."""
    lines: Sequence[tuple[ChangeRow, str]]

    @property
    def undo(self) -> list[str]:
        """What takes all of them back, the latest first."""
        return [row.id for row, _ in self.lines if row.undo]


def changes(at: At) -> PageContent:
    """Show changes, the latest first."""
    kinds = [one for one in at.all_asked("kind") if one in KINDS]
    page, ws = at.memory.browse.changes(kinds=kinds, after=at.asked("after")), at.memory.workspace
    days = by_day(at, _made(at, page.rows), lambda one: one.time)
    return PageContent(
        "changes.html", {"page": page, "days": days, "kinds": kinds}, lambda: told_page(page, ws)
    )


def _made(at: At, rows: Iterable[ChangeRow]) -> list[Made]:
    ws = at.memory.workspace
    found = []
    for (_, path), part in groupby(rows, key=lambda row: (row.time[:10], _talk(at, row))):
        those = list(part)
        if path and len(those) > 1:
            lines = [(row, sentence_below_talk(row, at.words, ws)) for row in those]
            found.append(Made(those[0].time, title_of(at, path), path, lines))
        else:
            found += [Made(row.time, "", "", [(row, sentence(row, at.words, ws))]) for row in those]
    return found


def _talk(at: At, row: ChangeRow) -> str:
    """Return the log of the talk that made a change; empty if it was none."""
    if row.kind not in _BY_TALK:
        return ""
    if row.session:
        return in_scope(row.scope, SessionLog(at.root / row.scope, row.session).name)
    store = at.memory.workspace.fact_store
    with store.lock:
        store.log.refresh()
        facts = [store.log.of(one).last or store.log.reviewed(one) for one in row.ids[:1]]
    refs = [ref for fact in facts if fact is not None for ref in refs_in(fact.source)]
    return next((path for ref in refs if (path := split_ref(ref)[0]).endswith(".jsonl")), "")


def change(at: At) -> PageContent:
    """Show what a change did."""
    found = at.memory.browse.change(at.asked("id"))
    ws = at.memory.workspace
    values = {
        "row": found.row, "parts": found.parts, "sentence": sentence(found.row, at.words, ws),
        "said": {one.id: of_part(one, ws, at.words) for one in found.parts},
        "places": {one.path: place(ws, one.path, at.words) for one in found.parts if one.path},
    }  # fmt: skip
    return PageContent("change.html", values, lambda: told_detail(found, ws))


def undo(at: At) -> Go:
    """Take a change, or those of a run, back."""
    ids = " ".join(at.all_sent("id")).split()  # a button names what a whole talk did
    done = [one for identifier in ids for one in at.memory.undo(identifier)]
    at.tell("{text}", text=receipts.summary(at.memory.workspace, done, at.words))
    return at.back("changes")


def pin(at: At) -> Go:
    """Keep something from being archived."""
    done = at.memory.pin(at.sent("ref"))
    at.tell("Pinned: it will not be archived.", undo=done.id)
    return at.back("item", ref=at.sent("ref"))
