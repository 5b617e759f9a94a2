"""The keys of the panel: those of the moment in the last line, and all of them by `?`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.content import Content

from mnemark.facts.keys import subject_key
from mnemark_faces.tui.cells import DIM, Sheet, one_line
from mnemark_faces.tui.rows import ListRow, Pane
from mnemark_faces.tui.widgets import Form
from mnemark_faces.tui.words import PanelWords

if TYPE_CHECKING:
    from collections.abc import Iterator

Key = tuple[str, str]
ALL: Final[tuple[tuple[str, tuple[Key, ...]], ...]] = (
    (
        "Look",
        (
            ("1 2 3 4", "Search, Timeline, Facts, Review"),
            ("5 6 7", "Changes, Health, Talks"),
            ("/", "search, from every screen; Esc goes back there"),
            ("f", "narrow the timeline, the facts or the talks"),
            ("j k ↑ ↓", "next and previous row"),
            ("g G", "first and last row that is loaded"),
            ("Enter", "the whole text, and the conversation around it"),
            ("w", "where it comes from, and why it was found"),
            ("Space b", "turn the pages of the right side; J K: by a line"),
            ("r", "read changed files"),
        ),
    ),
    (
        "Decide",
        (
            ("y n", "in Review: accept, reject"),
            ("c", "correct a fact: its value, its day, or never true"),
            ("x", "not true: takes a fact out, also of its history"),
            ("u", "undo the change just made, or the chosen one"),
            ("N", "last night: what was tidied, and undo it"),
            ("p", "pin: it is never archived"),
            ("d", "forget: first shows what would be hidden, then asks"),
            ("D", "erase for ever: where it stands, then type its number"),
            ("e", "edit its file in your editor ($EDITOR)"),
            ("o", "off the record for an hour; again ends it"),
        ),
    ),
    (
        "In a field",
        (
            ("Search", "kind:note origin:web since: until: as_of:"),
            ("Timeline", "tool:Bash kind: origin: until: or a session"),
            ("Facts", "as_of:2026-02-13 type: origin: subject:"),
        ),
    ),
    ("Leave", (("Esc", "back"), ("q", "quit"))),
)
"""All keys, a line each at 80 columns."""
_SCREENS: Final = frozenset({"Search", "Timeline", "Facts"})
"""What stands for a key where the field of a screen is told of."""
_GAP: Final = 3
"""Blanks between keys where there is room."""
_SPARED: Final = ("f", "/", "Enter", "p", "w", "d")
"""Keys that are left out where there is no room, one after the other; `?` has them."""


def keys_of(row: ListRow | None, pane: Pane, *, readonly: bool, undo: bool) -> tuple[Key, ...]:
    """Return the keys that do something now, with what they do."""
    return tuple(_keys(row, pane, readonly=readonly, undo=undo))


def _keys(row: ListRow | None, pane: Pane, *, readonly: bool, undo: bool) -> "Iterator[Key]":
    if row is not None and row.decide and not readonly:
        yield from (("y", "accept"), ("n", "reject"))
    correctable = row is not None and row.fact is not None and not readonly
    yield ("/", "search")
    if pane.field and pane.name != "Search":
        yield ("f", "narrow")
    if row is not None:
        yield ("Enter", "open")
        if row.about and not (row.decide and correctable):
            yield ("w", "why")
        if correctable:
            yield from (("c", "correct"), *(() if row.decide else (("x", "not true"),)))
        if row.about and not row.decide and not readonly:
            yield from (() if correctable else (("p", "pin"),))
            yield ("d", "forget")
    chosen = row is not None and bool(row.change)
    if (undo or chosen) and not readonly:
        yield ("u", "undo")
    yield from (("?", "keys"), ("q", "quit"))


def keys_of_field(*, searches: bool) -> tuple[Key, ...]:
    """Return the keys that do something while text is typed in the field of a screen."""
    return (("Enter", "search" if searches else "narrow"), ("Esc", "back"))


def shown_keys(keys: Sequence[Key], words: PanelWords, width: int = 0) -> Content:
    """Return keys as the last line shows them: closer together, then fewer, where `width` cells are few."""
    told = {key: words(name) for key, name in keys}
    spared = [key for key in _SPARED if key in told]
    gap = _GAP
    while width and sum(cell_len(f"{key} {name}") + gap for key, name in told.items()) - gap > width:
        if gap == _GAP:
            gap -= 1
        elif spared:
            del told[spared.pop(0)]
        else:
            break
    parts: list[str | tuple[str, str]] = []
    for key, name in told.items():
        parts += [" " * gap if parts else "", (key, "bold"), (f" {name}", DIM)]
    return Content.assemble(*parts)


def correct_form(row: ListRow, words: PanelWords) -> Form:
    """Return the form that corrects a row's fact; what waits for review cannot have changed since."""
    fact = row.fact
    assert fact is not None  # noqa: S101 - only these can be corrected
    whom = "" if subject_key(fact.subject) == "user" else one_line(fact.subject)
    changed = (("changed", words("It was so, and has changed")),)
    return Form(
        words("Correct"), row.text,
        (("value", words("What is right"), one_line(fact.value)),
         ("since", words("Since (a day, or words such as “last week”)"), one_line(fact.since[:10])),
         ("subject", words("About whom or what (empty: you)"), whom)),
        (("never", words("It was never true")), *(() if row.decide else changed)),
        shown_keys((("Enter", "save"), ("Tab", "next"), ("Space", "mark"), ("Esc", "no")), words),
    )  # fmt: skip


def help_sheet(words: PanelWords) -> Sheet:
    """Return all keys."""
    sheet = Sheet(words)
    for name, keys in ALL:
        shown = ((words(key) if key in _SCREENS else key, words(text)) for key, text in keys)
        sheet.heading(name).rows((f"  {key}", text) for key, text in shown)
    return sheet
