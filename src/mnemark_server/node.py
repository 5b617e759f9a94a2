"""Keep the folders of tenants on a node: made from rows when asked for, dropped by least use."""

import logging
import os
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from mnemark.errors import BusyError, MnemarkError, NotFoundError, UsageError
from mnemark.files import platform, trust
from mnemark.files.config import load, with_changes
from mnemark.files.disk_errors import raise_translated
from mnemark.index.adopt import adopt
from mnemark.memory.memory import Memory
from mnemark.memory.open_workspace import OpenWorkspace
from mnemark_interfaces.http.pool import PooledWorkspace, Workspaces
from mnemark_server import packs
from mnemark_server.bookkeeping import SharedState
from mnemark_server.database import Database, Statement, said
from mnemark_server.followed import FollowedFolder
from mnemark_server.leases import Renewals
from mnemark_server.repeating import Repeating
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
_MARK: Final = "mnemark-node"
"""A file that says that a folder is a node's; the node holds its lock."""
TEMPORARY: Final = "mnemark-node-"
"""How the folder of a node begins that was given none."""
_NEW_SECONDS: Final = 60.0
"""Age from which such a folder, whose node does not hold its mark, is one that was left."""
_FINISH_SECONDS: Final = 10.0
"""Seconds between attempts to finish what was interrupted."""
_GONE: Final = "gone-"
_log = logging.getLogger("mnemark.server")


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
        self._looking = Repeating("mnemark-erased", ERASED_SECONDS, self.drop_erased)
        self._folders: dict[Path, FollowedFolder] = {}
        self._users: Counter[Path] = Counter()
        """How many open memories each folder has: one that is closing may still write."""
        self._making = threading.Lock()
        self._held = ExitStack()
        self._held.enter_context(_own(home))
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
            assert isinstance(opened, _Followed)  # noqa: S101 - `make` gave it
            opened.finish()
            yield opened

    def stamp(self, root: Path) -> None:
        """Return None: nobody but this node changes a folder, and its settings are read when it is opened."""

    def make(self, root: Path) -> PooledWorkspace:
        """Open a tenant's memory; its folder is made from its rows if it is not here."""
        self._drop_folders(but=root)
        with self._filling():
            folder = self._used(root)
            try:
                return _Followed(root, folder, self._database, closed=self._ended)
            except BaseException:
                self._closed_one(root)
                raise

    def _used(self, root: Path) -> FollowedFolder:
        """Return a tenant's folder, which is in use from now on, with all that was acknowledged."""
        with self._making:
            self._users[root] += 1
            folder = self._folders.pop(root, None)
            if folder is not None:
                self._folders[root] = folder  # the last used
        try:
            if folder is not None:
                folder.pull()
                return folder
            _clear(root)
            trust.host(root)
            rows = TenantRows(self._database, int(root.name), self.node)
            folder = FollowedFolder(root, rows, self._renewals)
            folder.rewrote = self._scrubber.want
            packed, changed = packs.load(self._database, rows.tenant)
            if packed:
                packs.unpack(root, packed)
            filled = folder.fill()
            folder.as_packed = filled - changed if packed else frozenset()
        except BaseException:
            self._closed_one(root)
            raise
        with self._making:
            self._folders[root] = folder
        return folder

    def _ended(self, root: Path) -> None:
        """Keep what was derived of a memory that was closed, if it grew since the last time."""
        with self._making:
            folder = self._folders.get(root)
        try:
            if folder is not None and folder.seq != folder.packed:
                if data := packs.pack(root):
                    packs.save(self._database, int(root.name), folder.seq, folder.clean, data)
                folder.packed = folder.seq
        except (MnemarkError, OSError) as error:  # it is derived again where it is needed
            _log.warning("what was derived of memory %s is not kept: %s", root.name, said(error))
        finally:
            self._closed_one(root)

    def _closed_one(self, root: Path) -> None:
        with self._making:
            self._users[root] -= 1
            self._users += Counter()  # without those of none

    def _drop_folders(self, *, but: Path) -> None:
        """Remove the folders beyond the most that nobody has open, the least recently opened first."""
        with self._making:
            surplus = max(len(self._folders) + 1 - self._most_folders, 0)
            unused = [root for root in self._folders if root != but and not self._users[root]]
        for root in unused[:surplus]:
            self._remove(root)

    def drop_erased(self) -> None:
        """Drop folders from which another node erased something since, and those of deleted memories.

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
            self.drop(held[number][0], self._remove)

    def discard(self, tenant: int) -> None:
        """Have a tenant's folder made anew from rows when it is asked for, unless it is in use now."""
        self.drop(self._home / str(tenant), self._remove)

    def _remove(self, root: Path) -> None:
        """Remove a folder, unless a memory that is closing still has it."""
        with self._making:
            if self._users[root] or self._folders.pop(root, None) is None:
                return
            gone = root.with_name(f"{_GONE}{root.name}-{secrets.token_hex(4)}")
            platform.FS.replace(root, gone)  # it may be opened again at once
            self.evicted += 1
        shutil.rmtree(gone)

    def erasures(self) -> int:
        """Return how many erasures wait: in open memories, and for the tables to be cleared."""
        waiting = (bool(one.memory.workspace.to_finish()) for one in self.held())
        return self._scrubber.waiting + sum(waiting)

    def folders(self) -> int:
        """Return how many folders are on the disk."""
        with self._making:
            return len(self._folders)

    def close(self) -> None:
        """Close all memories, and end the leases."""
        self._looking.close()
        super().close()
        self._scrubber.close()
        self._renewals.close()
        self._held.close()


@contextmanager
def _own(home: Path) -> Iterator[None]:
    """Empty a folder and keep it for this process alone.

    Raises:
        UsageError: it has files that no node made.
        BusyError: another node has it.
    """
    try:
        platform.make_folder(home)
        if not (home / _MARK).is_file() and any(home.iterdir()):
            raise UsageError(f"{home} has other files, and a node empties its folder; name a new one")
        lock = platform.locked(home / _MARK, os.O_RDWR | os.O_CREAT, timeout=0)
        lock.__enter__()
    except OSError as error:
        raise_translated(error, home)
    except BusyError:
        raise BusyError(f"another node uses {home}; name a folder of this one alone") from None
    try:
        for one in home.iterdir():
            if one.is_dir():
                shutil.rmtree(one)
        yield
    finally:
        lock.__exit__(None, None, None)


def remove_left(within: Path) -> None:
    """Remove the temporary folders of nodes that were killed: what they hold may be erased by now."""
    for home in within.glob(f"{TEMPORARY}*"):
        try:
            mark = home / _MARK
            if not (platform.is_private(home.lstat()) and mark.lstat().st_mtime < time.time() - _NEW_SECONDS):
                continue
            with platform.locked(mark, os.O_RDWR, timeout=0):
                shutil.rmtree(home)
        except FileNotFoundError:  # it has no mark, or is gone
            continue
        except BusyError:  # its node runs
            continue
        except OSError as error:
            _log.warning(
                "the folder %s of a node that was killed cannot be removed: %s", home, error.strerror
            )


class _Followed(PooledWorkspace):
    """A tenant's open memory, which tells when it is closed: until then its folder is in use."""

    one_machine = False

    def __init__(
        self, root: Path, folder: FollowedFolder, database: Database, *, closed: Callable[[Path], None]
    ) -> None:  # fmt: skip
        def opened(_: Path) -> Memory:
            state, settings = SharedState(root, database, int(root.name)), load(root)
            if settings.llm.active:
                settings = with_changes(settings, {"llm": replace(settings.llm, **state.budget())})
            return Memory(OpenWorkspace(
                root, settings, readonly=False, embedder=None, machine=JOURNAL, truth=folder, state=state,
            ))  # fmt: skip

        super().__init__(root, watching=False, allowed=(root,), open_memory=opened)
        if folder.as_packed:
            adopt(self.memory.workspace.index, root, folder.as_packed)
            folder.as_packed = frozenset()
        self._closed = closed
        self._finish_at = 0.0
        self._finishing = threading.Lock()

    def finish(self) -> None:
        """Go on with an erasure that a lost connection or node interrupted; nothing watches a folder here."""
        if not self.memory.workspace.to_finish() or not self._finishing.acquire(blocking=False):
            return
        try:
            if time.monotonic() >= self._finish_at:
                self._finish_at = time.monotonic() + _FINISH_SECONDS
                self.memory.sync(wait=0.0)
        except MnemarkError as error:  # a later request tries again
            _log.warning("memory %s: an erasure waits (%s)", self.root.name, type(error).__name__)
        finally:
            self._finishing.release()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._closed(self.root)


def _clear(folder: Path) -> None:
    """Make a folder that is empty."""
    if folder.exists():
        shutil.rmtree(folder)
    platform.make_folder(folder)
