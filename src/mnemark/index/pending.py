"""What was acknowledged after the last sync: read from the logs into a segment in memory.

A write is found by the next search, whether or not a sync came in between, and scores as it will then.
"""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from mnemark.files import layout
from mnemark.index import schema
from mnemark.index.batch import passage_row
from mnemark.index.logs import LogReader
from mnemark.index.segment import SegmentBuilder
from mnemark.index.snapshot import SegmentView
from mnemark.index.store import Index, Record
from mnemark.index.units import Unit, turn_units

MAX_BYTES: Final = 1 << 20
"""Beyond this much unsynced text an answer is given without the rest and says that it is not complete."""
_NEW_DOCUMENT: Final = 1 << 30
_REST: Final = 50
_SCOPE_FOLDERS: Final = ("users", "agents", "projects")

Growth = tuple[tuple[str, int], ...]
"""Paths and sizes of logs that differ from what the index knows."""


class Pending(NamedTuple):
    """Turns that are not in the index yet."""

    segment: SegmentView | None
    records: Mapping[int, Record]
    """By passage number, which is negative."""
    documents: Mapping[str, int]
    """Document numbers of the logs in it."""
    scopes: Mapping[str, int]
    """All scopes, new ones included; empty where nothing is pending."""
    complete: bool


NOTHING: Final = Pending(None, {}, {}, {}, complete=True)


class LogSizes:
    """Sizes of all logs of a workspace: this process's own writes at once, others' after a short while.

    Looking at all logs costs a `stat` each. It is done again only after `_REST` times as long as it took, so
    that in a workspace of thousands of sessions a search does not spend its time on looking.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = {}
        self._version = 0
        self._due = float("-inf")

    def wrote(self, path: str, size: int) -> None:
        """This process wrote the log at `path` up to `size` bytes."""
        with self._lock:
            self._sizes = self._sizes | {path: max(size, self._sizes.get(path, 0))}
            self._version += 1

    def current(self) -> tuple[int, Mapping[str, int]]:
        """Sizes by path, and a number that changes with them."""
        with self._lock:
            started = time.monotonic()
            if started >= self._due:
                found = dict(_logs(self._root))
                if found != self._sizes:
                    self._sizes = found
                    self._version += 1
                ended = time.monotonic()
                self._due = ended + _REST * (ended - started)
            return self._version, self._sizes


def growth(index: Index, sizes: Mapping[str, int]) -> Growth:
    """Which logs grew beyond what the index holds."""
    sql = "SELECT path, size, tail FROM documents WHERE path LIKE '%.jsonl'"
    known = {path: (size, tail) for path, size, tail in schema.rows(index.connection, sql)}
    grown = []
    for path, size in sizes.items():
        if path not in known or (size > known[path][0] and known[path][1]):
            grown.append((path, size))
    return tuple(grown)


def load(index: Index, grown: Growth, limit: int) -> Pending:
    """Read what grew, up to `MAX_BYTES`."""
    sql = "SELECT path, id, tail, lines FROM documents WHERE path LIKE '%.jsonl'"
    known = {
        path: (document, tail, lines) for path, document, tail, lines in schema.rows(index.connection, sql)
    }
    scopes = index.scopes()
    builder, records, room, complete = SegmentBuilder(), dict[int, Record](), MAX_BYTES, True
    documents: dict[str, int] = {}
    for number, (path, size) in enumerate(grown):
        place = layout.place(path)
        if place is None or not place.searchable:
            continue
        document, tail, lines = known.get(path, (_NEW_DOCUMENT + number, 0, 0))
        documents[path] = document
        room -= size - tail
        if room < 0:
            complete = False
            break
        scope = scopes.setdefault(place.scope, -1 - len(scopes))
        reader = LogReader(index.root, path)
        for chunk in reader.chunks(tail, lines, 1 << 20):
            for unit in turn_units(chunk.turns, limit=limit, title=reader.title):
                passage = -1 - len(records)
                row, packed = passage_row(passage, document, unit, place, scope)
                builder.add(row, packed)
                records[passage] = _record(passage, path, place.scope, reader.title, unit)
    if not len(builder):
        return Pending(None, {}, documents, scopes, complete)
    view = SegmentView(builder.rows(), np.zeros(len(builder), np.bool_), builder.posting)
    return Pending(view, records, documents, scopes, complete)


def _record(number: int, path: str, scope: str, title: str, unit: Unit) -> Record:
    return Record(
        id=number,
        path=path,
        scope=scope,
        document_title=title,
        start_line=unit.start_line,
        end_line=unit.end_line,
        kind=unit.kind,
        origin=unit.origin,
        role=unit.role,
        title=unit.title,
        date=unit.date,
        text=unit.text,
        meta=unit.meta,
    )


def _logs(root: Path) -> Iterator[tuple[str, int]]:
    for folder in _session_folders(root):
        try:
            with os.scandir(root / folder) as entries:
                for entry in entries:
                    if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                        yield f"{folder}/{entry.name}", entry.stat(follow_symlinks=False).st_size
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue


def _session_folders(root: Path) -> Iterator[str]:
    yield "sessions"
    for kind in _SCOPE_FOLDERS:
        try:
            with os.scandir(root / kind) as entries:
                yield from sorted(f"{kind}/{entry.name}/sessions" for entry in entries if not entry.is_file())
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
