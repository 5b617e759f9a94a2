"""Count what a workspace holds, without changing anything."""

from typing import Final

import msgspec

from mnemark.errors import BusyError, NewerFormatError
from mnemark.index import check, schema
from mnemark.index.sync import stored_problems
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Problem

_NOT_CREATED: Final = "not created yet; run `mnemark sync`"


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of a workspace's index."""

    root: str
    files: int
    passages: int
    kinds: dict[str, int]
    scopes: dict[str, int]
    bytes: int
    """Size of the index on the disk, without vectors."""
    stale: str | None
    """Why the next sync will rebuild the index; None where it will not."""
    problems: tuple[Problem, ...]


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """How much a workspace's index holds, counted without reading the passages."""

    root: str
    files: int
    passages: int
    stale: str | None
    """As `Stats.stale`."""
    problems: tuple[Problem, ...]


def brief(ws: OpenWorkspace) -> Brief:
    """Return totals and problems: what `collect` returns, without counts by kind and scope."""
    root = str(ws.root)
    if not ws.index.exists():
        return Brief(root=root, files=0, passages=0, stale=_NOT_CREATED, problems=())
    try:
        files, passages = check.totals(ws.index)
        return Brief(
            root=root, files=files, passages=passages, stale=ws.index.stale_reason(),
            problems=tuple(stored_problems(ws.index)),
        )  # fmt: skip
    except (BusyError, NewerFormatError):
        raise
    except schema.UNREADABLE as error:
        return Brief(root=root, files=0, passages=0, stale=schema.damage_of(error), problems=())


def problems(ws: OpenWorkspace) -> tuple[Problem, ...]:
    """Return what was wrong with indexed files; nothing of an index that is missing or damaged."""
    return brief(ws).problems


def collect(ws: OpenWorkspace) -> Stats:
    """Count what the index holds."""
    if not ws.index.exists():
        return Stats(
            root=str(ws.root), files=0, passages=0, kinds={}, scopes={}, bytes=0,
            stale=_NOT_CREATED, problems=(),
        )  # fmt: skip
    try:
        found, stale = check.count(ws.index), ws.index.stale_reason()
    except (BusyError, NewerFormatError):
        raise
    except schema.UNREADABLE as error:  # a changed byte may also look like a disk that fails
        size = ws.index.path.stat().st_size
        found, stale = check.IndexCounts(0, 0, {}, {}, size, ()), schema.damage_of(error)
    return Stats(
        root=str(ws.root), files=found.files, passages=found.passages, kinds=found.kinds,
        scopes=found.scopes, bytes=found.bytes, stale=stale, problems=found.problems,
    )  # fmt: skip
