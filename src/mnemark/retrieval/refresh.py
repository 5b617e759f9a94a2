"""Refresh the index while it is used."""

import threading
import time
from typing import Final, Literal

from mnemark.errors import BusyError, MnemarkError, ReadOnlyError
from mnemark.files.config import Config
from mnemark.files.journal import Journal
from mnemark.index.store import Index
from mnemark.index.sync import Progress, SyncReport, sync
from mnemark.retrieval.embeddings import Embeddings
from mnemark.text.dates.moment import Clock

_FOLDER: Final = "journal/"
_MARKS: Final = (b'"kind":"done"', b'"kind":"project"')
"""An edit is in its file; words in a payload have their quotes escaped."""
_MOST: Final = 1 << 20
"""More than so many new bytes are not read: then an edit is among them, as far as anybody knows."""
FRESH_SECONDS: Final = 1.0
"""How long the files are taken to be as the last look found them; own writes count at once."""
_REST: Final = 20.0
"""Times a look at the files the pause after it lasts."""
_QUICK: Final = 0.05
"""A search waits for a look that takes up to this many seconds; a longer one is done in the background."""
_SCRUB_REST: Final = 5.0
"""Seconds between tries to rewrite an index that is in use."""
_LONG: Final = 60.0
"""After so many seconds without a look a search waits for one all the same."""


class ExternalEdits:
    """Watches the journal for edits by other processes."""

    def __init__(self, journal: Journal) -> None:
        self._feed = journal.feed("done", "project", past=False)

    def came(self) -> Literal["", "facts", "files"]:
        """Say whether files were edited, or facts alone; what came before the first call does not count."""
        rewritten, entries = self._feed.take()
        if not (rewritten or entries):
            return ""
        return "files" if rewritten or any(one.change.kind == "done" for one in entries) else "facts"


class IndexRefresher:
    """Follows the files of one workspace. Safe to use from several threads."""

    def __init__(self, index: Index, vectors: Embeddings, config: Config, edits: ExternalEdits) -> None:
        self._index = index
        self._edits = edits
        self._vectors = vectors
        self._config = config
        self._checked = Clock()
        self._stale_count = 0
        self._facts_due = False
        self._cost = 0.0
        self._scrub_at = 0.0
        self._syncing = threading.Lock()
        self._behind = threading.Lock()
        self._looked = threading.Event()
        self.problem = ""
        """Why the last look could not be taken; empty where it could."""

    @property
    def fresh(self) -> bool:
        """Whether the index is as the files were a moment ago: the longer a look takes, the longer."""
        if self._index.readonly:
            return True
        came = self._edits.came()
        if came == "files":
            self.mark_stale()
        elif came:
            self.facts_changed()
        passed = self._checked.passed()
        if self._facts_due and (self._cost <= _QUICK or passed > _LONG):
            return False
        return passed < max(FRESH_SECONDS, _REST * self._cost)

    def sync(self, *, progress: Progress | None, wait: float, embed: bool) -> SyncReport:
        """Bring the index to the state of the files, and embed what is new.

        Raises:
            BusyError: another process is syncing for longer than `wait` seconds.
            ReadOnlyError: the index is open for reading only.
        """
        if self._index.readonly:
            raise ReadOnlyError("this memory is open for reading only; open it for writing to sync")
        limit, ignore = self._config.passage_tokens, self._config.ignore
        with self._syncing:
            count = self._stale_count
            self._facts_due = False
            report = sync(self._index, ignore=ignore, limit=limit, wait=wait, progress=progress)
            if self._stale_count == count:  # else the look may have passed by what was written meanwhile
                self._checked.mark()
            self._looked.set()
            self._cost = report.seconds if not report.touched else self._cost
        if embed:
            self._vectors.embed(self._index)
        self._scrub(wait)
        return report

    def _scrub(self, wait: float) -> None:
        """Erase every byte of what is not visible any more; an index that is in use is tried again later."""
        if time.monotonic() < self._scrub_at or not self._index.scrub_due():
            return
        self._scrub_at = time.monotonic() + _SCRUB_REST
        try:
            self._vectors.scrub(self._index, wait=wait)
        except BusyError:
            return
        except (MnemarkError, OSError) as error:
            self.problem = f"sync: {error}"

    def mark_stale(self) -> None:
        """Make the next answer look at the files first: something was written."""
        self._stale_count += 1
        self._checked.forget()

    def facts_changed(self) -> None:
        """Look at the files first where that is quick: until then answers have new facts from the journal."""
        self._facts_due = True

    def freshen(self) -> None:
        """Follow the files, unless that was done a moment ago or another process is at it."""
        if self.fresh:
            return
        try:
            # Adding vectors holds the lock for a moment; behind another process that syncs for long, not each
            # search waits again.
            self.sync(progress=None, wait=0.0 if self.problem else _QUICK, embed=False)
        except BusyError as error:
            self.problem = f"sync: {error}"
        else:
            self.problem = ""
        self._vectors.embed_soon(self._index)

    def freshen_quickly(self) -> None:
        """`freshen`; in the background where a look is known to take long."""
        if self._cost > _QUICK and self._checked.passed() < _LONG:
            self.freshen_behind()
        else:
            self.freshen()

    def freshen_behind(self) -> None:
        """Follow the files in the background: a deadline does not wait for it."""
        if self.fresh or not self._behind.acquire(blocking=False):
            return
        self._looked.clear()
        threading.Thread(target=self._freshen_and_release, name="mnemark-sync", daemon=True).start()

    def wait(self, until: float) -> bool:
        """Wait for a look in the background, up to a monotonic time; whether the index is fresh then."""
        if not self.fresh:
            self._looked.wait(max(until - time.monotonic(), 0.0))
        return self.fresh

    def _freshen_and_release(self) -> None:
        try:
            self.freshen()
        except MnemarkError as error:
            self.problem = f"sync: {error}"
        finally:
            self._looked.set()
            self._behind.release()
