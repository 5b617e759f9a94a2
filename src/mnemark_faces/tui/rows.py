"""Define what a screen of the panel lists: rows, and the pages that they come in."""

from typing import TYPE_CHECKING, NamedTuple, Protocol

from textual.content import Content

from mnemark_faces.tui.cells import Sheet
from mnemark_faces.tui.words import PanelWords

if TYPE_CHECKING:
    from mnemark.facts.model import Fact
    from mnemark.memory.memory import Memory

PAGE = 60
"""Rows that are loaded at a time."""


class ListRow(NamedTuple):
    """An entry of a list."""

    key: str
    """Names it among the others, also after the list was loaded again."""
    shown: Content
    """In the list."""
    sheet: Sheet
    """On the right, at once: made of what the list has loaded."""
    day: str = ""
    """Entries of a day stand below its name."""
    about: str = ""
    """Ref, or id of a fact, for `why`, `pin` and `forget`; empty where these do nothing."""
    text: str = ""
    """Its words, for messages."""
    change: str = ""
    """Id of a change that can be undone."""
    decide: str = ""
    """Id of a thing to accept or reject."""
    suspect: bool = False
    """Whether it looks like instructions: its text is shown when it is opened."""
    fact: "Fact | None" = None
    """What can be corrected."""


class RowPage(NamedTuple):
    """A page of a list."""

    rows: tuple[ListRow, ...]
    next: str = ""
    """The cursor of the next page; empty on the last one."""
    head: str = ""
    """What stands above the list: counts, doubts."""
    warning: str = ""
    """What was not searched, or failed."""


class Pane(Protocol):
    """A screen: what it lists, and what it tells of a row. All but the names runs on another thread."""

    name: str
    field: str
    """What its field asks for; empty where it has none."""
    empty: str
    """What to do where there is nothing."""

    def page(self, memory: "Memory", words: PanelWords, *, text: str, after: str, limit: int) -> RowPage:
        """Return a page of the rows that match the text of the field."""
        ...

    def explain(self, memory: "Memory", words: PanelWords, row: ListRow, text: str) -> Sheet:
        """Return what stands below the sheet of a row: where it comes from, and why it is here."""
        ...
