"""The words of the command line, in the language of whoever reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from mnemark.errors import UsageError
from mnemark.present.words import LANGUAGES, Words, preferred

OPTION: Final = "--lang"
_UNTOUCHED: Final = frozenset({"hook", "mcp", "git-merge"})
"""Commands of programs, which are told as they were given."""
_chosen: ContextVar[str] = ContextVar("language", default="")


class CommandWords(Words):
    """The texts of one language, as commands print them."""

    face = "commands"

    def __call__(self, text: str, /, **values: Any) -> str:
        """Return a text in the language; in English nothing is looked up."""
        if self.language == "en":
            return (
                text.format(**{name: self._value(value) for name, value in values.items()})
                if values
                else text
            )
        return super().__call__(text, **values)

    def number(self, value: float) -> str:
        """Return a number with commas, as terminals show them."""
        return f"{value:,}"

    def amount(self, count: int, what: str, english: str) -> str:
        """Return how many there are of what a module below names, of which it has the English: "2 rows"."""
        return english if self.language == "en" else self("{n} × {what}", n=count, what=self.line(what))


def words() -> CommandWords:
    """Return the words for this command."""
    language = _chosen.get()
    if not language:
        language = preferred()
        use(language)
    return CommandWords(language)


def is_known(language: str) -> bool:
    """Return whether there are words of a language."""
    return language in LANGUAGES


def use(language: str) -> None:
    """Speak a language in this context; empty for the user's own."""
    _chosen.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language in the block."""
    token = _chosen.set(language)
    try:
        yield
    finally:
        _chosen.reset(token)


def taken(arguments: list[str]) -> tuple[list[str], str]:
    """Return arguments without `--lang`, which may stand before or behind a command, and its language.

    Raises:
        UsageError: there is no such language.
    """
    if arguments[:1] and arguments[0] in _UNTOUCHED:
        return arguments, ""
    rest: list[str] = []
    language = ""
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*rest, word, *words], language
        name, equals, value = word.partition("=")
        if name != OPTION:
            rest.append(word)
            continue
        language = value if equals else next(words, "")
        if language not in LANGUAGES:
            raise UsageError(f"{OPTION} takes {' or '.join(LANGUAGES)}, not {language!r}")
    return rest, language
