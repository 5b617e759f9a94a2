"""Read observations, journal lines of kind "observe", as turns of the tool."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from mnemark.files import jsonl
from mnemark.files.ids import is_id, time_of
from mnemark.files.journal import FOLDER, decode_change
from mnemark.files.layout import place
from mnemark.files.sessions import Placed
from mnemark.types import Json, Turn

KIND: Final = "observe"
_WANTED: Final = re.compile(rb'"kind"\s*:\s*"observe"')


def is_journal(path: str) -> bool:
    """Whether a relative path is a journal of the workspace."""
    return path.startswith(f"{FOLDER}/") and (found := place(path)) is not None and found.role == "journal"


def turn_of(record: dict[str, Json]) -> Turn | None:
    """Return an observation as a turn; None where the line is none."""
    change = decode_change(record)
    if change is None or change.kind != KIND or not isinstance(change.payload, Mapping):
        return None
    if change.time is None and not is_id(change.id):
        return None
    payload = change.payload
    parts = [str(payload.get("title") or payload.get("tool") or "")]
    if payload.get("arguments"):
        parts.append(_arguments_text(payload["arguments"]))
    parts += [str(payload[key]) for key in ("error", "result") if payload.get(key)]
    names = ("session", "tool", "title", "failed", "duration_ms")
    meta = {name: payload[name] for name in names if payload.get(name)}
    meta |= {"scope": change.scope} if change.scope else {}
    duration = payload.get("duration_ms")
    return Turn(
        id=change.id,
        time=change.time or time_of(change.id),
        role="tool",
        content="\n".join(filter(None, parts)),
        origin="tool",
        duration_ms=duration if isinstance(duration, int) else None,
        meta=meta,
    )


def _arguments_text(arguments: Json) -> str:
    if isinstance(arguments, Mapping):
        return "\n".join(f"{key}: {_json_text(value)}" for key, value in arguments.items())
    return _json_text(arguments)


def _json_text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def turn_in(line: jsonl.Line) -> Turn | None:
    """Return the observation in a line of a journal; None for other lines, which are not decoded."""
    record = jsonl.decode(line.data) if _WANTED.search(line.data) is not None else None
    return turn_of(record) if record is not None else None


def read(path: Path) -> Iterator[Placed]:
    """Yield the observations of a journal."""
    for line in jsonl.read(path):
        if (turn := turn_in(line)) is not None:
            yield Placed(line.offset, line.number, turn, line.end)
