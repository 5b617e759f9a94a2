"""Convert conversations that other programs export to turns of sessions.

Formats: OpenAI-style messages and our own export (`read_jsonl`), the `conversations.json` of ChatGPT (a tree
of messages; the current branch is imported) and of Claude (a list of messages), the transcripts of Claude
Code and Codex. Times are those of the messages; ids are derived from the source's, so that a second import
adds nothing. Session ids of transcripts are those that the hooks use, so that a session which was captured
live and is imported later stays one session.
"""

import json
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from mnemark.errors import IntegrityError, NotFoundError, UsageError
from mnemark.files import jsonl, platform, transcripts
from mnemark.files.disk_errors import unread
from mnemark.files.ids import derived_id
from mnemark.files.turns import UNDATED, created, decode_turn
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem, Turn

_EXPORT_FILE: Final = "conversations.json"
_MAX_BYTES: Final = 2 << 30
_MAX_DEPTH: Final = 100_000

Agent = Literal["claude-code", "codex"]
_FOLDERS: Final[dict[Agent, str]] = {"claude-code": "~/.claude/projects", "codex": "~/.codex/sessions"}
_ROLLOUT: Final = lazy_pattern(r"rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
_HEAD_LINES: Final = 50
"""Number of first lines of a transcript that are searched for its session id."""

Record = dict[str, Any]


class Conversation(NamedTuple):
    """A conversation, with messages as `decode_turn` reads them."""

    id: str
    title: str
    began: datetime | None
    messages: list[Record]


Reader = Callable[[Record], Conversation | None]


def _import_conversations(incoming: Incoming, path: Path, service: tuple[str, Reader]) -> None:
    """Import all conversations of an export; skip malformed ones, and report them."""
    name, reader = service
    for number, record in enumerate(_read_conversations(path)):
        found = reader(record) if isinstance(record, dict) else None
        if found is None:
            reason = f"conversation {number + 1} cannot be read: skipped"
            incoming.problems.append(Problem(path.name, reason))
        else:
            incoming.turns("", f"{name}:{found.id}", _turns(name, found))


def read_jsonl(incoming: Incoming, path: Path) -> None:
    """Import our export, or messages: one per line (a session), or `messages` lists (a session per line)."""
    if not path.is_file():
        raise NotFoundError(f"{path} is not a JSON Lines file")
    problems: list[Problem] = []
    records = jsonl.records(path, problems=problems, name=path.name)
    first = next(records, None)
    if first is None:
        raise IntegrityError(f"{path.name} contains no JSON Lines")
    if first[1].get("mnemark") == "export":
        _read_own_export(incoming, (record for _, record in records))
    else:
        _messages(incoming, path, [first[1], *(record for _, record in records)])
    incoming.problems.extend(problems)


def _read_own_export(incoming: Incoming, records: Iterator[Record]) -> None:
    notes: dict[str, list[str]] = defaultdict(list)
    sessions: dict[tuple[str, str, str], list[Turn]] = defaultdict(list)
    changes: dict[str, list[bytes]] = defaultdict(list)
    added = {"type", "path", "line", "session", "scope"}
    for record in records:
        match record.get("type"), record.get("path"):
            case "passage", str(path):
                notes[path].append(str(record.get("text", "")))
            case "turn", str(path):
                kept = {key: value for key, value in record.items() if key not in added}
                if (turn := decode_turn(kept, jsonl.Line(0, 0, b"", 0))) is not None:
                    session = str(record.get("session") or path)
                    sessions[str(record.get("scope") or ""), session, path].append(turn)
            case "change", str(path):
                changes[path].append(jsonl.encode(record.get("record")))
            case _:
                incoming.problems.append(
                    Problem("export", f"a record of type {record.get('type')!r} was skipped")
                )
    for path, texts in notes.items():
        incoming.note(path, "".join(texts).encode("utf-8", "replace"))
    for (scope, session, path), turns in sessions.items():
        try:
            incoming.turns(scope, session, turns, path)
        except UsageError as error:  # of the scope: somebody's name that is no folder of memory
            incoming.problems.append(Problem("export", f"{len(turns)} turns skipped: {error}"))
    for path, lines in changes.items():
        incoming.lines(path, lines)


def _messages(incoming: Incoming, path: Path, records: list[Record]) -> None:
    loose: list[Record] = []
    for number, record in enumerate(records):
        if isinstance(record.get("messages"), list):
            title = str(record.get("title") or record.get("name") or "")
            messages = [message for message in record["messages"] if isinstance(message, dict)]
            session = str(record.get("id") or record.get("session") or f"{path.stem}-{number + 1}")
            found = Conversation(session, title, created(record), messages)
            incoming.turns("", f"import:{session}", _turns("import", found))
        else:
            loose.append(record)
    if loose:
        found = Conversation(path.stem, "", None, loose)
        incoming.turns("", f"import:{found.id}", _turns("import", found))


def _turns(service: str, conversation: Conversation) -> Iterator[Turn]:
    before = conversation.began
    for number, message in enumerate(conversation.messages):
        line = jsonl.Line(0, number + 1, jsonl.encode(message), 0)
        turn = decode_turn(message, line, before)
        if turn is None or not (
            turn.content.strip() or turn.tool_calls or turn.tool_results or turn.attachments
        ):
            continue
        meta = dict(turn.meta)
        if before is not None and turn.time == before:
            meta.pop("undated", None)  # it has the time of the conversation
        if conversation.title:
            meta["conversation"] = conversation.title
        before = turn.time if turn.time != UNDATED else before
        source = f"{service}\n{conversation.id}\n{message.get('id') or number}\n{turn.role}\n{turn.content}"
        identifier = derived_id(source.encode("utf-8", "replace"), turn.time)
        yield msgspec.structs.replace(turn, id=identifier, meta=meta)


def _read_conversations(path: Path) -> list[Any]:
    file = path / _EXPORT_FILE if path.is_dir() else path
    if not file.is_file():  # reading a pipe would block
        raise NotFoundError(f"there is no {_EXPORT_FILE} in {path}")
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                name = next((n for n in archive.namelist() if n.rpartition("/")[2] == _EXPORT_FILE), None)
                if name is None or archive.getinfo(name).file_size > _MAX_BYTES:
                    raise NotFoundError(f"{path.name} contains no {_EXPORT_FILE}")
                data = archive.read(name)
        else:
            data = platform.content(file)
        found = json.loads(data)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no {_EXPORT_FILE} in {path}") from error
    except (ValueError, RecursionError, zipfile.BadZipFile, RuntimeError) as error:
        raise IntegrityError(f"{path.name} is not an export of conversations: {error}") from error
    if isinstance(found, dict):
        found = found.get("conversations", [found])
    if not isinstance(found, list):
        raise IntegrityError(f"{path.name} is not an export of conversations: a list is expected")
    return found


def _chatgpt_conversation(record: Record) -> Conversation | None:
    mapping = record.get("mapping")
    identifier = record.get("conversation_id") or record.get("id")
    if not isinstance(mapping, dict) or not identifier:
        return None
    messages = [shaped for message in _branch(record, mapping) if (shaped := _chatgpt_message(message))]
    return Conversation(
        str(identifier), str(record.get("title") or ""), _time(record.get("create_time")), messages
    )


def _branch(record: Record, mapping: Mapping[str, Any]) -> list[Record]:
    """Return the messages from the root to `current_node`; all messages by time if there is no such node."""
    node = record.get("current_node")
    found: list[Record] = []
    if node not in mapping:
        every = filter(None, map(_message_of, mapping.values()))
        return sorted(every, key=lambda message: _number(message.get("create_time")))
    seen: set[str] = set()
    while isinstance(node, str) and node in mapping and node not in seen and len(seen) < _MAX_DEPTH:
        seen.add(node)
        if message := _message_of(mapping[node]):
            found.append(message)
        node = mapping[node].get("parent") if isinstance(mapping[node], dict) else None
    return found[::-1]


def _message_of(entry: object) -> Record:
    message = entry.get("message") if isinstance(entry, dict) else None
    return message if isinstance(message, dict) else {}


def _chatgpt_message(message: Record) -> Record | None:
    author = message.get("author")
    role = author.get("role") if isinstance(author, dict) else None
    content = message.get("content")
    if not isinstance(role, str) or role == "system" or not isinstance(content, dict):
        return None
    parts = content.get("parts")
    if not isinstance(parts, list):
        parts = [value for key in ("text", "result") if isinstance(value := content.get(key), str)]
    shaped: Record = {"id": message.get("id"), "role": role, "content": parts}
    if (moment := _time(message.get("create_time"))) is not None:
        shaped["time"] = moment.isoformat()
    if isinstance(name := author.get("name") if isinstance(author, dict) else None, str):
        shaped["tool"] = name
    return shaped


def _claude_conversation(record: Record) -> Conversation | None:
    identifier, messages = record.get("uuid"), record.get("chat_messages")
    if not isinstance(messages, list) or not identifier:
        return None
    shaped = [_claude_message(message) for message in messages if isinstance(message, dict)]
    began = created(record)
    return Conversation(str(identifier), str(record.get("name") or ""), began, [m for m in shaped if m])


def _claude_message(message: Record) -> Record | None:
    sender = message.get("sender")
    if not isinstance(sender, str) or not sender:
        return None
    content, text = message.get("content"), message.get("text")
    if not (isinstance(content, list) and content):
        content = text if isinstance(text, str) else ""
    files = (item for key in ("attachments", "files") for item in message.get(key) or ())
    role = {"human": "user"}.get(sender, sender)
    shaped: Record = {"id": message.get("uuid"), "role": role, "content": content}
    shaped["attachments"] = [item for item in files if isinstance(item, dict)]
    return shaped | ({"time": message["created_at"]} if message.get("created_at") else {})


def _time(value: object) -> datetime | None:
    return created({"time": value}) if value is not None else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def read_chatgpt(incoming: Incoming, path: Path) -> None:
    """Import the conversations that ChatGPT exports."""
    _import_conversations(incoming, path, ("chatgpt", _chatgpt_conversation))


def read_claude(incoming: Incoming, path: Path) -> None:
    """Import the conversations that Claude exports."""
    _import_conversations(incoming, path, ("claude", _claude_conversation))


def read_claude_code(incoming: Incoming, path: Path) -> None:
    """Import the transcripts of Claude Code."""
    _import_transcripts(incoming, path, "claude-code")


def read_codex(incoming: Incoming, path: Path) -> None:
    """Import the transcripts of Codex."""
    _import_transcripts(incoming, path, "codex")


def _import_transcripts(incoming: Incoming, path: Path, agent: Agent) -> None:
    """Import all transcripts below a folder, or one transcript; skip those of subagents.

    Raises:
        NotFoundError: there are none.
    """
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    by_session: dict[str, list[Path]] = defaultdict(list)
    for file in filter(Path.is_file, files):  # no folders, and no pipes, which would block
        try:
            session = _session(file, agent)
        except OSError as error:
            incoming.problems.append(Problem(file.name, unread(error)))
            continue
        if session:
            by_session[session].append(file)
        elif not path.is_dir():
            raise NotFoundError(
                f"{path.name} is not a transcript of {agent}; transcripts are in {_FOLDERS[agent]}"
            )
    if not by_session:
        raise NotFoundError(f"no transcripts of {agent} in {path}; they are usually in {_FOLDERS[agent]}")
    for session, parts in sorted(by_session.items()):
        for part in parts:
            try:
                found = [one.turn for one in transcripts.read(part, agent)]
            except OSError as error:
                incoming.problems.append(Problem(part.name, unread(error)))
                continue
            if found:
                incoming.turns("", f"{agent}:{session}", found)


def _session(file: Path, agent: Agent) -> str:
    """Return the session id that hooks use; empty if the file is no transcript, or a subagent's."""
    for line, record in jsonl.records(file):
        if line.number > _HEAD_LINES:
            break
        if agent == "claude-code" and isinstance(found := record.get("sessionId"), str):
            return "" if record.get("isSidechain") is True or record.get("agentId") else found
        payload = record.get("payload")
        if agent == "codex" and record.get("type") == "session_meta" and isinstance(payload, dict):
            named = _ROLLOUT.search(file.stem)
            return str(payload.get("id") or (named[1] if named else "") or "")
    return ""
