"""Entry points `nanobot.tools`, imported by nanobot alone: one class for each tool.

`memory_search` also provides the recall before each turn (its runtime context provider) and listens for
stored turns. `mnemark.adapters.nanobot_bridge` recalls and captures.
"""

import asyncio
import logging
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from nanobot.agent.tools.base import Tool, ToolResult

from mnemark.errors import MnemarkError
from mnemark.interfaces.tools import BY_NAME

if TYPE_CHECKING:
    from mnemark.adapters.nanobot_bridge import Bridge

_log = logging.getLogger("mnemark.agent")
_WATCHED = "_mnemark_watched"


def _root(home: str) -> Path | None:
    from mnemark.adapters.nanobot_bridge import root_for

    try:
        return root_for(Path(home), os.environ.get("MNEMARK_WORKSPACE"))
    except (MnemarkError, OSError) as error:
        _log.warning("mnemark: %s", error)
        return None


class _MemoryTool(Tool):  # type: ignore[misc] # nanobot is not there where types are checked
    """A memory tool in nanobot's form; nanobot sees only the subclasses."""

    _plugin_discoverable = False
    _of: ClassVar[str] = ""

    def __init__(self, bridge: "Bridge") -> None:
        self._bridge = bridge

    @classmethod
    def enabled(cls, ctx: Any) -> bool:
        """Tell whether there is a workspace for this nanobot."""
        return _root(str(ctx.workspace)) is not None

    @classmethod
    def create(cls, ctx: Any) -> "_MemoryTool":
        """Make the tool; all tools of a process share a bridge."""
        from mnemark.adapters.nanobot_bridge import bridge

        root = _root(str(ctx.workspace))
        if root is None:
            raise MnemarkError("there is no workspace for this nanobot")
        return cls(bridge(root, Path(ctx.workspace).expanduser().absolute()))

    @property
    def name(self) -> str:
        """The name for models."""
        return self._of

    @property
    def description(self) -> str:
        """The description for models."""
        return BY_NAME[self._of].description

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of its parameters."""
        listed: dict[str, Any] = BY_NAME[self._of].listed()["inputSchema"]
        return listed

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        return BY_NAME[self._of].reads

    def cast_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Normalise names and types that models use."""
        from mnemark.errors import UsageError
        from mnemark.interfaces.tools import known_arguments

        try:
            return known_arguments(BY_NAME[self._of], params)
        except UsageError:
            return params  # validation tells the model what is wrong

    async def execute(self, **given: Any) -> Any:
        """Run it on a thread; errors are for the model."""
        return await asyncio.to_thread(self._execute, given)

    def _execute(self, given: dict[str, Any]) -> Any:
        from mnemark.interfaces.tools_run import call

        try:
            result = call(self._bridge.tools(), self._of, given)
        except MnemarkError as error:
            return ToolResult.error(f"Error: {error}")
        text = result["content"][0]["text"]
        return ToolResult.error(f"Error: {text}") if result["isError"] else text


class MemorySearch(_MemoryTool):
    """`memory_search`, the recall before each turn, and the capture after it."""

    _plugin_discoverable = True
    _of = "memory_search"

    def __init__(self, bridge: "Bridge") -> None:
        super().__init__(bridge)
        self._stored: Any = None
        self._began: dict[str, str] = {}

    @classmethod
    def create(cls, ctx: Any) -> "_MemoryTool":
        """Make the tool and let it listen to the bus of this nanobot."""
        tool = super().create(ctx)
        if isinstance(tool, MemorySearch):
            tool.listen(ctx)
        return tool

    def listen(self, ctx: Any) -> None:
        """Wait for the workspace to be open; subscribe to turns, once for a bus."""
        from nanobot.bus.runtime_events import SessionTurnPersisted, SessionTurnStarted

        self._stored = ctx.sessions
        self._bridge.ready()
        if ctx.bus is None or ctx.sessions is None or getattr(ctx.bus, _WATCHED, None) == self._bridge.root:
            return
        setattr(ctx.bus, _WATCHED, self._bridge.root)
        ctx.bus.subscribe(self._on_started, SessionTurnStarted)
        ctx.bus.subscribe(self._on_persisted, SessionTurnPersisted)

    def runtime_context_provider(self) -> Any:
        """Return what nanobot calls before each turn."""
        return self._provide

    async def _provide(self, request: Any) -> Any:
        """Return a block for the turn, or None, also on failure."""
        from nanobot.runtime_context import RuntimeContextBlock

        try:
            wanted = self._wanted(request)
            text = await self._bridge.recall(wanted) if wanted is not None else ""
        except Exception:  # noqa: BLE001 - an adapter must not end a turn; logged
            _log.warning("mnemark: a recall was left out", exc_info=True)
            return None
        return RuntimeContextBlock(source="mnemark", content=text) if text else None

    def _wanted(self, request: Any) -> Any:
        from mnemark.adapters.nanobot_bridge import RecallRequest
        from mnemark.adapters.nanobot_turns import is_skipped

        key = request.session_key or f"{request.channel}:{request.chat_id}"
        if is_skipped(key) or _is_automatic(request.metadata):
            return None
        session = self._stored.get_cached(key) if self._stored is not None else None
        messages = list(getattr(session, "messages", ()))[getattr(session, "last_archived", 0) :]
        seen = sum(1 for one in messages if one.get("role") in {"user", "assistant"} and one.get("content"))
        return RecallRequest(key, str(request.original_user_text or ""), seen)

    def _on_started(self, event: Any) -> None:
        self._began[event.context.session_key] = datetime.now().isoformat()  # noqa: DTZ005 - as nanobot writes it

    def _on_persisted(self, event: Any) -> None:
        """Record what the turn added to the session; nanobot catches errors and goes on."""
        from nanobot.runtime_context import public_history_message

        key = event.context.session_key
        began = self._began.pop(key, None)
        if began is None or _is_automatic(event.context.metadata):
            return
        session = self._stored.get_cached(key) or self._stored.get_or_create(key)
        new = [one for one in session.messages if str(one.get("timestamp") or "") >= began]
        if any(one.get("_automation_turn") for one in new):
            return
        self._bridge.keep(key, [public_history_message(one) for one in new])


def _is_automatic(metadata: Any) -> bool:
    """Tell whether a cron job or a trigger started the turn, possibly in a person's session."""
    from nanobot.session.automation_turns import automation_history_overrides

    return bool(automation_history_overrides(metadata)[1])


class MemoryGet(_MemoryTool):
    """`memory_get`."""

    _plugin_discoverable = True
    _of = "memory_get"


class MemoryWrite(_MemoryTool):
    """`memory_write`."""

    _plugin_discoverable = True
    _of = "memory_write"


class MemoryRemember(_MemoryTool):
    """`memory_remember`."""

    _plugin_discoverable = True
    _of = "memory_remember"


class MemoryTimeline(_MemoryTool):
    """`memory_timeline`."""

    _plugin_discoverable = True
    _of = "memory_timeline"


class MemoryForget(_MemoryTool):
    """`memory_forget`."""

    _plugin_discoverable = True
    _of = "memory_forget"
