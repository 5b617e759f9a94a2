"""Adapt memory to the OpenAI Agents SDK: a `Session` that stores its items in a session log.

    from agents import Agent, Runner
    session = MemorySession(memory, "support:42")
    await Runner.run(agent, "Hello", session=session)

It implements the SDK's `Session` protocol without importing the SDK.
"""

from typing import TYPE_CHECKING, Any, Final

from mnemark_adapters.items import ItemLog, NewItem, text_in, threaded

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_PREFIX: Final = "openai-agents:"


class MemorySession:
    """A conversation. Items are returned as they were added, but redacted.

    Popped and cleared items are hidden, like by `mnemark forget`: `mnemark undo` restores them.

    Args:
        memory: the workspace, opened.
        session_id: of the conversation; the log is that of the session `openai-agents:<session_id>`.
        user: whose memory it is; or an `agent`'s. The workspace's own by default.
        agent: as for `Memory.session`.
        limit: number of latest items that `get_items` returns by default; None for all.
        session_settings: the SDK's; its `limit` comes before ours.
    """

    def __init__(
        self,
        memory: "Memory",
        session_id: str,
        *,
        user: str | None = None,
        agent: str | None = None,
        limit: int | None = None,
        session_settings: Any = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._limit = limit
        self._log = ItemLog(memory, _PREFIX + session_id, user=user, agent=agent)

    @threaded
    def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items, oldest first; with a `limit` of 0 or more, only the latest."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        if limit is None:
            limit = self._limit
        items = [one.item for one in self._log.items()]
        return items if limit is None or limit < 0 else items[len(items) - min(limit, len(items)) :]

    @threaded
    def add_items(self, items: list[Any]) -> None:
        """Store items durably."""
        self._log.add([_new(item) for item in items])

    @threaded
    def pop_item(self) -> Any | None:
        """Hide the latest item and return it; None where there is none."""
        with self._log.changing():
            latest = self._log.items()[-1:]
            self._log.hide(latest)
        return latest[0].item if latest else None

    @threaded
    def clear_session(self) -> None:
        """Hide all items."""
        with self._log.changing():
            self._log.hide(self._log.items())

    def close(self) -> None:
        """Do nothing, as each item is on the disk already: whoever opened the memory closes it."""


def _new(item: Any) -> NewItem:
    fields = item if isinstance(item, dict) else {}
    role, kind = fields.get("role"), str(fields.get("type", ""))
    if not isinstance(role, str) or not role:
        role = "tool" if kind.endswith("_output") else "assistant"
    return NewItem(item, role, text_in(fields.get("content", item)), "tool" if role == "tool" else None)
