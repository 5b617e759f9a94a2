"""Give LangChain's agents a memory: a middleware.

agent = create_agent(model, middleware=[middleware(memory)])
"""

from typing import TYPE_CHECKING, Any

from mnemark_adapters.frameworks.agent_memory import needs, with_block

if TYPE_CHECKING:
    from mnemark_adapters.frameworks.agent_memory import AgentMemory


def middleware(memory: "AgentMemory") -> Any:
    """Return a middleware: the tools, and a recall in each request, which the agent's state does not keep.

    A thread (`thread_id`) is a session of its own, unless `memory` names one.

    Raises:
        MnemarkError: LangChain is not installed.
    """
    with needs("LangChain", "langchain"):
        from langchain.agents.middleware import AgentMiddleware
        from langchain_core.messages import SystemMessage
        from langchain_core.tools import StructuredTool

    def asked(request: Any) -> tuple[int, str, dict[str, Any]]:
        people = [number for number, one in enumerate(request.messages) if one.type == "human"]
        at = people[-1] if people else -1
        said = str(request.messages[at].text) if people else ""
        return at, said, {"session": _session(request.runtime), "earlier": max(len(people) - 1, 0)}

    def told(request: Any, at: int, block: str) -> Any:
        messages, system = list(request.messages), request.system_message
        if block:
            content = with_block(block, messages[at].content)
            messages[at] = messages[at].model_copy(update={"content": content})
        words = f"{system.text}\n\n{memory.instructions}" if system else memory.instructions
        return request.override(messages=messages, system_message=SystemMessage(words))

    def record(state: Any, runtime: Any) -> None:
        last = state["messages"][-1]
        if last.type == "ai":
            memory.after(str(last.text), session=_session(runtime))

    class MemoryMiddleware(AgentMiddleware):
        """Delegates to `AgentMemory`."""

        tools = [  # noqa: RUF012 - as the base class declares it
            StructuredTool.from_function(one.run, one.arun, one.name, one.description, args_schema=one.schema)
            for one in memory.tools
        ]

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            at, said, about = asked(request)
            return handler(told(request, at, memory.before(said, **about)))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            at, said, about = asked(request)
            return await handler(told(request, at, await memory.abefore(said, **about)))

        def after_agent(self, state: Any, runtime: Any) -> None:
            record(state, runtime)

        async def aafter_agent(self, state: Any, runtime: Any) -> None:
            record(state, runtime)

    return MemoryMiddleware()


def _session(runtime: Any) -> str:
    thread = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
    return f"langchain:{thread}" if thread else ""
