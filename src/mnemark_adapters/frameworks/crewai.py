"""Give CrewAI's agents a memory: tools and hooks, for a crew or for `Agent.kickoff`.

connect(memory, agent)
"""

from typing import Any, ClassVar

from mnemark.text.quoting.fence import is_fenced
from mnemark_adapters.frameworks.agent_memory import AgentMemory, MemoryTool
from mnemark_adapters.needs import needs
from mnemark_agents.hook.event import with_block


def connect(memory: AgentMemory, *agents: Any) -> None:
    """Give agents the tools, and a recall in the task of each run, until the memory is closed.

    The description of a task counts as the person's words. CrewAI's hooks are global; ours look at the agent.

    Raises:
        MnemarkError: CrewAI is not installed.
    """
    with needs("CrewAI", "crewai"):
        from crewai.events import (
            AgentExecutionCompletedEvent,
            LiteAgentExecutionCompletedEvent,
            crewai_event_bus,
        )
        from crewai.hooks import register_before_llm_call_hook, unregister_before_llm_call_hook
        from crewai.tools import BaseTool
        from crewai.utilities.pydantic_schema_utils import create_model_from_schema
    tools = [_tool(one, BaseTool, create_model_from_schema, memory) for one in memory.tools]
    for agent in agents:
        agent.tools = [*(agent.tools or ()), *tools]
        agent.backstory = memory.instructed(agent.backstory)

    def ours(agent: Any) -> bool:
        # What is written in agents of two users may be the same, and a crew copies them with their tools.
        return any(getattr(one, "owner", None) is memory for one in getattr(agent, "tools", None) or ())

    def before(context: Any) -> None:
        people = [one for one in context.messages if one["role"] == "user"]
        if not ours(context.agent) or not people:
            return
        if not any(is_fenced(str(one["content"])) for one in people):  # else: a later request of the run
            said = context.task.description if context.task else _words(context.executor, people[-1])
            people[-1]["content"] = with_block(memory.before(said), people[-1]["content"])

    def after(source: Any, event: Any) -> None:
        if ours(source):
            memory.after(str(event.output))

    register_before_llm_call_hook(before)
    memory.closing.callback(unregister_before_llm_call_hook, before)
    for kind in (AgentExecutionCompletedEvent, LiteAgentExecutionCompletedEvent):
        crewai_event_bus.on(kind)(after)
        memory.closing.callback(crewai_event_bus.off, kind, after)
    memory.closing.callback(crewai_event_bus.flush)


def _words(executor: Any, message: Any) -> str:
    """Return what a person said, without the template around it."""
    text, template = str(message["content"]), getattr(executor, "prompt", None)
    pattern = getattr(template, "user", "") or getattr(template, "prompt", "")
    start, _, end = pattern.partition("{input}")
    return text[len(start) : len(text) - len(end)] if text.startswith(start) and text.endswith(end) else text


def _tool(tool: MemoryTool, base: Any, model: Any, memory: AgentMemory) -> Any:
    class Memory(base):
        """Delegates to a `MemoryTool`."""

        owner: ClassVar[AgentMemory] = memory
        name: str = tool.name
        description: str = tool.description

        def _run(self, **given: Any) -> str:
            return tool.run(**given)

        async def _arun(self, **given: Any) -> str:
            return await tool.arun(**given)

    return Memory(args_schema=model(tool.schema, model_name=f"{tool.name}_arguments"))
