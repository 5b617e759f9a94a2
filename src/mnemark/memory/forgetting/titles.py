"""Find what erased turns left in the titles and term lists of episodes: phrases that no other turn holds."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mnemark.errors import UsageError
from mnemark.files import layout, listing, platform
from mnemark.files.episodes import FOLDER
from mnemark.files.sessions import SessionLog
from mnemark.memory.forgetting.select import Item
from mnemark.text.lazy_pattern import lazy_pattern

_TITLE = lazy_pattern(r"^# +(\S.*)$", re.MULTILINE)
_TERMS = lazy_pattern(r"^(?:About: |提到：)(.+)$", re.MULTILINE)
_BETWEEN = lazy_pattern(r", |、")


class Left(NamedTuple):
    """What is left of erased turns."""

    titles: tuple[str, ...] = ()
    """Titles that hold a phrase of them; notes and the scratchpad have them, too."""
    phrases: tuple[str, ...] = ()


def left_of(root: Path, items: Sequence[Item]) -> Left:
    """Return what is left of turns in the episodes of their sessions."""
    turns: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.kind == "turn":
            turns[item.path].append(item)
    titles: dict[str, None] = {}
    phrases: dict[str, None] = {}
    for log, erased in turns.items():
        ids = {item.id for item in erased}
        gone = "\n".join(item.text for item in erased).casefold()
        rest = "\n".join(_rest(root, log, ids)).casefold()
        for title, terms in _pages(root, log):
            parts = _BETWEEN.split(title)
            lost = [
                part for part in [*parts, *terms] if part.casefold() in gone and part.casefold() not in rest
            ]
            phrases.update(dict.fromkeys(lost))
            if not set(parts).isdisjoint(lost):
                titles.setdefault(title)
    return Left(tuple(titles), tuple(phrases))


def _rest(root: Path, log: str, gone: set[str]) -> Iterator[str]:
    if (root / log).is_file():
        yield from (one.turn.content for one in SessionLog.at(root, log).turns() if one.turn.id not in gone)


def _pages(root: Path, log: str) -> Iterator[tuple[str, list[str]]]:
    scope = layout.scope_of(log)
    folder = layout.in_scope(scope, FOLDER)
    for name in listing.names(root, folder, ".md"):
        text = content_of(root, f"{folder}/{name}").decode("utf-8", "replace")
        title, terms = _TITLE.search(text), _TERMS.search(text)
        if log in text and title:
            yield title[1].strip(), _BETWEEN.split(terms[1]) if terms else []


def content_of(root: Path, path: str) -> bytes:
    """Return a file's bytes; empty if it cannot be read, as no search reads it then either."""
    try:
        return platform.content(layout.safe_path(root, path))
    except (OSError, UsageError):
        return b""
