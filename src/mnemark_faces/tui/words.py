"""The words of the panel, in English and Chinese: those of the pages, and its own."""

from datetime import date
from typing import Self

from mnemark.present.words import Words, preferred


class PanelWords(Words):
    """The texts of one language."""

    face = "panel"

    @classmethod
    def of_terminal(cls) -> Self:
        """Return the words of the language that the user set, else of the terminal's locale."""
        return cls(preferred())

    def day_name(self, day: str) -> str:
        """Return an ISO date in words with its weekday; a text that is no date unchanged."""
        try:
            name = self.weekday(date.fromisoformat(day[:10]))
        except ValueError:
            return day
        told = self.date(day)
        return f"{told} {name}" if self.language == "zh" else f"{name}, {told}"
