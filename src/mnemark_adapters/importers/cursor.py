"""Read talks with Cursor out of its database, `state.vscdb`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemark.errors import NotFoundError
from mnemark.memory.transfer.importer import Incoming
from mnemark_adapters.importers.coding_agents import decoded
from mnemark_adapters.importers.conversations import (
    Conversation,
    Record,
    dicts,
    message_of,
    moment,
    turns_of,
    words,
)
from mnemark_adapters.importers.source import Database, Source

FILES: Final = ("state.vscdb",)
_SERVICE: Final = "cursor"
_ROLES: Final[Mapping[Any, str]] = {1: "user", 2: "assistant", "user": "user", "ai": "assistant"}
_OLD_CHATS: Final = "workbench.panel.aichat.view.aichat.chatdata"


def read(incoming: Incoming, source: Source, _: Mapping[str, str]) -> None:
    """Import the talks in the databases of Cursor; raises NotFoundError if there is no database of it."""
    done = False
    for member in source.matching(*FILES):
        if "cursorDiskKV" not in source.look(member).tables and not source.is_single:
            continue
        with member.database() as database:
            done = True
            for found in _talks(incoming, database):
                incoming.turns("", f"{_SERVICE}:{found.id}", turns_of(_SERVICE, found))
    if not done:
        raise NotFoundError(f"there is no state.vscdb of Cursor in {source.path.name}")


def _talks(incoming: Incoming, database: Database) -> Iterator[Conversation]:
    # By ranges of keys, which have an index: the table may have tens of gigabytes of other things.
    keys = database.rows(
        "SELECT key FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key"
    )
    for (key,) in keys:
        talk = _value(database, key)
        bubbles = [*_bubbles(database, talk, str(key).partition(":")[2])]
        if bubbles:
            identifier = words(talk.get("composerId")) or str(key).partition(":")[2]
            messages = [found for one in bubbles if (found := _message(incoming, one)) is not None]
            yield Conversation(identifier, words(talk.get("name")), moment(talk.get("createdAt")), messages)
    for tab in dicts(_value(database, _OLD_CHATS, "ItemTable").get("tabs")):
        if identifier := words(tab.get("tabId")):
            messages = [
                found for one in dicts(tab.get("bubbles")) if (found := _message(incoming, one)) is not None
            ]
            title, began = words(tab.get("chatTitle")), moment(tab.get("lastSendTime"))
            yield Conversation(identifier, title, began, messages)


def _value(database: Database, key: str, table: str = "cursorDiskKV") -> Record:
    tables = {"cursorDiskKV": "SELECT value FROM cursorDiskKV WHERE key = ?",
              "ItemTable": "SELECT value FROM ItemTable WHERE key = ?"}  # fmt: skip
    row = database.rows(tables[table], key)
    return decoded(row[0][0]) if row else {}


def _bubbles(database: Database, talk: Record, identifier: str) -> Iterator[Record]:
    """Yield the messages of a talk: within it, or each under a key of its own."""
    if inside := dicts(talk.get("conversation")):
        yield from inside
        return
    for header in dicts(talk.get("fullConversationHeadersOnly")):
        bubble = words(header.get("bubbleId"))
        yield {**header, **_value(database, f"bubbleId:{identifier}:{bubble}"), "bubbleId": bubble}


def _message(incoming: Incoming, bubble: Record) -> Record | None:
    role = _ROLES.get(bubble.get("type")) if isinstance(bubble.get("type"), int | str) else None
    if isinstance(bubble.get("thinking"), dict):
        incoming.left("part of a message", "what the model thought")
    if isinstance(bubble.get("toolFormerData"), dict):
        incoming.left("part of a message", "calls of tools")
    text = words(bubble.get("text")) or words(bubble.get("rawText"))
    if role is None or not text.strip():
        return None
    timing = bubble.get("timingInfo")
    given = (
        timing.get("clientRpcSendTime") or timing.get("clientStartTime") if isinstance(timing, dict) else None
    )
    when = moment(bubble.get("createdAt")) or moment(given)
    return message_of(bubble.get("bubbleId") or bubble.get("id"), role, text, when)
