"""Count what a workspace holds, without changing anything."""

import msgspec

from mnemark.errors import BusyError, NewerFormatError
from mnemark.index import check, schema
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Problem


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


def collect(ws: OpenWorkspace) -> Stats:
    """Count what the index holds."""
    if not ws.index.exists():
        return Stats(
            root=str(ws.root), files=0, passages=0, kinds={}, scopes={}, bytes=0,
            stale="not created yet; run `mnemark sync`", problems=(),
        )  # fmt: skip
    try:
        found, stale = check.count(ws.index), ws.index.stale_reason()
    except (BusyError, NewerFormatError):
        raise
    except schema.UNREADABLE as error:  # a changed byte may also look like a disk that fails
        size = ws.index.path.stat().st_size
        found, stale = check.Counts(0, 0, {}, {}, size, ()), schema.damage_of(error)
    return Stats(
        root=str(ws.root), files=found.files, passages=found.passages, kinds=found.kinds,
        scopes=found.scopes, bytes=found.bytes, stale=stale, problems=found.problems,
    )  # fmt: skip
