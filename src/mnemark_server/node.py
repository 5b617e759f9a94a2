"""Keep the folders of tenants on a node: made from rows when asked for, dropped by least use."""

import logging
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from mnemark.errors import MnemarkError, NotFoundError
from mnemark.files import platform, trust
from mnemark.files.config import load
from mnemark.memory.memory import Memory
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark_interfaces.http.pool import PooledWorkspace, Workspaces
from mnemark_server import packs
from mnemark_server.database import Database, Statement
from mnemark_server.followed import FollowedFolder
from mnemark_server.leases import Renewals
from mnemark_server.rows import TenantRows
from mnemark_server.scrubber import Scrubber

MOST_OPEN: Final = 256
"""Maximum number of memories of a node that are open while unused."""
MOST_FOLDERS: Final = 2_048
"""Maximum number of folders that a node keeps on its disk."""
ERASED_SECONDS: Final = 5.0
"""How often a node asks whether another has erased something of which it has a copy."""
JOURNAL: Final = "server"
"""What the journal of a tenant is called: one for all nodes, whose lines the database puts in order."""
_log = logging.getLogger("mnemark.server")


class _TenantWorkspace(PooledWorkspace):
    """An open memory of a tenant, whose index is kept when it is closed."""

    def __init__(self, node: "Tenants", root: Path, opened: Callable[[Path], Memory]) -> None:
        super().__init__(root, watching=False, allowed=(root,), open_memory=opened)
        self._node = node

    def close(self) -> None:
        """Close it, and keep its index for the next node that opens it."""
        super().close()
        self._node.pack(self.root)


class Tenants(Workspaces):
    """The memories of tenants on this node, by the tenants' numbers; each follows its rows.

    Args:
        database: where the rows are.
        home: a folder of this node alone; what an earlier process left there is removed.
        most_open: memories that stay open while unused.
        most_folders: folders that stay on the disk.
        filling: measures how long a memory takes to be there.
    """

    def __init__(
        self, database: Database, home: Path, *, most_open: int = MOST_OPEN, most_folders: int = MOST_FOLDERS,
        filling: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:  # fmt: skip
        super().__init__(most=most_open, watching=False)
        self.node = f"{platform.machine_name()}-{secrets.token_hex(4)}"
        self.evicted = 0
        self._database = database
        self._filling = filling
        self._home = home
        self._most_folders = most_folders
        self._renewals = Renewals()
        self._scrubber = Scrubber(database)
        self._stop, self._wake = threading.Event(), threading.Event()
        self._looking = threading.Thread(target=self._look, name="mnemark-erased", daemon=True)
        self._folders: dict[Path, FollowedFolder] = {}
        self._making = threading.Lock()
        _clear(home)
        self._looking.start()

    def root_of(self, folder: object) -> Path:
        """Return the folder of a tenant, named by its number; only the guard names tenants.

        Raises:
            NotFoundError: it is no number of a tenant.
        """
        if not (isinstance(folder, str) and folder.isascii() and folder.isdecimal()):
            raise NotFoundError("there is no such memory on this server")
        root = self._home / folder
        platform.make_folder(root)
        return root

    @contextmanager
    def lease(self, folder: object, *, active: bool = True) -> Iterator[PooledWorkspace]:
        """Hold a tenant's memory open, with all that was acknowledged when this is entered."""
        with super().lease(folder, active=active) as opened:
            truth = opened.memory.workspace.truth
            assert isinstance(truth, FollowedFolder)  # noqa: S101 - `make` gave it
            truth.pull()
            yield opened

    def make(self, root: Path) -> PooledWorkspace:
        """Open a tenant's memory; its folder is made from its rows if it is not here."""
        with self._filling():
            return _TenantWorkspace(self, root, self._opened)

    def pack(self, root: Path) -> None:
        """Keep what was derived of a memory that was closed, if it grew since the last time."""
        with self._making:
            folder = self._folders.get(root)
        if folder is None or folder.seq == folder.packed:
            return
        try:
            if data := packs.pack(root):
                packs.save(self._database, int(root.name), folder.seq, folder.clean, data)
            folder.packed = folder.seq
        except (MnemarkError, OSError) as error:  # it is derived again where it is needed
            _log.warning("what was derived of memory %s is not kept: %s", root.name, error)

    def _opened(self, root: Path) -> Memory:
        with self._making:
            folder = self._folders.get(root)
        if folder is None:
            _clear(root)
            rows = TenantRows(self._database, int(root.name), self.node)
            folder = FollowedFolder(root, rows, self._renewals)
            trust.trust_new(root)
            folder.rewrote = self._scrubber.want
            if packed := packs.load(self._database, rows.tenant):
                packs.unpack(root, packed)
            folder.fill()
        else:
            folder.pull()
        with self._making:
            self._folders.pop(root, None)  # the last one is the last used
            self._folders[root] = folder
            if len(self._folders) > self._most_folders:
                self._wake.set()
        return Memory(OpenWorkspace(
            root, load(root), readonly=False, embedder=None, machine=JOURNAL, truth=folder,
        ))  # fmt: skip

    def _look(self) -> None:
        while not self._stop.is_set():
            surplus = self._wake.wait(ERASED_SECONDS)
            self._wake.clear()
            try:
                if surplus:
                    self.drop_surplus()
                else:
                    self.drop_erased()
            except MnemarkError as error:  # asked again in a moment
                _log.warning("whether others erased something is not known: %s", error)

    def drop_erased(self) -> None:
        """Drop the folders from which another node erased something since they were made.

        What was derived from it, here alone, goes with them. One that is in use is dropped later.
        """
        with self._making:
            held = {int(root.name): (root, folder) for root, folder in self._folders.items()}
        if not held:
            return
        statement = Statement("SELECT tenant, erased FROM mnemark.erased_of(%s)", [list(held)])
        (found,) = self._database.read(None, statement)
        gone = [number for number, erased in found if erased > held[number][1].clean]
        for number in (*gone, *(held.keys() - {number for number, _ in found})):
            self.drop(held[number][0], self._forget_folder)

    def _forget_folder(self, root: Path) -> None:
        with self._making:
            self._folders.pop(root, None)
        shutil.rmtree(root, ignore_errors=True)

    def drop_surplus(self) -> None:
        """Remove the folders beyond the most, those unused the longest first."""
        opened = self.opened()
        with self._making:
            closed = [root for root in self._folders if root not in opened]
            surplus = len(self._folders) - self._most_folders
        for root in closed[: max(surplus, 0)]:
            self.evicted += self.drop(root, self._forget_folder)

    def folders(self) -> int:
        """Return how many folders are on the disk."""
        with self._making:
            return len(self._folders)

    def close(self) -> None:
        """Close all memories, and end the leases."""
        self._stop.set()
        self._wake.set()
        self._looking.join()
        super().close()
        self._scrubber.close()
        self._renewals.close()


def _clear(folder: Path) -> None:
    """Make a folder that is empty."""
    if folder.exists():
        shutil.rmtree(folder)
    platform.make_folder(folder)
