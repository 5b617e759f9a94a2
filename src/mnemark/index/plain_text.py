"""Read a view of the passages that a query is about from the files, without an index.

For searches while a damaged index is made anew: the files are searched for the query's words, and the
passages with the rarest of them are analysed as a sync does it. Text that was forgotten, private or secret is
left out as everywhere. It is as complete as the time allows, and always marked incomplete.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from mnemark.errors import MnemarkError
from mnemark.facts.files import heard, visible_facts
from mnemark.facts.visible import Visible
from mnemark.files import layout, platform
from mnemark.files.layout import Place
from mnemark.files.reading import Document, read
from mnemark.files.scan import FileEntry, scan
from mnemark.files.tombstones import Tombstones
from mnemark.index.derived import Edges
from mnemark.index.growth import NOTHING
from mnemark.index.logs import LogReader
from mnemark.index.passage import Unit, names_of
from mnemark.index.reader import Reader, View
from mnemark.index.snapshot import Positions, Snapshot
from mnemark.index.store import Record
from mnemark.index.unindexed import Gathered
from mnemark.index.units import note_units, turn_units
from mnemark.text.decoding import decode
from mnemark.text.documents import format_of
from mnemark.text.words.normalize import normalize
from mnemark.text.words.stopwords import content_terms
from mnemark.types import Problem

SECONDS: Final = 2.0
"""Seconds that reading takes at most, where the caller has no deadline."""
_SEARCH_SHARE: Final = 0.5
"""Share of the time for finding the places; the rest is for analysing them."""
_PLACES: Final = 1_000
"""Lines whose passages are analysed."""
_TERMS: Final = 64
_ENDING: Final = 2
"""Letters at the end of a long English stem that may be written otherwise (happi, happy)."""


class _WordLine(NamedTuple):
    """A line of a file, and which of the words it contains."""

    entry: FileEntry
    line: int
    words: tuple[int, ...]


class TextReader(Reader):
    """A reader of the files themselves, for one query."""

    def __init__(
        self,
        root: Path,
        visible: Visible,
        query: str,
        *,
        limit: int,
        ignore: Sequence[str],
        deadline: float | None,
    ) -> None:
        self._root = root
        self._visible = visible
        self._words = _words(query)
        self._ascii = b"".join(self._words).isascii()
        self._limit = limit
        self._ignore = ignore
        self._deadline = deadline

    @property
    def visible(self) -> Visible:
        """The filter of the texts."""
        return self._visible

    @contextmanager
    def reading(self, *, logs: bool = True) -> Iterator[View]:  # noqa: ARG002 - all are read
        """Yield a view of the passages that contain the query's words."""
        started = time.monotonic()
        until = started + SECONDS if self._deadline is None else self._deadline
        places = self._places(started + (until - started) * _SEARCH_SHARE)
        analysing = _Analysing(self._root, self._visible, self._limit)
        lines: dict[str, set[int]] = {}
        entries: dict[str, FileEntry] = {}
        for place in _best(places, len(self._words)):
            lines.setdefault(place.entry.path, set()).add(place.line)
            entries.setdefault(place.entry.path, place.entry)
        for path, wanted in lines.items():  # the best first
            if time.monotonic() > until:
                break
            analysing.add(entries[path], wanted)
        yield analysing.view()

    def _places(self, until: float) -> list[_WordLine]:
        """Return the lines with any of the words: of notes first, then of logs from the newest on.

        First as they are written; then, for words in other scripts, in files of traditional characters and
        escapes.
        """
        found = scan(self._root, ignore=self._ignore)
        entries = [
            entry
            for entry in (*found.entries, *found.journals)
            if (kind := layout.place(entry.path)) is not None and kind.searchable
        ]
        entries.sort(key=lambda one: (_is_log(one.path), -one.mtime_ns))
        places: list[_WordLine] = []
        rest: list[FileEntry] = []
        for normal, listed in ((False, entries), (True, rest)):
            for entry in listed:
                if time.monotonic() > until:
                    return places
                with suppress(OSError):  # deleted or unreadable: the next sync reports it
                    data = self._content(entry)
                    more = list(self._in_file(entry, _normal(data) if normal else data.lower()))
                    if not (more or normal or self._ascii) and (b"\\u" in data or not data.isascii()):
                        rest.append(entry)
                    places += more
        return places

    def _content(self, entry: FileEntry) -> bytes:
        """Return the bytes of a text, or the view of a document; a library takes too long for a search."""
        how = format_of(entry.path)
        if how is None:
            return platform.content(self._root / entry.path)
        found = read(self._root, entry.path, entry) if not how.packages else None
        return found.text.encode("utf-8", "replace") if isinstance(found, Document) else b""

    def _in_file(self, entry: FileEntry, data: bytes) -> Iterator[_WordLine]:
        if not _is_log(entry.path):  # the name of a note is searched with its first line
            data = entry.path.lower().encode("utf-8", "replace") + b" " + data
        if self._in_text(data):
            for number, line in enumerate(data.split(b"\n"), 1):
                if words := self._in_text(line):
                    yield _WordLine(entry, number, words)

    def _in_text(self, data: bytes) -> tuple[int, ...]:
        return tuple(number for number, word in enumerate(self._words) if word in data)


def _is_log(path: str) -> bool:
    return path.lower().endswith(".jsonl")


def _words(query: str) -> list[bytes]:
    """Return the beginnings of the query's terms, of which stop words are none where it has others."""
    parts = (
        term[:-_ENDING] if term.isalpha() and term.isascii() and len(term) > 5 else term
        for term in content_terms(query)[:_TERMS]
    )
    return [part.encode("utf-8", "replace") for part in parts]


def _normal(data: bytes) -> bytes:
    """Return a text in simplified Chinese and without escapes, with the same lines."""
    text = (decode(data) or ("",))[0]
    if "\\u" in text:
        text = "\n".join(map(_unescaped, text.split("\n")))
    return normalize(text).encode("utf-8", "replace")


def _unescaped(line: str) -> str:
    r"""Return a line of a log with its \u escapes as characters."""
    try:
        return msgspec.json.encode(msgspec.json.decode(line)).decode()
    except (msgspec.MsgspecError, ValueError):
        return line


def _best(places: Sequence[_WordLine], count: int) -> list[_WordLine]:
    """Return the places with the rarest words, best first."""
    holding = [0] * count
    for place in places:
        for word in place.words:
            holding[word] += 1
    rarity = [math.log1p(len(places) / max(number, 1)) for number in holding]
    ranked = sorted(places, key=lambda place: -sum(rarity[word] for word in place.words))
    return ranked[:_PLACES]


class _Analysing:
    """Passages of some files, analysed as for the index."""

    def __init__(self, root: Path, visible: Visible, limit: int) -> None:
        self._root = root
        self._visible = visible
        self._hidden: Tombstones = visible.hidden.current()
        self._limit = limit
        self._passages = Gathered({"": 0})
        self._documents: dict[str, int] = {}

    def add(self, entry: FileEntry, lines: set[int]) -> None:
        """Add the passages of these lines, and of a log the turns beside them."""
        place = layout.place(entry.path)
        if place is None:
            return
        if not _is_log(entry.path):
            self._note(entry, place, lines)
            return
        near = {number + step for number in lines for step in (-1, 0, 1)}
        try:
            reader = LogReader(self._root, entry.path)
            for chunk in reader.chunks(0, 0, 1 << 20):
                turns = [turn for turn in chunk.turns if turn[0] in near]
                left = self._visible.turns(turns, self._hidden)
                for unit in turn_units(left, limit=self._limit, title=reader.title):
                    self._add(entry.path, place, unit)
        except (OSError, MnemarkError):  # deleted or unreadable: the next sync reports it
            return

    def _note(self, entry: FileEntry, place: Place, lines: set[int]) -> None:
        found = read(self._root, entry.path, entry)
        if isinstance(found, Problem):
            return
        text = self._visible.text(entry.path, found.text, self._hidden)
        own = visible_facts(text, found.text, entry.path, "") if place.kind == "fact" else []
        facts = [(parsed, heard(self._root, fact)) for parsed, fact in own]
        _, units = note_units(entry.path, text, place, limit=self._limit, facts=facts)
        for unit in units:
            if not lines.isdisjoint(range(unit.start_line, unit.end_line + 1)):
                self._add(entry.path, place, unit)

    def _add(self, path: str, place: Place, unit: Unit) -> None:
        self._passages.add(unit, path, place, self._documents.setdefault(path, len(self._documents)))

    def view(self) -> View:
        """Return the view of what was added."""
        ranks = np.zeros(len(self._documents), np.int64)
        for rank, path in enumerate(sorted(self._documents)):
            ranks[self._documents[path]] = rank
        snapshot = Snapshot(0, [self._passages.segment()], ranks)
        return _TextView(snapshot, self._passages.records, self._documents, self._passages.scopes)


class _TextView(View):
    """A view of passages that are in no index."""

    def __init__(
        self,
        snapshot: Snapshot,
        records: Mapping[int, Record],
        documents: Mapping[str, int],
        scopes: Mapping[str, int],
    ) -> None:
        self.snapshot = snapshot
        self.complete = False
        self.scopes = scopes
        self._speakers = {}
        self._pending = NOTHING._replace(records=records, documents=documents)

    def derived(self) -> Edges | None:
        """Return None: derived text is searched like any other."""
        return None

    def fetch(self, positions: Sequence[int] | npt.NDArray[np.int64]) -> list[Record]:
        """Return the passages at the given positions, in that order."""
        numbers = self.snapshot.rows["passage"][positions]
        return [self._pending.records[int(number)] for number in numbers]

    def names(self, positions: Positions) -> list[list[str]]:
        """Return the names of the notes that the passages at the given positions are of."""
        found = self.fetch(positions)
        return [names_of(one.path, one.title.partition(" › ")[0], one.meta) for one in found]

    def positions(self, path: str, line: int = 0) -> Positions:
        """Return the positions of a document's passages from `line` on; empty for an unknown document."""
        return super().positions(path, line) if path in self._pending.documents else np.zeros(0, np.int64)
