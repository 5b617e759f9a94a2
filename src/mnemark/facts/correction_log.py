"""Tell which turns say something that was corrected since, and what is right.

A turn stays as it was said. Whoever shows it, or a page made of it, to a model or a person shows beside it
that it was corrected. Only lines of corrections are read, so that an answer without time can tell it, too.
"""

import threading
from typing import Final

from mnemark.facts.corrected import NONE, Corrections
from mnemark.files.journal import Journal, JournalEntry
from mnemark.files.tombstones import TombstoneLog, Tombstones

KINDS: Final = ("correct", "undo")


class CorrectionLog:
    """The corrections of a journal; reads what was appended since it was last asked. Thread-safe."""

    def __init__(self, journal: Journal, hidden: TombstoneLog) -> None:
        self._feed = journal.feed(*KINDS)
        self._hidden = hidden
        self._lock = threading.Lock()
        self._version = -1
        self._current = NONE
        self._clear()

    def _clear(self) -> None:
        self._lines: dict[str, JournalEntry] = {}
        self._undone: set[str] = set()

    def current(self) -> Corrections:
        """Return the corrections that stand; costs a `stat` of each journal if nothing changed."""
        hidden = self._hidden.current()
        with self._lock:
            new = self._feed.pass_on(self._clear, self._read)
            if new or (self._lines and hidden.version != self._version):
                self._current = self._made(hidden) if self._lines else NONE
                self._version = hidden.version
            return self._current

    def _made(self, hidden: Tombstones) -> Corrections:
        from mnemark.facts.corrected_turns import by_turns  # most memories have none

        standing = [entry for line, entry in self._lines.items() if line not in self._undone]
        return Corrections(by_turns(standing, hidden.facts))

    def _read(self, entry: JournalEntry) -> None:
        if entry.change.kind == "undo":
            self._undone.update(entry.change.ids)
        else:
            self._lines[entry.change.id] = entry
