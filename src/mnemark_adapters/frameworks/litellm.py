"""Give everything that calls LiteLLM's proxy a memory: a callback.

A file `memory.py` beside `config.yaml`, which names it: `litellm_settings: {callbacks: memory.handler}`.

    from mnemark_adapters.frameworks.litellm import callback
    handler = callback("~/mnemark")
"""

import logging
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mnemark.errors import UsageError
from mnemark.hashes import blake2b
from mnemark_adapters.frameworks.agent_memory import (
    AgentMemory,
    MessageForm,
    ServerPlace,
    memory_at,
    place_of,
)
from mnemark_adapters.needs import needs
from mnemark_adapters.remote_bridge import NOT_OF_USERS
from mnemark_agents.hook.event import message_text, with_block

_log = logging.getLogger("mnemark.agent")
_KEYS: Final = {"completion": "messages", "acompletion": "messages", "anthropic_messages": "messages",
                "responses": "input", "aresponses": "input"}  # fmt: skip
"""The key of the conversation in a request, by the type of the call; other calls are left alone."""
_CALLS: Final = 1_000
"""Calls without an answer that are remembered, and users whose memory is kept at hand."""


def callback(folder: str | Path = "", *, per_user: bool = False, server: str = "", key: str = "") -> Any:
    """Return a `CustomLogger`: a recall in the last message of the person, and what was said is recorded.

    A conversation is known by its id (`litellm_session_id`), or by its key and how it began.

    Args:
        folder: the workspace; created if missing.
        per_user: keep a memory of its own for each `user` that requests name, and none for others; else all
            who may call the proxy count as the owner. Of a folder alone.
        server: the address of a server, instead; see `AgentMemory`.
        key: of the memory there.

    Raises:
        UsageError: there is no folder and no server, or both; or `per_user` is given with a server.
        MnemarkError: LiteLLM is not installed.
    """
    with needs("LiteLLM", "'litellm[proxy]'"):
        from litellm.integrations.custom_logger import CustomLogger
    if server and per_user:
        raise UsageError(NOT_OF_USERS)
    memories = _Memories(place_of(folder, server, key), per_user=per_user)
    calls = _Recent()

    class MemoryCallback(CustomLogger):
        """Delegates to `AgentMemory`."""

        async def async_pre_call_hook(
            self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
        ) -> dict[str, Any]:
            del cache
            key = _KEYS.get(call_type, "")
            given = data.get(key)
            # A text alone is OpenAI's short form of one message.
            messages: Any = [{"role": "user", "content": given}] if isinstance(given, str) else given
            memory = memories.of(data.get("user") or getattr(user_api_key_dict, "end_user_id", None))
            said = list(filter(None, map(_said, messages))) if isinstance(messages, list) else []
            if memory is None or not said:
                return data
            session = _session(data, getattr(user_api_key_dict, "api_key", None), said[0])
            calls[str(data.get("litellm_call_id"))] = memory, session
            told = await memory.atold(messages, _FORM, session=session)
            return {**data, key: told[0]["content"] if isinstance(given, str) else told}

        async def async_log_success_event(
            self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
        ) -> None:
            del start_time, end_time
            memory, session = calls.pop(str(kwargs.get("litellm_call_id")), (None, ""))
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

    def __init__(self, place: Path | ServerPlace, *, per_user: bool) -> None:
        self._folder = place if isinstance(place, Path) else ""
        self._shared = memory_at(place)  # opens the workspace as the proxy starts
        self._users: _Recent | None = _Recent() if per_user else None

    def of(self, user: Any) -> AgentMemory | None:
        """Return the memory for a request; None where it has to name a user, and does not."""
        if self._users is None:
            return self._shared
        if not isinstance(user, str) or not user:
            return None
        if user not in self._users:
            try:
                self._users[user] = AgentMemory(self._folder, user=user)
            except UsageError as error:
                _log.warning("mnemark: a user has no memory: %s", error)
                self._users[user] = None  # told once
        found: AgentMemory | None = self._users[user]
        return found


def _said(message: Any) -> str:
    """Return what the person says in a message, which may hold results of tools, too."""
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return ""
    content = message.get("content")
    return message_text([{**one, "type": "text"} if _kind(one) == "input_text" else one for one in content]
                        if isinstance(content, list) else content)  # fmt: skip


def _told(block: str, message: Any) -> Any:
    content = message["content"]
    kinds = map(_kind, content if isinstance(content, list) else ())
    kind = next((one for one in kinds if one in {"text", "input_text"}), "text")
    return {**message, "content": with_block(block, content, lambda text: {"type": kind, "text": text})}


def _kind(part: Any) -> str:
    return str(part.get("type")) if isinstance(part, Mapping) else ""


_FORM: Final = MessageForm(_said, _told)


def _session(data: dict[str, Any], key: Any, first: str) -> str:
    """Return the id of a conversation that begins with these words."""
    metadata = data.get("metadata")
    inner = metadata.get("session_id") if isinstance(metadata, Mapping) else ""
    if named := data.get("litellm_session_id") or inner:
        return f"litellm:{named}"
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
