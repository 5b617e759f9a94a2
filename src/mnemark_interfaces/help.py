"""Write the help of commands in the reader's language, as wide as a terminal shows it.

All of it goes through one formatter: the parser gives it the English, the catalogue has the other.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import typer

from mnemark.text.lazy_pattern import lazy_pattern
from mnemark_interfaces import speech
from mnemark_interfaces.render import width, wrapped

_WIDEST: Final = 30
"""Columns of names of options; of longer ones the help begins on a line of its own."""
_GAP: Final = 2
PLACEHOLDER: Final = lazy_pattern(r"<[a-z ]+>|(?<![\w-])[A-Z]{2,}\b")
_EXTRAS: Final = lazy_pattern(r"(?:^|  )\[([^\[\]]*)\]\Z")
"""What the parser appends to the help of an option: its variable, its default, that it is required."""


SAID: Final = frozenset({"(all)", "(none)"})
"""Defaults that are words; the others are values."""


_Plain: Any = typer.Context.formatter_class


class Formatter(_Plain):  # type: ignore[misc] # the parser has no public name for it
    """The formatter of help, in the language of whoever reads it."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._words = speech.words()

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the line of usage."""
        begin = f"{prefix or self._words.named('Usage', '')}{prog} "
        lines = wrapped(self._placeholders(args), self.width - width(begin))
        self.write("\n".join(_beside(begin, lines)) + "\n")

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        self.write(self._indented([self._words.named(heading, "").rstrip()]))

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        self.write("\n".join(self._paragraphs(text)))

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = _WIDEST, col_spacing: int = _GAP
    ) -> None:
        """Write names with what they mean beside them."""
        shown = [(self._placeholders(name), self._described(about)) for name, about in rows]
        column = min(max(width(name) for name, _ in shown), col_max) + col_spacing
        for name, about in shown:
            lines = wrapped(about, max(self.width - column - self.current_indent, 10))
            begin = name + " " * (column - width(name))
            if width(name) > column - col_spacing:
                self.write(self._indented([name]))
                begin = " " * column
            self.write(self._indented(_beside(begin, lines)))

    def _indented(self, lines: Iterable[str]) -> str:
        return "".join(f"{' ' * self.current_indent}{line}".rstrip() + "\n" for line in lines)

    def _paragraphs(self, text: str) -> Iterator[str]:
        for paragraph in text.split("\n\n"):
            told = self._words(" ".join(paragraph.split()))
            yield self._indented(wrapped(told, self.width - self.current_indent))

    def _placeholders(self, names: str) -> str:
        """Return names of options and arguments with the words for their values in the language."""
        return PLACEHOLDER.sub(lambda match: self._words(match[0]), names)

    def _described(self, about: str) -> str:
        """Return the help of an option in the language, and what the parser appended to it."""
        extras = _EXTRAS.search(about)
        help_ = about[: extras.start()] if extras else about
        told = [self._words(" ".join(help_.split()))] if help_ else []
        if extras:
            told.append(
                self._words("[{extras}]", extras=self._words.clauses(map(self._extra, extras[1].split("; "))))
            )
        return "  ".join(told)

    def _extra(self, text: str) -> str:
        name, colon, value = text.partition(": ")
        shown = self._words(value[1:-1]) if value in SAID else value.strip("()")
        return self._words.named(name, shown) if colon else self._words(name)


def _beside(begin: str, lines: Sequence[str]) -> list[str]:
    """Return lines with a beginning before the first, and the others below it."""
    first, *others = lines or [""]
    return [begin + first, *(" " * width(begin) + line for line in others)]
