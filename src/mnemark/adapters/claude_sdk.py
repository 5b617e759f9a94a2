"""The Claude Agent SDK: a `SessionStore` that mirrors transcripts into session logs of the workspace.

    options = ClaudeAgentOptions(session_store=TranscriptStore(memory))

It follows the SDK's protocol by its methods; the SDK is only imported where summaries are asked for.
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from mnemark.adapters.items import ItemLog, New, text_in
from mnemark.errors import UsageError
from mnemark.files import platform
from mnemark.files.scopes import scope_name
from mnemark.files.sessions import list_sessions

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory

_PREFIX: Final = "claude-sdk:"
_SPOKEN: Final = ("user", "assistant")


class TranscriptStore:
    """Transcripts by project, session and, for subagents, subpath: a log each.

    Entries come back as they were appended, but for secrets, which are not kept. An entry whose `uuid` is
    there already is not added again. What is deleted is hidden, as by `mnemark forget`.

    Args:
        memory: the workspace, opened.
        user: whose memory it is; or an `agent`'s. The workspace's own by default.
        agent: as for `Memory.session`.
    """

    def __init__(self, memory: "Memory", *, user: str | None = None, agent: str | None = None) -> None:
        self._memory = memory
        self._whose = {"user": user, "agent": agent}
        self._root = memory.root / scope_name(user=user, agent=agent)
        self._logs: dict[str, ItemLog] = {}
        self._guard = threading.Lock()

    async def append(self, key: Mapping[str, Any], entries: list[Any]) -> None:
        """Keep entries in order; when this returns, they are on the disk."""
        await asyncio.to_thread(self._append, key, entries)

    def _append(self, key: Mapping[str, Any], entries: list[Any]) -> None:
        log = self._log(_id(key))
        if not entries:
            return
        with log.changing():
            known = {_uuid(one.item) for one in log.items()} - {None}
            fresh = []
            for entry in entries:
                uuid = _uuid(entry)
                if uuid is None or uuid not in known:
                    fresh.append(_new(entry))
                    known.add(uuid)
            log.add(fresh)

    async def load(self, key: Mapping[str, Any]) -> list[Any] | None:
        """The entries of a transcript; None where there is none, or it was deleted."""
        kept = await asyncio.to_thread(self._log(_id(key)).items)
        return [one.item for one in kept] or None

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """`session_id` and `mtime` (milliseconds since 1970) of a project's main transcripts."""
        return await asyncio.to_thread(self._sessions, project_key)

    def _sessions(self, project_key: str) -> list[dict[str, Any]]:
        return [
            {"session_id": parts[1], "mtime": _mtime(log)}
            for parts, log in self._below(_name(project_key))
            if len(parts) == 2 and log.items()
        ]

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        """The SDK's own summary of each session of a project, made anew from its entries."""
        return await asyncio.to_thread(self._summaries, project_key)

    def _summaries(self, project_key: str) -> list[Any]:
        from claude_agent_sdk import fold_session_summary  # type: ignore[import-not-found]

        found = []
        for parts, log in self._below(_name(project_key)):
            entries = [one.item for one in log.items()] if len(parts) == 2 else []
            if entries:
                key: Any = {"project_key": parts[0], "session_id": parts[1]}
                found.append({**fold_session_summary(None, key, entries), "mtime": _mtime(log)})
        return found

    async def delete(self, key: Mapping[str, Any]) -> None:
        """Take a transcript away; without `subpath`, those of its subagents too."""
        await asyncio.to_thread(self._delete, key)

    def _delete(self, key: Mapping[str, Any]) -> None:
        name = _id(key)
        logs = [self._log(name)] if "subpath" in key else [log for _, log in self._below(name)]
        for log in logs:
            with log.changing():
                log.hide(log.items())

    async def list_subkeys(self, key: Mapping[str, Any]) -> list[str]:
        """The subpaths of a session."""
        return await asyncio.to_thread(self._subkeys, key)

    def _subkeys(self, key: Mapping[str, Any]) -> list[str]:
        name = _name(key["project_key"], key["session_id"])
        return [parts[2] for parts, log in self._below(name) if len(parts) == 3 and log.items()]

    def _below(self, name: str) -> Iterator[tuple[list[str], ItemLog]]:
        """The transcript of that name and those below it."""
        for info in list_sessions(self._root):
            if info.id == name or info.id.startswith(f"{name}/"):
                yield [unquote(part) for part in info.id.removeprefix(_PREFIX).split("/")], self._log(info.id)

    def _log(self, name: str) -> ItemLog:
        with self._guard:
            if name not in self._logs:
                self._logs[name] = ItemLog(self._memory, name, **self._whose)
            return self._logs[name]


def _name(*parts: str) -> str:
    """The id of the session of a transcript: its parts told apart by "/", so that no two share one."""
    return _PREFIX + "/".join(quote(part, safe=" :@+,;=") for part in parts)


def _id(key: Mapping[str, Any]) -> str:
    if key.get("subpath") == "":
        raise UsageError("subpath cannot be empty; leave it out for the main transcript")
    return _name(*(key[part] for part in ("project_key", "session_id", "subpath") if part in key))


def _uuid(entry: Any) -> str | None:
    found = entry.get("uuid") if isinstance(entry, dict) else None
    return found if isinstance(found, str) and found else None


def _new(entry: Any) -> New:
    """What was said is found by search; the rest (titles, modes) is kept without words."""
    fields = entry if isinstance(entry, dict) else {}
    message = fields.get("message")
    if fields.get("type") not in _SPOKEN or not isinstance(message, dict):
        return New(entry, "system", "")
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    results = any(isinstance(part, dict) and part.get("type") == "tool_result" for part in parts)
    role = "tool" if results else str(fields["type"])
    said = [part for part in parts if not isinstance(part, dict) or part.get("type") != "thinking"]
    return New(entry, role, text_in(said if parts else content))


def _mtime(log: ItemLog) -> int:
    state = platform.identity(log.session.log.path)
    return 0 if state is None else state.mtime_ns // 1_000_000
