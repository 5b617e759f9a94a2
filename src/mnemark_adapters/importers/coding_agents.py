"""Read sessions of coding agents: GitHub Copilot Chat, Gemini CLI and OpenCode.

What a tool returned is no turn, and neither is what a subagent was told.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mnemark.errors import IntegrityError, NotFoundError
from mnemark.memory.transfer.importer import Incoming
from mnemark_adapters.importers.conversations import (
    Conversation,
    Record,
    dicts,
    message_of,
    moment,
    text_of,
    turns_of,
    words,
)  # fmt: skip
from mnemark_adapters.importers.source import Database, Member, Source

COPILOT_FILES: Final = (
    "chatsessions/*.json",
    "chatsessions/*.jsonl",
    "emptywindowchatsessions/*.json*",
    "chat*.json",
)
GEMINI_FILES: Final = "session-*.json", "session-*.jsonl", "checkpoint-*.json", "gemini-*.json"
OPENCODE_STORAGE: Final = ("session/*/ses_*.json",)
_THOUGHT, _CALLS, _SUBAGENT = "what the model thought", "calls of tools", "what a subagent was told"
_REASONS: Final = {
    "thinking": _THOUGHT, "reasoning": _THOUGHT, "toolInvocationSerialized": _CALLS, "tool": _CALLS,
    "toolInvocation": _CALLS, "prepareToolInvocation": _CALLS, "file": "files are not imported",
    "patch": "changes of files", "textEditGroup": "changes of files", "notebookEditGroup": "changes of files",
    "codeblockUri": "changes of files",
}  # fmt: skip
_SILENT: Final = frozenset(
    ("undoStop", "progressMessage", "progressTaskSerialized", "mcpServersStarting", "step-start",
     "step-finish", "snapshot", "compaction", "warning", "confirmation", "command", "extensions")
)  # fmt: skip
"""Parts that say how an answer came about, and hold none of it."""


def _turns(incoming: Incoming, service: str, found: Conversation) -> None:
    incoming.turns("", f"{service}:{found.id}", turns_of(service, found))


# GitHub Copilot Chat


def read_github_copilot(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import sessions that VS Code keeps or exports ("Chat: Export Chat…")."""
    done = False
    for member in source.matching(*COPILOT_FILES):
        session = _copilot_session(member)
        requests = session.get("requests")
        if not isinstance(requests, list):
            if source.is_single:
                raise IntegrityError(
                    f"{member.base} is no session of GitHub Copilot Chat: it holds no requests"
                )
            continue
        done = True
        if not requests:
            continue
        first = next((one.get("requestId") for one in dicts(requests) if one.get("requestId")), "")
        identifier = words(session.get("sessionId")) or str(first) or member.base.rpartition(".")[0]
        title = words(session.get("customTitle"))
        began = moment(session.get("creationDate"))
        _turns(
            incoming,
            "github-copilot",
            Conversation(identifier, title, began, [*_copilot(incoming, requests)]),
        )
    if not done:
        raise NotFoundError(f"there is no session of GitHub Copilot Chat in {source.path.name}")


def _copilot_session(member: Member) -> Record:
    """Return a session; newer ones are kept as a log of changes, which is replayed."""
    if "kind" not in member.look().paths:
        found = next(member.items(""), None)
        return found if isinstance(found, dict) else {}
    session: Record = {}
    for change in member.records():
        keys, value = change.get("k"), change.get("v")
        if change.get("kind") == 0 and isinstance(value, dict):
            session = value
        elif isinstance(keys, list) and keys:
            _apply(session, keys, change)
    return session


def _apply(session: Record, keys: list[Any], change: Record) -> None:
    """Apply a change: a value that is set (1), items put to the end of a list (2), a value removed (3)."""
    holder: Any = session
    for key in keys[:-1]:
        try:
            holder = holder[key]
        except (KeyError, IndexError, TypeError):
            return
    kind, last, value = change.get("kind"), keys[-1], change.get("v")
    if isinstance(holder, list) and not (isinstance(last, int) and 0 <= last < len(holder)):
        return
    if not isinstance(holder, list | dict) or (isinstance(holder, dict) and not isinstance(last, str)):
        return
    if kind == 1:
        holder[last] = value
    elif kind == 2:
        old = holder[last] if isinstance(holder, list) else holder.get(last)
        items = old if isinstance(old, list) else []
        start = change.get("i")
        kept = items[:start] if isinstance(start, int) else items
        holder[last] = [*kept, *(value if isinstance(value, list) else [])]
    elif kind == 3 and isinstance(holder, dict):
        holder.pop(last, None)


def _copilot(incoming: Incoming, requests: Iterable[Any]) -> Iterator[Record]:
    for number, one in enumerate(requests):
        if not isinstance(one, dict):
            continue
        asked = one.get("message")
        text = words(asked.get("text")) if isinstance(asked, dict) else words(asked)
        mark = words(one.get("requestId")) or f"request {number}"
        yield message_of(mark, "user", text, one.get("timestamp"))
        answer = "".join(_copilot_part(incoming, part) for part in dicts(one.get("response")))
        yield message_of(f"{mark} answer", "assistant", answer.strip(), one.get("timestamp"))


def _copilot_part(incoming: Incoming, part: Record) -> str:
    kind, value = words(part.get("kind")), part.get("value", part.get("content"))
    value = value.get("value") if isinstance(value, dict) else value
    if kind in {"", "markdownContent", "markdownVuln"}:
        return words(value)
    if kind == "inlineReference":
        return f"`{_named(part)}`"
    if kind not in _SILENT:
        incoming.left("part of an answer", _REASONS.get(kind, f"of the kind {kind[:40]}"))
    return ""


def _named(part: Record) -> str:
    inner = part.get("inlineReference")
    place = inner.get("path") or inner.get("name") if isinstance(inner, dict) else ""
    return words(part.get("name")) or words(place).rpartition("/")[2]


# Gemini CLI


def read_gemini_cli(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import sessions of Gemini CLI, as it keeps them or as `/chat share` writes one."""
    done = False
    for member in source.matching(*GEMINI_FILES):
        about, messages = _gemini_session(member)
        if messages is None:
            if source.is_single:
                raise IntegrityError(f"{member.base} is no session of Gemini CLI: it holds no messages")
            continue
        done = True
        if about.get("kind") == "subagent":
            incoming.left("session", _SUBAGENT)
            continue
        identifier = words(about.get("sessionId")) or member.base.rpartition(".")[0]
        shaped = [found for one in messages if (found := _gemini_message(incoming, one)) is not None]
        began = moment(about.get("startTime"))
        _turns(incoming, "gemini-cli", Conversation(identifier, words(about.get("summary")), began, shaped))
    if not done:
        raise NotFoundError(f"there is no session of Gemini CLI in {source.path.name}")


def _gemini_session(member: Member) -> tuple[Record, list[Record] | None]:
    """Return what is said of a session, and its messages; none where the file is no session."""
    paths = member.look().paths
    if "sessionId" in paths and "messages" not in paths:
        return _replayed(member)
    found = next(member.items(""), None)
    if isinstance(found, list):
        return {}, dicts(found)
    about = found if isinstance(found, dict) else {}
    messages = about.get("messages", about.get("history"))
    return about, dicts(messages) if isinstance(messages, list) else None


def _replayed(member: Member) -> tuple[Record, list[Record]]:
    """Return the messages of a log, in which one is written again when more of it is known."""
    about: Record = {}
    messages: dict[str, Record] = {}
    for record in member.records():
        target = record.get("$rewindTo")
        if isinstance(target, str):
            if target in messages:
                names = [*messages]
                for name in names[names.index(target) :]:
                    del messages[name]
        elif isinstance(given := record.get("$set"), dict):
            about |= {key: value for key, value in given.items() if key != "messages"}
        elif isinstance(record.get("id"), str) and "type" in record:
            messages[record["id"]] = record
        else:
            about |= record
    return about, list(messages.values())


def _gemini_message(incoming: Incoming, one: Record) -> Record | None:
    kind = words(one.get("type")) or words(one.get("role"))
    role = {"user": "user", "gemini": "assistant", "model": "assistant"}.get(kind)
    if role is None:
        incoming.left("message", "Gemini CLI says it itself")
        return None
    for key, reason in (("toolCalls", _CALLS), ("thoughts", _THOUGHT)):
        if isinstance(given := one.get(key), list) and given:
            incoming.left("part of a message", reason, len(given))
    content = one.get("displayContent") or one.get("content") or one.get("parts")
    text = "\n".join(filter(None, _gemini_texts(incoming, content)))
    return message_of(one.get("id"), role, text, one.get("timestamp"))


def _gemini_texts(incoming: Incoming, content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else [content]:
        text = words(part.get("text")) if isinstance(part, dict) else words(part)
        if isinstance(part, dict) and (part.get("thought") or not text):
            keys = {"functionCall": _CALLS, "functionResponse": "output of tools", "thought": _THOUGHT}
            incoming.left(
                "part of a message", next((keys[key] for key in keys if key in part), "files and data")
            )
        elif not text.lstrip().startswith(("<session_context>", "<hook_context>")):
            yield text


# OpenCode


def is_opencode_storage(source: Source) -> bool:
    """Whether a folder or archive is where OpenCode kept its sessions as files."""
    return not source.is_single and bool(source.matching(*OPENCODE_STORAGE))


def read_opencode(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import sessions of OpenCode: its database, its older folder of files, or an export."""
    done = False
    for member in source.matching("opencode*.db", "*.json" if source.is_single else "opencode-*.json"):
        look = source.look(member)
        if look.tables >= {"session", "message", "part"}:
            sessions = _in_database(member)
        elif look.paths >= {"info", "messages.item.parts"} or source.is_single:
            sessions = _in_export(member)
        else:
            continue
        for about, messages in sessions:
            done = True
            _opencode(incoming, about, messages)
    for about, messages in _in_storage(source) if not source.is_single else ():
        done = True
        _opencode(incoming, about, messages)
    if not done:
        raise NotFoundError(f"there is no session of OpenCode in {source.path.name}")


_Session = tuple[Record, Iterable[tuple[Record, list[Record]]]]
"""What is said of a session, and its messages with their parts."""


def _opencode(incoming: Incoming, about: Record, messages: Iterable[tuple[Record, list[Record]]]) -> None:
    if about.get("parentID"):
        incoming.left("session", _SUBAGENT)
        return
    shaped = []
    for info, parts in messages:
        role = words(info.get("role"))
        said = [part for part in parts if not part.get("synthetic") and part.get("type") not in _SILENT]
        if role in {"user", "assistant"}:
            text = text_of(said, incoming.left, _REASONS)
            shaped.append(message_of(info.get("id"), role, text, _made(info)))
    title, identifier = words(about.get("title")), words(about.get("id"))
    if identifier:
        _turns(incoming, "opencode", Conversation(identifier, title, moment(_made(about)), shaped))


def _made(info: Record) -> object:
    time = info.get("time")
    return time.get("created") if isinstance(time, dict) else None


def _in_export(member: Member) -> Iterator[_Session]:
    found = next(member.items(""), None)
    about = found.get("info") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(about, dict):
        raise IntegrityError(f"{member.base} is no export of OpenCode: it says nothing of a session")
    every = [one for one in dicts(found.get("messages")) if isinstance(one.get("info"), dict)]
    yield about, [(one["info"], dicts(one.get("parts"))) for one in every]


def _in_storage(source: Source) -> Iterator[_Session]:
    folders: dict[str, list[Member]] = {}
    for member in source.matching("message/*/*.json", "part/*/*.json"):
        folders.setdefault("/".join(member.name.split("/")[-3:-1]), []).append(member)
    for member in source.matching(*OPENCODE_STORAGE):
        if about := _object(member):
            yield about, _messages_in(folders, f"message/{about.get('id')}")


def _messages_in(folders: Mapping[str, list[Member]], folder: str) -> Iterator[tuple[Record, list[Record]]]:
    for member in folders.get(folder, ()):  # by name, which grows with time
        if info := _object(member):
            yield info, [_object(part) for part in folders.get(f"part/{info.get('id')}", ())]


def _object(member: Member) -> Record:
    found = member.json()
    return found if isinstance(found, dict) else {}


def _in_database(member: Member) -> Iterator[_Session]:
    with member.database() as database:
        sessions = database.rows("SELECT id, title, parent_id, time_created FROM session ORDER BY id")
        for identifier, title, parent, created in sessions:
            messages = _messages_of(database, identifier)
            yield (
                {"id": identifier, "title": title, "parentID": parent, "time": {"created": created}},
                messages,
            )


def _messages_of(database: Database, session: str) -> Iterator[tuple[Record, list[Record]]]:
    sql = "SELECT id, data, time_created FROM message WHERE session_id = ? ORDER BY time_created, id"
    for message, data, made in database.rows(sql, session):
        parts = database.rows("SELECT data FROM part WHERE message_id = ? ORDER BY id", message)
        info = {"time": {"created": made}} | decoded(data) | {"id": message}
        yield info, [decoded(part) for (part,) in parts]


def decoded(data: object) -> Record:
    """Return the JSON object in a cell of a database; an empty one if it is none."""
    try:
        found = json.loads(data) if isinstance(data, str | bytes) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
