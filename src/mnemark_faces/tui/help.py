"""The keys of the panel: those of the moment in the last line, and all of them by `?`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content

from mnemark_faces.tui.cells import DIM, Sheet
from mnemark_faces.tui.rows import ListRow, Pane
from mnemark_faces.tui.words import PanelWords

if TYPE_CHECKING:
    from collections.abc import Iterator

Key = tuple[str, str]
ALL: Final[tuple[tuple[str, tuple[Key, ...]], ...]] = (
    (
        "Look",
        (
            ("1 … 7", "Search, Timeline, Facts, Review, Changes, Health, Talks"),
            ("/", "search, from every screen; Esc goes back there"),
            ("f", "narrow the timeline, the facts or the talks"),
            ("j k ↑ ↓", "next and previous row"),
            ("g G", "first and last row that is loaded"),
            ("Enter", "the whole text, and the conversation around it"),
            ("w", "where it comes from, and why it was found"),
            ("Space b", "turn the pages of the right side; J K: by a line"),
            ("r", "read changed files"),
            ("as_of:2026-02-13", "in the field of Facts: as of a day; also type: origin: subject:"),
            ("tool:Bash", "in that of Timeline; also kind: origin: until:"),
            ("kind:note", "in the field of Search; also origin: since: until: as_of:"),
        ),
    ),
    (
        "Decide",
        (
            ("y n", "in Review: accept, reject"),
            ("c", "correct a fact: what is right, since when, or that it was never true"),
            ("o", "off the record for an hour: nothing is recorded or learned; again ends it"),
            ("p", "pin: it is never archived"),
            ("d", "forget: first shows what would be hidden, then asks"),
            ("D", "erase for ever: shows where it stands, and wants its number typed; then a receipt"),
            ("e", "edit the file in your editor ($EDITOR), as it is on the disk"),
            ("u", "undo: the change just made here, or in Changes the chosen one"),
        ),
    ),
    ("Leave", (("Esc", "back"), ("q", "quit"))),
)


def keys_of(row: ListRow | None, pane: Pane, *, readonly: bool, undo: bool) -> tuple[Key, ...]:
    """Return the keys that do something now, with what they do."""
    return tuple(_keys(row, pane, readonly=readonly, undo=undo))


def _keys(row: ListRow | None, pane: Pane, *, readonly: bool, undo: bool) -> "Iterator[Key]":
    if row is not None and row.decide and not readonly:
        yield from (("y", "accept"), ("n", "reject"))
    correctable = row is not None and row.fact is not None and not readonly
    yield ("/", "search")
    if pane.field and pane.name != "Search" and not correctable:
        yield ("f", "narrow")
    if row is not None:
        yield ("Enter", "open")
        if row.about and not (row.decide and correctable):
            yield ("w", "why")
        if correctable:
            yield ("c", "correct")
        if row.about and not row.decide and not readonly:
            yield from (() if correctable else (("p", "pin"),))
            yield ("d", "forget")
    chosen = row is not None and bool(row.change) and pane.name == "Changes"
    if (undo or chosen) and not readonly:
        yield ("u", "undo")
    yield from (("?", "keys"), ("q", "quit"))


def shown_keys(keys: Sequence[Key], words: PanelWords) -> Content:
    """Return keys as the last line shows them."""
    parts: list[str | tuple[str, str]] = []
    for key, name in keys:
        parts += [(key, "bold"), (f" {words(name)}   ", DIM)]
    return Content.assemble(*parts)


def help_sheet(words: PanelWords) -> Sheet:
    """Return all keys."""
    sheet = Sheet(words)
    for name, keys in ALL:
        sheet.heading(name).rows((f"  {key}", words(text)) for key, text in keys)
    return sheet
