"""The screens of deciding: Review, Changes and Health."""

from typing import TYPE_CHECKING, Final

from textual.content import Content

from mnemark.facts.correct import NEVER
from mnemark.memory.health.doctor import doctor
from mnemark.present import proposals
from mnemark.present.changes import NAMES, of_part, sentence
from mnemark.present.sources import UNTRUSTED, place, source, who
from mnemark_faces.tui.cells import (
    BAD,
    DIM,
    GOOD,
    WARNING,
    Sheet,
    brief,
    one_line,
    origin_of,
    padded,
)
from mnemark_faces.tui.explained import minute, sources
from mnemark_faces.tui.rows import ListRow, RowPage
from mnemark_faces.tui.words import PanelWords
from mnemark_interfaces.render import size

if TYPE_CHECKING:
    from mnemark.memory.browse.browse import ReviewRow
    from mnemark.memory.browse.change_rows import ChangeRow
    from mnemark.memory.memory import Memory
    from mnemark.memory.review.attention import Attention
    from mnemark.memory.review.review import ReviewItem

_MARKS: Final = {"proposal": "?", "conflict": "!", "removed": "-", "otherwise": "≠", "edit": "~"}
_DECIDED: Final = frozenset({"propose", "conflict", "otherwise"})
"""Kinds of changes that wait for a decision."""
_WAITS: Final = {
    "proposals": ("1 proposed fact waits for you", "{n} proposed facts wait for you"),
    "conflicts": ("1 contradiction waits for you", "{n} contradictions wait for you"),
    "doubts": ("1 fact may no longer be so", "{n} facts may no longer be so"),
    "edits": ("1 fact was changed by hand", "{n} facts were changed by hand"),
}
"""What waits in Review, by `Attention.what`."""
_ASKED: Final = frozenset({"otherwise", "edit"})
"""What is told with what held before."""
_PARTS: Final = 50
"""Changes of a run that are shown with their diffs."""


class ReviewPane:
    """What waits for a decision."""

    name = "Review"
    field = ""
    empty = "Nothing waits for you."

    def page(self, memory: "Memory", words: PanelWords, *, text: str, after: str, limit: int) -> RowPage:  # noqa: ARG002
        """Return a page of what waits, with its sources."""
        found = memory.browse.review(limit=limit, after=after)
        return RowPage(tuple(_waiting(memory, one, words) for one in found.rows), found.next)

    def explain(self, memory: "Memory", words: PanelWords, row: ListRow, text: str) -> Sheet:  # noqa: ARG002
        """Return nothing more: the list knows the sources."""
        return Sheet(words)


class ChangesPane:
    """What was changed, the latest first."""

    name = "Changes"
    field = ""
    empty = "Nothing has been changed yet."

    def page(self, memory: "Memory", words: PanelWords, *, text: str, after: str, limit: int) -> RowPage:  # noqa: ARG002
        """Return a page of changes."""
        found = memory.browse.changes(limit=limit, after=after)
        head = words.count(found.total or 0, "{n} change", "{n} changes")
        return RowPage(tuple(change_row(memory, one, words) for one in found.rows), found.next, head)

    def explain(self, memory: "Memory", words: PanelWords, row: ListRow, text: str) -> Sheet:  # noqa: ARG002
        """Return the diffs of a change."""
        return explain_change(memory, words, row)


class HealthPane:
    """What needs a person, the checks, disk and spend."""

    name = "Health"
    field = ""
    empty = "All is well."

    def page(self, memory: "Memory", words: PanelWords, *, text: str, after: str, limit: int) -> RowPage:  # noqa: ARG002
        """Return all rows: what needs a person first."""
        rows = [_attention(one, words) for one in memory.attention()]
        checks = sorted(doctor(memory.workspace).findings, key=lambda one: one.level == "ok")
        rows += [
            _finding(f"check {number}", one.level, one.what, one.fix, words)
            for number, one in enumerate(checks)
        ]
        return RowPage((*rows, _disk(memory, words), _spend(memory, words)))

    def explain(self, memory: "Memory", words: PanelWords, row: ListRow, text: str) -> Sheet:  # noqa: ARG002
        """Return nothing more."""
        return Sheet(words)


def change_row(memory: "Memory", row: "ChangeRow", words: PanelWords) -> ListRow:
    """Return a change as a row of a list."""
    told = sentence(row, words, memory.workspace)
    mark = f" ({words('undone')})" if row.undone else ""
    shown = Content.assemble((f"{row.time[11:16]} ", DIM), f"{one_line(told)}{mark}")
    sheet = Sheet(words).title(f"{told}{mark}").gap()
    sheet.field("when", minute(memory, words, row.time)).field("made by", origin_of(row.origin, words))
    sheet.field("scope", row.scope)
    return ListRow(
        f"change {row.id}", shown, sheet, day=row.time[:10], text=brief(told),
        change=row.id if row.undo else "",
    )  # fmt: skip


def explain_change(memory: "Memory", words: PanelWords, row: ListRow) -> Sheet:
    """Return the diffs of a change."""
    sheet = Sheet(words)
    found = memory.browse.change(row.key.removeprefix("change "))
    for part in found.parts[:_PARTS]:
        if part.kind == "consolidate" and len(found.parts) > 1:  # what the whole row tells
            continue
        if part.diff or part.path or len(found.parts) > 1:
            paths = filter(None, (part.path, part.to))
            named = " → ".join(place(memory.workspace, path, words) for path in paths)
            sheet.heading(
                "{kind}: {place}",
                kind=words(NAMES.get(part.kind, part.kind)),
                place=one_line(named or of_part(part, memory.workspace, words)),
            )
        if part.diff:
            sheet.diff(part.diff)
    if len(found.parts) > _PARTS:
        sheet.note("… and {n} more", n=len(found.parts) - _PARTS)
    if row.change:
        sheet.gap().note("u undoes it.")
    elif found.row.kind in _DECIDED:
        sheet.gap().note("Review (4) has what is not decided yet.")
    elif not found.row.undone:
        sheet.gap().note("This cannot be undone.")
    return sheet


def _waiting(memory: "Memory", row: "ReviewRow", words: PanelWords) -> ListRow:
    one = row.waiting
    fact = one.fact
    origin = who(fact.origin, words)
    suspect = words("Looks like instructions to a model, from {origin}", origin=origin)
    said = proposals.said(one, words)
    told = suspect if one.suspect else one_line(said)
    shown = Content.assemble(
        (f"{_MARKS[one.what]} ", WARNING if one.what == "conflict" or one.suspect else DIM),
        (told, WARNING if one.suspect else ""),
    )
    sheet = Sheet(words).note(proposals.kind(one, words), WARNING if one.what == "conflict" else DIM).gap()
    if one.suspect:
        sheet.title(suspect, WARNING).gap()
        sheet.note("n drops it. y asks again: it would become your own word, and agents act on it.").gap()
        sheet.text(said)
    elif one.what in _ASKED:
        sheet.title(proposals.sentence(one, words, alone=False))
    else:
        sheet.title(said)
        if one.against and fact.review != NEVER:
            sheet.rows(((words("now"), one_line(one.against)), (words("new"), one_line(fact.value))))
    mark = "! " if fact.origin in UNTRUSTED else ""
    sheet.text(f"{mark}{source(memory.workspace, fact, words)}", DIM)
    sheet.field("when", minute(memory, words, one.time)).field("scope", fact.scope)
    sources(sheet, memory, words, row.sources)
    if one.diff:
        sheet.heading("Accepting it changes").diff(one.diff)
    about = "" if one.what == "edit" else one.id
    return ListRow(
        one.id, shown, sheet, about=about, text=brief(told), decide=one.id, suspect=one.suspect,
        fact=fact if about and _is_correctable(one) else None,
    )  # fmt: skip


def _is_correctable(one: "ReviewItem") -> bool:
    return not one.suspect and one.what != "otherwise" and one.fact.review != NEVER


def _attention(one: "Attention", words: PanelWords) -> ListRow:
    """Return what needs a person, with where it is decided."""
    if one.what not in _WAITS:
        return _finding(f"attention {one.what}", "warn", one.text, "", words)
    text = words.count(one.count, *_WAITS[one.what])
    return _finding(
        f"attention {one.what}", "warn", text, words("Review (4) lists it: y accepts, n rejects."), words
    )


def _finding(key: str, level: str, what: str, fix: str, words: PanelWords) -> ListRow:
    style = {"ok": GOOD, "warn": WARNING, "error": BAD}[level]
    told = words.told(what).text
    shown = Content.assemble((padded(words(level), 6), style), " ", one_line(told))
    sheet = Sheet(words).title(told, style)
    if fix and fix not in what:
        sheet.heading("What to do").text(words.told(fix).text)
    return ListRow(key, shown, sheet)


def _disk(memory: "Memory", words: PanelWords) -> ListRow:
    parts = memory.browse.disk()
    total = sum(part.bytes for part in parts)
    shown = Content.assemble((padded(words("disk"), 6), DIM), f" {size(total)}")
    sheet = Sheet(words).title(words("Disk: {size}", size=size(total))).gap()
    sheet.rows(
        (f"{size(part.bytes):>9}", one_line(part.name) + (f"  {words('made anew')}" if part.derived else ""))
        for part in parts
    )
    return ListRow("disk", shown, sheet)


def _spend(memory: "Memory", words: PanelWords) -> ListRow:
    spend = memory.browse.spend(days=14)
    tokens = sum(day.tokens for day in spend.days)
    told = one_line(spend.model) or words("no language model is configured")
    shown = Content.assemble((padded(words("model"), 6), DIM), f" {told}")
    sheet = Sheet(words).title(told).note("{n} tokens in 14 days", n=tokens)
    if spend.model:
        sheet.field("a day", words("at most {n} tokens", n=spend.tokens_per_day)).gap()
        most = max(max((day.tokens for day in spend.days), default=0), 1)
        sheet.rows(
            (words.date(day.day), f"{'█' * round(20 * day.tokens / most)} {day.tokens:,}")
            for day in spend.days
        )
    return ListRow("model", shown, sheet)
