"""The words of the panel, in English and Chinese: those of the pages, and its own."""

import json
import os
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Final

from mnemark_faces.web.words import LANGUAGES
from mnemark_faces.web.words import Words as PageWords
from mnemark_faces.web.words import catalogue as page_catalogue

_CATALOGUE: Final = Path(__file__).parent / "zh.json"


@cache
def catalogue() -> Mapping[str, str]:
    """Return the Chinese texts by the English ones; the panel's own come before those of the pages."""
    own: dict[str, str] = json.loads(_CATALOGUE.read_text("utf-8"))
    return {**page_catalogue(), **own}


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the terminal's locale, if there is a catalogue for it; else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if given := environment.get(name):
            return found if (found := given[:2].lower()) in LANGUAGES else "en"
    return "en"


class PanelWords(PageWords):
    """The texts of one language."""

    @staticmethod
    def _chinese() -> Mapping[str, str]:
        return catalogue()

    def day_name(self, day: str) -> str:
        """Return an ISO date with its weekday; a text that is no date unchanged."""
        try:
            name = self.weekday(date.fromisoformat(day[:10]))
        except ValueError:
            return day
        return f"{day[:10]} {name}"
