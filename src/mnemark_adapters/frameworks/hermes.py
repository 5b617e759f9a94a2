"""Give Hermes Agent a memory: a memory provider.

A file `~/.hermes/plugins/mnemark/__init__.py`:

    from mnemark_adapters.frameworks.hermes import provider

    def register(ctx):
        ctx.register_memory_provider(provider("~/mnemark"))
"""

from pathlib import Path
from typing import Any

from mnemark_adapters.frameworks.agent_memory import AgentMemory, ServerPlace, memory_at, place_of
from mnemark_adapters.needs import needs
from mnemark_interfaces.tools import TOOLS


def provider(folder: str | Path = "", *, server: str = "", key: str = "") -> Any:
    """Return a memory provider: the tools, a recall before each turn, and what was said is recorded.

    A session of Hermes is one of its own. What its jobs say, where nobody speaks, is left alone.

    Args:
        folder: the workspace; created if missing.
        server: the address of a server, instead; see `AgentMemory`.
        key: of the memory there.

    Raises:
        UsageError: there is no folder and no server, or both.
        MnemarkError: Hermes Agent is not installed.
    """
    place = place_of(folder, server, key)
    with needs("Hermes Agent", "hermes-agent"):
        from agent.memory_provider import MemoryProvider
    return type("MnemarkProvider", (_Provider, MemoryProvider), {})(place)


class _Provider:
    """Delegates to `AgentMemory`, by the names of Hermes's `MemoryProvider`."""

    name = "mnemark"
    _memory: AgentMemory

    def __init__(self, place: Path | ServerPlace) -> None:
        self._place = place
        self._session = ""
        self._speaks = True
        self._earlier = 0  # turns that the model still has before it

    def is_available(self) -> bool:
        """Tell that it can be used."""
        return True

    def initialize(self, session_id: str, *, platform: str = "", **_: Any) -> None:
        """Begin a session."""
        self._session, self._speaks = session_id, platform != "cron"
        self._memory = memory_at(self._place)

    def on_session_switch(self, new_session_id: str, **_: Any) -> None:
        """Go on in another session, or in one that was compressed."""
        self._session, self._earlier = new_session_id, 0

    def system_prompt_block(self) -> str:
        """Return how to use the tools."""
        return self._memory.instructions

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Return the recall for a turn."""
        if not self._speaks:
            return ""
        return self._memory.before(query, session=self._id(session_id), earlier=self._earlier)

    def sync_turn(self, user_content: str, assistant_content: str, *, session_id: str = "", **_: Any) -> None:
        """Record a turn; what was said is recorded already, if there was a prefetch for it."""
        if self._speaks:
            self.prefetch(user_content, session_id=session_id)
            self._memory.after(assistant_content, session=self._id(session_id))
            self._earlier += 1

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Return the tools; Hermes asks for them before it begins a session."""
        found = [tool.listed() for tool in TOOLS]
        return [
            {"name": one["name"], "description": one["description"], "parameters": one["inputSchema"]}
            for one in found
        ]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **_: Any) -> str:
        """Run a tool."""
        return next(one for one in self._memory.tools if one.name == tool_name).run(**args)

    def shutdown(self) -> None:
        """Finish recording."""
        self._memory.close()

    def backup_paths(self) -> list[str]:
        """Return what `hermes backup` takes along; a server's is its own matter."""
        return [str(self._place)] if isinstance(self._place, Path) else []

    def _id(self, session_id: str) -> str:
        return f"hermes:{session_id or self._session}"
