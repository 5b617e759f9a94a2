"""Define nanobot's memory tools (entry points `nanobot.tools`), one class each; only nanobot imports this.

`memory_search` also provides the recall before each turn (its runtime context provider) and subscribes to
stored turns. `mnemark_adapters.nanobot_bridge` recalls and records.
"""

import asyncio
import logging
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from nanobot.agent.tools.base import Tool, ToolResult

from mnemark.errors import MnemarkError, UsageError
from mnemark.files.server_keys import address
from mnemark_adapters.bridge import RecallRequest, Where
from mnemark_adapters.nanobot_bridge import bridge, root_for
from mnemark_adapters.nanobot_turns import is_skipped
from mnemark_interfaces.tools import BY_NAME, known_arguments

if TYPE_CHECKING:
    from mnemark_adapters.nanobot_bridge import NanobotBridge, RemoteNanobotBridge

_log = logging.getLogger("mnemark.agent")
_WATCHED = "_mnemark_watched"


def _place(home: str) -> Path | str | None:
    """Return the memory for a nanobot: a folder, or the address of a server; None where there is none."""
    try:
        if server := os.environ.get("MNEMARK_SERVER"):
            return address(server)
        return root_for(Path(home), os.environ.get("MNEMARK_WORKSPACE"))
    except (MnemarkError, OSError) as error:
        _log.warning("mnemark: %s", error)
        return None


class _MemoryTool(Tool):  # type: ignore[misc] # nanobot is not there where types are checked
    """Base of the memory tools; nanobot discovers only the subclasses."""

    _plugin_discoverable = False
    _mnemark_tool: ClassVar[str] = ""

    def __init__(self, bridge: "NanobotBridge | RemoteNanobotBridge") -> None:
        self._bridge = bridge

    @classmethod
    def enabled(cls, ctx: Any) -> bool:
        """Tell whether there is a workspace for this nanobot."""
        return _place(str(ctx.workspace)) is not None

    @classmethod
    def create(cls, ctx: Any) -> "_MemoryTool":
        """Make the tool; all tools of a process share a bridge."""
        place = _place(str(ctx.workspace))
        if place is None:
            raise MnemarkError("there is no workspace for this nanobot")
        return cls(bridge(place, Path(ctx.workspace).expanduser().absolute()))

    @property
    def name(self) -> str:
        """The tool name that models see."""
        return self._mnemark_tool

    @property
    def description(self) -> str:
        """The description that models see."""
        return BY_NAME[self._mnemark_tool].description

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its parameters."""
        listed: dict[str, Any] = BY_NAME[self._mnemark_tool].listed()["inputSchema"]
        return listed

    @property
    def read_only(self) -> bool:
        """Whether the tool only reads."""
        return BY_NAME[self._mnemark_tool].reads

    def cast_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Normalise names and types that models use."""
        try:
            return known_arguments(BY_NAME[self._mnemark_tool], params)
        except UsageError:
            return params  # validation tells the model what is wrong

    async def execute(self, **given: Any) -> Any:
        """Run the tool on a worker thread; return mnemark's errors to the model instead of raising them."""
        return await asyncio.to_thread(self._execute, given)

    def _execute(self, given: dict[str, Any]) -> Any:
        try:
            result = self._bridge.call(self._mnemark_tool, given)
        except MnemarkError as error:
            return ToolResult.error(f"Error: {error}")
        text = result["content"][0]["text"]
        return ToolResult.error(f"Error: {text}") if result["isError"] else text


class MemorySearch(_MemoryTool):
    """`memory_search`, the recall before each turn, and the capture after it."""

    _plugin_discoverable = True
    _mnemark_tool = "memory_search"

    def __init__(self, bridge: "NanobotBridge | RemoteNanobotBridge") -> None:
        super().__init__(bridge)
        self._session_store: Any = None
        self._start_times: dict[str, str] = {}

    @classmethod
    def create(cls, ctx: Any) -> "_MemoryTool":
        """Make the tool and subscribe it to the bus of this nanobot."""
        tool = super().create(ctx)
        if isinstance(tool, MemorySearch):
            tool.listen(ctx)
        return tool

    def listen(self, ctx: Any) -> None:
        """Wait until the workspace is open; subscribe to turns, once for each bus."""
        from nanobot.bus.runtime_events import SessionTurnPersisted, SessionTurnStarted

        self._session_store = ctx.sessions
        self._bridge.ask = _asks(getattr(ctx, "provider_snapshot_loader", None))
        self._bridge.ready()
        if ctx.bus is None or ctx.sessions is None or getattr(ctx.bus, _WATCHED, None) == self._bridge.name:
            return
        setattr(ctx.bus, _WATCHED, self._bridge.name)
        ctx.bus.subscribe(self._on_started, SessionTurnStarted)
        ctx.bus.subscribe(self._on_persisted, SessionTurnPersisted)

    def runtime_context_provider(self) -> Any:
        """Return the function that nanobot calls before each turn."""
        return self._provide

    async def _provide(self, request: Any) -> Any:
        """Return the recall for a turn; None without one, or on failure."""
        from nanobot.runtime_context import RuntimeContextBlock

        try:
            wanted = self._recall_request(request)
            text = await self._bridge.recall(wanted) if wanted is not None else ""
        except Exception:  # noqa: BLE001 - an adapter must not end a turn; logged
            _log.warning("mnemark: a recall was left out", exc_info=True)
            return None
        return RuntimeContextBlock(source="mnemark", content=text) if text else None

    def _recall_request(self, request: Any) -> Any:
        key = request.session_key or f"{request.channel}:{request.chat_id}"
        if is_skipped(key) or _is_automatic(request.metadata):
            return None
        session = self._session_store.get_cached(key) if self._session_store is not None else None
        messages = list(getattr(session, "messages", ()))[getattr(session, "last_archived", 0) :]
        seen = sum(1 for one in messages if one.get("role") in {"user", "assistant"} and one.get("content"))
        return RecallRequest(Where(key), str(request.original_user_text or ""), seen)

    def _on_started(self, event: Any) -> None:
        self._start_times[event.context.session_key] = datetime.now().isoformat()  # noqa: DTZ005 - as nanobot writes it

    def _on_persisted(self, event: Any) -> None:
        """Record the messages that the turn added to the session; nanobot catches errors."""
        from nanobot.runtime_context import public_history_message

        key = event.context.session_key
        start = self._start_times.pop(key, None)
        if start is None or _is_automatic(event.context.metadata):
            return
        session = self._session_store.get_cached(key) or self._session_store.get_or_create(key)
        new = [one for one in session.messages if str(one.get("timestamp") or "") >= start]
        if any(one.get("_automation_turn") for one in new):
            return
        self._bridge.record(key, [public_history_message(one) for one in new])


def _asks(load: Any) -> Any:
    """Return a function that asks the model nanobot is set to; None where nanobot does not offer it."""
    if load is None:
        return None

    async def ask(system: str, prompt: str) -> Any:
        snapshot = load()
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        return await snapshot.provider.chat_with_retry(messages=messages, model=snapshot.model)

    return ask


def _is_automatic(metadata: Any) -> bool:
    """Tell whether a cron job or a trigger started the turn, possibly in a person's session."""
    from nanobot.session.automation_turns import automation_history_overrides

    return bool(automation_history_overrides(metadata)[1])


class MemoryGet(_MemoryTool):
    """`memory_get`."""

    _plugin_discoverable = True
    _mnemark_tool = "memory_get"


class MemoryWrite(_MemoryTool):
    """`memory_write`."""

    _plugin_discoverable = True
    _mnemark_tool = "memory_write"


class MemoryRemember(_MemoryTool):
    """`memory_remember`."""

    _plugin_discoverable = True
    _mnemark_tool = "memory_remember"


class MemoryTimeline(_MemoryTool):
    """`memory_timeline`."""

    _plugin_discoverable = True
    _mnemark_tool = "memory_timeline"


class MemoryForget(_MemoryTool):
    """`memory_forget`."""

    _plugin_discoverable = True
    _mnemark_tool = "memory_forget"
