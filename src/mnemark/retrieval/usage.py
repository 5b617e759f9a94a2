"""Count how often passages and facts are recalled; consolidation keeps those in use."""

import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.files.workspace import Workspace
from mnemark.index.state import State, Use
from mnemark.types import Hit

_BATCH: Final = 200
"""Number of uses written in one transaction; a process killed before that loses them."""


class UsageCounter:
    """Use counts of one workspace, kept in memory and written in batches and at the end."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._noted: list[str] = []

    def note(self, hits: Iterable[Hit]) -> None:
        """Count a use of each hit that went into a prompt."""
        if self._workspace.readonly:
            return
        with self._lock:
            self._noted += [name_of(hit) for hit in hits]
            full = len(self._noted) >= _BATCH
        if full:
            threading.Thread(target=self.write, name="mnemark-uses", daemon=True).start()

    def write(self) -> None:
        """Write the counts to the disk; drop them on failure."""
        with self._lock:
            noted, self._noted = self._noted, []
        if noted and not self._workspace.readonly:
            now = self._workspace.now()
            with suppress(MnemarkError), State(self._workspace.root) as state:
                state.touch(noted, now)

    def counts(self, names: Iterable[str]) -> dict[str, Use]:
        """Return the use count of each name; names never used are left out."""
        self.write()
        with State(self._workspace.root, readonly=True) as state:
            return state.counts(names)


def name_of(hit: Hit) -> str:
    """Return the name that uses of a hit are counted under: the id of a fact, else the ref."""
    identifier = hit.meta.get("fact") if hit.kind == "fact" else None
    return identifier if isinstance(identifier, str) and identifier else hit.ref
