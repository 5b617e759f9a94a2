"""Attach memory to a host: brief and recall before a turn, record turns and tool calls, summarize at the end.

    agent = attach(memory.session("cli:main"))
    reply = model(agent.before(messages))
    agent.after(reply)

Failures are logged and counted; the host goes on as if there were no memory.
"""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from mnemark.memory.prompt.briefing import BUDGET
from mnemark.memory.sessions.session import Session
from mnemark.text.quoting.fence import all_fenced, strip_fences
from mnemark_agents.dispatch import AgentHook, Dispatcher
from mnemark_agents.hook.event import FLOOR, is_small_talk, message_text, with_block
from mnemark_agents.hook.told import told
from mnemark_agents.upkeep import start_if_due
from mnemark_agents.worker import Worker

IDLE_SECONDS: Final = 900.0

_log = logging.getLogger("mnemark.agent")


class MemoryHook(AgentHook):
    """Records a session and answers messages with a recall.

    Args:
        session: the session that turns are recorded in.
        floor: minimum `Recall.on_topic` for a recall to be returned; 0 for always.
        budget, deadline: as for `Session.recall`.
        brief: tokens of the briefing; 0 for none.
    """

    def __init__(
        self,
        session: Session,
        *,
        floor: float = FLOOR,
        budget: int | None = None,
        deadline: float | None = None,
        brief: int = BUDGET,
    ) -> None:
        self.session = session
        self._brief = brief
        self._floor = floor
        self._budget = budget
        self._deadline = deadline

    def message_received(self, said: str) -> str:
        """Record a message; return a briefing, and a recall where the message asks for something."""
        words = strip_fences(said).strip()
        if not words:
            return ""
        self.session.add("user", words)
        asks = not (self._floor and is_small_talk(words))
        found = self.session.recall(words, budget=self._budget, deadline=self._deadline) if asks else None
        session = self.session
        return told(
            session.ws, found, scope=session.scope, budget=self._budget, brief=self._brief, least=self._floor
        )

    def tool_executed(self, execution: Mapping[str, Any]) -> None:
        """Record a tool call as an observation, if it is significant."""
        self.session.observe(**execution)

    def response_ready(self, reply: str) -> None:
        """Record the answer."""
        words = strip_fences(reply).strip()
        if words:
            self.session.add("assistant", words)

    def session_idle(self) -> None:
        """Summarize the session so far; a language model reads it in the background."""
        self.session.end(wait=False)

    def session_end(self) -> None:
        """Summarize the session; a language model reads it in the background, or the next command's does."""
        self.session.end(wait=False)
        start_if_due(self.session.ws)


class Attached:
    """A host's session with its memory, made by `attach`. A context manager that ends the session."""

    def __init__(
        self, hooks: Sequence[AgentHook], *, seconds: Mapping[str, float], idle: float | None
    ) -> None:
        self._dispatcher = Dispatcher(hooks, seconds=seconds)
        self._idle = idle
        self._guard = threading.Lock()
        self._last_activity: float | None = None
        self._worker = Worker(tick=self._check_idle if idle else None)
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def counts(self) -> dict[str, int]:
        """Counts of hooks done, failed, late or skipped, and of jobs refused."""
        return {**self._dispatcher.counts, "refused": self._worker.counts.refused}

    def before(self, messages: "str | Sequence[Mapping[str, Any]]") -> list[dict[str, Any]]:
        """Put a recall before the last message, if its role is "user", and return the messages for the model.

        Args:
            messages: what the person said, or all messages (`role`, `content`) with it as the last one.

        Returns:
            A copy with the recall in the same message, before the person's words: always in the role "user".
            Unchanged where the last message has another role, or nothing is recalled.
        """
        given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        found = [dict(message) for message in given]
        if not found or found[-1].get("role") != "user":
            return found
        content = found[-1].get("content")
        said = message_text(content).strip()
        if said:
            self._note_activity()
            outcomes = self._dispatcher.tell("message_received", said)
            quoted = "\n".join(_well_quoted([outcome.value for outcome in outcomes]))
            found[-1]["content"] = with_block(quoted, content)
        return found

    def tool(self, tool: str, arguments: Any = None, result: Any = None, **about: Any) -> None:
        """Record a tool call in the background; `about` may hold `call`, `error` and `duration_ms`."""
        execution = {"tool": tool, "arguments": arguments, "result": result, **about}
        self._note_activity()
        if not self._worker.submit(lambda: self._dispatcher.tell("tool_executed", execution)):
            self._dispatcher.tell("tool_executed", execution)

    def after(self, reply: str) -> None:
        """Record the agent's answer; it is on the disk when this returns, unless the hook was late."""
        self._note_activity()
        self._dispatcher.tell("response_ready", reply)

    def compressing(self) -> None:
        """Finish recording before the host condenses its context."""
        self._worker.flush()
        self._dispatcher.tell("context_compressing")

    def end(self) -> None:
        """Finish recording and summarize the session; a second call does nothing."""
        with self._guard:
            if self._ended:
                return
            self._ended = True
        self._worker.close()
        self._dispatcher.tell("session_end")

    def _note_activity(self) -> None:
        with self._guard:
            self._last_activity = time.monotonic()

    def _check_idle(self) -> None:
        """Dispatch `session_idle` once for each pause."""
        with self._guard:
            idle = self._last_activity is not None and time.monotonic() - self._last_activity >= (
                self._idle or 0.0
            )
            if idle:
                self._last_activity = None
        if idle:
            self._dispatcher.tell("session_idle")


def attach(
    session: Session,
    *hooks: AgentHook,
    floor: float = FLOOR,
    budget: int | None = None,
    deadline: float | None = None,
    seconds: Mapping[str, float] | None = None,
    idle: float | None = IDLE_SECONDS,
    brief: int = BUDGET,
) -> Attached:
    """Attach a session of memory to a host.

    Args:
        session: the session that turns are recorded in.
        hooks: further listeners, called after memory.
        floor: minimum `Recall.on_topic` for a recall to be put before a message; 0 for always.
        budget: tokens of a recall.
        deadline: seconds a recall may take.
        seconds: time limits of hooks by event, other than `dispatch.SECONDS`.
        idle: seconds of silence after which the session is summarized; None for never.
        brief: tokens of the briefing that goes along with each message; 0 for none, as for a host that puts
            `Memory.prompt` into its requests.
    """
    memory = MemoryHook(session, floor=floor, budget=budget, deadline=deadline, brief=brief)
    return Attached([memory, *hooks], seconds=seconds or {}, idle=idle)


def _well_quoted(blocks: Sequence[Any]) -> list[str]:
    """Return the blocks with a well-formed quotation; any other could pass for the person's words."""
    kept = [block for block in blocks if isinstance(block, str) and block and all_fenced(block)]
    if len(kept) < sum(1 for block in blocks if block):
        _log.error("a recalled block with a broken quotation was dropped")
    return kept
