"""Give Hermes Agent a memory: a memory provider.

A file `~/.hermes/plugins/mnemark/__init__.py`:

    from mnemark_adapters.frameworks.hermes import provider

    def register(ctx):
        ctx.register_memory_provider(provider("~/mnemark"))
"""

from pathlib import Path
from typing import Any

from mnemark_adapters.frameworks.agent_memory import AgentMemory
from mnemark_adapters.needs import needs
from mnemark_interfaces.tools import TOOLS


def provider(folder: str | Path) -> Any:
    """Return a memory provider: the tools, a recall before each turn, and what was said is recorded.

    A session of Hermes is one of its own. What its jobs say, where nobody speaks, is left alone.

    Args:
        folder: the workspace; created if missing.

    Raises:
        MnemarkError: Hermes Agent is not installed.
    """
    with needs("Hermes Agent", "hermes-agent"):
        from agent.memory_provider import MemoryProvider
    root = Path(folder).expanduser().absolute()

    class MnemarkProvider(MemoryProvider):
        """Delegates to `AgentMemory`."""

        name = "mnemark"
        _memory: AgentMemory
        _session = ""
        _speaks = True
        _earlier = 0
        """Turns that the model still has before it."""

        def is_available(self) -> bool:
            return True

        def initialize(self, session_id: str, *, platform: str = "", **_: Any) -> None:
            self._session, self._speaks = session_id, platform != "cron"
            self._memory = AgentMemory(root)

        def system_prompt_block(self) -> str:
            return self._memory.instructions

        def prefetch(self, query: str, *, session_id: str = "") -> str:
            if not self._speaks:
                return ""
            return self._memory.before(query, session=self._id(session_id), earlier=self._earlier)

        def sync_turn(
            self, user_content: str, assistant_content: str, *, session_id: str = "", **_: Any
        ) -> None:
            if self._speaks:
                # Of a message that was prefetched this is the same turn; Hermes does not do so for each.
                self._memory.before(user_content, session=self._id(session_id), earlier=self._earlier)
                self._memory.after(assistant_content, session=self._id(session_id))
                self._earlier += 1

        def on_session_switch(self, new_session_id: str, **_: Any) -> None:
            self._session, self._earlier = new_session_id, 0

        def get_tool_schemas(self) -> list[dict[str, Any]]:
            return [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.listed()["inputSchema"],
                }
                for tool in TOOLS  # it asks before it starts a session
            ]

        def handle_tool_call(self, tool_name: str, args: dict[str, Any], **_: Any) -> str:
            return next(one for one in self._memory.tools if one.name == tool_name).run(**args)

        def shutdown(self) -> None:
            self._memory.close()

        def backup_paths(self) -> list[str]:
            return [str(root)]

        def _id(self, session_id: str) -> str:
            return f"hermes:{session_id or self._session}"

    return MnemarkProvider()
