"""Give everything that calls LiteLLM's proxy a memory: a callback.

A file `memory.py` beside `config.yaml`, which names it: `litellm_settings: {callbacks: memory.handler}`.

    from mnemark_adapters.frameworks.litellm import callback
    handler = callback("~/mnemark")
"""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mnemark.errors import UsageError
from mnemark.hashes import blake2b
from mnemark_adapters.frameworks.agent_memory import AgentMemory, needs, with_block
from mnemark_agents.hook.event import message_text

_KEYS: Final = {"completion": "messages", "acompletion": "messages", "anthropic_messages": "messages",
                "responses": "input", "aresponses": "input"}  # fmt: skip
"""The key of the conversation in a request, by the type of the call; other calls are left alone."""
_CALLS: Final = 1_000
"""Calls without an answer that are remembered, and users whose memory is kept open."""


def callback(folder: str | Path, *, per_user: bool = False) -> Any:
    """Return a `CustomLogger`: a recall in the last message of the person, and what was said is recorded.

    A conversation is known by its id (`litellm_session_id`), or by its key and how it began.

    Args:
        folder: the workspace; created if missing.
        per_user: keep a memory of its own for each `user` that requests name, and none for others; else all
            who may call the proxy count as the owner.

    Raises:
        MnemarkError: LiteLLM is not installed.
    """
    with needs("LiteLLM", "'litellm[proxy]'"):
        from litellm.integrations.custom_logger import CustomLogger
    memories = _Memories(folder, per_user=per_user)

    class MemoryCallback(CustomLogger):
        """Delegates to `AgentMemory`."""

        async def async_pre_call_hook(
            self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
        ) -> dict[str, Any]:
            del cache
            key = _KEYS.get(call_type, "")
            at = _asked(data.get(key))
            memory = memories.of(data.get("user") or getattr(user_api_key_dict, "end_user_id", None))
            if at is None or memory is None:
                return data
            session = _session(data, getattr(user_api_key_dict, "api_key", None), key)
            memories.calls[str(data.get("litellm_call_id"))] = memory, session
            return {**data, key: await _told(memory, session, data[key], at)}

        async def async_log_success_event(
            self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
        ) -> None:
            del start_time, end_time
            memory, session = memories.calls.pop(str(kwargs.get("litellm_call_id")), (None, ""))
            reply = _reply(response_obj)
            if memory is not None and reply:
                memory.after(reply, session=session)

    return MemoryCallback()


class _Recent(OrderedDict[str, Any]):
    """The last `_CALLS` items."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        if len(self) > _CALLS:
            self.popitem(last=False)


class _Memories:
    """The shared memory, or those of users."""

    def __init__(self, folder: str | Path, *, per_user: bool) -> None:
        self._folder = folder
        self._shared = AgentMemory(folder)  # opens the workspace as the proxy starts
        self._users: _Recent | None = _Recent() if per_user else None
        self.calls = _Recent()

    def of(self, user: Any) -> AgentMemory | None:
        """Return the memory for a request; None where it has to name a user, and does not."""
        if self._users is None:
            return self._shared
        if not isinstance(user, str) or not user:
            return None
        if user not in self._users:
            try:
                self._users[user] = AgentMemory(self._folder, user=user)
            except UsageError:  # no name of a folder
                return None
        return self._users[user]  # type: ignore[no-any-return]


def _asked(messages: Any) -> int | None:
    """Return the number of the person's last message; -1 for a text, None where there is none."""
    if isinstance(messages, str):
        return -1
    people = _people(messages) if isinstance(messages, list) else []
    return people[-1] if people else None


def _people(messages: Sequence[Any]) -> list[int]:
    said = [one if isinstance(one, dict) and one.get("role") == "user" else {} for one in messages]
    return [number for number, one in enumerate(said) if _words(one.get("content"))]


def _words(content: Any) -> str:
    """Return the words in a content, which may hold results of tools, too."""
    if not isinstance(content, list):
        return message_text(content)
    texts = [{**one, "type": "text"} if isinstance(one, dict) and one.get("type") == "input_text" else one
             for one in content]  # fmt: skip
    return message_text(texts)


async def _told(memory: AgentMemory, session: str, messages: Any, at: int) -> Any:
    if isinstance(messages, str):
        return with_block(await memory.abefore(messages, session=session), messages)
    content = messages[at]["content"]
    earlier = len(_people(messages[:at]))
    block = await memory.abefore(_words(content), session=session, earlier=earlier)
    kind = next((one["type"] for one in content if one.get("type") in {"text", "input_text"}), "text") \
        if isinstance(content, list) else "text"  # fmt: skip
    told = with_block(block, content, part=lambda text: {"type": kind, "text": text})
    return [*messages[:at], {**messages[at], "content": told}, *messages[at + 1 :]]


def _session(data: dict[str, Any], key: Any, field: str) -> str:
    """Return the id of a conversation."""
    metadata = data.get("metadata") if isinstance(data.get("metadata"), dict) else {}
    if named := data.get("litellm_session_id") or (metadata or {}).get("session_id"):
        return f"litellm:{named}"
    said = data[field]
    first = said if isinstance(said, str) else _words(said[_people(said)[0]]["content"])
    start = f"{key}\n{first}".encode("utf-8", "replace")
    return f"litellm:{blake2b(start, digest_size=6).hexdigest()}"


def _reply(response: Any) -> str:
    """Return the text of an answer; empty where it calls tools, as the turn then goes on."""
    found = response if isinstance(response, dict) else getattr(response, "model_dump", dict)()
    message = (found.get("choices") or [{}])[0].get("message") or {}
    if message:
        return "" if message.get("tool_calls") else message_text(message.get("content"))
    items = found.get("output") or ()  # of the Responses API
    if any(item.get("type") == "function_call" for item in items):
        return ""
    parts = [part for item in items if item.get("type") == "message" for part in item["content"]]
    return "\n".join(str(part.get("text") or "") for part in parts) or message_text(found.get("content"))
