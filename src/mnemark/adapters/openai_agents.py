"""The OpenAI Agents SDK: a `Session` whose items are a session log of the workspace.

    from agents import Agent, Runner
    session = MemorySession(memory, "support:42")
    await Runner.run(agent, "Hello", session=session)

It follows the SDK's `Session` protocol by its methods and imports nothing of it.
"""

import asyncio
from typing import TYPE_CHECKING, Any, Final

from mnemark.adapters.items import ItemLog, Kept, New, text_in

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_PREFIX: Final = "openai-agents:"
_RESULTS: Final = "_output"
"""How types of items end that a tool gave back."""


class MemorySession:
    """One conversation. Items come back as they were added, but for secrets, which are not kept.

    What is popped or cleared is hidden, as by `mnemark forget`: `mnemark undo` brings it back.

    Args:
        memory: the workspace, opened.
        session_id: of the conversation; the log is that of the session `openai-agents:<session_id>`.
        user: whose memory it is; or an `agent`'s. The workspace's own by default.
        agent: as for `Memory.session`.
        limit: how many of the latest items `get_items` gives unless it is told; all by default.
    """

    def __init__(
        self,
        memory: "Memory",
        session_id: str,
        *,
        user: str | None = None,
        agent: str | None = None,
        limit: int | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings: Any = None
        self._limit = limit
        self._log = ItemLog(memory, _PREFIX + session_id, user=user, agent=agent)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items, oldest first; with `limit`, the latest so many. A negative limit is none."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        if limit is None:
            limit = self._limit
        kept = await asyncio.to_thread(self._log.items)
        items = [one.item for one in kept]
        return items if limit is None or limit < 0 else items[len(items) - min(limit, len(items)) :]

    async def add_items(self, items: list[Any]) -> None:
        """Keep items; when this returns, they are on the disk."""
        await asyncio.to_thread(self._log.add, [_new(item) for item in items])

    async def pop_item(self) -> Any | None:
        """Take the latest item away and return it; None where there is none."""
        kept = await asyncio.to_thread(self._pop)
        return None if kept is None else kept.item

    def _pop(self) -> Kept | None:
        with self._log.changing():
            kept = self._log.items()
            self._log.hide(kept[-1:])
        return kept[-1] if kept else None

    async def clear_session(self) -> None:
        """Take all items away."""
        await asyncio.to_thread(self._clear)

    def _clear(self) -> None:
        with self._log.changing():
            self._log.hide(self._log.items())


def _new(item: Any) -> New:
    fields = item if isinstance(item, dict) else {}
    role, kind = fields.get("role"), str(fields.get("type", ""))
    if not isinstance(role, str) or not role:
        role = "tool" if kind.endswith(_RESULTS) else "assistant"
    return New(item, role, text_in(fields.get("content", item)), "tool" if role == "tool" else None)
