"""Count what a workspace holds, without changing anything."""

import msgspec

from mnemark.index import check
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark.types import Problem


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of a workspace's index."""

    root: str
    files: int
    """Files in the index."""
    passages: int
    kinds: dict[str, int]
    """Passages by kind."""
    scopes: dict[str, int]
    """Passages by scope."""
    bytes: int
    """Size of the index on the disk, vectors left out."""
    stale: str | None
    """Why the index will be built anew by the next sync; None where it will not."""
    problems: tuple[Problem, ...]


def collect(ws: OpenWorkspace) -> Stats:
    """Count, from the index as it is."""
    if not ws.index.exists():
        reason = "not created yet; run `mnemark sync`"
        return Stats(
            root=str(ws.root),
            files=0,
            passages=0,
            kinds={},
            scopes={},
            bytes=0,
            stale=reason,
            problems=(),
        )
    found = check.count(ws.index)
    return Stats(
        root=str(ws.root),
        files=found.files,
        passages=found.passages,
        kinds=found.kinds,
        scopes=found.scopes,
        bytes=found.bytes,
        stale=ws.index.stale_reason(),
        problems=found.problems,
    )
