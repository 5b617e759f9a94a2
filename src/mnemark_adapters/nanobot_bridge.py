"""Recall before a nanobot turn and record it afterwards, in nanobot's process, without raising to the agent.

Nothing of nanobot is imported: `mnemark_adapters.nanobot`, which nanobot loads, passes plain values. A
workspace is opened on its own thread; a turn waits for it `LIMIT` seconds at most.
"""

import asyncio
import atexit
import contextlib
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemark.errors import MnemarkError, UsageError
from mnemark.files.config import load
from mnemark.files.sessions import CONTEXT, WINDOW
from mnemark.text.quoting.fence import strip_fences
from mnemark_adapters.host_model import Ask, use_host_model
from mnemark_adapters.nanobot_turns import HISTORY, executions, history, is_skipped, turns
from mnemark_agents import daemon
from mnemark_agents.hook.told import get_ready, told
from mnemark_agents.upkeep import start_if_due
from mnemark_agents.worker import Worker

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark.memory.sessions.session import Session
    from mnemark.types import Turn

LIMIT: Final = 0.15
"""Seconds that a turn waits for a recall, if `recall_deadline_ms` of the workspace cannot be read."""
START: Final = 10.0
"""Seconds at most that nanobot's start (never a turn) waits for the workspace to be loaded, which takes half
a second on an idle machine: a process that answers one message (`nanobot agent -m`) would end before that."""
MOUNT: Final = "nanobot"
"""The name of the mount with nanobot's own memory files."""
_RETRY_SECONDS: Final = 30.0
"""Seconds before opening a workspace is retried."""
_PATIENCE: Final = 20.0
"""Seconds that background work waits for the workspace to be open."""
_IDLE: Final = 900.0
_LAST_TURNS: Final = 200
"""Number of last turns that new ones are compared with."""

_log = logging.getLogger("mnemark.agent")


class RecallRequest(NamedTuple):
    """A turn to recall for."""

    session: str
    text: str
    seen: int = 0
    """Turns of the session that are in the model's context."""


def root_for(home: Path, given: str | None) -> Path | None:
    """Return mnemark's workspace for a workspace of nanobot, or None.

    Args:
        home: nanobot's workspace, such as `~/.nanobot/workspace`.
        given: the value of MNEMARK_WORKSPACE; by default the folder `mnemark` beside `home`.

    Raises:
        UsageError: one of the two workspaces lies in the other.
    """
    home = home.expanduser().absolute()
    root = Path(given).expanduser().absolute() if given else home.parent / "mnemark"
    if not given and not (root / "mnemark.toml").is_file():
        return None
    if root == home or root in home.parents or home in root.parents:
        raise UsageError(
            f"{root} and nanobot's workspace {home} lie in each other; set MNEMARK_WORKSPACE to a folder "
            "of its own, as nanobot moves session files out of its workspace"
        )
    return root


class Bridge:
    """A workspace in a nanobot process. Thread-safe; `close` may be called twice.

    Args:
        root: the workspace; created if missing.
        home: nanobot's workspace, whose `memory/` is searched too and never written.
        limit: seconds that a turn waits for a recall; by default `recall_deadline_ms` (150) of the workspace.
        idle: seconds of silence after which a session is summarized.
    """

    def __init__(self, root: Path, home: Path, *, limit: float | None = None, idle: float = _IDLE) -> None:
        self.root = root
        self.home = home
        self._limit = _limit_of(root) if limit is None else limit
        self._idle = idle
        self._guard = threading.Lock()
        self._opening = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._logged: set[str] = set()
        self._opened = threading.Event()
        self._loaded = threading.Event()
        self._problem = ""
        self._tried = 0.0
        self._memory: Memory | None = None
        self._tool_memory: Memory | None = None
        self._sessions: dict[str, Session] = {}
        self._last_activity: dict[str, float] = {}
        self._busy = threading.Lock()
        self.closed = False
        self.ask: Ask | None = None
        """Asks nanobot's own model; None before a turn, or where it is not offered."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """Nanobot's loop, on which that runs."""
        self._worker = Worker("mnemark-nanobot", tick=self._end_idle_sessions)
        atexit.register(self.close)
        self._start_opening()

    @property
    def counts(self) -> dict[str, int]:
        """Counts of recalls `given`, `silent`, `late`, `busy` or `failed`, and of turns `kept` and `lost`."""
        with self._guard:
            return dict(self._counts)

    def ready(self, seconds: float | None = None) -> bool:
        """Wait until the workspace is loaded; False after `seconds` (by default `START`) or on failure."""
        wait = max(START, self._limit) if seconds is None else seconds
        return self._loaded.wait(wait) and not self._problem

    async def recall(self, request: RecallRequest) -> str:
        """Return the recall for a turn within the limit, possibly empty; never raise."""
        if not self._busy.acquire(blocking=False):
            self._count("busy")  # an earlier recall still runs: do not start a second thread
            return ""
        loop = self.loop = asyncio.get_running_loop()
        done: asyncio.Future[str] = loop.create_future()

        def run() -> None:
            try:
                text = self._recall(request, time.monotonic() + self._limit)
            except Exception as error:  # noqa: BLE001 - the turn goes on; counted and logged
                self._failed("recall", error)
                text = ""
            finally:
                self._busy.release()
            try:
                loop.call_soon_threadsafe(_settle, done, text)
            except RuntimeError:  # the loop is closed
                _log.debug("a recall came after the end")

        threading.Thread(target=run, name="mnemark-recall", daemon=True).start()
        try:
            text = await asyncio.wait_for(done, self._limit)
        except TimeoutError:
            self._count("late")
            return ""
        self._count("given" if text else "silent")
        return text

    def keep(self, key: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Record a turn's messages (as nanobot stores them, without its own context) in the background."""
        if is_skipped(key) or not messages or self.closed:
            return
        found = [dict(message) for message in messages]
        self._last_activity[key] = time.monotonic()
        if not self._worker.submit(lambda: self._keep(key, found), patience=0.0):
            self._keep(key, found)

    def tools(self) -> "Memory":
        """Return the memory for tools, with nanobot's own memory files mounted.

        Raises:
            MnemarkError: the workspace cannot be opened.
        """
        self._wait(_PATIENCE)
        with self._opening:
            if self._tool_memory is None:
                self._tool_memory = self._open(mounted=True)
            return self._tool_memory

    def flush(self) -> bool:
        """Wait until all queued turns are recorded."""
        return self._worker.flush()

    def close(self) -> None:
        """Finish recording and close the workspace."""
        with self._guard:
            if self.closed:
                return
            self.closed = True
        self._opened.wait(_PATIENCE)
        left = self._worker.close()
        if left:
            self._count("lost", left)
        if self._last_activity and self._memory is not None:  # `nanobot agent -m` ends before they are idle
            words = ["-P", "-m", "mnemark_agents.hook.background", str(self.root), *self._last_activity]
            with contextlib.suppress(OSError):
                daemon.spawn(words)
        for memory in (self._tool_memory, self._memory):
            if memory is not None:
                memory.close()
        atexit.unregister(self.close)

    def _open(self, *, mounted: bool) -> "Memory":
        from mnemark.memory.memory import Memory

        memory = Memory.open(self.root, trusted=True)  # the settings of nanobot name it
        folder = self.home / "memory"
        if not mounted or not folder.is_dir() or MOUNT in memory.config.mounts:
            return memory
        # nanobot puts these files into each prompt itself, so only tools search them.
        mounts = {**memory.config.mounts, MOUNT: str(folder)}
        memory.close()
        return Memory.open(self.root, config={"mounts": mounts}, trusted=True)

    def _start_opening(self) -> None:
        """Start a thread that opens and loads the workspace."""
        self._tried = time.monotonic()
        self._opened.clear()
        self._loaded.clear()
        threading.Thread(target=self._warm, name="mnemark-open", daemon=True).start()

    def _warm(self) -> None:
        try:
            self._memory = self._open(mounted=False)
            self._problem = ""
        except Exception as error:  # noqa: BLE001 - the agent goes on without a memory; counted and told
            self._problem = str(error) or type(error).__name__
            self._failed("open", error)
        finally:
            self._opened.set()
        try:
            if self._memory is not None:
                self._memory.sync()
                get_ready(self._memory)
                self._worker.submit(self._record_history, patience=0.0)
        except Exception as error:  # noqa: BLE001 - a recall may still find something; counted and told
            self._failed("sync", error)
        finally:
            self._loaded.set()

    def _wait(self, seconds: float) -> "Memory":
        """Wait for the memory to be open and return it; raise MnemarkError after `seconds` or on failure."""
        if self._problem and time.monotonic() - self._tried > _RETRY_SECONDS:
            self._start_opening()
        if not self._opened.wait(max(seconds, 0.0)):
            raise MnemarkError("the workspace is still being opened")
        if self._memory is None:
            raise MnemarkError(f"memory is off: {self._problem}")
        return self._memory

    def _recall(self, request: RecallRequest, until: float) -> str:
        words = strip_fences(request.text).strip()
        if not words or is_skipped(request.session):
            return ""
        memory = self._wait(until - time.monotonic())
        session = self._session(memory, request.session)
        placed = deque(session.log.turns(), maxlen=min(request.seen, WINDOW)) if request.seen else deque()
        found = memory.recall(
            words,
            deadline=max(until - time.monotonic() - 0.01, 0.01),
            context=[one.turn.content for one in list(placed)[-CONTEXT:]],
            exclude=((session.path, placed[0].line),) if placed else (),
        )
        return told(memory.workspace, found)

    def _session(self, memory: "Memory", key: str) -> "Session":
        with self._guard:
            if key not in self._sessions:
                self._sessions[key] = memory.session(key)
            return self._sessions[key]

    def _keep(self, key: str, messages: Sequence[Mapping[str, Any]]) -> None:
        try:
            session = self._session(self._wait(_PATIENCE), key)
            seen = session.log.last(_LAST_TURNS) if session.log.path.exists() else []
            known = {turn.id for turn in seen}
            new = [turn for turn in turns(key, messages) if turn.id not in known]
            session.add_many(new)
            for execution in executions(messages):
                session.observe(**execution)
        except Exception as error:  # noqa: BLE001 - the agent goes on; counted and told
            self._failed("capture", error)
            self._count("lost", len(messages))
        else:
            self._count("kept", len(new))

    def _record_history(self) -> None:
        """Record nanobot's condensed history; its file is only read."""
        try:
            session = self._session(self._wait(_PATIENCE), HISTORY)
            last: list[Turn] = session.log.last(1) if session.log.path.exists() else []
            session.add_many(history(self.home / "memory" / "history.jsonl", last[0] if last else None))
        except Exception as error:  # noqa: BLE001 - the agent goes on; counted and told
            self._failed("history", error)

    def _end_idle_sessions(self) -> None:
        """End the sessions that have been silent for `idle` seconds."""
        now = time.monotonic()
        for key in [key for key, at in list(self._last_activity.items()) if now - at >= self._idle]:
            self._last_activity.pop(key, None)
            try:
                memory = self._wait(0.0)
                use_host_model(memory, self.ask, self.loop)
                self._session(memory, key).end(wait=False)
                start_if_due(memory.workspace)
            except Exception as error:  # noqa: BLE001 - the agent goes on; counted and told
                self._failed("summary", error)

    def _failed(self, what: str, error: Exception) -> None:
        """Count a failure and log a warning once per message, so that the log is not flooded."""
        self._count("failed")
        message = f"{what}: {error}"
        with self._guard:
            new = message not in self._logged
            self._logged.add(message)
        level = logging.WARNING if new and len(self._logged) <= 5 else logging.DEBUG
        _log.log(level, "mnemark: %s", message, exc_info=None if isinstance(error, MnemarkError) else error)

    def _count(self, what: str, number: int = 1) -> None:
        with self._guard:
            self._counts[what] += number


def _limit_of(root: Path) -> float:
    try:
        return load(root).recall_deadline_ms / 1000
    except (MnemarkError, OSError):  # opening the workspace raises it again, and logs it
        return LIMIT


def _settle(done: "asyncio.Future[str]", text: str) -> None:
    if not done.done():
        done.set_result(text)


_bridges: dict[tuple[Path, Path], Bridge] = {}
_making = threading.Lock()


def bridge(root: Path, home: Path) -> Bridge:
    """Return the bridge of this process for a workspace."""
    with _making:
        found = _bridges.get((root, home))
        if found is None or found.closed:
            found = _bridges[(root, home)] = Bridge(root, home)
        return found
