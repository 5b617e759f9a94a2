"""Render templates: everything is escaped, hidden characters are visible, texts carry their language."""

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from mnemark._version import __version__
from mnemark.facts.labels import subject_label
from mnemark.files import off_record, trust
from mnemark.present.changes import NAMES
from mnemark.present.plain import changed_lines, plain
from mnemark.present.sources import UNTRUSTED, who
from mnemark.present.words import Words
from mnemark.text.dates import local
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import revealed, visible
from mnemark.text.words.normalize import HAN, fold
from mnemark.text.words.segment import query_terms
from mnemark_faces.web.at import At
from mnemark_faces.web.plain import page as page_text

_HERE: Final = Path(__file__).parent
_EXCERPT: Final = 420
"""Characters of a text in a list; its page has the rest."""
_AROUND: Final = 150
"""Characters of a hit in a list, around the words that were looked for."""
_MARKUP: Final = Markup("")
_WORD: Final = lazy_pattern(r"[^\W\u3400-\u9fff]+")
_CHINESE_SHARE: Final = 0.15


@cache
def environment() -> Environment:
    """Return the environment of the templates."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"line": one_line, "text": revealed, "excerpt": excerpt, "lang": lang, "marked": marked,
                     "plain": plain, "page": page_text, "changed": changed_lines, "coded": coded,
                     "subject": subject_as_shown}  # fmt: skip
    made.tests["untrusted"] = UNTRUSTED.__contains__
    made.globals |= {"version": __version__, "change_names": NAMES, "who": who}
    return made


def page(template: str, at: At, values: Mapping[str, Any]) -> str:
    """Return a page of a workspace."""
    words = at.words
    return environment().get_template(template).render(
        {
            "at": at, "_": words, "count": words.count, "number": words.number, "size": words.size,
            "when": lambda time: when(time, at), "day": lambda time: _day(time, at),
            "dated": lambda text: words.date(text[:10], at.now.date()),
            "in_words": lambda text: words.dated(text, at.now.date()),
            "off": off_record.load(at.root).current(), "foreign": not trust.is_trusted(at.root),
            "ago": lambda time: _ago(time, at), "link": at.link, "messages": at.session.told(), **values,
        }
    )  # fmt: skip


def one_line(text: object) -> str:
    """Return a text as one line, with hidden characters visible: for names, paths and titles."""
    return visible(" ".join(str(text).split("\n")))


def coded(text: str) -> Markup:
    """Return a message of the program with what it has in backticks as code: commands and settings."""
    parts = [escape(revealed(part)) for part in text.split("`")]
    if len(parts) % 2 == 0:  # one of them has no other
        return Markup("`").join(parts)
    return _MARKUP.join(
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def subject_as_shown(name: str, words: Words) -> str:
    """Return a subject as the page's language calls it: "project" in English."""
    return subject_label(name, chinese=words.language == "zh")


def excerpt(text: str, most: int = _EXCERPT) -> str:
    """Return the beginning of a text for a list."""
    shown = revealed(text.strip())
    return shown if len(shown) <= most else f"{shown[: most - 1].rstrip()}…"


def marked(text: str, terms: Collection[str], most: int = _AROUND) -> Markup:
    """Return a text as one line, cut to what is around the first of these terms, with all of them marked."""
    shown = one_line(text)
    found = _places(shown, terms)
    start = max(found[0][0] - most // 5, 0) if found and found[0][1] > most // 2 else 0
    start = shown.rfind(" ", 0, start) + 1 if " " in shown[:start] else start
    stop = min(start + most, len(shown))
    parts: list[str] = ["…" if start else ""]
    at = start
    for begin, end in found:
        if at <= begin and end <= stop:
            parts += [escape(shown[at:begin]), Markup("<mark>{}</mark>").format(shown[begin:end])]
            at = end
    return _MARKUP.join([*parts, escape(shown[at:stop]), "…" if stop < len(shown) else ""])


def _places(text: str, terms: Collection[str]) -> list[tuple[int, int]]:
    """Return where words of a text are that are indexed under these terms, and runs of Chinese ones."""
    found = [
        (match.start(), match.end())
        for match in _WORD.finditer(text)
        if not query_terms_of(match[0]).isdisjoint(terms)
    ]
    folded = fold(text)
    if len(folded) == len(text):  # what is written in other characters is looked for as they are folded
        chinese = sorted((one for one in terms if HAN.search(one) and one in folded), key=len, reverse=True)
        if chinese and len(chinese[0]) > 1:  # beside a word, a character alone says nothing: 天 in 今天
            chinese = [one for one in chinese if len(one) > 1]
        pattern = "|".join(map(re.escape, chinese))
        found += [match.span() for match in re.finditer(pattern, folded)] if chinese else []
    return sorted(found)


@lru_cache(maxsize=4_096)
def query_terms_of(word: str) -> frozenset[str]:
    """Return the terms that one word is indexed under."""
    return frozenset(query_terms(word))


def lang(text: str) -> str:
    """Return the language of a text, on which glyphs and line breaks depend."""
    head = text[:2_000]
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in head)
    return "zh-Hans" if chinese > _CHINESE_SHARE * max(len(head), 1) else "en"


def moment(time: str, at: At) -> datetime | None:
    """Return an ISO time on the workspace's clock; None where it is none."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return local(found, at.now.tzinfo)


def when(time: object, at: At) -> Markup | str:
    """Return a time in words: the day, the minute if it has one, and on a look how long ago that was."""
    text = time.isoformat() if isinstance(time, datetime) else str(time or "")
    found, today = moment(text, at), at.now.date()
    if found is None:
        return one_line(at.words.date(text, today))
    shown = at.words.date(text, today) if len(text) <= 10 else at.words.moment(found, today)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        found.isoformat(timespec="minutes"), at.words.ago(found, at.now), shown
    )


def _ago(time: object, at: At) -> str:
    found = moment(time.isoformat() if isinstance(time, datetime) else str(time or ""), at)
    return "" if found is None else at.words.ago(found, at.now)


def _day(time: str, at: At) -> str:
    found = moment(time[:10], at)
    return one_line(time) if found is None else at.words.day(found + timedelta(hours=12), at.now)
