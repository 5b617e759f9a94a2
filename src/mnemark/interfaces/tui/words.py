"""The words of the panel, in English and Chinese: the English text is the key of its translation."""

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

_CATALOGUE: Final = Path(__file__).parent / "zh.json"
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@cache
def catalogue() -> Mapping[str, str]:
    """Return the Chinese texts by the English ones."""
    found: dict[str, str] = json.loads(_CATALOGUE.read_text("utf-8"))
    return found


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the terminal's locale, if there is a catalogue for it; else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "zh" if environment[name].lower().startswith("zh") else "en"
    return "en"


class Words:
    """The texts of one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, text: str, **values: Any) -> str:
        """Return a text in the language, with values in the places that it names."""
        shown = catalogue().get(text, text) if self.language == "zh" else text
        return shown.format(**{name: _value(value) for name, value in values.items()}) if values else shown

    def count(self, count: int, one: str, many: str) -> str:
        """Return a count with its noun: "1 fact", "2 facts"; `many` is the key of the translation."""
        return self(one if count == 1 and self.language == "en" else many, n=count)

    def day(self, date: str) -> str:
        """Return an ISO date with its weekday; a text that is no date unchanged."""
        from datetime import date as calendar

        try:
            number = calendar.fromisoformat(date[:10]).weekday()
        except ValueError:
            return date
        name = "一二三四五六日"[number] if self.language == "zh" else _WEEKDAYS[number]
        return f"{date[:10]} {'星期' if self.language == 'zh' else ''}{name}"


def _value(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
