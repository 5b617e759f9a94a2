"""Dispatch events of a host program to hooks, isolating the host from their failures.

A hook that raises is logged and counted; one that exceeds its time limit goes on in the background, and is
skipped until it has returned.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from mnemark.errors import UsageError

HookEvent = Literal[
    "message_received", "tool_executed", "response_ready",
    "context_compressing", "session_idle", "session_end",
]  # fmt: skip
SECONDS: Final[Mapping[str, float]] = MappingProxyType({
    "message_received": 0.5,
    "tool_executed": 1.5,
    "response_ready": 1.0,
    "context_compressing": 10.0,
    "session_idle": 30.0,
    "session_end": 30.0,
})  # fmt: skip
"""Time limits of hooks in seconds, by event."""

_log = logging.getLogger("mnemark.agent")


class AgentHook:
    """A listener to an agent's events; override the methods that matter."""

    def message_received(self, said: str) -> str:  # noqa: ARG002 - for those who override it
        """Handle a person's message; the quoted block returned, if any, is put before it."""
        return ""

    def tool_executed(self, execution: Mapping[str, Any]) -> None:
        """Handle a tool call: `tool`, `arguments`, `result`, and `call`, `error`, `duration_ms` if known."""

    def response_ready(self, reply: str) -> None:
        """Handle the agent's answer."""

    def context_compressing(self) -> None:
        """Handle an upcoming compaction of the agent's context."""

    def session_idle(self) -> None:
        """Handle a pause in the session."""

    def session_end(self) -> None:
        """Handle the end of the session, which may be resumed later."""


class HookResult(NamedTuple):
    """The result of one hook."""

    hook: str
    state: Literal["done", "failed", "late", "skipped"]
    value: Any = None
    seconds: float = 0.0


class Dispatcher:
    """Call hooks on events, each on its own thread. Thread-safe."""

    def __init__(self, hooks: Sequence[AgentHook], *, seconds: Mapping[str, float] = SECONDS) -> None:
        self._runners = [_HookRunner(hook) for hook in hooks]
        self._seconds = {**SECONDS, **seconds}
        self._guard = threading.Lock()
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """Counts of hooks done, failed, late, or skipped because they were still late."""
        with self._guard:
            return dict(self._counts)

    def tell(self, event: HookEvent, *words: Any) -> list[HookResult]:
        """Call all hooks for an event, one after the other; their errors are not raised.

        Raises:
            UsageError: there is no such event.
        """
        if event not in self._seconds:
            raise UsageError(f"there is no event {event!r}; there are {', '.join(SECONDS)}")
        found = [runner.run(event, words, self._seconds[event]) for runner in self._runners]
        with self._guard:
            self._counts.update(outcome.state for outcome in found)
        return found


class _HookRunner:
    """A hook with its lock, which is held while it runs."""

    def __init__(self, hook: AgentHook) -> None:
        self._hook = hook
        self._name = type(hook).__name__
        self._busy = threading.Lock()

    def run(self, event: str, words: Sequence[Any], seconds: float) -> HookResult:
        if not self._busy.acquire(timeout=seconds):
            _log.warning("hook %s: skipped %s, it is still busy", self._name, event)
            return HookResult(self._name, "skipped")
        started = time.monotonic()
        box: list[HookResult] = []
        method = getattr(self._hook, event)
        thread = threading.Thread(
            target=self._call, args=(method, words, box), name=f"mnemark-hook-{self._name}", daemon=True
        )
        thread.start()
        thread.join(seconds)
        took = time.monotonic() - started
        if not box:
            _log.warning("hook %s: not waited for any longer after %.1f s of %s", self._name, took, event)
            return HookResult(self._name, "late", None, took)
        return box[0]._replace(seconds=took)

    def _call(self, method: Callable[..., Any], words: Sequence[Any], box: list[HookResult]) -> None:
        try:
            box.append(HookResult(self._name, "done", method(*words)))
        except (Exception, SystemExit):  # noqa: BLE001 - whatever a hook does, the agent goes on; logged and counted
            _log.exception("hook %s failed in %s", self._name, method.__name__)
            box.append(HookResult(self._name, "failed"))
        finally:
            self._busy.release()
