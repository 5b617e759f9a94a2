"""Give Pydantic AI's agents a memory: a capability.

agent = Agent(model, capabilities=[capability(memory)])
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mnemark_adapters.frameworks.agent_memory import needs, with_block

if TYPE_CHECKING:
    from mnemark_adapters.frameworks.agent_memory import AgentMemory


def capability(memory: "AgentMemory") -> Any:
    """Return a capability: the tools, and a recall in each request, which the message history does not keep.

    A conversation (`conversation_id`) is a session of its own, unless `memory` names one.

    Raises:
        MnemarkError: Pydantic AI is not installed.
    """
    with needs("Pydantic AI", "pydantic-ai-slim"):
        from pydantic_ai import FunctionToolset, Tool
        from pydantic_ai.capabilities import AbstractCapability
        from pydantic_ai.messages import UserPromptPart
    tools = [Tool.from_schema(one.arun, one.name, one.description, one.schema) for one in memory.tools]

    class MemoryCapability(AbstractCapability[Any]):
        """Delegates to `AgentMemory`."""

        def get_instructions(self) -> str:
            return memory.instructions

        def get_toolset(self) -> Any:
            return FunctionToolset(tools)

        async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
            messages = list(request_context.messages)
            prompts = [(number, part) for number, message in enumerate(messages) for part in message.parts
                       if isinstance(part, UserPromptPart)]  # fmt: skip
            if not prompts:
                return request_context
            at, prompt = prompts[-1]
            block = await memory.abefore(
                _words(prompt.content), session=_session(ctx), earlier=len(prompts) - 1
            )
            told = replace(prompt, content=with_block(block, prompt.content, part=str))
            parts = [told if part is prompt else part for part in messages[at].parts]
            messages[at] = replace(messages[at], parts=parts)
            return replace(request_context, messages=messages)

        async def after_run(self, ctx: Any, *, result: Any) -> Any:
            said = result.output if isinstance(result.output, str) else result.response.text
            memory.after(said or str(result.output), session=_session(ctx))
            return result

    return MemoryCapability()


def _session(ctx: Any) -> str:
    return f"pydantic-ai:{ctx.conversation_id}"


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(getattr(part, "content", part)) for part in content
                     if isinstance(getattr(part, "content", part), str))  # fmt: skip
