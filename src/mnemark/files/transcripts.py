"""Read the transcripts of agents: append-only JSON lines.

Claude Code writes a line for each message (`type`, `uuid`, `message`), Codex one for each item (`type`,
`payload`), Copilot CLI one for each event (`type`, `data`). What the agent adds by itself (reminders,
environment, instructions, summaries of compaction, side conversations) is left out; so are recall blocks.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemark.files import jsonl
from mnemark.files.ids import derived_id
from mnemark.files.turns import decode_turn
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.text.quoting.fence import strip_fences
from mnemark.types import Turn

MARK: Final = "transcript"
"""Key in a turn's `meta`: the transcript's name, and the end offset of the turn's line."""
_REMINDER: Final = lazy_pattern(r"<system-reminder>.*?(?:</system-reminder>|\Z)\s*", re.DOTALL)
_ADDED: Final = lazy_pattern(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|skills?_instructions|skill|INSTRUCTIONS|"
    r"turn_aborted|user_shell_command|subagent_notification|command-name|command-message|command-args|"
    r"local-command-stdout|local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr|"
    r"task-notification)\b|# AGENTS\.md instructions|Caveat: The messages below were generated|"
    r"\[Request interrupted by user)"
)
_NOT_SAID: Final = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")
_SPOKEN: Final = frozenset({"user", "assistant"})


class Reading(msgspec.Struct, frozen=True):
    """A turn of a transcript, and the end offset of its line."""

    turn: Turn
    end: int


def read(path: Path, agent: str, start: int = 0) -> Iterator[Reading]:
    """Yield the turns of a transcript from a byte offset on; an incomplete last line is left for later.

    Turns have ids of their own, the same at each read, and `meta["transcript"]` tells where they end. Raises
    OSError.
    """
    for line in jsonl.read(path, start, start_line=1):
        decoded = jsonl.decode(line.data)
        record = None if decoded is None else _as_message(decoded)
        if record is None or not _is_spoken(record):
            continue
        turn = decode_turn(record, line)
        said = None if turn is None else _said(turn, record)
        if turn is None or said is None:
            continue
        # Providers number items anew with each answer; only the agents' own ids are unique.
        source = f"{agent}\n{path.name}\n{record.get('uuid') or line.offset}\n{turn.role}"
        meta = {"agent": agent, MARK: {"name": path.name, "end": line.end}}
        kept = msgspec.structs.replace(
            turn, id=derived_id(source.encode("utf-8", "replace"), turn.time), content=said,
            origin="owner" if turn.role == "user" else "agent", meta=meta,
            tool_calls=(), tool_results=(), attachments=(),
        )  # fmt: skip
        yield Reading(kept, line.end)


def _as_message(record: dict[str, Any]) -> dict[str, Any]:
    """Return an event of Copilot CLI as a message in Claude Code's form; other lines as they are."""
    role, dot, kind = str(record.get("type")).partition(".")
    data = record.get("data")
    if role not in _SPOKEN or dot + kind != ".message" or not isinstance(data, dict):
        return record
    inner = "parentToolCallId" in data or data.get("source", "user") != "user"  # of a subagent or a skill
    return {
        "type": role, "uuid": record.get("id"), "timestamp": record.get("timestamp"), "isSidechain": inner,
        "message": {"role": role, "content": data.get("content")},
    }  # fmt: skip


def _is_spoken(record: Mapping[str, Any]) -> bool:
    if any(record.get(key) is True for key in _NOT_SAID):
        return False
    is_item = record.get("type") == "response_item"
    message = record.get("payload" if is_item else "message")
    if not isinstance(message, dict) or message.get("role") not in _SPOKEN:
        return False
    return message.get("type") == "message" if is_item else record.get("type") in _SPOKEN


def _said(turn: Turn, record: Mapping[str, Any]) -> str | None:
    """Return the words of a person or the agent; None if there are none."""
    payload = record.get("payload")
    if turn.role == "user" and isinstance(payload, dict) and _is_context(payload):
        return None
    said = strip_fences(_REMINDER.sub("", turn.content)).strip()
    return None if not said or (turn.role == "user" and _ADDED.match(said)) else said


def _is_context(payload: Mapping[str, Any]) -> bool:
    """Whether Codex marks all of a message as not the user's."""
    about = payload.get("internal_chat_message_metadata_passthrough")
    kinds = about.get("content_item_kinds") if isinstance(about, dict) else None
    if not isinstance(kinds, list) or not kinds:
        return False
    return not any(str(kind).startswith(("user.", "unknown")) for kind in kinds)
