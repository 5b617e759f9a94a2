"""`Session`: one conversation, recorded turn by turn."""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from mnemark.errors import ReadOnlyError, UsageError
from mnemark.files import layout
from mnemark.files.sessions import Placed, SessionLog
from mnemark.text.dates.moment import local_now
from mnemark.types import ORIGINS, Origin, Recall, Turn

if TYPE_CHECKING:
    from mnemark.llm.base import LLM
    from mnemark.memory.memory import Memory
    from mnemark.memory.sessions.compaction import Compacted
    from mnemark.memory.sessions.ending import Ended
    from mnemark.memory.sessions.observations import Observation

WINDOW: Final = 20
"""Turns of a session that its own recall leaves out: the model has them already."""
CONTEXT: Final = 4
"""Turns that a question is understood by."""
_ROLE_ORIGIN: Final[dict[str, Origin]] = {
    "user": "owner",
    "human": "owner",
    "tool": "tool",
    "function": "tool",
}
_UNSAFE: Final = re.compile(r'[\x00-\x1f/\\:*?"<>|]|^\.+$|^\s*$|[. ]$')


def folder_name(name: str) -> str:
    """A user's or agent's name as a folder.

    Raises:
        UsageError: it cannot be one on every system.
    """
    if _UNSAFE.search(name) or len(name.encode()) > 100:
        raise UsageError(f"{name!r} cannot name a folder; use letters, digits, '-' and '_'")
    return name


class Session:
    """The turns of one conversation. Made by `Memory.session`; nothing is written before the first turn."""

    def __init__(self, memory: "Memory", id: str, *, scope: str) -> None:  # noqa: A002 - the word users know
        if not id:
            raise UsageError("a session needs an id, for example cli:main")
        layout.check_border(memory.root, scope)
        self.id = id
        self.scope = scope
        self._memory = memory
        if scope:
            layout.safe_path(memory.root, scope)
        self._log = SessionLog(memory.root / scope if scope else memory.root, id)
        self._recent: deque[Placed] = deque(maxlen=WINDOW)
        self.given: set[str] = set()
        """Ids of turns whose attachments this object's caller handed in."""

    @property
    def log(self) -> SessionLog:
        """The session's file."""
        return self._log

    @property
    def path(self) -> str:
        """The session's file, relative to the workspace."""
        return f"{self.scope}/{self._log.name}" if self.scope else self._log.name

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
        """Record a turn; when this returns, it is on the disk.

        Args:
            role: "user", "assistant", "tool", or any other speaker's name.
            content: what was said.
            time: when; now by default.
            origin: who is behind it; by default the owner for "user", the agent for "assistant".
            tool_calls: calls made in the turn, any JSON.
            tool_results: their results, any JSON.
            attachments: files that came with it, any JSON.
            duration_ms: how long it took.
            meta: any JSON object; it comes back on hits.

        Raises:
            UsageError: an argument is no JSON or names an unknown origin.
            BusyError, ReadOnlyError: it could not be written, and is not kept.
        """
        return self.add_many([self.turn(role, content, time=time, origin=origin, tool_calls=tool_calls,
                                        tool_results=tool_results, attachments=attachments,
                                        duration_ms=duration_ms, meta=meta)])[0]  # fmt: skip

    def turn(self, role: str, content: str, *, time: datetime | None = None, **fields: Any) -> Turn:
        """A turn as `add` would record it, for `add_many`."""
        origin = fields.pop("origin", None) or _ROLE_ORIGIN.get(role, "agent")
        if origin not in ORIGINS:
            raise UsageError(f"origin {origin!r} is none of {', '.join(ORIGINS)}")
        if not role:
            raise UsageError('a turn needs a role, for example "user"')
        fields["meta"] = fields.get("meta") or {}
        when = time or local_now(self._memory.config.timezone)
        return Turn(id="", time=when, role=role, content=content, origin=origin, **fields)

    def add_many(self, turns: Sequence[Turn]) -> list[Turn]:
        """Record turns with one write and one `fsync`: all are kept, or none."""
        if self._memory.readonly:
            raise ReadOnlyError("this memory is open for reading only; open it for writing to add turns")
        placed = self._log.place([self._memory.without_secrets(turn) for turn in turns])
        self._recent.extend(placed)
        if placed:
            self._memory.reader.logs.wrote(self.path, placed[-1].end)
        came = [one for one in placed if one.turn.attachments or one.turn.tool_calls]
        if came:
            self._attached(came)
        return [entry.turn for entry in placed]

    def _attached(self, came: Sequence[Placed]) -> None:
        """Turns whose attachments are to get a page, with the next sync or at the end."""
        from mnemark.memory.journal.sessions import state_of

        self.given.update(one.turn.id for one in came if one.turn.attachments)
        state = state_of(self._memory)
        with state.lock:
            state.waiting += [(self, one) for one in came]

    def last(self, n: int = WINDOW) -> list[Turn]:
        """The last `n` turns, oldest first; forgotten ones are left out."""
        hidden = self._memory.index.hidden.current().turns
        found = self._log.last(n + len(hidden))
        return [turn for turn in found if turn.id not in hidden][-n:]

    def window(self, budget: int, *, tools: bool = False, n: int = 200) -> list[dict[str, Any]]:
        """The last turns as messages for a prompt, within `budget` tokens; see `sessions.history`."""
        from mnemark.memory.sessions.history import window

        return window(self.last(n), budget, tools=tools)

    @property
    def idle_since(self) -> datetime | None:
        """When something was last said, by whichever process; None where nothing was."""
        last = self._log.last(1)
        return last[0].time if last else None

    def idle(self, seconds: float, *, now: datetime | None = None) -> bool:
        """Whether nothing was said for so many seconds; not so where nothing ever was."""
        since = self.idle_since
        if since is None:
            return False
        now = now or local_now(self._memory.config.timezone)
        if (since.tzinfo is None) != (now.tzinfo is None):
            since, now = (one.replace(tzinfo=since.tzinfo or now.tzinfo) for one in (since, now))
        return (now - since).total_seconds() >= seconds

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
        """Keep what a tool did, if it matters; `mnemark.memory.sessions.observations.observe` says it all.

        Returns None for reads and listings, and for an execution that was kept before.
        """
        from mnemark.memory.sessions.observations import observe
        from mnemark.text.summary.tool_titles import SIGNIFICANT

        tools = (*SIGNIFICANT, *self._memory.config.observe) if tools is None else tools
        return observe(
            self._memory, self.id, tool, arguments, result, scope=self.scope, call=call, error=error,
            duration_ms=duration_ms, time=time, tools=tools,
        )  # fmt: skip

    def end(self, llm: "LLM | None" = None, *, summary: bool = True) -> "Ended":
        """Write down what is to be kept of the session; `mnemark.memory.sessions.ending.end` says it all.

        It may go on later, and be ended again: only what is new is written then.
        """
        from mnemark.memory.sessions.ending import end

        return end(self._memory, self, llm, summary=summary)

    def compact(
        self, messages: Sequence[Mapping[str, Any]], budget: int, *, llm: "LLM | None" = None, **more: Any
    ) -> "Compacted":
        """A host's messages within `budget` tokens: summary, recall and the last turns; the log keeps all.

        `mnemark.memory.sessions.compaction.compact` says it all.
        """
        from mnemark.memory.sessions.compaction import compact

        return compact(self, messages, budget, llm=llm, **more)

    def recall(
        self, said: str, *, deadline: float | None = None, budget: int | None = None, k: int | None = None
    ) -> Recall:
        """What memory has to say to `said`, read in the light of the last turns; see `Memory.recall`.

        The session's own recent window is left out of the answer: the model has it already.
        """
        recent = [entry.turn.content for entry in list(self._recent)[-CONTEXT:]]
        if recent and recent[-1] == said:
            recent.pop()
        window = ((self.path, self._recent[0].line),) if self._recent else ()
        return self._memory.recall(
            said,
            deadline=deadline,
            budget=budget,
            k=k,
            scope=self.scope or None,
            context=recent,
            exclude=window,
        )

    async def arecall(
        self, said: str, *, deadline: float | None = None, budget: int | None = None, k: int | None = None
    ) -> Recall:
        """`recall` on a thread, for event loops."""
        import asyncio

        return await asyncio.to_thread(self.recall, said, deadline=deadline, budget=budget, k=k)
