"""What an index holds, in terms that do not depend on how it came to be."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from mnemark.files import layout
from mnemark.index import schema
from mnemark.index.rows import ROW
from mnemark.index.segment import decode
from mnemark.index.store import Index
from mnemark.index.sync import sync
from mnemark.memory.memory import Memory

LEXICAL: dict[str, Any] = {"embedder": "none"}


def content(index: Index) -> dict[str, Any]:
    """Documents, passages, columns and postings of an index, keyed by path and place instead of numbers."""
    connection = index.connection
    documents = schema.rows(
        connection,
        """SELECT d.id, d.path, d.size, d.title, s.name, d.tail, d.lines, hex(d.digest), d.problems
           FROM documents d JOIN scopes s ON s.id = d.scope""",
    )
    paths = {row[0]: row[1] for row in documents}
    passages = schema.rows(
        connection,
        """SELECT document, ordinal, start_line, end_line, kind, origin, role, title, date, text, meta
           FROM passages""",
    )
    scopes = {number: name for name, number in index.scopes().items()}
    columns, postings, counted = _segments(connection, paths, scopes)
    return {
        "documents": sorted(row[1:] for row in documents),
        "passages": sorted((paths[row[0]], *row[1:]) for row in passages),
        "scopes": sorted(scopes.values()),
        "columns": sorted(columns),
        "postings": postings,
        "counted": counted,
    }


def _segments(connection: Any, paths: dict[int, str], scopes: dict[int, str]) -> tuple[list[Any], Any, Any]:
    columns: list[Any] = []
    postings: dict[str, list[Any]] = {}
    numbers: list[int] = []
    for segment, size, rows, dead in schema.rows(connection, "SELECT id, size, rows, dead FROM segments"):
        table = np.frombuffer(rows, ROW)
        assert len(table) == size
        gone = np.unpackbits(np.frombuffer(dead, np.uint8), count=size).astype(bool)
        places = [(paths.get(int(row["document"]), "?"), int(row["ordinal"])) for row in table]
        for place, row, is_dead in zip(places, table, gone, strict=True):
            if not is_dead:
                numbers.append(int(row["passage"]))
                values = [
                    int(row[name]) for name in ("time", "length", "kind", "origin", "flags", "importance")
                ]
                columns.append((*place, scopes[int(row["scope"])], *values, row["key"].tobytes().hex()))
        sql = "SELECT term, data FROM postings WHERE segment = ?"
        for term, data in schema.rows(connection, sql, (segment,)):
            found = decode(data)
            assert len(data) == 3 * len(found.ids)
            assert len(found.ids)
            assert np.all(found.ids[1:].astype(int) > found.ids[:-1].astype(int))
            for number, count in zip(found.ids.tolist(), found.counts.tolist(), strict=True):
                if not gone[number]:
                    postings.setdefault(term, []).append((*places[number], count))
    stored = [number for (number,) in schema.rows(connection, "SELECT id FROM passages")]
    return columns, {t: sorted(p) for t, p in sorted(postings.items())}, (sorted(numbers) == sorted(stored))


def anew(root: Path, into: Path) -> Index:
    """An index of a copy of the workspace, built from nothing."""
    shutil.copytree(root, into, symlinks=True, ignore=shutil.ignore_patterns(layout.PRIVATE))
    index = Index(into)
    sync(index)
    return index


def answers(root: Path, queries: list[str], **options: Any) -> list[bytes]:
    """What the public API answers, as JSON."""
    with Memory.open(root, config=LEXICAL) as memory:
        return [msgspec.json.encode(memory.search(query, explain=True, **options)) for query in queries]
