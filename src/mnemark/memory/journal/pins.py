"""Read which things are pinned from the journal, by what was appended since."""

import threading
from collections.abc import Mapping

from mnemark.files.journal import Journal
from mnemark.types import Json


class PinJournal:
    """The pins in effect. Thread-safe; each `OpenWorkspace` has one."""

    def __init__(self, journal: Journal) -> None:
        self._feed = journal.feed("pin", "undo")
        self._lock = threading.Lock()
        self._lines: dict[str, Mapping[str, Json]] = {}

    def lines(self) -> dict[str, Mapping[str, Json]]:
        """Return the payloads of the pins in effect, by the id of their journal entry."""
        with self._lock:
            rewritten, entries = self._feed.take()
            if rewritten:
                self._lines = {}
            for entry in entries:
                change = entry.change
                payload = change.payload if isinstance(change.payload, Mapping) else {}
                if change.kind == "pin":
                    self._lines[change.id] = payload
                ids = payload.get("ids") if change.kind == "undo" else ()
                for one in ids if isinstance(ids, list) else ():
                    self._lines.pop(one, None)
            return dict(self._lines)
