"""Make memory text fit for the cells of a terminal: hidden characters visible, no markup, no escapes."""

from collections.abc import Iterable
from typing import Final

from rich.cells import cell_len
from textual.content import Content

from mnemark.present.plain import changed_lines
from mnemark.present.sources import UNTRUSTED, who
from mnemark.text.quoting.fence import revealed
from mnemark_faces.tui.words import PanelWords

MOST: Final = 20_000
"""Characters of one text that are shown; a terminal is no place for more."""
DIM: Final = "dim"
STRONG: Final = "bold"
WARNING: Final = "bold ansi_yellow"
BAD: Final = "bold ansi_red"
GOOD: Final = "ansi_green"
_TAB: Final = "    "
_LABEL: Final = 10
_LINES: Final = 200
"""Lines of a change that are shown."""
_LINE: Final = 400
"""Characters of a text in a row: a row is cut at the edge of the list anyway."""
_BRIEF: Final = 60
"""Characters of what a message is about."""
_SPEAKERS: Final = {
    "user": "you", "human": "you", "owner": "you", "assistant": "agent", "function": "tool",
    "observation": "tool", "attachment": "file",
}  # fmt: skip
"""Roles as people call them, short enough for a column; others are called what they are."""


def one_line(text: object, most: int = _LINE) -> str:
    """Return the beginning of a text as one line that is safe in a terminal."""
    return revealed(" ".join(str(text)[: 2 * most].split()))[:most]


def brief(text: str) -> str:
    """Return the beginning of a text for a message."""
    line = one_line(text)
    return line if len(line) <= _BRIEF else f"{line[: _BRIEF - 1].rstrip()}…"


def safe_text(text: str) -> str:
    """Return a text with its lines, safe in a terminal, tabs as blanks."""
    return revealed(text).replace("\t", _TAB)


def padded(text: str, cells: int) -> str:
    """Return a text with blanks up to a width in cells: Chinese characters take two."""
    return text + " " * max(cells - cell_len(text), 0)


def speaker(role: str, words: PanelWords) -> str:
    """Return who says something, by the role of a turn."""
    return words(_SPEAKERS.get(role, role))


def origin_of(origin: str, words: PanelWords) -> str:
    """Return who said it; where that is not to be trusted, with a mark that needs no colour."""
    return f"! {who(origin, words)}" if origin in UNTRUSTED else who(origin, words)


class Sheet:
    """A text of several parts, for the right side: titles, fields, quotations, diffs."""

    def __init__(self, words: PanelWords) -> None:
        self._words = words
        self._parts: list[str | tuple[str, str]] = []

    @property
    def content(self) -> Content:
        """The text as Textual shows it, without markup."""
        return Content.assemble(*self._parts)

    @property
    def plain(self) -> str:
        """The text alone."""
        return self.content.plain

    def title(self, text: str, style: str = STRONG) -> "Sheet":
        """Add a line that stands out."""
        self._parts.append((f"{safe_text(text).strip()[:MOST]}\n", style))
        return self

    def field(self, name: str, value: object) -> "Sheet":
        """Add a named value, unless it is empty."""
        if text := one_line(value, MOST):
            self._parts += [(f"{padded(self._words(name), _LABEL)} ", DIM), f"{text}\n"]
        return self

    def text(self, text: str, style: str = "") -> "Sheet":
        """Add lines of memory text."""
        shown = safe_text(text.strip("\n"))
        self._parts.append((f"{shown[:MOST]}\n", style))
        if len(shown) > MOST:
            left = self._words("… {n} more characters", n=len(shown) - MOST)
            self._parts.append((f"{left}\n", DIM))
        return self

    def heading(self, name: str, **values: object) -> "Sheet":
        """Add the heading of a part, set off from what is above."""
        self._parts.append((f"\n{self._words(name, **values)}\n", DIM))
        return self

    def note(self, name: str, style: str = DIM, **values: object) -> "Sheet":
        """Add a line of our own words."""
        shown = {key: one_line(value) if isinstance(value, str) else value for key, value in values.items()}
        self._parts.append((f"{self._words(name, **shown)}\n", style))
        return self

    def gap(self) -> "Sheet":
        """Add an empty line."""
        self._parts.append("\n")
        return self

    def diff(self, text: str) -> "Sheet":
        """Add what a diff adds and takes out, as people read it: signs say which, colour repeats it."""
        lines = changed_lines(safe_text(text), _LINES)
        if not lines:
            return self.note("(only what the file tells programs)")
        for line in lines:
            sign, style = ("+", GOOD) if line.added else ("-", "ansi_red")
            self._parts.append((f"{sign}\u00a0{line.text}\n", style))  # a line of Chinese has no other blank
        return self

    def rows(self, rows: Iterable[tuple[str, str]]) -> "Sheet":
        """Add rows of two columns."""
        listed = list(rows)
        width = max((cell_len(name) for name, _ in listed), default=0)
        self._parts += [f"{padded(name, width)}  {value}\n" for name, value in listed]
        return self
