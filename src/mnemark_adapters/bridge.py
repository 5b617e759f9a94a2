"""Keep a workspace open in a host's process: recall before a turn, record after it, never raise to the host.

A workspace is opened on its own thread. A turn waits for a recall `recall_deadline_ms` at most; what comes
later is left out. Recording runs in the background, in order. What fails is counted, and logged once.
"""

import asyncio
import atexit
import contextlib
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemark.errors import MnemarkError
from mnemark.files.config import load
from mnemark.files.scopes import scope_name
from mnemark.files.sessions import CONTEXT, WINDOW
from mnemark.text.quoting.fence import strip_fences
from mnemark_adapters.host_model import Ask, use_host_model
from mnemark_agents import daemon
from mnemark_agents.hook.told import get_ready, told
from mnemark_agents.upkeep import start_if_due
from mnemark_agents.worker import Worker
from mnemark_interfaces.tools_run import call

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark.memory.sessions.session import Session

LIMIT: Final = 0.15
"""Seconds that a turn waits for a recall, if `recall_deadline_ms` of the workspace cannot be read."""
START: Final = 10.0
"""Seconds at most that a host's start (never a turn) waits for the workspace to be loaded, which takes half a
second on an idle machine: a process that answers one message would end before that."""
IDLE: Final = 900.0
"""Seconds of silence after which a session is summarized."""
PATIENCE: Final = 20.0
"""Seconds that background work waits for the workspace to be open."""
_SHARE: Final = 0.85
"""How much of a turn's time is the search's; the rest is for the briefing and the block, without which all of
it would come too late."""
_RETRY_SECONDS: Final = 30.0
"""Seconds before opening a workspace is retried."""

_log = logging.getLogger("mnemark.agent")


class Where(NamedTuple):
    """A session, and whose memory it is."""

    session: str
    user: str | None = None
    agent: str | None = None

    @property
    def scope(self) -> str:
        """The scope, empty for the root."""
        return scope_name(user=self.user, agent=self.agent)

    def __str__(self) -> str:
        """Return it as `mnemark_agents.hook.background` takes it."""
        return f"{self.scope}\t{self.session}" if self.scope or "\t" in self.session else self.session


class RecallRequest(NamedTuple):
    """A turn to recall for."""

    where: Where
    text: str
    seen: int = 0
    """Turns of the session that are in the model's context."""


class Bridge:
    """A workspace in a host's process. Thread-safe; `close` may be called twice.

    Args:
        root: the workspace; created if missing.
        limit: seconds that a turn waits for a recall; by default `recall_deadline_ms` (150) of the workspace.
        idle: seconds of silence after which a session is summarized.
        budget: tokens of a recall; as configured by default.
        width: recalls that may run at once; one more is answered with nothing.
    """

    def __init__(
        self,
        root: Path,
        *,
        limit: float | None = None,
        idle: float = IDLE,
        budget: int | None = None,
        width: int = 1,
    ) -> None:
        self.root = root
        self._limit = _limit_of(root) if limit is None else limit
        self._idle = idle
        self._budget = budget
        self._room = threading.BoundedSemaphore(width)
        self._guard = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._logged: set[str] = set()
        self._opened = threading.Event()
        self._loaded = threading.Event()
        self._problem = ""
        self._tried = 0.0
        self._memory: Memory | None = None
        self._sessions: dict[Where, Session] = {}
        self._last_activity: dict[Where, float] = {}
        self.closed = False
        self.ask: Ask | None = None
        """Asks the host's own model; None before a turn, or where it is not offered."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """The host's loop, on which that runs."""
        self._worker = Worker("mnemark-host", tick=self._end_idle_sessions)
        atexit.register(self.close)
        self._start_opening()

    @property
    def name(self) -> str:
        """Which memory it is."""
        return str(self.root)

    @property
    def counts(self) -> dict[str, int]:
        """Counts of recalls `given`, `silent`, `late`, `busy` or `failed`, and of turns `kept` and `lost`."""
        with self._guard:
            return dict(self._counts)

    def ready(self, seconds: float | None = None) -> bool:
        """Wait until the workspace is loaded; False after `seconds` or on failure.

        By default it waits until `START` seconds after opening began: who comes later waits for nothing.
        """
        wait = self._tried + max(START, self._limit) - time.monotonic() if seconds is None else seconds
        return self._loaded.wait(max(wait, 0.0)) and not self._problem

    async def recall(self, request: RecallRequest) -> str:
        """Return the recall for a turn within the limit, possibly empty; never raise."""
        self.loop = asyncio.get_running_loop()
        answer = self._start_recall(request)
        try:
            text = await asyncio.wait_for(asyncio.wrap_future(answer), self._limit)
        except TimeoutError:
            self._count("late")
            return ""
        return self._counted(text)

    def recall_blocking(self, request: RecallRequest) -> str:
        """Return the same where there is no event loop."""
        try:
            text = self._start_recall(request).result(self._limit)
        except TimeoutError:
            self._count("late")
            return ""
        return self._counted(text)

    def keep(self, where: Where, role: str, text: str) -> None:
        """Record what was said, without recalled blocks, in the background."""
        words = strip_fences(text).strip()
        if words:
            self._later(where, lambda session: [session.add(role, words)])

    def tools(self) -> "Memory":
        """Return the memory for tools.

        Raises:
            MnemarkError: the workspace cannot be opened.
        """
        return self._wait(PATIENCE)

    def call(self, tool: str, given: Mapping[str, Any], *, bound: str = "") -> dict[str, Any]:
        """Run a memory tool; see `tools_run.call`. Raises MnemarkError where there is no memory."""
        return call(self.tools(), tool, given, bound=bound)

    def flush(self) -> bool:
        """Wait until all queued turns are recorded."""
        return self._worker.flush()

    def close(self) -> None:
        """Finish recording and close the workspace."""
        with self._guard:
            if self.closed:
                return
            self.closed = True
        self._opened.wait(PATIENCE)
        left = self._worker.close()
        if left:
            self._count("lost", left)
        if self._last_activity and self._memory is not None:  # a short process ends before they are idle
            self._end_behind(list(self._last_activity))
        for memory in self._memories():
            memory.close()
        atexit.unregister(self.close)

    def _end_behind(self, sessions: Sequence[Where]) -> None:
        """Have sessions summarized after this process."""
        words = ["-P", "-m", "mnemark_agents.hook.background", str(self.root)]
        with contextlib.suppress(OSError):
            daemon.spawn([*words, *map(str, sessions)])

    def _memories(self) -> "list[Memory]":
        """Return all that are open."""
        return [] if self._memory is None else [self._memory]

    def _open(self, **settings: Any) -> "Memory":
        from mnemark.memory.memory import Memory

        return Memory.open(self.root, config=settings, trusted=True)  # the host's settings name it

    def _start_opening(self) -> None:
        """Start a thread that opens and loads the workspace."""
        self._tried = time.monotonic()
        self._opened.clear()
        threading.Thread(target=self._warm, name="mnemark-open", daemon=True).start()

    def _warm(self) -> None:
        try:
            self._memory = self._open()
            self._problem = ""
        except Exception as error:  # noqa: BLE001 - the agent goes on without a memory; counted and told
            self._problem = str(error) or type(error).__name__
            self._failed("open", error)
        finally:
            self._opened.set()
        try:
            if self._memory is not None:
                self._load(self._memory)
                self._was_loaded()
        except Exception as error:  # noqa: BLE001 - a recall may still find something; counted and told
            self._failed("sync", error)
        finally:
            self._loaded.set()

    def _load(self, memory: "Memory") -> None:
        """Load what a first turn needs."""
        memory.sync()
        get_ready(memory)

    def _was_loaded(self) -> None:
        """Do what a host wants once the workspace is loaded."""

    def _wait(self, seconds: float) -> "Memory":
        """Wait for the memory to be open and return it; raise MnemarkError after `seconds` or on failure."""
        if self._problem and time.monotonic() - self._tried > _RETRY_SECONDS:
            self._start_opening()
        if not self._opened.wait(max(seconds, 0.0)):
            raise MnemarkError("the workspace is still being opened")
        if self._memory is None:
            raise MnemarkError(f"memory is off: {self._problem}")
        return self._memory

    def _start_recall(self, request: RecallRequest) -> "Future[str | None]":
        """Start a recall on a thread; its answer is None where as many run as may."""
        answer: Future[str | None] = Future()
        if not self._room.acquire(blocking=False):
            self._count("busy")
            answer.set_result(None)
            return answer
        answer.set_running_or_notify_cancel()  # who no longer waits cannot cancel it
        until = time.monotonic() + self._limit

        def run() -> None:
            try:
                text = self._recall(request, until)
            except Exception as error:  # noqa: BLE001 - the turn goes on; counted and logged
                self._failed("recall", error)
                text = ""
            finally:
                self._room.release()
            answer.set_result(text)

        threading.Thread(target=run, name="mnemark-recall", daemon=True).start()
        return answer

    def _counted(self, text: str | None) -> str:
        if text is not None:
            self._count("given" if text else "silent")
        return text or ""

    def _recall(self, request: RecallRequest, until: float) -> str:
        words = strip_fences(request.text).strip()
        if not words:
            return ""
        memory = self._wait(until - time.monotonic())
        session = self._session(memory, request.where)
        placed = deque(session.log.turns(), maxlen=min(request.seen, WINDOW)) if request.seen else deque()
        found = memory.recall(
            words,
            deadline=max((until - time.monotonic()) * _SHARE, 0.01),
            budget=self._budget,
            scope=session.scope or None,
            context=[one.turn.content for one in list(placed)[-CONTEXT:]],
            exclude=((session.path, placed[0].line),) if placed else (),
        )
        return told(memory.workspace, found, scope=session.scope, budget=self._budget)

    def _session(self, memory: "Memory", where: Where) -> "Session":
        with self._guard:
            if where not in self._sessions:
                self._sessions[where] = memory.session(where.session, user=where.user, agent=where.agent)
            return self._sessions[where]

    def _later(self, where: Where, record: "Callable[[Session], list[Any]]", number: int = 1) -> None:
        """Record turns, of which there are `number`, in the background; `record` returns those written."""
        self._last_activity[where] = time.monotonic()

        def job() -> None:
            try:
                kept = record(self._session(self._wait(PATIENCE), where))
            except Exception as error:  # noqa: BLE001 - the agent goes on; counted and told
                self._failed("capture", error)
                self._count("lost", number)
            else:
                self._count("kept", len(kept))

        if not self._worker.submit(job, patience=0.0):
            job()

    def _end_idle_sessions(self) -> None:
        """End the sessions that have been silent for `idle` seconds."""
        now = time.monotonic()
        for where in [one for one, at in list(self._last_activity.items()) if now - at >= self._idle]:
            self._last_activity.pop(where, None)
            try:
                self._end(self._wait(0.0), where)
            except Exception as error:  # noqa: BLE001 - the agent goes on; counted and told
                self._failed("summary", error)
            finally:
                with self._guard:  # a host with many conversations runs for months
                    self._sessions.pop(where, None)

    def _end(self, memory: "Memory", where: Where) -> None:
        """Summarize a session."""
        use_host_model(memory, self.ask, self.loop)
        self._session(memory, where).end(wait=False)
        start_if_due(memory.workspace)

    def _failed(self, what: str, error: Exception) -> None:
        """Count a failure and log a warning once per message, so that the log is not flooded."""
        self._count("failed")
        message = f"{what}: {error}"
        with self._guard:
            new = message not in self._logged and (what == "open" or not self._problem)
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
