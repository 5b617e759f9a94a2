"""Read talks with assistants: Grok, Open WebUI, LibreChat, and the activity of Microsoft Copilot."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from mnemark.errors import IntegrityError, NotFoundError, UsageError
from mnemark.files.scopes import folder_name
from mnemark.memory.transfer.importer import Incoming
from mnemark.text.lazy_pattern import lazy_pattern
from mnemark.types import Problem
from mnemark_adapters.importers.conversations import (
    Conversation,
    Gathered,
    Record,
    dicts,
    message_of,
    moment,
    shown_branch,
    text_of,
    turns_of,
    words,
)  # fmt: skip
from mnemark_adapters.importers.notes import file_name, note_of
from mnemark_adapters.importers.source import Member, Source

GROK_FILES: Final = "prod-grok-backend*.json", "*grok*.json"
COPILOT_COLUMNS: Final = frozenset({"conversation", "time", "author", "message"})
_OTHERS: Final = "an earlier version, or an answer that was not chosen"
_DETAILS: Final = lazy_pattern(r'<details type="(\w{1,30})"')
_END: Final = "</details>"
_THOUGHT: Final = {
    **dict.fromkeys(("reasoning", "think", "thinking"), "what the model thought"),
    "tool_call": "calls of tools", "tool_calls": "calls of tools", "code_interpreter": "calls of tools",
    "image_file": "pictures of a talk are not imported", "image_url": "pictures of a talk are not imported",
    "error": "an error of the service",
}  # fmt: skip


_WEBUI_PLACES: Final = frozenset({"item.chat", "chat.history", "item.history", "history.messages"})


def _import(incoming: Incoming, service: str, found: Conversation, scope: str = "") -> None:
    incoming.turns(scope, f"{service}:{found.id}", turns_of(service, found))


def _skipped(incoming: Incoming, member: Member, number: int) -> None:
    incoming.problems.append(Problem(member.base, f"conversation {number + 1} cannot be read: skipped"))


# Grok


def read_grok(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the talks of an export of Grok."""
    files = source.matching(*GROK_FILES)
    if not files:
        raise NotFoundError(f"there is no prod-grok-backend.json in {source.path.name}")
    for member in files:
        for number, record in enumerate(member.items("conversations.item", "item")):
            found = _grok_talk(incoming, record) if isinstance(record, dict) else None
            if found is None:
                _skipped(incoming, member, number)
            else:
                _import(incoming, "grok", found)


def _grok_talk(incoming: Incoming, record: Record) -> Conversation | None:
    about = record.get("conversation")
    if not isinstance(about, dict) or not about.get("id"):
        return None
    answers = [
        one["response"] for one in dicts(record.get("responses")) if isinstance(one.get("response"), dict)
    ]
    shown, others = shown_branch(answers, "_id", "parent_response_id")
    if others:
        incoming.left("message", _OTHERS, others)
    messages = [_grok_message(incoming, one) for one in shown]
    title = words(about.get("title"))
    return Conversation(str(about["id"]), title, moment(about.get("create_time")), messages)


def _grok_message(incoming: Incoming, one: Record) -> Record:
    for key in ("file_attachments", "media_types", "card_attachments_json"):
        if isinstance(one.get(key), list) and one[key]:
            incoming.left("attachment", "the export has no text of it", len(one[key]))
    role = "user" if words(one.get("sender")).lower() in {"human", "user"} else "assistant"
    return message_of(one.get("_id"), role, words(one.get("message")), _extended_time(one.get("create_time")))


def _extended_time(value: Any) -> datetime | None:
    """Return a time as MongoDB exports it, or as others write it."""
    inner = value.get("$date") if isinstance(value, dict) else value
    number = inner.get("$numberLong") if isinstance(inner, dict) else None
    try:
        return moment(inner) if number is None else datetime.fromtimestamp(int(number) / 1000, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


# Open WebUI


def read_open_webui(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import chats of Open WebUI; those of several users, which an administrator has, are kept apart."""
    done = False
    for member in source.matching("*.json"):
        paths = source.look(member).paths
        if not source.is_single and not paths & _WEBUI_PLACES:
            continue
        done = True
        place = "item" if "item" in paths else ""
        users = {str(one) for one in member.items("item.user_id")} if place else set()
        for number, record in enumerate(member.items(place)):
            chat = record.get("chat", record) if isinstance(record, dict) else None
            if not isinstance(chat, dict):
                _skipped(incoming, member, number)
                continue
            found = _webui_talk(incoming, record, chat)
            try:
                scope = f"users/{folder_name(str(record.get('user_id')))}" if len(users) > 1 else ""
            except UsageError as error:
                incoming.problems.append(Problem(member.base, f"conversation {number + 1} skipped: {error}"))
                continue
            if found is None:
                _skipped(incoming, member, number)
            else:
                _import(incoming, "open-webui", found, scope)
    if not done:
        raise NotFoundError(f"there is no export of Open WebUI in {source.path.name}")


def _webui_talk(incoming: Incoming, record: Record, chat: Record) -> Conversation | None:
    history = chat.get("history")
    by_id = history.get("messages") if isinstance(history, dict) else None
    identifier = record.get("id") or chat.get("id")
    if isinstance(by_id, dict):
        every = [one for one in by_id.values() if isinstance(one, dict)]
        every.sort(key=lambda one: one["timestamp"] if isinstance(one.get("timestamp"), int | float) else 0)
        last = history.get("currentId") if isinstance(history, dict) else None
        shown, others = shown_branch(every, "id", "parentId", last) if every else ([], 0)
    else:
        shown, others = dicts(chat.get("messages")), 0
    if not identifier and shown:
        identifier = shown[0].get("id")
    if not identifier:
        return None
    if others:
        incoming.left("message", _OTHERS, others)
    title = words(record.get("title")) or words(chat.get("title"))
    messages = [shaped for one in shown if (shaped := _webui_message(incoming, one, title)) is not None]
    return Conversation(str(identifier), title, moment(record.get("created_at")), messages)


def _webui_message(incoming: Incoming, one: Record, talk: str) -> Record | None:
    role = words(one.get("role"))
    if role not in {"user", "assistant"}:
        return None
    text = text_of(one.get("content"), incoming.left, _THOUGHT)
    message = message_of(one.get("id"), role, _without_details(incoming, text), one.get("timestamp"))
    if files := dicts(one.get("files")):
        message["attachments"] = [_webui_file(incoming, file, talk) for file in files]
    return message


def _webui_file(incoming: Incoming, file: Record, talk: str) -> Record:
    """Return what a turn says of an attachment; the text that was read from it becomes a note."""
    inner = file.get("file")
    data = inner.get("data") if isinstance(inner, dict) else None
    name = words(file.get("name")) or "attachment"
    text = words(data.get("content")) if isinstance(data, dict) else ""
    kept: Record = {"name": name}
    if not text.strip():
        incoming.left("attachment", "the export has no text of it")
        return kept
    path = f"imported/open-webui/attachments/{file_name(name, words(file.get('id')) or text)}.md"
    incoming.note(path, note_of(name, text, {"talk": talk}, code=name))
    return kept | {"note": path}


def _without_details(incoming: Incoming, text: str) -> str:
    """Return a text without the folded parts that hold thoughts and calls of tools."""
    parts, at = [], 0
    while found := _DETAILS.search(text, at):
        end = text.find(_END, found.end())
        parts.append(text[at : found.start()])
        at = len(text) if end < 0 else end + len(_END)
        incoming.left("part of a message", _THOUGHT.get(found[1], "calls of tools"))
    return "".join((*parts, text[at:])).strip()


# LibreChat


def read_librechat(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import talks that LibreChat exported as JSON, one a file."""
    done = False
    for member in source.matching("*.json"):
        if not source.is_single and not source.look(member).paths >= {"conversationId", "exportAt"}:
            continue
        record = next(member.items(""), None)
        if not isinstance(record, dict) or not record.get("conversationId"):
            raise IntegrityError(f"{member.base} is no export of LibreChat: it names no conversation")
        done = True
        every = [*_flat(record)]
        shown, others = shown_branch(every, "messageId", "parentMessageId") if every else ([], 0)
        if others:
            incoming.left("message", _OTHERS, others)
        title = words(record.get("title"))
        messages = [_libre_message(incoming, one) for one in shown]
        _import(incoming, "librechat", Conversation(str(record["conversationId"]), title, None, messages))
    if not done:
        raise NotFoundError(f"there is no export of LibreChat in {source.path.name}")


def _flat(record: Record) -> Iterator[Record]:
    """Yield the messages of a list or tree, each before its answers."""
    waiting = (dicts(record.get("messages")) or dicts(record.get("messagesTree")))[::-1]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(dicts(one.get("children"))[::-1])


def _libre_message(incoming: Incoming, one: Record) -> Record:
    content = one.get("content") if isinstance(one.get("content"), list) else one.get("text")
    if files := dicts(one.get("files")):
        incoming.left("attachment", "the export has no text of it", len(files))
    role = "user" if one.get("isCreatedByUser") is True else "assistant"
    text = text_of(content, incoming.left, _THOUGHT)
    return message_of(one.get("messageId"), role, text, one.get("createdAt"))


# Microsoft Copilot


def read_copilot(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the activity that Microsoft's privacy dashboard exports."""
    done = False
    gathered = Gathered(incoming, "copilot")
    for member in source.matching("*.csv"):
        for row in member.rows() if source.look(member).columns >= COPILOT_COLUMNS else ():
            done = True
            text, author = row.get("message", ""), row.get("author", "").strip().lower()
            if not text.strip():
                incoming.left("message", "it has no text")
                continue
            role = "user" if author in {"human", "user", "you"} else "assistant"
            written = row.get("time", "").strip()
            gathered.add(row.get("conversation", "").strip() or "talk", role, text, moment(written), written)
    if not done:
        raise NotFoundError(f"there is no activity of Copilot in {source.path.name}")
    gathered.flush()
