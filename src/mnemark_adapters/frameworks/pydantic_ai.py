"""Give Pydantic AI's agents a memory: a capability.

agent = Agent(model, capabilities=[capability(memory)])
"""

from dataclasses import replace
from typing import Any, Final

from mnemark_adapters.frameworks.agent_memory import AgentMemory, MessageForm
from mnemark_adapters.needs import needs
from mnemark_agents.hook.event import with_block


def capability(memory: AgentMemory) -> Any:
    """Return a capability: the tools, and a recall in each request, which the message history does not keep.

    A conversation (`conversation_id`) is a session of its own, unless `memory` names one.

    Raises:
        MnemarkError: Pydantic AI is not installed.
    """
    with needs("Pydantic AI", "pydantic-ai-slim"):
        from pydantic_ai import FunctionToolset, Tool
        from pydantic_ai.capabilities import AbstractCapability
    tools = [Tool.from_schema(one.arun, one.name, one.description, one.schema) for one in memory.tools]

    class MemoryCapability(AbstractCapability[Any]):
        """Delegates to `AgentMemory`."""

        def get_instructions(self) -> str:
            return memory.instructions

        def get_toolset(self) -> Any:
            return FunctionToolset(tools)

        async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
            messages = await memory.atold(request_context.messages, _FORM, session=_session(ctx))
            return replace(request_context, messages=messages)

        async def after_run(self, ctx: Any, *, result: Any) -> Any:
            said = result.output if isinstance(result.output, str) else result.response.text
            memory.after(said or str(result.output), session=_session(ctx))
            return result

    return MemoryCapability()


def _session(ctx: Any) -> str:
    return f"pydantic-ai:{ctx.conversation_id}"


def _prompts(message: Any) -> list[Any]:
    """Return what a person says in a message, which may also hold results of tools."""
    return [part for part in message.parts if part.part_kind == "user-prompt"]


def _said(message: Any) -> str:
    contents = [one.content for one in _prompts(message)]
    parts = [part for one in contents for part in ([one] if isinstance(one, str) else one)]
    texts = (part if isinstance(part, str) else getattr(part, "content", "") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _told(block: str, message: Any) -> Any:
    first = _prompts(message)[0]
    told = replace(first, content=with_block(block, first.content, part=str))
    return replace(message, parts=[told if part is first else part for part in message.parts])


_FORM: Final = MessageForm(_said, _told)
