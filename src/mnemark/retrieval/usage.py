"""Count what was recalled, for consolidation: what is used does not fade."""

import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from mnemark.errors import MnemarkError
from mnemark.files.workspace import Workspace
from mnemark.index.state import State, Use
from mnemark.types import Hit

_AT_ONCE: Final = 200
"""Uses that are written together; those of a process that is killed before are not counted."""


class UsageCounter:
    """Counts of one workspace. Noting costs nothing; they are written now and then, and at the end."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._noted: list[str] = []

    def note(self, hits: Iterable[Hit]) -> None:
        """Count hits that went into a prompt."""
        if self._workspace.readonly:
            return
        with self._lock:
            self._noted += [name_of(hit) for hit in hits]
            full = len(self._noted) >= _AT_ONCE
        if full:
            threading.Thread(target=self.write, name="mnemark-uses", daemon=True).start()

    def write(self) -> None:
        """Write the counts to the disk; what cannot be written is dropped."""
        with self._lock:
            noted, self._noted = self._noted, []
        if noted and not self._workspace.readonly:
            now = self._workspace.now().astimezone()
            with suppress(MnemarkError), State(self._workspace.root) as state:
                state.touch(noted, now)

    def counts(self, names: Iterable[str]) -> dict[str, Use]:
        """Return how often each was used; what never was is left out."""
        self.write()
        with State(self._workspace.root, readonly=True) as state:
            return state.counts(names)


def name_of(hit: Hit) -> str:
    """Return the name a use is counted under: the id of a fact, the ref of all else."""
    identifier = hit.meta.get("fact") if hit.kind == "fact" else None
    return identifier if isinstance(identifier, str) and identifier else hit.ref
