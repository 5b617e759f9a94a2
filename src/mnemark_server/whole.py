"""Take the files of a folder into the rows of an empty memory, by the byte and piece by piece.

The way back is `TenantRows.copy_to`. What is held at a time grows neither with the memory nor with a file.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from mnemark.errors import BusyError, NotFoundError, UsageError
from mnemark.files import layout, platform
from mnemark.files.config import load
from mnemark.files.listing import InventoryItem, inventory
from mnemark.memory.merging.source import SKIPPED
from mnemark.memory.transfer.restore import LINK
from mnemark.types import Problem
from mnemark_server.database import Connection, Database, Statement
from mnemark_server.rows import INSERT, PIECE

_LARGE: Final = 16
"""Rows that are sent at once where one of them is of the largest."""
_SMALL: Final = 500
"""Rows of small files that are sent at once."""
_PATH_BYTES: Final = 1_024
"""Maximum length of a path: an index of PostgreSQL has no longer ones."""

_ANY_FILE: Final = "SELECT 1 FROM mnemark.parts WHERE tenant = %s AND kind <> 'x' LIMIT 1"
_MARKED: Final = "SELECT 1 FROM mnemark.lines WHERE tenant = %s AND id = %s"


class NotEmptyError(UsageError):
    """There is a memory already where one was to be taken in as it is."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """The receipt of a memory that was brought from a folder, byte by byte."""

    files: int
    bytes: int
    again: bool = False
    """Whether the same was taken in before: nothing was done."""
    problems: tuple[Problem, ...] = ()
    """What stayed out."""
    complete: bool


def take_in(
    database: Database, tenant: int, root: Path, *, mark: str = "", left_out: Sequence[Problem] = ()
) -> Taken:
    """Make the files of a folder the whole of an empty memory: all of them at once, or none.

    Whoever appends to it or changes it meanwhile waits, and is told to try again after a few seconds.

    Args:
        database: where the rows are.
        tenant: the number of the memory.
        root: a folder that nobody changes; `.git`, `.mnemark` and links in it are no memory.
        mark: names what is sent, so that the same, sent again as its answer was lost, is there once.
        left_out: what stayed out before.

    Raises:
        NotEmptyError: the memory has files.
        ConfigError: the settings of the folder are wrong.
        NotFoundError: there is no such memory.
        BusyError: another node is changing it.
        UnavailableError: the database does not answer.
    """
    items, refused = files_of(root)
    problems = (*refused, *left_out)
    load(root)  # with wrong ones no node could open it
    size = 0
    with database.writing(tenant) as connection:
        seq = _claim(connection, tenant)
        if connection.execute(_ANY_FILE, [tenant]).fetchone():
            if mark and connection.execute(_MARKED, [tenant, mark]).fetchone():
                size = sum(one.size for one in items)
                return Taken(
                    files=len(items), bytes=size, again=True, problems=problems, complete=not problems
                )
            raise NotEmptyError("this memory has files already; merge into it instead, or make a new one")
        connection.execute("DELETE FROM mnemark.parts WHERE tenant = %s", [tenant])  # of files that are gone
        rows: list[Sequence[Any]] = []
        for item in items:
            with platform.open_file(root / item.path) as file:
                for at, piece in _pieces(file):
                    seq += 1
                    rows.append((tenant, seq, item.path, at, "a" if at else "d", piece))
                    size += len(piece)
                    if len(rows) >= (_LARGE if len(piece) == PIECE else _SMALL):
                        connection.cursor().executemany(INSERT, rows)
                        rows = []
        connection.cursor().executemany(INSERT, rows)
        connection.execute("UPDATE mnemark.heads SET seq = %s WHERE tenant = %s", [seq, tenant])
        if mark:
            connection.execute(
                "INSERT INTO mnemark.lines (tenant, id) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                [tenant, mark],
            )
    return Taken(files=len(items), bytes=size, problems=problems, complete=not problems)


def _claim(connection: Connection, tenant: int) -> int:
    """Fence off who changed the memory before, and return the number of its last row."""
    found = connection.execute(
        "SELECT seq, lease_owner = '' OR lease_until < clock_timestamp() FROM mnemark.heads"
        " WHERE tenant = %s FOR UPDATE", [tenant],
    ).fetchone()  # fmt: skip
    if found is None:
        raise NotFoundError("this memory was deleted")
    if not found[1]:
        raise BusyError("another node is changing this memory; try again")
    connection.execute("UPDATE mnemark.heads SET epoch = epoch + 1 WHERE tenant = %s", [tenant])
    return int(found[0])


def is_empty(database: Database, tenant: int) -> bool:
    """Whether a memory has no file. Raises UnavailableError."""
    (found,) = database.read(tenant, Statement(_ANY_FILE, [tenant]))
    return not found


def _pieces(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the pieces of a file, each with where it begins; an empty file has one."""
    at = 0
    while (piece := file.read(PIECE)) or not at:
        yield at, piece
        if len(piece) < PIECE:
            return
        at += len(piece)


def files_of(root: Path) -> tuple[list[InventoryItem], list[Problem]]:
    """Return the files of a folder that rows can hold, and what they cannot, with the reason."""
    problems: list[Problem] = []

    def without(path: str) -> bool:
        if path.rpartition("/")[2] in SKIPPED:
            return True
        if layout.is_workspace(root / path):
            problems.append(Problem(layout.shown(path), "is a separate workspace: move it by itself"))
            return True
        return False

    found = inventory(root, without=without)
    files = []
    for item in found.items:
        reason = _refused(item)
        if reason:
            problems.append(Problem(layout.shown(item.path), reason))
        elif item.kind == "file":
            files.append(item)
    return files, sorted([*problems, *found.problems], key=lambda one: one.path)


def _refused(item: InventoryItem) -> str:
    """Return why rows cannot hold a file; empty where they can, or for a folder."""
    if item.kind == "folder":
        return ""
    if item.kind == "link":
        return LINK
    encodes = layout.shown(item.path) == item.path
    named = encodes and layout.is_inside(item.path) and layout.is_name(item.path)
    fits = named and len(item.path.encode()) <= _PATH_BYTES
    return "" if fits else "cannot have that name on a server: rename it"
