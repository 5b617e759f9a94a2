"""Convert turns to JSON lines, and JSON of many shapes to turns.

Those are our own lines, OpenAI-style messages (`role`, `content`, `tool_calls`), nanobot's session files
(`_type: metadata`, then messages with `timestamp`), messages nested under `message` or `payload`, and content
as a list of parts. Keys that a `Turn` lacks are kept in `meta`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from mnemark.files import jsonl
from mnemark.files.ids import derived_id
from mnemark.types import ORIGINS, Json, Origin, Turn

_ROLE_ORIGINS: Mapping[str, Origin] = {
    "user": "owner", "human": "owner", "assistant": "agent", "system": "agent", "developer": "agent",
}  # fmt: skip
_TIME_KEYS = ("time", "timestamp", "created_at", "createdAt", "created", "ts", "date")
_ID_KEYS = ("id", "uuid")
_OWN_KEYS = frozenset(Turn.__struct_fields__)
_MILLISECONDS = 1e11  # numbers of seconds since 1970 stay below until the year 5138
UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of a turn for which neither its line nor its reader has one; this very object."""

Record = dict[str, Json]


def encode_turn(turn: Turn) -> bytes:
    """Encode a turn as a line. Raises UsageError where `meta` or a call is no JSON."""
    record = {"id": turn.id, "time": turn.time, "role": turn.role, "content": turn.content}
    record["origin"] = turn.origin  # never left out: without it the role would decide, and trust with it
    for name in ("tool_calls", "tool_results", "attachments", "duration_ms", "meta"):
        value = getattr(turn, name)
        if value is not None and (not hasattr(value, "__len__") or len(value)):
            record[name] = value
    return jsonl.encode(record)


def header_id(record: Record) -> str | None:
    """Return the session id in a header line (ours or nanobot's); None if the line is no header."""
    if record.get("_type") == "metadata":
        key = record.get("key") or record.get("session")
        return str(key) if key else ""
    if "session" in record and "role" not in record and "content" not in record:
        return str(record["session"])
    return None


def created(record: Record) -> datetime | None:
    """Return the time in a header or message, as written; None if there is no valid one."""
    moments = (_moment(record[key]) for key in _TIME_KEYS if key in record)
    return next((moment for moment in moments if moment is not None), None)


def decode_turn(record: Record, line: jsonl.Line, undated: datetime | None = None) -> Turn | None:
    """Decode the JSON object of a line to a turn; None for headers, blanked lines and other non-messages.

    A line without id gets one from its number, bytes and time, the same at each read. A line without time
    gets `undated`, and `meta["undated"]` says so.
    """
    message = _message(record)
    if message is None:
        return None
    moment = created(message) or created(record)
    text, parts = _content(message.get("content"))
    extra = {key: value for key, value in message.items() if key not in _OWN_KEYS and key not in _TIME_KEYS}
    extra |= {k: v for k, v in record.items() if message is not record and k not in _OWN_KEYS}
    for key in ("message", "payload", "role", "uuid", "timestamp"):
        if message is not record or key == "uuid":
            extra.pop(key, None)
    extra |= _mapping(message.get("meta"))
    if moment is None:
        extra["undated"] = True
    role = str(message["role"])
    given = next((r[key] for r in (message, record) for key in _ID_KEYS if r.get(key)), None)
    return Turn(
        id=str(given) if given else derived_id(b"%d\n" % line.number + line.data, moment),
        time=moment or undated or UNDATED,
        role=role,
        content=text,
        origin=_origin(message.get("origin"), role),
        tool_calls=(*_sequence(message.get("tool_calls")), *parts["tool_calls"]),
        tool_results=(*_sequence(message.get("tool_results")), *parts["tool_results"]),
        attachments=(*_sequence(message.get("attachments")), *parts["attachments"]),
        duration_ms=_whole_number(message.get("duration_ms")),
        meta=extra,
    )


def texts_in(value: Json) -> Iterator[str]:
    """Yield all strings in a JSON value, except keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from texts_in(one)


def _message(record: Record) -> Record | None:
    for candidate in (record, record.get("message"), record.get("payload")):
        if isinstance(candidate, dict) and isinstance(candidate.get("role"), str) and candidate["role"]:
            return candidate
    # A line of nanobot's condensed history has no role: the agent wrote it.
    condensed = isinstance(record.get("cursor"), int) and isinstance(record.get("content"), str)
    return {**record, "role": "assistant"} if condensed else None


def _origin(given: Json, role: str) -> Origin:
    """Return the given origin, else that of the role; an unknown one is trusted least."""
    if given is None:
        return _ROLE_ORIGINS.get(role, "tool")
    return next((origin for origin in ORIGINS if origin == given), "tool")


def _content(content: Json) -> tuple[str, dict[str, list[Json]]]:
    """Return the text of a message, and its other parts by the turn's field."""
    found: dict[str, list[Json]] = {"tool_calls": [], "tool_results": [], "attachments": []}
    if isinstance(content, str):
        return content, found
    if content is None:
        return "", found
    texts = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict):
            texts.append(str(part))
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            found[_field_of(part)].append(part)
    return "\n".join(texts), found


def _field_of(part: Record) -> str:
    match part.get("type"):
        case "tool_use" | "toolCall" | "tool_call" | "function_call":
            return "tool_calls"
        case "tool_result" | "toolResult" | "function_call_output":
            return "tool_results"
        case _:
            return "attachments"


def _moment(value: Json) -> datetime | None:
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value.strip())
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _mapping(value: Json) -> Record:
    return value if isinstance(value, dict) else {} if value is None else {"meta": value}


def _sequence(value: Json) -> Iterable[Json]:
    return value if isinstance(value, list) else () if value is None else (value,)


def _whole_number(value: Json) -> int | None:
    return round(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
