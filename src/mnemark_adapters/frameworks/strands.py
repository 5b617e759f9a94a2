"""Give Strands' agents a memory: a plug-in.

agent = Agent(model=model, plugins=[plugin(memory)])
"""

from typing import Any, Final

from mnemark_adapters.frameworks.agent_memory import AgentMemory, MemoryTool, MessageForm
from mnemark_adapters.needs import needs
from mnemark_agents.hook.event import with_block


def plugin(memory: AgentMemory) -> Any:
    """Return a plug-in: the tools, and a recall in each request, which `agent.messages` does not keep.

    A session (`session_id`) is one of its own, unless `memory` names one.

    Raises:
        MnemarkError: Strands is not installed.
    """
    with needs("Strands Agents", "strands-agents"):
        from strands.hooks import AfterInvocationEvent
        from strands.middleware import InvokeModelStage
        from strands.plugins import Plugin
        from strands.tools.tools import PythonAgentTool

    async def told(context: Any) -> Any:
        messages = await memory.atold(context.messages, _FORM, session=_session(context.agent))
        return context.replace(
            messages=messages, system_prompt=memory.instructed(context.system_prompt, _part)
        )

    def record(event: Any) -> None:
        if event.result is not None and event.result.stop_reason == "end_turn":
            memory.after(str(event.result), session=_session(event.agent))

    class MemoryPlugin(Plugin):
        """Delegates to `AgentMemory`."""

        name = "mnemark"

        def init_agent(self, agent: Any) -> None:
            agent.tool_registry.process_tools([_tool(one, PythonAgentTool) for one in memory.tools])
            agent.add_middleware(InvokeModelStage.Input, told)
            agent.add_hook(record, AfterInvocationEvent)

    return MemoryPlugin()


def _session(agent: Any) -> str:
    return f"strands:{agent.session_id}"


def _part(text: str) -> dict[str, str]:
    return {"text": text}


def _said(message: Any) -> str:
    texts = (block["text"] for block in message["content"] if "text" in block)
    return "\n".join(texts) if message["role"] == "user" else ""


_FORM: Final = MessageForm(
    _said, lambda block, one: {**one, "content": with_block(block, one["content"], _part)}
)


def _tool(tool: MemoryTool, kind: Any) -> Any:
    async def run(use: Any, **_: Any) -> Any:
        text = await tool.arun(**use["input"])
        return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": text}]}

    about = {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.schema}}
    return kind(tool.name, about, run)
