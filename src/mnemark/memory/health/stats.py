"""Count what a workspace and its mounts hold, without changing anything."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Final

import msgspec

from mnemark.errors import BusyError, MnemarkError, NewerFormatError
from mnemark.files.layout import PRIVATE
from mnemark.files.mounts import Mounted, home_of
from mnemark.index import check, schema
from mnemark.index.plan import differing
from mnemark.index.store import NAME, Index
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
    counts, stale = _counted(ws, _totals)
    return Brief(
        root=str(ws.root), files=counts.files, passages=counts.passages, stale=stale, problems=counts.problems
    )


def problems(ws: OpenWorkspace) -> tuple[Problem, ...]:
    """Return what was wrong with indexed files; nothing of an index that is missing or damaged."""
    return brief(ws).problems


def collect(ws: OpenWorkspace) -> Stats:
    """Count what the index holds."""
    counts, stale = _counted(ws, check.count)
    return Stats(root=str(ws.root), stale=stale, **counts._asdict())


def _counted(
    ws: OpenWorkspace, count: Callable[[Index], check.IndexCounts]
) -> tuple[check.IndexCounts, str | None]:
    """Return counts of the index, and why the next sync will rebuild it."""
    if not ws.index.exists():
        return check.IndexCounts(0, 0, {}, {}, 0, ()), _NOT_CREATED
    try:
        return count(ws.index), ws.index.stale_reason()
    except (BusyError, NewerFormatError):
        raise
    except schema.UNREADABLE as error:  # a changed byte may also look like a disk that fails
        return check.IndexCounts(0, 0, {}, {}, ws.index.path.stat().st_size, ()), schema.damage_of(error)


def _totals(index: Index) -> check.IndexCounts:
    return check.IndexCounts(*check.totals(index), {}, {}, 0, tuple(stored_problems(index)))


class MountState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a mount."""

    name: str
    folder: str
    files: int = 0
    """Files that are read there."""
    outdated: int = 0
    """Those that are new or changed since they were indexed; a search reads them first."""
    words_only: bool = False
    """Whether it is searched by words only, because the embedder may send texts to another machine."""
    problem: str = ""
    """Why it cannot be searched, and what to do."""


def mount_states(ws: OpenWorkspace) -> Iterator[MountState]:
    """Yield the state of each mount, without writing."""
    words_only = ws.searcher.embeddings.wanted and not ws.searcher.embeds_mounts
    for name, mounted in ws.searcher.mounts.folders.items():
        known = MountState(name=name, folder=str(mounted.folder), words_only=words_only)
        if why := mounted.why_not(name):
            yield msgspec.structs.replace(known, problem=why)
            continue
        try:
            yield _looked_at(ws, name, mounted, known)
        except MnemarkError as error:  # of a file there, too: `UnreadableError` is both
            yield msgspec.structs.replace(known, problem=str(error))
        except OSError as error:
            problem = f"the folder {mounted.folder} cannot be read: {error.strerror}"
            yield msgspec.structs.replace(known, problem=problem)


def _looked_at(ws: OpenWorkspace, name: str, mounted: Mounted, known: MountState) -> MountState:
    found = mounted.entries()
    home = home_of(ws.root, name)
    outdated = len(found)
    if (home / PRIVATE / NAME).is_file():
        with closing(Index(mounted.folder, home=home, readonly=True)) as index:
            known_files = {} if index.stale_reason() else index.known()
            held = {path: one for path, one in known_files.items() if mounted.holds(path)}
            outdated = len(differing(found, held))
    return msgspec.structs.replace(known, files=len(found), outdated=outdated)
