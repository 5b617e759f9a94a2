"""Define `Unit`, a passage to index, and find those of a changed note that are as they were.

A day's note and a file of facts grow by a line at a time. What is indexed of a passage follows from its row
in `passages` and from its head, which is not stored: a hash of it is remembered by the process that wrote it.
A passage whose head is not remembered is indexed again.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

import msgspec

from mnemark.files.layout import Place
from mnemark.files.names import SOURCES
from mnemark.hashes import blake2b
from mnemark.types import Kind, Origin

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COLUMNS: Final = "columns"
"""Key of the `types.Columns` of a passage in its `meta`, where it is a part of a line."""
ALIASES: Final = "aliases"
"""Key of the other names of a note in its front matter, and in the `meta` of its first passage."""
_NOTES: Final = 64
"""Notes whose heads are remembered, those written last."""
_MOST: Final = 4_096
"""Passages of a note whose heads are remembered."""
STORED: Final = """SELECT id, ordinal, start_line, end_line, kind, origin, role, title, date, text, meta
FROM passages WHERE document = ?"""


class Unit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A passage to index: part of a note, a fact, or a turn (or part of one) of a session."""

    ordinal: int
    start_line: int
    end_line: int
    kind: Kind
    origin: Origin
    role: str = ""
    title: str
    date: str | None
    text: str
    head: str
    meta: Mapping[str, Any] = {}
    sources: Sequence[str] = ()
    """Refs of what a derived passage comes from; see `derived`."""

    def key(self) -> bytes:
        """Return the content key, a 16-byte hash of the embedded text: equal texts share a vector."""
        return content_key(self.title, self.text)


def passage_columns(unit: Unit) -> tuple[object, ...]:
    """Return what is stored of a unit, in the order of the table's columns."""
    *columns, _head, meta, sources = msgspec.structs.astuple(unit)
    meta = {**meta, SOURCES: sources} if sources else meta
    return (*columns, msgspec.json.encode(meta).decode() if meta else "{}")


def content_key(title: str, text: str) -> bytes:
    """Return the content key of a passage with this title and text."""
    return blake2b(embedded_text(title, text).encode(), digest_size=16).digest()


def content_keys(passages: Sequence[tuple[str, str]]) -> list[bytes]:
    """Return the content keys of passages, given their titles and texts."""
    return [content_key(title, text) for title, text in passages]


def names_of(path: str, title: str, meta: Mapping[str, Any]) -> list[str]:
    """Return the names of a note: its file's name, its title, and what the `meta` of a passage says."""
    return [PurePosixPath(path).stem, title, *meta.get(ALIASES, ())]


def embedded_text(title: str, text: str) -> str:
    """Return the text of a passage that is embedded."""
    return f"{title}\n{text}" if title else text


def scope_of(unit: Unit, place: Place) -> str:
    """Return the scope of a unit: its file's, or the one named by a journal line."""
    scope = unit.meta.get("scope") if place.role == "journal" else None
    return scope if isinstance(scope, str) else place.scope


@lru_cache(maxsize=1024)
def _day_words(day: str) -> str:
    moment = datetime.fromisoformat(day)
    month, weekday = MONTHS[moment.month - 1], WEEKDAYS[moment.weekday()]
    return f"{day} {month} {moment.day} {weekday} {moment.year}年{moment.month}月{moment.day}日"


def date_words(date: str | None) -> str:
    """Return the search terms of a date: "2025-01-18 January 18 Saturday 2025年1月18日"."""
    if not date:
        return ""
    try:
        return _day_words(date[:10])
    except ValueError:
        return date


class Split(NamedTuple):
    """The passages of a changed note."""

    kept: dict[int, Unit]
    """Those that are stored, by their ids."""
    new: list[Unit]
    """Those to index."""


class WrittenPassages:
    """Hashes of the heads of the passages that this process wrote. One sync at a time may use it."""

    def __init__(self) -> None:
        self._heads: OrderedDict[int, dict[int, bytes]] = OrderedDict()
        self._generation = 0
        """That of the index when the last sync ended."""

    def begin(self, generation: int) -> None:
        """Begin a sync; forget all if the index changed since the last ended: ids are given again."""
        if generation != self._generation:
            self._heads.clear()

    def end(self, generation: int) -> None:
        """End a sync that wrote all that is remembered."""
        self._generation = generation

    def split(self, document: int, units: Sequence[Unit], rows: Sequence[tuple[object, ...]]) -> Split:
        """Tell which units are stored: `rows` are those of `STORED` for the document."""
        heads = self._heads.get(document, {})
        stored = {tuple(columns): number for number, *columns in rows}
        kept: dict[int, Unit] = {}
        new: list[Unit] = []
        for unit in units:
            number = stored.get(passage_columns(unit))
            if isinstance(number, int) and number not in kept and heads.get(number) == _mark(unit):
                kept[number] = unit
            else:
                new.append(unit)
        return Split(kept, new)

    def remember(self, document: int, units: dict[int, Unit]) -> None:
        """Remember the heads of a document's units, by the ids of their passages."""
        self._heads.pop(document, None)
        if len(units) <= _MOST:
            self._heads[document] = {number: _mark(unit) for number, unit in units.items()}
        if len(self._heads) > _NOTES:
            self._heads.popitem(last=False)


def _mark(unit: Unit) -> bytes:
    return blake2b(unit.head.encode(), digest_size=8).digest()
