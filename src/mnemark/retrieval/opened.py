"""The index that a workspace is searched in: its own, a temporary one, or for now only read."""

import contextlib
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemark.embed import Embedder
from mnemark.errors import BusyError, IntegrityError, MnemarkError, ReadOnlyError, UsageError
from mnemark.facts.model import Fact
from mnemark.facts.visible import Visible
from mnemark.files import layout, links, platform
from mnemark.files.truth import ChangedFiles
from mnemark.files.workspace import Workspace
from mnemark.index.reader import Reader
from mnemark.index.store import Index
from mnemark.retrieval.embeddings import Embeddings
from mnemark.retrieval.refresh import ExternalEdits, IndexRefresher

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

_RETRY_SECONDS: Final = 5.0
"""Seconds until an index that could not be opened for writing is tried again."""
_UNSAVED: Final = "index: it cannot be saved here, so each command builds it again; make the folder writable"


class OpenedIndex:
    """An index with what reads it, embeds it and keeps it in sync with the files. Thread-safe.

    Where a full disk kept it from being opened for writing, it is opened again later: do not keep a reference
    to one of its parts.

    Args:
        workspace: the workspace; it becomes `readonly` where no index can be written.
        visible: filter of its texts.
        embedder: used instead of the configured one.
    """

    def __init__(self, workspace: Workspace, visible: Visible, embedder: Embedder | None) -> None:
        self.workspace = workspace
        self.visible = visible
        self.embedder = embedder
        self._temporary: TemporaryDirectory[str] | None = None
        self._unwritable = ""
        """Why an index in a workspace that is open for writing cannot be written."""
        self._retry_at = 0.0
        self._replacing = threading.Lock()
        self._use(self._open())
        workspace.truth.appended = self._on_appended
        workspace.truth.changed = self._on_files_changed

    def _open(self) -> Index:
        root = self.workspace.root
        try:
            return Index(root, readonly=self.workspace.readonly, visible=self.visible)
        except ReadOnlyError:
            self.workspace.readonly = True
        except (BusyError, IntegrityError, UsageError):
            raise
        except MnemarkError as error:  # a full or failing disk: what is there can still be read
            self._unwritable = str(error)
            self._retry_at = time.monotonic() + _RETRY_SECONDS
        return Index(root, readonly=True, visible=self.visible)

    def _use(self, index: Index) -> None:
        config = self.workspace.config
        self.index = index
        self.reader = Reader(index, limit=config.passage_tokens, ignore=config.ignore)
        self.embeddings = Embeddings(index.home, config, readonly=index.readonly, embedder=self.embedder)
        edits = ExternalEdits(self.workspace.journal)
        self.refresher = IndexRefresher(index, self.embeddings, config, edits)

    def _on_appended(self, path: str, size: int) -> None:
        self.reader.logs.wrote(path, size)

    def _on_files_changed(self, files: ChangedFiles) -> None:
        places = map(layout.place, files.paths)
        if all(place is not None and place.role == "fact" for place in places):
            self.refresher.facts_changed()  # the journal has what they say
        else:
            self.refresher.mark_stale()

    def stored_facts(self, path: str, data: bytes) -> tuple[Fact, ...] | None:
        """Return the facts of a file as the index has them; see `Index.facts`."""
        return self.index.facts(path, data)

    def rest(self) -> None:
        """Let go of what this thread holds of the index; see `Index.rest`."""
        self.index.rest()

    @property
    def problems(self) -> Sequence[str]:
        """Why answers may lack something, for `degraded`."""
        unsaved = "" if self._temporary is None else _UNSAVED
        unwritable = f"index: {self._unwritable}" if self._unwritable else ""
        return tuple(reason for reason in (self.refresher.problem, unsaved, unwritable) if reason)

    def writable(self) -> None:
        """Open for writing what a full disk kept from it; raise MnemarkError if it still does."""
        with self._replacing:
            self._open_again(at_once=True)
            if self._unwritable:
                raise MnemarkError(self._unwritable)

    def _open_again(self, *, at_once: bool = False) -> None:
        if self._unwritable and (at_once or time.monotonic() > self._retry_at):
            self._unwritable, before = "", self.index
            self._use(self._open())
            before.close()

    def ready(self) -> None:
        """Create a temporary index where there is none and none can be saved.

        Check again for links that lead out of the workspace: a pull may have added some since it was opened.
        """
        links.check_again(self.workspace.root)
        with self._replacing:
            self._open_again()
            if not self.index.readonly or self.index.exists():
                return
            from tempfile import TemporaryDirectory, gettempdir  # it loads `shutil`

            platform.sweep_folder(Path(gettempdir()))
            name = platform.temporary_beside(Path("index")).name
            self._temporary = TemporaryDirectory(prefix=name.rpartition("-")[0] + "-")
            self.move_to(Path(self._temporary.name))

    def move_to(self, home: Path) -> None:
        """Use the index in another folder, which is made where there is none."""
        platform.make_folder(home)
        self.index.close()
        self._use(Index(self.workspace.root, home=home, visible=self.visible))

    def discard(self, reason: str) -> None:
        """Discard a damaged index, unless it is read-only, and let a sync fill it in the background."""
        if self.index.readonly or self.refresher.syncing:
            return
        with contextlib.suppress(MnemarkError):  # another process is syncing, or the disk is full
            self.index.discard_unless_replaced(reason)
        self.refresher.mark_stale()
        self.refresher.freshen_behind()

    def close(self) -> None:
        """Close the index and its vectors; the sync in the background ends."""
        self.embeddings.close()
        self.index.close()
        self.refresher.end()
        if self._temporary is not None:
            self._temporary.cleanup()
