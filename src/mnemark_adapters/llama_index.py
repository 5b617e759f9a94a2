"""Adapt memory to LlamaIndex: a block that recalls, and records the messages of a chat.

    from llama_index.core.memory import Memory as ChatMemory
    ChatMemory.from_defaults(memory_blocks=[memory_block(memory, "chat:1")], insert_method="user")

`insert_method="user"` is required: LlamaIndex's default puts blocks into the system message, which must not
contain recalled text.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mnemark.text.quoting.fence import strip_fences
from mnemark_adapters.needs import needs
from mnemark_agents.hook.told import told

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory
    from mnemark.memory.sessions.session import Session


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
    with needs("LlamaIndex", "llama-index-core"):
        from llama_index.core.memory import BaseMemoryBlock  # type: ignore[import-not-found]
    seen = _SeenMessages(memory.session(session_id, user=user, agent=agent))

    class MnemarkBlock(BaseMemoryBlock[str]):  # type: ignore[misc] # LlamaIndex is optional
        """Brief, and recall for the user's last message; record messages, once, as turns."""

        async def _aget(self, messages: list[Any] | None = None, **_: Any) -> str:
            return await _recalled(seen, messages or (), budget=budget, deadline=deadline)

        async def _aput(self, messages: list[Any]) -> None:
            await asyncio.to_thread(seen.left, messages)

    return MnemarkBlock(name=name, description="What memory has to say, quoted and dated.")


async def _recalled(
    seen: "_SeenMessages", messages: Sequence[Any], *, budget: int | None, deadline: float | None
) -> str:
    """Return what memory has to say to the user's last message; record the messages."""
    queries = [text for one in messages if _role(one) == "user" and (text := _text(one))]
    if not queries:
        return ""
    session = seen.session
    # Recall first: it must not find what the window holds.
    found = await session.arecall(queries[-1], budget=budget, deadline=deadline)
    await asyncio.to_thread(seen.window, messages)
    return await asyncio.to_thread(told, session.ws, found, scope=session.scope, budget=budget, least=0.0)


class _SeenMessages:
    """Records each message once: as soon as it is in the window, or when it leaves it.

    LlamaIndex gives messages no ids, and the same words may be said twice; so they are counted.
    """

    def __init__(self, session: "Session") -> None:
        self.session = session
        self._guard = threading.Lock()
        self._recorded: Counter[tuple[str, str]] | None = None
        self._left: Counter[tuple[str, str]] = Counter()

    def window(self, messages: Iterable[Any]) -> None:
        """Record the messages of the window that are not recorded yet."""
        with self._guard:
            keys = _keys(messages)
            if self._recorded is None:  # what was recorded earlier and is not in the window has left it
                self._left = self._known() - Counter(keys)
            self._record(keys, self._left.copy())

    def left(self, messages: Iterable[Any]) -> None:
        """Record the messages that left the window and are not recorded yet."""
        with self._guard:
            self._record(_keys(messages), self._left)

    def _known(self) -> "Counter[tuple[str, str]]":
        if self._recorded is None:
            there = self.session.log.turns() if self.session.log.path.exists() else ()
            self._recorded = Counter((one.turn.role, one.turn.content) for one in there)
        return self._recorded

    def _record(self, keys: Sequence[tuple[str, str]], counted: "Counter[tuple[str, str]]") -> None:
        recorded, new = self._known(), []
        for key in keys:
            counted[key] += 1
            if counted[key] > recorded[key]:
                recorded[key] += 1
                new.append(self.session.turn(*key))
        self.session.add_many(new)


def _keys(messages: Iterable[Any]) -> list[tuple[str, str]]:
    return [(_role(one), text) for one in messages if _role(one) != "system" and (text := _text(one))]


def _role(message: Any) -> str:
    return str(getattr(message.role, "value", message.role))


def _text(message: Any) -> str:
    """Return the text of a message without recalled blocks."""
    return strip_fences(message.content or "").strip()
