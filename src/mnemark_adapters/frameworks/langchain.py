"""Give LangChain's agents a memory: a middleware.

agent = create_agent(model, middleware=[middleware(memory)])
"""

from typing import Any, Final

from mnemark_adapters.frameworks.agent_memory import AgentMemory, MessageForm
from mnemark_adapters.needs import needs
from mnemark_agents.hook.event import with_block

_FORM: Final = MessageForm(
    said=lambda one: str(one.text) if one.type == "human" else "",
    told=lambda block, one: one.model_copy(update={"content": with_block(block, one.content)}),
)


def middleware(memory: AgentMemory) -> Any:
    """Return a middleware: the tools, and a recall in each request, which the agent's state does not keep.

    A thread (`thread_id`) is a session of its own, unless `memory` names one.

    Raises:
        MnemarkError: LangChain is not installed.
    """
    with needs("LangChain", "langchain"):
        from langchain.agents.middleware import AgentMiddleware
        from langchain_core.messages import SystemMessage
        from langchain_core.tools import StructuredTool

    def changed(request: Any, messages: list[Any]) -> Any:
        system = request.system_message or SystemMessage("")
        words = system.model_copy(update={"content": memory.instructed(system.content)})
        return request.override(messages=messages, system_message=words)

    class MemoryMiddleware(AgentMiddleware):
        """Delegates to `AgentMemory`."""

        tools = [  # noqa: RUF012 - as the base class declares it
            StructuredTool.from_function(one.run, one.arun, one.name, one.description, args_schema=one.schema)
            for one in memory.tools
        ]

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            messages = memory.told(request.messages, _FORM, session=_session(request.runtime))
            return handler(changed(request, messages))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            messages = await memory.atold(request.messages, _FORM, session=_session(request.runtime))
            return await handler(changed(request, messages))

        def after_agent(self, state: Any, runtime: Any) -> None:
            last = state["messages"][-1]
            if last.type == "ai":
                memory.after(str(last.text), session=_session(runtime))

        async def aafter_agent(self, state: Any, runtime: Any) -> None:
            self.after_agent(state, runtime)

    return MemoryMiddleware()


def _session(runtime: Any) -> str:
    thread = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
    return f"langchain:{thread}" if thread else ""
