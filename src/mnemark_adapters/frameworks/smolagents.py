"""Give smolagents' agents a memory.

agent = connect(memory, ToolCallingAgent(tools=[], model=model))
"""

from functools import partial
from typing import Any

from mnemark_adapters.frameworks.agent_memory import AgentMemory, MemoryTool
from mnemark_adapters.needs import needs
from mnemark_agents.hook.event import with_block


def connect(memory: AgentMemory, agent: Any) -> Any:
    """Give an agent the tools, and a recall with its task, which the agent's own memory does not keep.

    It has no hook before a task, so the method that makes its messages is wrapped.

    Returns:
        The same agent.

    Raises:
        MnemarkError: smolagents is not installed.
    """
    with needs("smolagents", "smolagents"):
        from smolagents import FinalAnswerStep, TaskStep, Tool
    write = agent.write_memory_to_messages

    def written(summary_mode: bool = False) -> Any:  # noqa: FBT001, FBT002 - as theirs
        messages = write(summary_mode)
        tasks = [step for step in agent.memory.steps if isinstance(step, TaskStep)]
        if tasks and not summary_mode:
            block = memory.before(tasks[-1].task, earlier=len(tasks) - 1)
            shown = tasks[-1].to_messages()[0].content
            for message in [one for one in messages if one.content == shown][-1:]:
                message.content = with_block(block, shown)
        return messages

    def record(step: Any) -> None:
        memory.after(str(step.output))

    agent.write_memory_to_messages = written
    agent.step_callbacks.register(FinalAnswerStep, record)
    agent.instructions = memory.instructed(agent.instructions)
    agent.tools.update({one.name: _tool(one, Tool) for one in memory.tools})
    return agent


def _tool(tool: MemoryTool, base: Any) -> Any:
    required = tool.schema.get("required", ())
    inputs = {name: about if name in required else {**about, "nullable": True}
              for name, about in tool.schema["properties"].items()}  # fmt: skip
    about = {
        "name": tool.name, "description": tool.description, "inputs": inputs, "output_type": "string",
        "forward": partial(_forward, tool), "skip_forward_signature_validation": True,
    }  # fmt: skip
    return type("MnemarkTool", (base,), about)()


def _forward(tool: MemoryTool, *words: Any, **given: Any) -> str:
    return tool.run(**dict(zip(tool.schema["properties"], words, strict=False)), **given)
