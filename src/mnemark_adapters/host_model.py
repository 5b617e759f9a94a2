"""Ask the language model of the agent that mnemark runs in: an async client, called on the agent's loop."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from mnemark.files.user_config import HOST

if TYPE_CHECKING:
    from mnemark.llm.base import Message
    from mnemark.memory.memory import Memory

Ask = Callable[[str, str], Awaitable[Any]]
"""Send a system text and a prompt, and return the text, or an object with it as `content`."""


def use_host_model(memory: "Memory", ask: Ask | None, loop: asyncio.AbstractEventLoop | None) -> None:
    """Let a memory ask the agent's model, where its settings say so (`model = "host"` under `[llm]`)."""
    if ask is None or loop is None or memory.workspace.host is not None or memory.config.llm.model != HOST:
        return
    memory.workspace.host = on_loop(ask, loop)


def on_loop(ask: Ask, loop: asyncio.AbstractEventLoop) -> "Callable[[Sequence[Message]], str]":
    """Return a function from messages to text that runs `ask` on the loop of another thread."""

    def answer(messages: "Sequence[Message]") -> str:
        system = "\n\n".join(one.content for one in messages if one.role == "system")
        prompt = "\n\n".join(one.content for one in messages if one.role != "system")

        async def run() -> Any:
            return await ask(system, prompt)

        found = asyncio.run_coroutine_threadsafe(run(), loop).result()
        return str(getattr(found, "content", found) or "")

    return answer
