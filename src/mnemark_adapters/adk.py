"""Adapt memory to Google's Agent Development Kit: a memory service that stores events in session logs.

runner = Runner(agent=agent, app_name="shop", session_service=…, memory_service=memory_service(memory))
"""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mnemark.files.scopes import scope_name
from mnemark.files.sessions import list_sessions
from mnemark.text.quoting.fence import strip_fences
from mnemark_adapters.items import ItemLog, NewItem
from mnemark_adapters.needs import needs

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark.types import Hit

_PREFIX: Final = "adk:"


class EventLogs:
    """Session logs of events by application, user and session, in the scope `users/<user id>`."""

    def __init__(self, memory: "Memory") -> None:
        self._memory = memory

    def add(self, app: str, user: str, session: str, events: Iterable[Any]) -> None:
        """Store the text of events; skip those that are stored already or were deleted."""
        log = ItemLog(self._memory, _name(app, session), user=user)
        with log.changing():
            known = {one.item.get("id") for one in log.items(hidden=True)}
            log.add([new for event in events if event.id not in known and (new := _new(event)) is not None])

    def search(self, app: str, user: str, query: str) -> list[Any]:
        """Return hits in the user's scope and the root, without events of other applications."""
        if not query.strip():
            return []
        hits = self._memory.search(query, scope=scope_name(user=user)).hits
        own = {log.path for log in self._logs(app, user)}
        return [hit for hit in hits if "event" not in hit.meta or hit.path in own]

    def delete(self, app: str, user: str, identifier: str) -> None:
        """Hide the event of that id, like `mnemark forget`."""
        for log in self._logs(app, user):
            with log.changing():
                log.hide([one for one in log.items() if one.item["id"] == identifier])

    def _logs(self, app: str, user: str) -> list[ItemLog]:
        infos = list_sessions(self._memory.root / scope_name(user=user))
        return [
            ItemLog(self._memory, info.id, user=user) for info in infos if info.id.startswith(_name(app, ""))
        ]


def memory_service(memory: "Memory") -> Any:
    """Return a `BaseMemoryService` over the workspace.

    A user's id must be a folder name (`UsageError` otherwise). A search also finds notes and facts of the
    user and of the root; its results belong in the user's role or a tool's result, never the system's.

    Raises:
        MnemarkError: the ADK is not installed.
    """
    with needs("Google ADK", "google-adk"):
        from google.adk.memory import base_memory_service  # type: ignore[import-untyped, unused-ignore]
    logs = EventLogs(memory)

    class MnemarkMemoryService(base_memory_service.BaseMemoryService):  # type: ignore[misc] # the ADK is optional
        """Delegates to `EventLogs`."""

        async def add_session_to_memory(self, session: Any) -> None:
            events = list(session.events)
            await asyncio.to_thread(logs.add, session.app_name, session.user_id, session.id, events)

        async def add_events_to_memory(
            self, *, app_name: str, user_id: str, events: Any, session_id: str | None = None, **_: Any
        ) -> None:
            await asyncio.to_thread(logs.add, app_name, user_id, session_id or "events", list(events))

        async def search_memory(self, *, app_name: str, user_id: str, query: str) -> Any:
            hits = await asyncio.to_thread(logs.search, app_name, user_id, query)
            return base_memory_service.SearchMemoryResponse(memories=[_entry(hit) for hit in hits])

        async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
            if memory_id:
                await asyncio.to_thread(logs.delete, app_name, user_id, memory_id)

    return MnemarkMemoryService()


def _entry(hit: "Hit") -> Any:
    """Return a hit as the ADK's `MemoryEntry`."""
    from google.adk.memory.memory_entry import MemoryEntry  # type: ignore[import-untyped, unused-ignore]
    from google.genai.types import Content, Part  # type: ignore[import-untyped, unused-ignore]

    event: Any = hit.meta.get("event", {})
    role = "model" if hit.origin == "agent" else "user"
    return MemoryEntry(
        id=event.get("id") or hit.ref,
        author=event.get("author") or hit.origin,
        timestamp=hit.date,
        content=Content(role=role, parts=[Part(text=hit.text)]),
        custom_metadata={"ref": hit.ref, "origin": hit.origin},
    )


def _name(app: str, session: str) -> str:
    return f"{_PREFIX}{quote(app, safe=' @+,;=')}/{session}"


def _new(event: Any) -> NewItem | None:
    parts = (event.content.parts if event.content else None) or []
    text = strip_fences("\n".join(part.text for part in parts if part.text and not part.thought))
    if not text.strip():
        return None
    role = "user" if event.author == "user" else "assistant"
    about = {"id": event.id, "author": event.author}
    return NewItem({**about, "text": text}, role, text, None, {"event": about})
