"""How much an index holds."""

from typing import NamedTuple

import msgspec

from mnemark.index import schema
from mnemark.index.store import Index
from mnemark.types import Problem


class Counts(NamedTuple):
    """Files, passages (in all, by kind, by scope), bytes on the disk, problems."""

    files: int
    passages: int
    kinds: dict[str, int]
    scopes: dict[str, int]
    bytes: int
    problems: tuple[Problem, ...]


def count(index: Index) -> Counts:
    """Count in one read transaction."""
    connection = index.connection
    with schema.translated(index.path), schema.reading(connection):
        files = schema.scalar(connection, "SELECT count(*) FROM documents")
        kinds = dict(
            schema.rows(connection, "SELECT kind, count(*) FROM passages GROUP BY kind ORDER BY kind")
        )
        sql = """SELECT s.name, count(*) FROM passages p JOIN documents d ON d.id = p.document
                 JOIN scopes s ON s.id = d.scope GROUP BY s.name ORDER BY s.name"""
        scopes = dict(schema.rows(connection, sql))
        stored = schema.rows(
            connection, "SELECT problems FROM documents WHERE problems <> '[]' ORDER BY path"
        )
    problems = [problem for (text,) in stored for problem in msgspec.json.decode(text, type=list[Problem])]
    wal = index.path.with_name(index.path.name + "-wal")
    size = index.path.stat().st_size + (wal.stat().st_size if wal.exists() else 0)
    return Counts(files, sum(kinds.values()), kinds, scopes, size, tuple(problems))
