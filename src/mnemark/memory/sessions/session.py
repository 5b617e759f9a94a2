"""Define `Session`: record the turns of a conversation, recall for it, compact and end it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mnemark.files.disk_errors import tells_os_errors
from mnemark.files.sessions import CONTEXT, WINDOW
from mnemark.memory.sessions.recorder import Recorder
from mnemark.types import Origin, Recall, Turn

if TYPE_CHECKING:
    from mnemark.llm.base import LLM
    from mnemark.memory.sessions.compaction import Compacted
    from mnemark.memory.sessions.ending import Ended
    from mnemark.memory.sessions.observing import Observation

__all__ = ["CONTEXT", "WINDOW", "Session"]


@tells_os_errors
class Session(Recorder):
    """A conversation. Returned by `Memory.session`; nothing is written before the first turn."""

    def add(
        self,
        role: str,
        content: str,
        *,
        time: datetime | None = None,
        origin: Origin | None = None,
        tool_calls: Sequence[Any] = (),
        tool_results: Sequence[Any] = (),
        attachments: Sequence[Any] = (),
        duration_ms: int | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Turn:
        """Record a turn; when this returns, it is on the disk, unless the memory is off the record.

        What is said off the record is returned with an empty id.

        Args:
            role: "user", "assistant", "tool", or any other speaker's name.
            content: the text of the turn.
            time: the time of the turn; now by default.
            origin: the origin; by default the owner for "user", the agent for "assistant".
            tool_calls: calls made in the turn, any JSON.
            tool_results: their results, any JSON.
            attachments: its files, any JSON.
            duration_ms: the duration of the turn.
            meta: any JSON object; it is returned with hits.

        Raises:
            UsageError: an argument is no JSON or names an unknown origin.
            BusyError, ReadOnlyError: the turn could not be written, and is not stored.
        """
        return self.add_many([self.turn(role, content, time=time, origin=origin, tool_calls=tool_calls,
                                        tool_results=tool_results, attachments=attachments,
                                        duration_ms=duration_ms, meta=meta)])[0]  # fmt: skip

    def window(self, budget: int, *, tools: bool = False, n: int = 200) -> list[dict[str, Any]]:
        """Return the last turns as messages for a prompt, within `budget` tokens; see `sessions.history`."""
        from mnemark.memory.sessions.history import window

        return window(self.last(n), budget, tools=tools)

    def observe(
        self,
        tool: str,
        arguments: Any = None,
        result: Any = None,
        *,
        call: str = "",
        error: str | None = None,
        duration_ms: int | None = None,
        time: datetime | None = None,
        tools: Sequence[str] | None = None,
    ) -> "Observation | None":
        """Record an execution of a tool; see `sessions.observing.observe`.

        Return None for reads and listings, and for an execution that was recorded before.
        """
        from mnemark.memory.sessions.observing import observe
        from mnemark.summary.tool_titles import significant_tools

        tools = significant_tools(self.ws.config.observe) if tools is None else tools
        return observe(
            self.ws.session_journal, self.id, tool, arguments, result, scope=self.scope, call=call,
            error=error, duration_ms=duration_ms, time=time, tools=tools,
        )  # fmt: skip

    def end(self, llm: "LLM | None" = None, *, summary: bool = True, wait: bool = True) -> "Ended":
        """Write the note, the episode and the facts of the session, by rule and with the configured model.

        The session may continue and be ended again: then only new turns are written down.

        Args:
            llm: used instead of the configured model.
            summary: whether the daily note gets a summary.
            wait: ask the model before returning, within the `timeout` of `[llm]`; else on a thread.
        """
        from mnemark.memory.sessions.ending import end
        from mnemark.memory.sessions.reading import end_and_read, read_behind

        if wait:
            return end_and_read(self.ws, self, llm, summary=summary)
        ended = end(self.ws, self, summary=summary)
        read_behind(self.ws)
        return ended

    def compact(
        self,
        messages: Sequence[Mapping[str, Any]],
        budget: int,
        *,
        llm: "LLM | None" = None,
        deadline: float | None = None,
        timeout: float | None = None,
    ) -> "Compacted":
        """Return a host's messages within `budget` tokens; see `sessions.compaction.compact`."""
        from mnemark.memory.sessions.compaction import compact

        return compact(self, messages, budget, llm=llm, deadline=deadline, timeout=timeout)

    def recall(
        self, said: str, *, deadline: float | None = None, budget: int | None = None, k: int | None = None
    ) -> Recall:
        """Recall what memory holds about `said`, with the last turns as context; see `Memory.recall`.

        The session's last `WINDOW` turns are left out of the answer: the model has them already.
        """
        recent = [entry.turn.content for entry in list(self.recent)[-CONTEXT:]]
        if recent and recent[-1] == said:
            recent.pop()
        window = ((self.path, self.recent[0].line),) if self.recent else ()
        return self.ws.searcher.recall(
            said, deadline=deadline, budget=budget, k=k, scope=self.scope or None, context=recent,
            exclude=window, talk=self.path,
        )  # fmt: skip

    async def arecall(
        self, said: str, *, deadline: float | None = None, budget: int | None = None, k: int | None = None
    ) -> Recall:
        """Run `recall` on a worker thread, for event loops."""
        import asyncio

        return await asyncio.to_thread(self.recall, said, deadline=deadline, budget=budget, k=k)
