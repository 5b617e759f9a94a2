"""Give the agents of frameworks a memory: tools, instructions, and what runs before and after a turn.

    from mnemark_adapters.frameworks import AgentMemory
    from mnemark_adapters.frameworks.pydantic_ai import capability

    memory = AgentMemory("~/mnemark")
    agent = Agent(model, capabilities=[capability(memory)])

Each module imports its framework when it is used.
"""

from mnemark_adapters.frameworks.agent_memory import AgentMemory, MemoryTool

__all__ = ["AgentMemory", "MemoryTool"]
