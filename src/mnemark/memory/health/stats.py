"""Count what a workspace holds, without changing anything."""

import msgspec

from mnemark.index import check
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
    found = check.count(ws.index)
    return Stats(
        root=str(ws.root), files=found.files, passages=found.passages, kinds=found.kinds,
        scopes=found.scopes, bytes=found.bytes, stale=ws.index.stale_reason(), problems=found.problems,
    )  # fmt: skip
