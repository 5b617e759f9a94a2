"""Give Haystack's agents a memory: tools and hooks.

agent = Agent(chat_generator=generator, **options(memory, system_prompt="You help."))
"""

from dataclasses import replace
from typing import Any, Final

from mnemark.errors import MnemarkError
from mnemark.text.quoting.fence import all_fenced
from mnemark_adapters.frameworks.agent_memory import AgentMemory, MessageForm
from mnemark_adapters.needs import needs


def options(memory: AgentMemory, *, system_prompt: str = "") -> dict[str, Any]:
    """Return options of `Agent`: the tools, hooks for a recall in the person's message, the system prompt.

    The messages that a run returns do not have the recall.

    Raises:
        MnemarkError: Haystack is not installed.
    """
    with needs("Haystack", "haystack-ai"):
        from haystack.tools import Tool
    tools = [
        Tool(one.name, one.description, one.schema, function=one.run, async_function=one.arun)
        for one in memory.tools
    ]
    hooks = {"before_run": [_Recall(memory)], "after_run": [_Record(memory)]}
    return {"tools": tools, "hooks": hooks, "system_prompt": memory.instructed(system_prompt)}


class _Hook:
    """A hook, which is not stored with a pipeline: it holds an open workspace."""

    def __init__(self, memory: AgentMemory) -> None:
        self._memory = memory

    def to_dict(self) -> dict[str, Any]:
        """Refuse to be stored."""
        raise MnemarkError("a memory cannot be stored in a pipeline; make the agent in code, with options()")


class _Recall(_Hook):
    """Puts a recall before the words of the last message of the person."""

    def run(self, state: Any) -> None:
        """Do so, and wait for it."""
        state.data["messages"] = self._memory.told(state.data["messages"], _FORM)

    async def run_async(self, state: Any) -> None:
        """Do so on an event loop."""
        state.data["messages"] = await self._memory.atold(state.data["messages"], _FORM)


class _Record(_Hook):
    """Records the answer, and takes recalls out of the messages."""

    def run(self, state: Any) -> None:
        """Do so; nothing is waited for."""
        messages = state.data["messages"] = list(map(_bare, state.data["messages"]))
        if messages and messages[-1].role == "assistant" and messages[-1].text:
            self._memory.after(messages[-1].text)


def _told(block: str, message: Any) -> Any:
    from haystack.dataclasses import TextContent

    # In their order the parts are in no public attribute.
    return replace(message, _content=[TextContent(block), *message._content])  # noqa: SLF001


def _bare(message: Any) -> Any:
    if message.role == "user" and message.texts and all_fenced(message.texts[0]):
        return replace(message, _content=message._content[1:])  # noqa: SLF001 - as above
    return message


_FORM: Final = MessageForm(lambda one: "\n".join(one.texts) if one.role == "user" else "", _told)
