"""Convert nanobot's messages and condensed history to turns, without writing.

A message is a mapping with `role`, `content` (text or parts), `timestamp` (local ISO time), and
`tool_calls` or `tool_call_id`, `name`. A line of `memory/history.jsonl` has `cursor`, `timestamp`,
`content` and perhaps `session_key`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from mnemark.files import platform
from mnemark.files.ids import derived_id
from mnemark.text.quoting.fence import strip_fences
from mnemark.types import Turn
from mnemark_agents.hook.event import is_own_tool, message_text

HISTORY: Final = "nanobot:history"
"""The session that nanobot's condensed history is recorded in."""
_CURSOR: Final = "nanobot_cursor"


def turns(key: str, messages: Sequence[Mapping[str, Any]]) -> list[Turn]:
    """Return the turns of messages with reproducible ids, without commands and automations."""
    found = []
    for message in messages:
        role = message.get("role")
        if role not in {"user", "assistant"} or message.get("_command") or message.get("_automation_turn"):
            continue
        text = strip_fences(message_text(message.get("content"))).strip()
        if text:
            found.append(_turn(key, role, text, message.get("timestamp")))
    return found


def executions(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield tool calls as arguments of `Session.observe`, without memory's own tools."""
    results = {one.get("tool_call_id"): one for one in messages if one.get("role") == "tool"}
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if not isinstance(function, Mapping) or is_own_tool(str(function.get("name") or "tool")):
                continue
            result = results.get(call.get("id"))
            if result is None:
                continue
            yield {
                "tool": str(function.get("name") or "tool"),
                "arguments": _arguments(function.get("arguments")),
                "result": strip_fences(message_text(result.get("content"))),
                "call": str(call.get("id") or ""),
            }


def history(path: Path, last: Turn | None) -> list[Turn]:
    """Return the entries of the history after `last`, the newest one recorded; skip broken lines."""
    since = last.meta.get(_CURSOR) if last is not None else 0
    found = []
    for line in platform.content(path).splitlines() if path.is_file() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        cursor = entry.get("cursor") if isinstance(entry, dict) else None
        if not isinstance(cursor, int) or (isinstance(since, int) and cursor <= since):
            continue
        text = strip_fences(message_text(entry.get("content"))).strip()
        if text and not is_skipped(str(entry.get("session_key") or "")):
            found.append(_turn(HISTORY, "assistant", text, entry.get("timestamp"), {_CURSOR: cursor}))
    return found


def _turn(key: str, role: str, text: str, stamp: Any, meta: Mapping[str, Any] | None = None) -> Turn:
    source = f"{key}\n{stamp}\n{role}\n{text}".encode("utf-8", "replace")
    when = _moment(stamp)
    return Turn(
        id=derived_id(source, when), time=when, role=role, content=text,
        origin="owner" if role == "user" else "agent", meta={"agent": "nanobot", **(meta or {})},
    )  # fmt: skip


def _moment(stamp: Any) -> datetime:
    try:
        return datetime.fromisoformat(str(stamp)).astimezone()
    except ValueError:
        return datetime.now().astimezone()


def _arguments(given: Any) -> Any:
    try:
        return json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return given


def is_skipped(key: str) -> bool:
    """Tell whether a session is one of nanobot's own: `cron:…`, `dream:…`, `heartbeat`, `system`."""
    return key.partition(":")[0].casefold() in {"cron", "dream", "heartbeat", "system"}
