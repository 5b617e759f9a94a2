"""Sync the index with the files before searches, or in the background where that takes long."""

import threading
import time
from contextlib import suppress
from typing import Final, Literal

from mnemark.errors import BusyError, MnemarkError, NewerFormatError, ReadOnlyError
from mnemark.files.config import Config
from mnemark.files.journal import Journal
from mnemark.files.platform import Identity, identity
from mnemark.index import schema
from mnemark.index.store import Index
from mnemark.index.sync import Progress, SyncReport, sync
from mnemark.retrieval.embeddings import Embeddings
from mnemark.retrieval.turns import in_turn
from mnemark.text.dates import Clock

FRESH_SECONDS: Final = 1.0
"""Minimum seconds for which the index counts as fresh after a sync; this process's writes end it at once."""
_FRESH_FACTOR: Final = 20.0
"""Seconds for which the index counts as fresh, for each second that a sync without changes takes."""
_QUICK_SECONDS: Final = 0.05
"""Maximum seconds of a sync that a search waits for; a longer one runs in the background."""
_SCRUB_RETRY_SECONDS: Final = 5.0
"""Seconds between attempts to scrub an index that is in use."""
_END_SECONDS: Final = 1.0
"""Maximum seconds that closing waits for a sync in the background."""
_MAX_STALE_SECONDS: Final = 60.0
"""Seconds since the last sync after which a search waits for one, however long it takes."""


class ExternalEdits:
    """Detect edits by other processes, which another machine may have sent here.

    They show in the journal and the folders of notes: a file that is replaced, as `mnemark add` and many
    editors do, changes its folder.
    """

    def __init__(self, journal: Journal) -> None:
        self._truth = journal.truth
        self._feed = journal.feed("done", "project", past=False)
        self._folders = [journal.root, journal.root / "memory"]
        self._states = self._states_now()

    def came(self) -> Literal["", "facts", "files"]:
        """Return what was edited since the last call: files, only facts, or nothing (also at first)."""
        sent = self._truth.catch_up()
        before, self._states = self._states, self._states_now()
        rewritten, entries = self._feed.take()
        kinds = {entry.change.kind for entry in entries}
        if sent or rewritten or before != self._states or "done" in kinds:
            return "files"
        return "facts" if kinds else ""

    def erased(self) -> bool:
        """Return whether others erased text since the last call: the index may have it in free pages."""
        erased, self._truth.erased = self._truth.erased, False
        return erased

    def _states_now(self) -> list[Identity | None]:
        return [identity(folder) for folder in self._folders]


class IndexRefresher:
    """Keep the index of one workspace in sync with its files. Thread-safe."""

    def __init__(self, index: Index, vectors: Embeddings, config: Config, edits: ExternalEdits) -> None:
        self._index = index
        self._edits = edits
        self._vectors = vectors
        self._config = config
        self._last_sync = Clock()
        self._stale_count = 0
        self._fact_changes = self._facts_synced = 0
        self._sync_seconds = 0.0
        self._report: SyncReport | None = None
        self._scrub_at = 0.0
        self._syncing = threading.Lock()
        self._background_lock = threading.Lock()
        self._sync_done = threading.Event()
        self.problem = ""
        """Why the last sync failed; empty where it succeeded."""

    @property
    def fresh(self) -> bool:
        """Whether the index was synced recently, relative to how long a sync takes."""
        if self._index.readonly:
            return True
        self._note_edits()
        passed = self._last_sync.passed()
        facts_due = self._fact_changes != self._facts_synced
        if facts_due and (self._sync_seconds <= _QUICK_SECONDS or passed > _MAX_STALE_SECONDS):
            return False
        return passed < max(FRESH_SECONDS, _FRESH_FACTOR * self._sync_seconds)

    def _note_edits(self) -> None:
        came = self._edits.came()
        if came == "files":
            self.mark_stale()
        elif came:
            self.facts_changed()

    @property
    def seen(self) -> SyncReport | None:
        """What the last sync found in the folder, where looking again takes long and searches do not either.

        None where it is quick to look, or was too long ago.
        """
        return self._report if self._is_slow() else None

    def _is_slow(self) -> bool:
        """Return whether searches answer while a sync runs in the background, as it takes long."""
        return self._sync_seconds > _QUICK_SECONDS and self._last_sync.passed() < _MAX_STALE_SECONDS

    @property
    def syncing(self) -> bool:
        """Whether this process is syncing."""
        return self._syncing.locked()

    def sync(self, *, progress: Progress | None, wait: float, embed: bool) -> SyncReport:
        """Sync the index with the files, and embed new passages if `embed`.

        Raises:
            BusyError: another process is syncing for longer than `wait` seconds.
            ReadOnlyError: the index is open for reading only.
        """
        if self._index.readonly:
            raise ReadOnlyError("this memory is open for reading only; open it for writing to sync")
        limit, ignore = self._config.passage_tokens, self._config.ignore
        with self._syncing:
            self._note_edits()  # what was edited before this sync is no reason for another
            count = self._stale_count
            facts = self._fact_changes
            with in_turn() as pass_on:

                def stepped(done: int, total: int, passages: int) -> None:
                    if progress is not None:
                        progress(done, total, passages)
                    pass_on()

                report = sync(self._index, ignore=ignore, limit=limit, wait=wait, progress=stepped)
            if self._edits.erased():
                schema.ask_for_scrub(self._index.connection)
            if self._stale_count == count:  # else a file written meanwhile may have been missed
                self._last_sync.mark()
            self._facts_synced = facts
            self._report = report
            self._sync_done.set()
            self._sync_seconds = self._sync_seconds if report.touched or report.journals else report.seconds
        if embed:
            self._vectors.embed(self._index)
        self._scrub(wait)
        return report

    def _scrub(self, wait: float) -> None:
        """Remove the bytes of deleted content if due; retry later where the index is in use."""
        if time.monotonic() < self._scrub_at or not self._index.scrub_due():
            return
        self._scrub_at = time.monotonic() + _SCRUB_RETRY_SECONDS
        try:
            self._vectors.scrub(self._index, wait=wait)
        except BusyError:
            return
        except (MnemarkError, OSError) as error:
            self.problem = f"sync: {error}"

    def mark_stale(self) -> None:
        """Note that a file was written: sync before the next answer."""
        self._stale_count += 1
        self._last_sync.forget()

    def facts_changed(self) -> None:
        """Note that facts changed: sync before the next answer if quick; the journal already has them."""
        self._fact_changes += 1

    def freshen(self) -> None:
        """Sync unless the index is fresh or another process is syncing."""
        if self.fresh:
            return
        try:
            # Adding vectors holds the lock briefly, so wait `_QUICK_SECONDS`; after a failure do not wait:
            # another process may be syncing for long.
            self.sync(progress=None, wait=0.0 if self.problem else _QUICK_SECONDS, embed=False)
        except (NewerFormatError, ReadOnlyError):
            raise
        except (MnemarkError, OSError) as error:  # a full disk: the answer comes from what is there
            self.problem = f"sync: {error}"
        else:
            self.problem = ""
        with suppress(*schema.UNREADABLE):  # a damaged index, a full disk: the search tells
            self._vectors.embed_soon(self._index)

    def freshen_quickly(self) -> bool:
        """Sync as `freshen`, but in the background where the last sync was slow, or makes the index anew.

        Returns:
            Whether the index is fresh now.
        """
        if self.fresh:
            return True
        if self._is_slow() or self._index.is_damaged():
            self.freshen_behind()
        else:
            self.freshen()
        return self.fresh

    def freshen_behind(self) -> None:
        """Sync in the background."""
        if self.fresh or not self._background_lock.acquire(blocking=False):
            return
        self._sync_done.clear()
        threading.Thread(target=self._freshen_and_release, name="mnemark-sync", daemon=True).start()

    def wait(self, until: float) -> bool:
        """Wait for the background sync until a monotonic time; return whether the index is fresh."""
        if not self.fresh:
            self._sync_done.wait(max(until - time.monotonic(), 0.0))
        return self.fresh

    def end(self) -> None:
        """Wait for a background sync, which ends soon after the index is closed."""
        if self._background_lock.acquire(timeout=_END_SECONDS):
            self._background_lock.release()

    def _freshen_and_release(self) -> None:
        try:
            self.freshen()
        except schema.UNREADABLE as error:
            self.problem = f"sync: {error}"
        finally:
            self._sync_done.set()
            self._background_lock.release()
