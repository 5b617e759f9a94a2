"""Count how often passages and facts are recalled; consolidation keeps those in use."""

import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files import platform
from mnemark.files.workspace import Workspace
from mnemark.index.state import Given, State, Use
from mnemark.text.words.tokens import estimate_tokens
from mnemark.types import Hit

_BATCH: Final = 200
"""Number of uses written in one transaction; a process killed before that loses them."""
_BYTES_PER_TOKEN: Final = 4
"""Rough, for what a whole file would take."""


class _Noted(NamedTuple):
    """A recall that is not written yet."""

    time: datetime
    talk: str
    names: tuple[str, ...]
    paths: frozenset[str]
    text: str


class UsageCounter:
    """Uses of one workspace, kept in memory and written in batches and at the end."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._noted: list[_Noted] = []
        self._uses = 0

    def note(self, hits: Sequence[Hit], *, text: str = "", talk: str = "") -> None:
        """Count a use of each hit that went into a prompt.

        Args:
            hits: what the block has.
            text: the block.
            talk: the log of the session that it is for.
        """
        if self._workspace.readonly or not hits:
            return
        names, paths = tuple(dict.fromkeys(map(name_of, hits))), frozenset(hit.path for hit in hits)
        noted = _Noted(self._workspace.now(), talk, names, paths, text)
        with self._lock:
            self._noted.append(noted)
            self._uses += len(names)
            full = self._uses >= _BATCH
        if full:
            threading.Thread(target=self.write, name="mnemark-uses", daemon=True).start()

    def write(self) -> None:
        """Write the counts to the disk; drop them on failure."""
        with self._lock:
            noted, self._noted, self._uses = self._noted, [], 0
        if noted and not self._workspace.readonly:
            with suppress(MnemarkError), State(self._workspace.root) as state:
                for one in noted:
                    state.touch(one.names, one.time)
                state.give([self._given(one) for one in noted])

    def _given(self, noted: _Noted) -> Given:
        """Return a recall with its tokens, which nobody waits for here."""
        sizes = [platform.identity(self._workspace.root / path) for path in noted.paths]
        whole = sum(size.size for size in sizes if size is not None) // _BYTES_PER_TOKEN
        tokens = estimate_tokens(noted.text)
        day = noted.time.date().isoformat()
        return Given(day, noted.time.timestamp(), noted.talk, noted.names, tokens, max(whole, tokens))

    def counts(self, names: Iterable[str]) -> dict[str, Use]:
        """Return the use count of each name; names never used are left out."""
        self.write()
        with State(self._workspace.root, readonly=True) as state:
            return state.counts(names)


def name_of(hit: Hit) -> str:
    """Return the name that uses of a hit are counted under: the id of a fact, else the ref."""
    identifier = hit.meta.get("fact") if hit.kind == "fact" else None
    return identifier if isinstance(identifier, str) and identifier else hit.ref
