"""Transcripts as Claude Code and Codex write them, made up."""

import json
from pathlib import Path
from typing import Any

MOMENT = "2026-03-02T10:{minute:02d}:00.000Z"


def claude_line(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": role, "uuid": f"00000000-0000-4000-8000-{number:012d}", "isSidechain": False,
        "timestamp": MOMENT.format(minute=number), "sessionId": "one", "cwd": "/home/me/project",
        "message": {"role": role, "content": content}, **more,
    }  # fmt: skip


def codex_line(number: int, role: str, text: str, *, kinds: list[str] | None = None) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    payload: dict[str, Any] = {
        "type": "message", "id": f"msg_{number}", "role": role, "content": [{"type": part, "text": text}],
    }  # fmt: skip
    if kinds is not None:
        payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
    return {"timestamp": MOMENT.format(minute=number), "type": "response_item", "payload": payload}


def write(path: Path, *lines: dict[str, Any]) -> Path:
    with path.open("a", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


def event(path: Path | None, **more: Any) -> dict[str, Any]:
    return {"session_id": "one", "transcript_path": None if path is None else str(path), **more}
