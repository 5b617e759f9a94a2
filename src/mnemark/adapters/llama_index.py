"""Adapt memory to LlamaIndex: a block that recalls, and records messages that leave the short-term memory.

    from llama_index.core.memory import Memory as ChatMemory
    ChatMemory.from_defaults(memory_blocks=[memory_block(memory, "chat:1")], insert_method="user")

`insert_method="user"` is required: LlamaIndex's default puts blocks into the system message, which must not
contain recalled text.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from mnemark.agent.told import told
from mnemark.errors import MnemarkError
from mnemark.text.quoting.fence import strip_fences

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


def memory_block(
    memory: "Memory",
    session_id: str,
    *,
    user: str | None = None,
    agent: str | None = None,
    name: str = "mnemark",
    budget: int | None = None,
    deadline: float | None = None,
) -> Any:
    """Return a `BaseMemoryBlock[str]` that recalls from a session and records its messages.

    Args:
        memory: the workspace, opened.
        session_id: of the session that messages are recorded in.
        user: whose memory it is; or an `agent`'s.
        agent: as for `Memory.session`.
        name: of the block, as the model sees it.
        budget: tokens of a recall; as configured by default.
        deadline: seconds a recall may take; as configured by default.

    Raises:
        MnemarkError: LlamaIndex is not installed.
    """
    try:
        from llama_index.core.memory import BaseMemoryBlock  # type: ignore[import-not-found]
    except ImportError as error:
        raise MnemarkError(
            f"the block needs LlamaIndex ({error}); run: pip install llama-index-core"
        ) from error
    session = memory.session(session_id, user=user, agent=agent)

    class MnemarkBlock(BaseMemoryBlock[str]):  # type: ignore[misc] # LlamaIndex is optional
        """Brief, and recall for the user's last message; record messages put as turns."""

        async def _aget(self, messages: list[Any] | None = None, **_: Any) -> str:
            queries = [text for one in messages or () if _role(one) == "user" and (text := _text(one))]
            if not queries:
                return ""
            found = await session.arecall(queries[-1], budget=budget, deadline=deadline)
            return await asyncio.to_thread(
                told, session.ws, found, scope=session.scope, budget=budget, least=0.0
            )

        async def _aput(self, messages: list[Any]) -> None:
            turns = [session.turn(_role(one), text) for one in messages
                     if _role(one) != "system" and (text := _text(one))]  # fmt: skip
            await asyncio.to_thread(session.add_many, turns)

    return MnemarkBlock(name=name, description="What memory has to say, quoted and dated.")


def _role(message: Any) -> str:
    return str(getattr(message.role, "value", message.role))


def _text(message: Any) -> str:
    """Return the text of a message without recalled blocks."""
    return strip_fences(message.content or "").strip()
