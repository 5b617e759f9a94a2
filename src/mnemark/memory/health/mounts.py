"""Tell which mounts a workspace has, and how fresh their indexes are."""

from collections.abc import Iterator
from contextlib import closing

import msgspec

from mnemark.errors import MnemarkError
from mnemark.files.layout import PRIVATE
from mnemark.files.mounts import Mounted, home_of
from mnemark.index.plan import differing
from mnemark.index.store import NAME, Index
from mnemark.memory.open_workspace import OpenWorkspace


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
            yield _counted(ws, name, mounted, known)
        except MnemarkError as error:  # of a file there, too: `UnreadableError` is both
            yield msgspec.structs.replace(known, problem=str(error))
        except OSError as error:
            problem = f"the folder {mounted.folder} cannot be read: {error.strerror}"
            yield msgspec.structs.replace(known, problem=problem)


def _counted(ws: OpenWorkspace, name: str, mounted: Mounted, known: MountState) -> MountState:
    found = mounted.entries()
    home = home_of(ws.root, name)
    outdated = len(found)
    if (home / PRIVATE / NAME).is_file():
        with closing(Index(mounted.folder, home=home, readonly=True)) as index:
            known_files = {} if index.stale_reason() else index.known()
            held = {path: one for path, one in known_files.items() if mounted.holds(path)}
            outdated = len(differing(found, held))
    return msgspec.structs.replace(known, files=len(found), outdated=outdated)
