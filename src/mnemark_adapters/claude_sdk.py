"""Adapt memory to the Claude Agent SDK: a `SessionStore` that mirrors transcripts into session logs.

    options = ClaudeAgentOptions(session_store=TranscriptStore(memory))

It implements the SDK's protocol; the SDK itself is imported for summaries only.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mnemark.errors import UsageError
from mnemark.files import platform
from mnemark_adapters.items import ItemLog, ItemLogs, NewItem, text_in, threaded

if TYPE_CHECKING:
    from mnemark.memory.memory import Memory


class TranscriptStore:
    """Session logs of transcripts by project, session and, for subagents, subpath.

    Entries are returned as they were appended, but redacted. An entry whose `uuid` is stored is skipped.
    Deleted entries are hidden, like by `mnemark forget`.

    Args:
        memory: the workspace, opened.
        user: whose memory it is; or an `agent`'s. The workspace's own by default.
        agent: as for `Memory.session`.
    """

    def __init__(self, memory: "Memory", *, user: str | None = None, agent: str | None = None) -> None:
        self._logs = ItemLogs(memory, "claude-sdk:", user=user, agent=agent)

    @threaded
    def append(self, key: Mapping[str, Any], entries: list[Any]) -> None:
        """Store entries durably, in order."""
        log = self._logs.log(_parts(key))
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

    @threaded
    def load(self, key: Mapping[str, Any]) -> list[Any] | None:
        """Return the entries of a transcript; None where there is none, or it was deleted."""
        return [one.item for one in self._logs.log(_parts(key)).items()] or None

    @threaded
    def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """Return `session_id` and `mtime` (milliseconds since 1970) of a project's main transcripts."""
        return [
            {"session_id": session, "mtime": _mtime(log)} for session, log, _ in self._sessions(project_key)
        ]

    @threaded
    def list_session_summaries(self, project_key: str) -> list[Any]:
        """Return the SDK's summary of each session of a project, computed from its entries."""
        from claude_agent_sdk import fold_session_summary  # type: ignore[import-not-found]

        found = []
        for session, log, entries in self._sessions(project_key):
            key: Any = {"project_key": project_key, "session_id": session}
            found.append({**fold_session_summary(None, key, entries), "mtime": _mtime(log)})
        return found

    @threaded
    def delete(self, key: Mapping[str, Any]) -> None:
        """Hide a transcript; without `subpath`, also those of its subagents."""
        parts = _parts(key)
        logs = [self._logs.log(parts)] if "subpath" in key else [log for _, log in self._logs.below(parts)]
        for log in logs:
            with log.changing():
                log.hide(log.items())

    @threaded
    def list_subkeys(self, key: Mapping[str, Any]) -> list[str]:
        """Return the subpaths of a session."""
        below = self._logs.below((key["project_key"], key["session_id"]))
        return [parts[2] for parts, log in below if len(parts) == 3 and log.items()]

    def _sessions(self, project_key: str) -> Iterator[tuple[str, ItemLog, list[Any]]]:
        """Yield id, log and entries of a project's main transcripts."""
        for parts, log in self._logs.below((project_key,)):
            if len(parts) == 2 and (entries := [one.item for one in log.items()]):
                yield parts[1], log, entries


def _parts(key: Mapping[str, Any]) -> list[str]:
    if key.get("subpath") == "":
        raise UsageError("subpath cannot be empty; leave it out for the main transcript")
    return [key[part] for part in ("project_key", "session_id", "subpath") if part in key]


def _uuid(entry: Any) -> str | None:
    found = entry.get("uuid") if isinstance(entry, dict) else None
    return found if isinstance(found, str) and found else None


def _new(entry: Any) -> NewItem:
    """Make an item with the text of a message for search; other entries (titles, modes) have none."""
    fields = entry if isinstance(entry, dict) else {}
    message = fields.get("message")
    if fields.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return NewItem(entry, "system", "")
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    results = any(isinstance(part, dict) and part.get("type") == "tool_result" for part in parts)
    role = "tool" if results else str(fields["type"])
    said = [part for part in parts if not isinstance(part, dict) or part.get("type") != "thinking"]
    return NewItem(entry, role, text_in(said if parts else content))


def _mtime(log: ItemLog) -> int:
    state = platform.identity(log.session.log.path)
    return 0 if state is None else state.mtime_ns // 1_000_000
