"""Give the agents of Microsoft's Agent Framework a memory: a context provider.

agent = Agent(client, context_providers=[provider(memory)])
"""

from typing import Any

from mnemark_adapters.frameworks.agent_memory import AgentMemory
from mnemark_adapters.needs import needs


def provider(memory: AgentMemory) -> Any:
    """Return a context provider: the tools, and a recall in a message before the person's.

    A session (`AgentSession`) is one of its own, unless `memory` names one.

    Raises:
        MnemarkError: the Agent Framework is not installed.
    """
    with needs("Microsoft's Agent Framework", "agent-framework-core"):
        from agent_framework import ContextProvider, FunctionTool, Message
    tools = [
        FunctionTool(name=one.name, description=one.description, func=one.arun, input_model=one.schema)
        for one in memory.tools
    ]

    class MemoryProvider(ContextProvider):
        """Delegates to `AgentMemory`."""

        async def before_run(self, *, context: Any, **_: Any) -> None:
            context.extend_instructions(self.source_id, memory.instructions)
            context.extend_tools(self.source_id, tools)
            said = "\n".join(one.text for one in context.input_messages if one.role == "user")
            earlier = sum(one.role == "user" for one in context.get_messages())
            block = await memory.abefore(said, session=_session(context), earlier=earlier)
            if block:
                context.extend_messages(self, [Message("user", [block])])

        async def after_run(self, *, context: Any, **_: Any) -> None:
            if context.response is not None:
                memory.after(context.response.text, session=_session(context))

    return MemoryProvider("mnemark")


def _session(context: Any) -> str:
    return f"agent-framework:{context.session_id}" if context.session_id else ""
