"""The words of pages, panel and command line, in English and Chinese: the English is the key of the other."""

import json
import os
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from mnemark.text.lazy_pattern import lazy_pattern

LANGUAGES: Final = {"en": "English", "zh": "中文"}
_CHINESE: Final = Path(__file__).parent / "zh"
_EVERYWHERE: Final = ("pages", "sentences")
"""Parts of the catalogue that all faces use; the others have words of their own before these."""
ROUTES: Final = {"lexical": "words", "dense": "meaning", "fact": "facts", "qmd": "QMD", "rerank": "reranker"}
"""Names of what a search looks for, by route."""
BOOSTS: Final = {
    "named": "who is asked about said it", "asks": "it only asks", "user": "you said it",
    "observed": "a tool said it", "long": "its length", "meaning": "how near it is in meaning",
    "tie": "among near equals", "recency": "its age", "importance": "its weight",
    "latest": "the latest is asked for", "first": "the first is asked for",
    "suspect": "it looks like instructions", "facts": "a fact on it",
}  # fmt: skip
"""What moved a hit up or down, by the name that search gives it."""
_PARTS: Final = {"dense: ": "search by meaning: "}
"""What people read where an answer names the part of a search that it lacks."""
_WRITTEN_DAY: Final = lazy_pattern(
    r"(?<![0-9A-Za-z_/.-])\d{4}-\d{2}-\d{2}(?!\.?[0-9A-Za-z_/-])( (?=[\u3400-\u9fff]))?"
    r"|(?<=[(（])\d{4}-\d{2}(?=[)）])"
)
"""A day within a text, or a month in brackets, as facts have them whatever was said."""


@cache
def part(name: str) -> Mapping[str, str]:
    """Return the Chinese texts of a part of the catalogue by the English ones."""
    texts: dict[str, str] = json.loads((_CHINESE / f"{name}.json").read_text("utf-8"))
    return texts


@cache
def catalogue(face: str = "") -> Mapping[str, str]:
    """Return the Chinese texts by the English ones; a face's own ("panel", "commands") come first."""
    own = part(face) if face else {}
    shared = {english: chinese for name in _EVERYWHERE for english, chinese in part(name).items()}
    return {**shared, **own}


def language_of(chosen: str, accepted: str | None) -> str:
    """Return the language of a page: the one chosen, else the first of the browser's that there is."""
    if chosen in LANGUAGES:
        return chosen
    for part in (accepted or "").split(","):
        name = part.partition(";")[0].strip().lower().partition("-")[0]
        if name in LANGUAGES:
            return name
    return "en"


def preferred(chosen: str = "", accepted: str | None = None, *, locale: str = "") -> str:
    """Return the language of a face: the one chosen for it, else the user's setting, else that of the system.

    Args:
        chosen: what was asked for, as `--lang` does; anything that is no language counts as nothing.
        accepted: what a browser accepts; None for the terminal, which has a locale.
        locale: the language of the locale of another process, for whom this one answers.
    """
    if chosen not in LANGUAGES:
        from mnemark.files import user_config

        chosen = user_config.language()
    return language_of(chosen, accepted) if chosen or accepted is not None else locale or language_of_locale()


def language_of_locale(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the terminal's locale, if there is a catalogue for it; else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if given := environment.get(name):
            return language if (language := given[:2].lower()) in LANGUAGES else "en"
    return "en"


class Translated(NamedTuple):
    """A sentence of the program, and its language where that is not the page's."""

    text: str
    lang: str = ""


class Words:
    """The texts of one language, as a face says them."""

    face = ""

    def __init__(self, language: str) -> None:
        self.language = language

    @property
    def tag(self) -> str:
        """The value of `lang` for the page."""
        return "zh-Hans" if self.language == "zh" else "en"

    def __call__(self, text: str, /, **values: Any) -> str:
        """Return a text in the language, with values in the places that it names."""
        shown = catalogue(self.face).get(text, text) if self.language == "zh" else text
        return (
            shown.format(**{name: self._value(value) for name, value in values.items()}) if values else shown
        )

    def listed(self, parts: Iterable[str]) -> str:
        """Return parts as a list in the language: "2 facts, 1 note"."""
        return ("、" if self.language == "zh" else ", ").join(parts)

    def clauses(self, parts: Iterable[str]) -> str:
        """Return clauses as one sentence: "you live in Lisbon; your editor is Vim"."""
        return ("；" if self.language == "zh" else "; ").join(parts)

    def line(self, text: str) -> str:
        """Return what a module below says in English, such as an error, in the language.

        The words of a person are never given to it: they could look like a sentence of the program.
        """
        return self.told(text).text

    def named(self, name: str, value: str) -> str:
        """Return a name in the language, and its value: "source: notes/plan.md"."""
        return f"{self(name)}{'：' if self.language == 'zh' else ': '}{value}"

    def told(self, text: str) -> Translated:
        """Return an error, a finding or the like in the language; in English where it has no translation."""
        if self.language != "zh":
            part = next((name for name in _PARTS if text.startswith(name)), "")
            return Translated(f"{_PARTS[part]}{text.removeprefix(part)}" if part else text)
        from mnemark.present.messages import in_chinese

        known = in_chinese(text)
        return Translated(text, "en") if known is None else Translated(known)

    def _value(self, value: Any) -> str:
        return self.number(value) if isinstance(value, int) else str(value)

    def number(self, value: float) -> str:
        """Return a number with thin spaces between thousands."""
        return f"{value:,}".replace(",", "\u202f")

    def count(self, count: int, one: str, many: str) -> str:
        """Return a count with its noun: "1 fact", "2 facts"; `many` is the key of the translation."""
        if self.language == "zh":
            return self(many, n=count)
        return (one if count == 1 else many).format(n=self.number(count))

    def size(self, count: int) -> str:
        """Return a number of bytes."""
        if count < 1_000:
            return f"{count} B"
        return f"{count / 1e3:.0f} kB" if count < 999_500 else f"{count / 1e6:.1f} MB"

    def ago(self, time: datetime, now: datetime) -> str:
        """Return how long ago a time was, in words."""
        seconds = (now - time).total_seconds()
        if seconds < 90:
            return self("in {n} days", n=round(-seconds / 86_400)) if seconds < -86_400 else self("just now")
        if seconds < 5_400:
            return self("{n} min ago", n=round(seconds / 60))
        if seconds < 86_400 and time.date() == now.date():
            return self("{n} h ago", n=round(seconds / 3_600))
        days = (now.date() - time.date()).days
        if days < 60:
            return self("yesterday") if days == 1 else self("{n} days ago", n=days)
        return (
            self("{n} months ago", n=round(days / 30.4))
            if days < 700
            else self("{n} years ago", n=days // 365)
        )

    def weekday(self, day: date) -> str:
        """Return the name of a day of the week."""
        return f"星期{'一二三四五六日'[day.weekday()]}" if self.language == "zh" else _WEEKDAYS[day.weekday()]

    def moment(self, time: datetime, today: date) -> str:
        """Return a time as sentences name it: "14 March, 09:30"."""
        return f"{self.date(time.isoformat(), today)}{' ' if self.language == 'zh' else ', '}{time:%H:%M}"

    def dated(self, text: str, today: date | None = None) -> str:
        """Return a text with the days in it as sentences name them; those in file names stay."""
        space = "" if self.language == "zh" else " "
        return _WRITTEN_DAY.sub(
            lambda found: self.date(found[0].strip(), today) + (space if found[1] else ""), text
        )

    def date(self, text: str, today: date | None = None) -> str:
        """Return a date in ISO as sentences name it: "14 March 2026", "March 2026"; this year's without it.

        Text that is no date is returned as it is.
        """
        year, month, day = (*map(_number, text[:10].split("-")), 0, 0)[:3]
        if not (year and 1 <= month <= 12):
            return text
        same = today is not None and today.year == year
        if self.language == "zh":
            return f"{'' if same else f'{year}年'}{month}月{f'{day}日' if day else ''}"
        return f"{f'{day} ' if day else ''}{_MONTHS[month - 1]}{'' if same and day else f' {year}'}"

    def day(self, day: datetime, today: datetime) -> str:
        """Return a day with its name: "Sunday, 22 November 2026 · today"."""
        weekday = self.weekday(day)
        if self.language == "zh":
            name = f"{day.year}年{day.month}月{day.day}日 {weekday}"
        else:
            name = f"{weekday}, {day.day} {_MONTHS[day.month - 1]} {day.year}"
        if day.date() == today.date():
            return f"{name} · {self('today')}"
        return f"{name} · {self('yesterday')}" if day.date() == today.date() - timedelta(days=1) else name


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
