"""Give Haystack's agents a memory: tools and hooks.

agent = Agent(chat_generator=generator, **options(memory, system_prompt="You help."))
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mnemark.errors import MnemarkError
from mnemark.text.quoting.fence import check_fenced
from mnemark_adapters.frameworks.agent_memory import needs

if TYPE_CHECKING:
    from mnemark_adapters.frameworks.agent_memory import AgentMemory


def options(memory: "AgentMemory", *, system_prompt: str = "") -> dict[str, Any]:
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
    prompt = f"{system_prompt}\n\n{memory.instructions}".strip()
    return {"tools": tools, "hooks": hooks, "system_prompt": prompt}


class _Hook:
    """A hook, which is not stored with a pipeline: it holds an open workspace."""

    def __init__(self, memory: "AgentMemory") -> None:
        self._memory = memory

    def to_dict(self) -> dict[str, Any]:
        """Refuse to be stored."""
        raise MnemarkError("a memory cannot be stored in a pipeline; make the agent in code, with options()")


class _Recall(_Hook):
    """Puts a recall before the words of the last message of the person."""

    def run(self, state: Any) -> None:
        """Do so, and wait for it."""
        said, earlier = self._asked(state)
        self._tell(state, self._memory.before(said, earlier=earlier))

    async def run_async(self, state: Any) -> None:
        """Do so on an event loop."""
        said, earlier = self._asked(state)
        self._tell(state, await self._memory.abefore(said, earlier=earlier))

    @staticmethod
    def _asked(state: Any) -> tuple[str, int]:
        people = [one for one in state.data["messages"] if one.role == "user"]
        return "\n".join(people[-1].texts) if people else "", max(len(people) - 1, 0)

    @staticmethod
    def _tell(state: Any, block: str) -> None:
        from haystack.dataclasses import TextContent

        messages = state.data["messages"]
        if block:
            at = max(number for number, one in enumerate(messages) if one.role == "user")
            parts = messages[at]._content  # noqa: SLF001 - in their order they are in no public attribute
            messages[at] = replace(messages[at], _content=[TextContent(block), *parts])


class _Record(_Hook):
    """Records the answer, and takes recalls out of the messages."""

    def run(self, state: Any) -> None:
        """Do so; nothing is waited for."""
        messages = state.data["messages"]
        for number, one in enumerate(messages):
            if one.role == "user" and one.texts and check_fenced(one.texts[0]):
                messages[number] = replace(one, _content=one._content[1:])  # noqa: SLF001 - as above
        if messages and messages[-1].role == "assistant" and messages[-1].text:
            self._memory.after(messages[-1].text)
