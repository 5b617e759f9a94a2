"""Dispatch six events of a host program to hooks, none of which can harm the agent.

A hook that raises is logged and counted; one that takes too long is not waited for, and is passed over until
it has come back. The others run, and the agent goes on.
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
"""How long each hook is waited for, by event."""

_log = logging.getLogger("mnemark.agent")


class AgentHook:
    """Something that listens to an agent: override what matters. What is raised harms nobody."""

    def message_received(self, said: str) -> str:  # noqa: ARG002 - for those who override it
        """A person has written. What is returned is put before the message: one quoted block, or nothing."""
        return ""

    def tool_executed(self, execution: Mapping[str, Any]) -> None:
        """A tool has run: `tool`, `arguments`, `result`, and `call`, `error`, `duration_ms` where known."""

    def response_ready(self, reply: str) -> None:
        """The agent has answered."""

    def context_compressing(self) -> None:
        """The agent is about to forget what was said: last chance to keep it."""

    def session_idle(self) -> None:
        """Nothing was said for a while."""

    def session_end(self) -> None:
        """The session is over. It may go on some day."""


class Outcome(NamedTuple):
    """What came of one hook."""

    hook: str
    state: Literal["done", "failed", "late", "skipped"]
    value: Any = None
    seconds: float = 0.0


class Dispatcher:
    """Tells hooks of events, each on a thread of its own. A context manager; safe to use from threads."""

    def __init__(self, hooks: Sequence[AgentHook], *, seconds: Mapping[str, float] = SECONDS) -> None:
        self._lanes = [_Lane(hook) for hook in hooks]
        self._seconds = {**SECONDS, **seconds}
        self._guard = threading.Lock()
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """How often hooks were done, failed, were late, or were skipped because they were still late."""
        with self._guard:
            return dict(self._counts)

    def tell(self, event: HookEvent, *words: Any) -> list[Outcome]:
        """Tell all hooks of an event, one after the other; never raises but for an unknown event.

        Raises:
            UsageError: there is no such event.
        """
        if event not in self._seconds:
            raise UsageError(f"there is no event {event!r}; there are {', '.join(SECONDS)}")
        found = [lane.run(event, words, self._seconds[event]) for lane in self._lanes]
        with self._guard:
            self._counts.update(outcome.state for outcome in found)
        return found


class _Lane:
    """One hook, and whether it is still busy with an earlier event."""

    def __init__(self, hook: AgentHook) -> None:
        self._hook = hook
        self._name = type(hook).__name__
        self._busy = threading.Lock()

    def run(self, event: str, words: Sequence[Any], seconds: float) -> Outcome:
        if not self._busy.acquire(timeout=seconds):
            _log.warning("hook %s: skipped %s, it is still busy", self._name, event)
            return Outcome(self._name, "skipped")
        started = time.monotonic()
        box: list[Outcome] = []
        method = getattr(self._hook, event)
        thread = threading.Thread(
            target=self._call, args=(method, words, box), name=f"mnemark-hook-{self._name}", daemon=True
        )
        thread.start()
        thread.join(seconds)
        took = time.monotonic() - started
        if not box:
            _log.warning("hook %s: not waited for any longer after %.1f s of %s", self._name, took, event)
            return Outcome(self._name, "late", None, took)
        return box[0]._replace(seconds=took)

    def _call(self, method: Callable[..., Any], words: Sequence[Any], box: list[Outcome]) -> None:
        try:
            box.append(Outcome(self._name, "done", method(*words)))
        except (Exception, SystemExit):  # noqa: BLE001 - whatever a hook does, the agent goes on; logged and counted
            _log.exception("hook %s failed in %s", self._name, method.__name__)
            box.append(Outcome(self._name, "failed"))
        finally:
            self._busy.release()
