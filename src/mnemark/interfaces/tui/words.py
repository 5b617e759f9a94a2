"""The words of the panel, in English and Chinese: those of the pages, and its own."""

import json
import os
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from mnemark.interfaces.web.words import LANGUAGES
from mnemark.interfaces.web.words import Words as PageWords
from mnemark.interfaces.web.words import catalogue as page_catalogue

_CATALOGUE: Final = Path(__file__).parent / "zh.json"
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


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


class Words(PageWords):
    """The texts of one language."""

    def __call__(self, text: str, /, **values: Any) -> str:
        """Return a text in the language, with values in the places that it names."""
        shown = catalogue().get(text, text) if self.language == "zh" else text
        return (
            shown.format(**{name: self._value(value) for name, value in values.items()}) if values else shown
        )

    def day_name(self, day: str) -> str:
        """Return an ISO date with its weekday; a text that is no date unchanged."""
        try:
            number = date.fromisoformat(day[:10]).weekday()
        except ValueError:
            return day
        name = f"星期{'一二三四五六日'[number]}" if self.language == "zh" else _WEEKDAYS[number]
        return f"{day[:10]} {name}"
