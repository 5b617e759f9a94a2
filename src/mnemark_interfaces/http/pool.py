"""Keep a daemon's most recently used workspaces open, and sync each when its files change.

Requests run on worker threads, each workspace on its own, so that none waits for the work of another.
"""

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mnemark.errors import BusyError, MnemarkError, NotFoundError, UsageError
from mnemark.files import layout, links, trust, user_config
from mnemark.files.layout import CONFIG
from mnemark.files.platform import Identity, identity
from mnemark.files.watching import watch
from mnemark.memory.memory import Memory
from mnemark.memory.sessions.session import Session

MOST: Final = 8
"""Maximum number of workspaces that stay open while unused."""
_SESSIONS: Final = 256
"""Maximum number of cached sessions of a workspace."""
_JOIN_SECONDS: Final = 5.0
_REST: Final = 9.0
"""Pause of the watcher after a sync, as a multiple of its duration, so that constantly changing files do not
use a whole processor."""
_LONGEST_REST: Final = 1.0
"""Maximum pause in seconds, as long as the index counts as fresh after a sync."""
_LOGS_REST: Final = 2.0
"""Pause in seconds where only logs changed: searches find what was appended before a sync, too."""
THREADS: Final = 8
"""Maximum number of concurrent requests of a workspace; each thread has its own connection to an index."""
_MOST_LANES: Final = 64
"""Maximum number of lanes whose threads are kept."""

_log = logging.getLogger("mnemark.serve")
Stamp = tuple[int, int, Identity | None, Identity | None, Identity | None]


class PooledWorkspace:
    """An open workspace: its memory, its cached sessions, and the thread that watches its files."""

    one_machine = True
    """Whether its agents are on this machine."""

    def __init__(
        self, root: Path, *, watching: bool, allowed: tuple[Path, ...] = (),
        open_memory: Callable[[Path], Memory] = Memory.open,
    ) -> None:  # fmt: skip
        self.root = root
        self.stamp: Stamp | None = None
        """What its folder and settings were when it was opened."""
        self.memory = open_memory(root)
        self.memory.workspace.confined_to = allowed
        self.users = 0
        self.used = time.monotonic()
        self._sessions: OrderedDict[tuple[str | None, ...], Session] = OrderedDict()
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="mnemark-watch", daemon=True)
        if watching:
            self._watcher.start()

    def session(
        self,
        identifier: str,
        *,
        user: str | None = None,
        agent: str | None = None,
        project: str | None = None,
    ) -> Session:
        """Return the session of that id, cached with its last turns between requests."""
        key = (identifier, user, agent, project)
        with self._guard:
            if key not in self._sessions:
                self._sessions[key] = self.memory.session(identifier, user=user, agent=agent, project=project)
            self._sessions.move_to_end(key)
            while len(self._sessions) > _SESSIONS:
                self._sessions.popitem(last=False)
            return self._sessions[key]

    def close(self) -> None:
        """Stop watching and close the memory."""
        self._stop.set()
        if self._watcher.is_alive():
            self._watcher.join(_JOIN_SECONDS)
        self.memory.close()

    def _watch(self) -> None:
        try:
            if self.memory.workspace.to_finish():  # a process was killed
                self._changed(set())
            watch(self.root, stop=self._stop, on_change=self._changed, on_message=_log.warning)
        except (MnemarkError, OSError) as error:  # searches sync by themselves
            if not self._stop.is_set():
                _log.warning("%s is not watched any more: %s", self.root, error)

    def _changed(self, paths: set[str]) -> None:
        if self._stop.is_set():
            return
        only_logs = bool(paths) and all(map(_is_log, paths))
        if not only_logs:
            self.memory.workspace.searcher.refresher.mark_stale()
        started = time.monotonic()
        try:
            self.memory.sync(wait=0.0)
        except MnemarkError as error:
            # A line of a log may be another, which only a sync finds.
            self.memory.workspace.searcher.refresher.mark_stale()
            if not isinstance(error, BusyError):  # else another process is syncing
                _log.warning("%s: %s", self.root, error)
        finally:
            self.memory.workspace.index.rest()
        rest = _LOGS_REST if only_logs else min(_REST * (time.monotonic() - started), _LONGEST_REST)
        self._stop.wait(rest)


def _is_log(path: str) -> bool:
    place = layout.place(path)
    return place is not None and place.role in {"session", "journal"}


class Workspaces:
    """An LRU pool of open workspaces."""

    def __init__(self, *, allowed: tuple[Path, ...] = (), most: int = MOST, watching: bool = True) -> None:
        self._allowed = tuple(path.resolve() for path in allowed)
        self._most = most
        self._watching = watching
        self._open: OrderedDict[Path, PooledWorkspace] = OrderedDict()
        self._guard = threading.Lock()
        self._opening: dict[Path, threading.Lock] = {}
        self._closed = False

    @property
    def confined(self) -> bool:
        """Whether only some folders may be opened."""
        return bool(self._allowed)

    def root_of(self, folder: object) -> Path:
        """Return the workspace folder that a request names, if it may be opened.

        Raises:
            UsageError: it is not an absolute path, contains `..`, or is outside of the folders of `--allow`.
            NotFoundError: there is no such folder; a daemon creates none.
        """
        if not isinstance(folder, str) or not folder:
            raise UsageError('give a workspace: {"workspace": "/home/me/agent", ...}')
        path = Path(folder)
        if "\0" in folder or ".." in path.parts or not path.is_absolute() or path == Path(path.anchor):
            raise UsageError(f"the workspace must be an absolute path, not {folder!r}")
        root = path.resolve()
        if self._allowed and not any(root.is_relative_to(allowed) for allowed in self._allowed):
            raise UsageError(
                f"{folder!r} is outside the folders that this daemon may open (see `mnemark serve --allow`)"
            )
        if not root.is_dir():
            raise NotFoundError(f"the folder {folder} does not exist; create it with `mnemark init {folder}`")
        return root

    @contextmanager
    def memory(self, folder: object, *, active: bool = True) -> Iterator[Memory]:
        """Hold the memory of a workspace open, as `lease`."""
        with self.lease(folder, active=active) as opened:
            yield opened.memory

    @contextmanager
    def lease(self, folder: object, *, active: bool = True) -> Iterator[PooledWorkspace]:
        """Hold a workspace open for the length of the block; it counts as used if `active`."""
        root = self.root_of(folder)
        links.check_again(root)
        opened = self._acquire(root)
        try:
            yield opened
        finally:
            opened.memory.workspace.index.rest()  # this thread serves other workspaces, too
            if active:
                opened.used = time.monotonic()
            with self._guard:
                opened.users -= 1
            self._trim()

    def _acquire(self, root: Path) -> PooledWorkspace:
        with self._guard:
            gate = self._opening.setdefault(root, threading.Lock())
        with gate:
            stamp = self.stamp(root)
            with self._guard:
                found = self._open.get(root)
                # A workspace in use with changed settings is shared; the first request after that reopens it.
                if found is not None and (found.stamp == stamp or found.users):
                    self._open.move_to_end(root)
                    found.users += 1
                    return found
                if found is not None:
                    del self._open[root]  # its settings were changed, or it is another folder by now
            if found is not None:
                found.close()
            return self._open_new(root, stamp)

    def _open_new(self, root: Path, stamp: Stamp | None) -> PooledWorkspace:
        opened = self.make(root)
        opened.stamp = stamp  # of before: what changed meanwhile is another
        opened.users = 1
        with self._guard:
            if not self._closed:
                self._open[root] = opened
                return opened
        opened.close()
        raise BusyError("the daemon is shutting down; try again")

    def stamp(self, root: Path) -> Stamp | None:
        """Return what tells whether a workspace has to be opened again; None where nobody else changes it."""
        return _stamp(root)

    def make(self, root: Path) -> PooledWorkspace:
        """Open a workspace."""
        return PooledWorkspace(root, watching=self._watching, allowed=self._allowed)

    def _trim(self) -> None:
        """Close the least recently used workspaces beyond `most`, while this request goes on."""
        with self._guard:
            surplus = max(len(self._open) - self._most, 0)
            idle = [root for root, one in self._open.items() if not one.users][:surplus]
            closing = [self._open.pop(root) for root in idle]
        for opened in closing:
            threading.Thread(target=opened.close, name="mnemark-close").start()

    def drop(self, root: Path, then: Callable[[Path], None]) -> bool:
        """Close a workspace, and do something before it can be opened again; False where it is in use."""
        with self._guard:
            gate = self._opening.setdefault(root, threading.Lock())
        with gate:
            with self._guard:
                found = self._open.get(root)
                if found is not None and found.users:
                    return False
                self._open.pop(root, None)
            if found is not None:
                found.close()
            then(root)
            return True

    def unused(self, seconds: float) -> list[Path]:
        """Return the workspaces unused for at least `seconds`."""
        now = time.monotonic()
        with self._guard:
            return [r for r, one in self._open.items() if not one.users and now - one.used >= seconds]

    def opened(self) -> list[Path]:
        """Return the open workspaces, the last used first."""
        with self._guard:
            return list(self._open)[::-1]

    def held(self) -> list[PooledWorkspace]:
        """Return what is open."""
        with self._guard:
            return list(self._open.values())

    def count(self) -> int:
        """Return the number of open workspaces."""
        with self._guard:
            return len(self._open)

    def close(self) -> None:
        """Close all workspaces, once no request runs any more."""
        with self._guard:
            self._closed = True
            found = list(self._open.values())
            self._open.clear()
        for opened in found:
            opened.close()


def _stamp(root: Path) -> Stamp:
    """Return the identity of a folder, of its configuration file, of the user's own, and of its trust."""
    state = root.stat()
    settings = identity(root / CONFIG), identity(user_config.path()), identity(trust.entry_of(root))
    return state.st_dev, state.st_ino, *settings


class _Lane:
    """The threads of a workspace, and how many of its requests are waiting or running."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="mnemark-request")
        self.requests = 0


class Lanes:
    """Worker threads by the workspace that a request names, as it spells it. Thread-safe.

    A request that hangs (a folder on a dead network disk), and a workspace that is asked much, fill only
    their own lane.
    """

    def __init__(self) -> None:
        self._lanes: OrderedDict[str, _Lane] = OrderedDict()
        self._guard = threading.Lock()

    async def run(self, workspace: object, job: Callable[[], Any]) -> Any:
        """Run a job of a workspace on one of its threads; `workspace` is as the request names it."""
        lane = self._entered(workspace if isinstance(workspace, str) else "")
        try:
            return await asyncio.get_running_loop().run_in_executor(lane.threads, job)
        finally:
            self._leave(lane)

    def close(self) -> None:
        """Drop the requests that are not running, and wait for the others."""
        with self._guard:
            lanes = list(self._lanes.values())
            self._lanes.clear()
        for lane in lanes:
            lane.threads.shutdown(wait=False, cancel_futures=True)
        for lane in lanes:
            lane.threads.shutdown(wait=True)

    def _entered(self, name: str) -> _Lane:
        with self._guard:
            lane = self._lanes.setdefault(name, _Lane())
            self._lanes.move_to_end(name)
            lane.requests += 1
            return lane

    def _leave(self, lane: _Lane) -> None:
        """Note the end of a request, and drop idle lanes beyond `_MOST_LANES`, the oldest first."""
        with self._guard:
            lane.requests -= 1
            surplus = max(len(self._lanes) - _MOST_LANES, 0)
            idle = [name for name, one in self._lanes.items() if not one.requests][:surplus]
            dropped = [self._lanes.pop(name) for name in idle]
        for one in dropped:
            one.threads.shutdown(wait=False)
