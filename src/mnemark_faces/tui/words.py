"""The words of the panel, in English and Chinese: those of the pages, and its own."""

from datetime import date

from mnemark.present.words import Words


class PanelWords(Words):
    """The texts of one language."""

    face = "panel"

    def day_name(self, day: str) -> str:
        """Return an ISO date with its weekday; a text that is no date unchanged."""
        try:
            name = self.weekday(date.fromisoformat(day[:10]))
        except ValueError:
            return day
        return f"{day[:10]} {name}"
