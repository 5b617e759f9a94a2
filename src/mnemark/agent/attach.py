"""Attach memory to a host in three lines: recall before a turn, observe, journal, summarize at the end.

    agent = attach(memory.session("cli:main"))
    reply = model(agent.before(messages))
    agent.after(reply)

What fails is logged and counted; the host goes on as if there were no memory.
"""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from mnemark.agent.dispatch import AgentHook, Dispatcher, HookEvent
from mnemark.agent.hook.event import FLOOR
from mnemark.agent.worker import Worker
from mnemark.memory.sessions.session import Session
from mnemark.text.quoting.fence import check_fenced, strip_fences

IDLE_SECONDS: Final = 900.0

_log = logging.getLogger("mnemark.agent")


class MemoryHook(AgentHook):
    """Keeps a session, and answers with what memory has to say.

    Args:
        session: where turns go.
        floor: `Recall.believable` from which on a recall is worth its tokens; 0 for always.
        budget, deadline: as for `Session.recall`.
    """

    def __init__(
        self,
        session: Session,
        *,
        floor: float = FLOOR,
        budget: int | None = None,
        deadline: float | None = None,
    ) -> None:
        self.session = session
        self._floor = floor
        self._budget = budget
        self._deadline = deadline

    def message_received(self, said: str) -> str:
        """Keep what was said, then recall."""
        words = strip_fences(said).strip()
        if not words:
            return ""
        self.session.add("user", words)
        found = self.session.recall(words, budget=self._budget, deadline=self._deadline)
        return found.text if found.believable >= self._floor else ""

    def tool_executed(self, execution: Mapping[str, Any]) -> None:
        """Keep it as an observation, where it matters."""
        self.session.observe(**execution)

    def response_ready(self, reply: str) -> None:
        """Keep the answer."""
        words = strip_fences(reply).strip()
        if words:
            self.session.add("assistant", words)

    def session_idle(self) -> None:
        """Write down what the session came to, as far as it went."""
        self.session.end()

    def session_end(self) -> None:
        """Write down what the session came to."""
        self.session.end()


class Attached:
    """A host's session with its memory; made by `attach`. A context manager that ends the session."""

    def __init__(
        self, hooks: Sequence[AgentHook], *, seconds: Mapping[str, float], idle: float | None
    ) -> None:
        self._dispatcher = Dispatcher(hooks, seconds=seconds)
        self._idle = idle
        self._guard = threading.Lock()
        self._spoken: float | None = None
        self._worker = Worker(tick=self._look if idle else None)
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def counts(self) -> dict[str, int]:
        """How often hooks were done, failed, late or skipped, and jobs refused."""
        return {**self._dispatcher.counts, "refused": self._worker.counts.refused}

    def before(self, messages: "str | Sequence[Mapping[str, Any]]") -> list[dict[str, Any]]:
        """The messages with what memory has to say, before they go to the model.

        Args:
            messages: what the person said, or all messages (`role`, `content`) with it as the last one.

        Returns:
            A copy in which the recall stands before the person's words, in the same message: the role is
            "user" and never another. Unchanged where the last message is no person's, or nothing is known.
        """
        given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        found = [dict(message) for message in given]
        if not found or found[-1].get("role") != "user":
            return found
        said = _words(found[-1].get("content"))
        if said:
            self._note_spoken()
            blocks = [outcome.value for outcome in self._dispatcher.tell("message_received", said)]
            found[-1]["content"] = _with(found[-1].get("content"), _sound(blocks))
        return found

    def tool(self, tool: str, arguments: Any = None, result: Any = None, **about: Any) -> None:
        """A tool has run; `about` may hold `call`, `error` and `duration_ms`. Nobody waits for it."""
        execution = {"tool": tool, "arguments": arguments, "result": result, **about}
        self._note_spoken()
        self._queue("tool_executed", execution)

    def after(self, reply: str) -> None:
        """The agent has answered; when this returns, the answer is on the disk unless that took too long."""
        self._note_spoken()
        self._dispatcher.tell("response_ready", reply)

    def compressing(self) -> None:
        """The host is about to condense its context: everything told so far is kept before this returns."""
        self._worker.flush()
        self._dispatcher.tell("context_compressing")

    def end(self) -> None:
        """The session is over: what is queued is done, and what it came to is written down. Again is fine."""
        with self._guard:
            if self._ended:
                return
            self._ended = True
        self._worker.close()
        self._dispatcher.tell("session_end")

    def _queue(self, event: HookEvent, *words: Any) -> None:
        if not self._worker.submit(lambda: self._dispatcher.tell(event, *words)):
            self._dispatcher.tell(event, *words)

    def _note_spoken(self) -> None:
        with self._guard:
            self._spoken = time.monotonic()

    def _look(self) -> None:
        """Tell once that nothing was said for a while."""
        with self._guard:
            silent = self._spoken is not None and time.monotonic() - self._spoken >= (self._idle or 0.0)
            if silent:
                self._spoken = None
        if silent:
            self._dispatcher.tell("session_idle")


def attach(
    session: Session,
    *hooks: AgentHook,
    floor: float = FLOOR,
    budget: int | None = None,
    deadline: float | None = None,
    seconds: Mapping[str, float] | None = None,
    idle: float | None = IDLE_SECONDS,
) -> Attached:
    """Give a host the whole behaviour of a memory.

    Args:
        session: where its turns go.
        hooks: others that listen, told after memory.
        floor: `Recall.believable` from which on a recall is put before a message; 0 for always.
        budget: tokens of a recall.
        deadline: seconds a recall may take.
        seconds: how long hooks are waited for, by event, where not as `dispatch.SECONDS` says.
        idle: seconds of silence after which the session is summed up; None for never.
    """
    memory = MemoryHook(session, floor=floor, budget=budget, deadline=deadline)
    return Attached([memory, *hooks], seconds=seconds or {}, idle=idle)


def _words(content: Any) -> str:
    """The text of a message's content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    texts = [one.get("text") for one in content if isinstance(one, dict) and one.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _sound(blocks: Sequence[Any]) -> list[str]:
    """The blocks whose quotation is well-formed; any other could pass for the person's words."""
    kept = [block for block in blocks if isinstance(block, str) and block and check_fenced(block)]
    if len(kept) < sum(1 for block in blocks if block):
        _log.error("a recalled block with a broken quotation was dropped")
    return kept


def _with(content: Any, blocks: Sequence[str]) -> Any:
    if not blocks:
        return content
    quoted = "\n".join(blocks)
    if isinstance(content, list):
        return [{"type": "text", "text": quoted}, *content]
    return f"{quoted}\n\n{content}"
