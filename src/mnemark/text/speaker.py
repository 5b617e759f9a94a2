"""Say sentences of the program: in English, or by whoever knows another language.

A result that people read is written once, for any speaker; `mnemark.present.words` has those that translate.
"""

from collections.abc import Iterable
from typing import Any, Final, Protocol

READ_AS: Final = {"turn": "message", "turns": "messages"}
"""What people read where a name of the format or the API is another word."""


class Speaker(Protocol):
    """Whoever says sentences: the English text is the key, its places are named."""

    def __call__(self, text: str, /, **values: Any) -> str:
        """Return a text, with values in the places that it names."""

    def count(self, count: int, one: str, many: str) -> str:
        """Return a count with its noun: "1 fact", "2 facts"."""

    def listed(self, parts: Iterable[str]) -> str:
        """Return parts as a list: "2 facts, 1 note"."""

    def line(self, text: str) -> str:
        """Return what another module says in English."""


class _English:
    """The speaker of English."""

    def __call__(self, text: str, /, **values: Any) -> str:
        shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
        return text.format(**shown) if values else text

    def count(self, count: int, one: str, many: str) -> str:
        return (one if count == 1 else many).format(n=f"{count:,}")

    def listed(self, parts: Iterable[str]) -> str:
        return ", ".join(parts)

    def line(self, text: str) -> str:
        return text


ENGLISH: Final[Speaker] = _English()
